//! A cloud in memory for this crate's own tests: JSON objects by collection, and Neutron's refusals as far as a
//! deletion meets them. It only reads and deletes; whole stories are played on the embedded cloud and on real services.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard},
};

use async_trait::async_trait;
use fabric_openstack::{Query, Result, RouterInterface, Taggable, api};
use fabric_openstack_types::{
    ApiError, ErrorClass, Owned, Service,
    compute::{KeyPair, Server},
    ids::{
        LoadBalancerId, NetworkId, PortId, ProjectId, RouterId, SecurityGroupId, SecurityGroupRuleId, ShareNetworkId,
        SubnetId, SubnetPoolId,
    },
    load_balancer::LoadBalancer,
    network::{
        Network, NetworkUpdate, NewNetwork, NewRouter, NewSecurityGroup, NewSecurityGroupRule, NewSubnet, Port, Route,
        Router, RouterUpdate, SecurityGroup, SecurityGroupRule, SecurityGroupUpdate, Subnet, SubnetPool, SubnetUpdate,
    },
    share::{NewShareNetwork, ShareNetwork, ShareNetworkUpdate},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{
    error::Error,
    state::{State, StateStore},
};

/// The project of every token.
pub(crate) const PROJECT: &str = "our-project";

/// Objects by collection.
pub(crate) type World = BTreeMap<&'static str, Vec<Value>>;

/// The cloud.
#[derive(Default)]
pub(crate) struct FakeCloud {
    world: Mutex<World>,
    calls: Mutex<Vec<String>>,
    /// Collections whose listing answers 503.
    pub(crate) broken: BTreeSet<&'static str>,
    /// Services that the catalog lacks.
    pub(crate) absent: Vec<Service>,
    /// Which changing call answers 500, counted from one.
    pub(crate) fails_at: Option<usize>,
    /// How many listings a load balancer survives its deletion.
    pub(crate) lingers: u64,
}

impl FakeCloud {
    pub(crate) fn new(world: World) -> Self {
        Self { world: Mutex::new(world), lingers: 2, ..Self::default() }
    }

    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    /// Every changing call so far, as `VERB thing`.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }

    pub(crate) fn position(&self, call: &str) -> usize {
        let calls = self.calls();
        calls.iter().position(|it| it == call).unwrap_or_else(|| panic!("no {call:?} in {calls:?}"))
    }

    fn note(&self, call: String) -> Result<()> {
        let mut calls = self.calls.lock().unwrap();
        calls.push(call);
        if self.fails_at == Some(calls.len()) { Err(refusal(ErrorClass::Server, "call", 500)) } else { Ok(()) }
    }

    fn list<T: DeserializeOwned>(&self, collection: &'static str, query: &Query) -> Result<Vec<T>> {
        if self.broken.contains(collection) {
            return Err(refusal(ErrorClass::Server, collection, 503));
        }
        let world = self.world();
        let all = world.get(collection).into_iter().flatten();
        Ok(all.filter(|it| hit(it, query)).map(|it| serde_json::from_value(it.clone()).unwrap()).collect())
    }

    fn one<T: DeserializeOwned>(&self, collection: &'static str, id: &str) -> Result<T> {
        let found = self.list(collection, &Query::id(id))?.pop();
        found.ok_or_else(|| refusal(ErrorClass::NotFound, id, 404))
    }

    fn remove(&self, collection: &'static str, key: &str, id: &str, in_use: bool) -> Result<()> {
        self.note(format!("DELETE {collection} {id}"))?;
        if in_use {
            return Err(refusal(ErrorClass::InUse, id, 409));
        }
        self.world().entry(collection).or_default().retain(|it| it[key] != id);
        Ok(())
    }

    fn ports_where(&self, holds: impl Fn(&Port) -> bool) -> bool {
        let world = self.world();
        let mut ports = world.get("ports").into_iter().flatten();
        ports.any(|it| holds(&serde_json::from_value(it.clone()).unwrap()))
    }
}

fn hit(object: &Value, query: &Query) -> bool {
    let text = |key: &str| match &object[key] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    // Filters into lists are left to the caller, as some clouds do.
    let pairs = || query.pairs().iter().filter(|(key, _)| *key != "fixed_ips");
    pairs().all(|(key, _)| pairs().any(|(other, value)| other == key && text(key) == *value))
}

fn refusal(class: ErrorClass, what: &str, status: u16) -> ApiError {
    let error = ApiError::local(Service::Network, "ANY", what, class, "refused");
    ApiError { status: Some(status), ..error }
}

fn absent<T>() -> Result<T> {
    Err(refusal(ErrorClass::Invalid, "this cloud only reads and deletes", 400))
}

#[async_trait]
impl api::Identity for FakeCloud {
    async fn project_id(&self) -> Result<ProjectId> {
        Ok(ProjectId::new(PROJECT))
    }
    async fn has(&self, service: Service) -> Result<bool> {
        Ok(!self.absent.contains(&service))
    }
}

#[async_trait]
impl api::Network for FakeCloud {
    async fn networks(&self, query: &Query) -> Result<Vec<Network>> {
        self.list("networks", query)
    }
    async fn subnets(&self, query: &Query) -> Result<Vec<Subnet>> {
        self.list("subnets", query)
    }
    async fn routers(&self, query: &Query) -> Result<Vec<Router>> {
        self.list("routers", query)
    }
    async fn ports(&self, query: &Query) -> Result<Vec<Port>> {
        self.list("ports", query)
    }
    async fn security_groups(&self, query: &Query) -> Result<Vec<SecurityGroup>> {
        self.list("groups", query)
    }
    async fn subnet_pools(&self, query: &Query) -> Result<Vec<SubnetPool>> {
        self.list("pools", query)
    }
    async fn subnet(&self, id: &SubnetId) -> Result<Subnet> {
        self.one("subnets", id.as_str())
    }
    async fn router(&self, id: &RouterId) -> Result<Router> {
        self.one("routers", id.as_str())
    }
    async fn port(&self, id: &PortId) -> Result<Port> {
        self.one("ports", id.as_str())
    }
    async fn subnet_pool(&self, id: &SubnetPoolId) -> Result<SubnetPool> {
        self.one("pools", id.as_str())
    }
    async fn create_network(&self, _: &NewNetwork) -> Result<Network> {
        absent()
    }
    async fn update_network(&self, _: &Owned<NetworkId>, _: &NetworkUpdate) -> Result<Network> {
        absent()
    }
    async fn delete_network(&self, id: &Owned<NetworkId>) -> Result<()> {
        let id = id.get().as_str();
        let held = self.ports_where(|it| it.network_id.as_str() == id && it.device_owner != "network:dhcp");
        self.remove("networks", "id", id, held)?;
        self.world().entry("subnets").or_default().retain(|it| it["network_id"] != id);
        self.world().entry("ports").or_default().retain(|it| it["network_id"] != id);
        Ok(())
    }
    async fn create_subnet(&self, _: &NewSubnet) -> Result<Subnet> {
        absent()
    }
    async fn update_subnet(&self, _: &Owned<SubnetId>, _: &SubnetUpdate) -> Result<Subnet> {
        absent()
    }
    async fn delete_subnet(&self, id: &Owned<SubnetId>) -> Result<()> {
        let held = self.ports_where(|it| it.is_on(id.get()) && it.device_owner != "network:dhcp");
        self.remove("subnets", "id", id.get().as_str(), held)
    }
    async fn create_router(&self, _: &NewRouter) -> Result<Router> {
        absent()
    }
    async fn update_router(&self, _: &Owned<RouterId>, _: &RouterUpdate) -> Result<Router> {
        absent()
    }
    async fn delete_router(&self, id: &Owned<RouterId>) -> Result<()> {
        let id = id.get().as_str();
        let held = self.ports_where(|it| it.device_id == id && it.is_router_interface());
        self.remove("routers", "id", id, held)
    }
    async fn add_router_interface(&self, _: &Owned<RouterInterface>) -> Result<PortId> {
        absent()
    }
    async fn enable_router_interface(&self, _: &Owned<PortId>) -> Result<Port> {
        absent()
    }
    async fn remove_router_interface(&self, interface: &Owned<RouterInterface>) -> Result<()> {
        let RouterInterface { router, subnet } = interface.get();
        self.note(format!("DETACH {router} {subnet}"))?;
        let range = self.one::<Subnet>("subnets", subnet.as_str())?.cidr;
        if self.one::<Router>("routers", router.as_str())?.routes.iter().any(|it| range.contains(&it.nexthop)) {
            return Err(refusal(ErrorClass::InUse, router.as_str(), 409));
        }
        self.world().entry("ports").or_default().retain(|it| {
            let port: Port = serde_json::from_value(it.clone()).unwrap();
            port.device_id != router.as_str() || !port.is_on(subnet)
        });
        Ok(())
    }
    async fn remove_routes(&self, router: &RouterId, routes: &[Owned<Route>]) -> Result<()> {
        for route in routes.iter().map(Owned::get) {
            self.note(format!("UNROUTE {router} {} {}", route.destination, route.nexthop))?;
        }
        let gone: Vec<Value> = routes.iter().map(|it| json!(it.get())).collect();
        for it in self.world().entry("routers").or_default().iter_mut().filter(|it| it["id"] == router.as_str()) {
            it["routes"].as_array_mut().unwrap().retain(|route| !gone.contains(route));
        }
        Ok(())
    }
    async fn create_security_group(&self, _: &NewSecurityGroup) -> Result<SecurityGroup> {
        absent()
    }
    async fn update_security_group(
        &self,
        _: &Owned<SecurityGroupId>,
        _: &SecurityGroupUpdate,
    ) -> Result<SecurityGroup> {
        absent()
    }
    async fn delete_security_group(&self, id: &Owned<SecurityGroupId>) -> Result<()> {
        let held = self.ports_where(|it| it.security_groups.contains(id.get()));
        self.remove("groups", "id", id.get().as_str(), held)
    }
    async fn create_security_group_rules(
        &self,
        _: &Owned<SecurityGroupId>,
        _: &[NewSecurityGroupRule],
    ) -> Result<Vec<SecurityGroupRule>> {
        absent()
    }
    async fn delete_security_group_rule(&self, _: &Owned<SecurityGroupRuleId>) -> Result<()> {
        absent()
    }
    async fn add_tags(&self, _: &Owned<Taggable>, _: &[String]) -> Result<()> {
        absent()
    }
}

#[async_trait]
impl api::Compute for FakeCloud {
    async fn key_pair(&self, name: &str) -> Result<Option<KeyPair>> {
        Ok(self.list("keypairs", &Query::all().and("name", name))?.pop())
    }
    async fn create_key_pair(&self, _: &str, _: &str) -> Result<KeyPair> {
        absent()
    }
    async fn delete_key_pair(&self, name: &Owned<String>) -> Result<()> {
        self.remove("keypairs", "name", name.get(), false)
    }
    /// Everything: the caller must not rely on Nova's filter, which is a pattern.
    async fn servers(&self, _: &str) -> Result<Vec<Server>> {
        self.list("servers", &Query::all())
    }
}

#[async_trait]
impl api::SharedFileSystem for FakeCloud {
    async fn share_networks(&self) -> Result<Vec<ShareNetwork>> {
        if self.absent.contains(&Service::SharedFileSystem) {
            return Err(refusal(ErrorClass::NoEndpoint, "shares", 404));
        }
        self.list("shares", &Query::all())
    }
    async fn create_share_network(&self, _: &NewShareNetwork) -> Result<ShareNetwork> {
        absent()
    }
    async fn update_share_network(&self, _: &Owned<ShareNetworkId>, _: &ShareNetworkUpdate) -> Result<ShareNetwork> {
        absent()
    }
    async fn delete_share_network(&self, id: &Owned<ShareNetworkId>) -> Result<()> {
        self.remove("shares", "id", id.get().as_str(), false)
    }
}

#[async_trait]
impl api::LoadBalancers for FakeCloud {
    /// A deleted one shows as PENDING_DELETE for a while; its port goes with it. `settles` counts down how many
    /// listings one still is in the making.
    async fn load_balancers(&self, query: &Query) -> Result<Vec<LoadBalancer>> {
        let listed = self.list("balancers", query)?;
        let mut world = self.world();
        let mut gone: Vec<Value> = Vec::new();
        for it in world.entry("balancers").or_default() {
            let countdown = it["countdown"].as_u64().unwrap_or(u64::MAX).saturating_sub(1);
            match it["provisioning_status"].as_str().unwrap_or_default() {
                "PENDING_DELETE" if countdown == 0 => gone.push(it["id"].clone()),
                "PENDING_UPDATE" if countdown == 0 => it["provisioning_status"] = json!("ACTIVE"),
                _ => {}
            }
            it["countdown"] = json!(countdown);
        }
        let lost = |it: &Value| gone.iter().any(|id| it["device_id"] == format!("lb-{}", id.as_str().unwrap()));
        world.entry("ports").or_default().retain(|it| !lost(it));
        world.entry("balancers").or_default().retain(|it| !gone.contains(&it["id"]));
        Ok(listed)
    }
    async fn delete_load_balancer(&self, id: &Owned<LoadBalancerId>) -> Result<()> {
        let id = id.get().as_str();
        self.note(format!("DELETE balancers {id}"))?;
        for it in self.world().entry("balancers").or_default().iter_mut().filter(|it| it["id"] == id) {
            if it["provisioning_status"].as_str().unwrap_or_default().starts_with("PENDING_") {
                return Err(refusal(ErrorClass::Conflict, id, 409));
            }
            it["provisioning_status"] = json!("PENDING_DELETE");
            it["countdown"] = json!(self.lingers);
        }
        Ok(())
    }
}

/// Keeps every state that was saved.
#[derive(Default)]
pub(crate) struct Saves(Mutex<Vec<State>>);

impl Saves {
    pub(crate) fn all(&self) -> Vec<State> {
        self.0.lock().unwrap().clone()
    }
}

#[async_trait]
impl StateStore for Saves {
    async fn save(&self, state: &State) -> std::result::Result<(), Error> {
        self.0.lock().unwrap().push(state.clone());
        Ok(())
    }
}
