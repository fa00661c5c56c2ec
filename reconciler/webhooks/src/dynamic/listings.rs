//! Listings of a cloud, remembered for seconds, behind the very trait that the rules look through.
//!
//! Ten shoots of one delivery ask for the same routers, groups and external networks: the first asks the cloud, the
//! others wait for its answer. Failures are never remembered.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use fabric_openstack::api::{Compute, Identity, LoadBalancers, Network as NetworkApi, SharedFileSystem};
use fabric_openstack::{Client, Query, Result, RouterInterface, Taggable};
use fabric_openstack_types::compute::{KeyPair, Server};
use fabric_openstack_types::ids::{
    LoadBalancerId, NetworkId, PortId, ProjectId, RouterId, SecurityGroupId, SecurityGroupRuleId, ShareNetworkId,
    SubnetId, SubnetPoolId,
};
use fabric_openstack_types::load_balancer::LoadBalancer;
use fabric_openstack_types::network::{
    Network, NetworkUpdate, NewNetwork, NewRouter, NewSecurityGroup, NewSecurityGroupRule, NewSubnet, Port, Route,
    Router, RouterUpdate, SecurityGroup, SecurityGroupRule, SecurityGroupUpdate, Subnet, SubnetPool, SubnetUpdate,
};
use fabric_openstack_types::share::{NewShareNetwork, ShareNetwork, ShareNetworkUpdate};
use fabric_openstack_types::{ApiError, ErrorClass, Owned, Service};
use tokio::sync::OnceCell;

/// So long a listing is believed: the time in which the shoots of one delivery arrive. What is found wrong is looked
/// at anew before it is told.
pub(super) const FRESH: Duration = Duration::from_secs(10);
/// So many different questions of one kind are remembered for a login.
const QUESTIONS: usize = 64;

/// What is known of one login's cloud.
#[derive(Default)]
pub struct Listings {
    networks: Table<Vec<Network>>,
    subnets: Table<Vec<Subnet>>,
    routers: Table<Vec<Router>>,
    ports: Table<Vec<Port>>,
    groups: Table<Vec<SecurityGroup>>,
    pools: Table<Vec<SubnetPool>>,
    key_pairs: Table<Option<KeyPair>>,
    shares: Table<Vec<ShareNetwork>>,
}

impl Listings {
    /// The next look asks the cloud.
    pub fn forget(&self) {
        self.networks.forget();
        self.subnets.forget();
        self.routers.forget();
        self.ports.forget();
        self.groups.forget();
        self.pools.forget();
        self.key_pairs.forget();
        self.shares.forget();
    }
}

/// Answers to one kind of question.
struct Table<T>(Mutex<HashMap<String, Cell<T>>>);

/// When a question was first asked, and its answer as soon as it is there.
type Cell<T> = (Instant, Arc<OnceCell<T>>);

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Table<T> {
    fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The cell of a question; a fresh one when the last answer is too old.
    fn cell(&self, question: String) -> Arc<OnceCell<T>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= QUESTIONS {
            all.retain(|_, (since, _)| since.elapsed() < FRESH);
        }
        if all.len() >= QUESTIONS {
            all.clear();
        }
        let now = Instant::now();
        let (since, cell) = all.entry(question).or_insert_with(|| (now, Arc::default()));
        if now.duration_since(*since) >= FRESH {
            (*since, *cell) = (now, Arc::default());
        }
        Arc::clone(cell)
    }

    async fn get(&self, question: String, remembered: &AtomicBool, ask: impl Future<Output = Result<T>>) -> Result<T> {
        let mut asked = false;
        let cell = self.cell(question);
        let answer = cell.get_or_try_init(|| {
            asked = true;
            ask
        });
        let answer = answer.await.cloned();
        if !asked {
            remembered.store(true, Ordering::Relaxed);
        }
        answer
    }
}

/// A cloud that is only looked at. Every call that would change something is refused.
pub(super) struct Remembering {
    client: Client,
    listings: Arc<Listings>,
    remembered: AtomicBool,
}

impl Remembering {
    pub(super) fn new(client: Client, listings: Arc<Listings>) -> Self {
        Self { client, listings, remembered: AtomicBool::new(false) }
    }

    /// Whether an answer was an older look's.
    pub(super) fn has_remembered(&self) -> bool {
        self.remembered.load(Ordering::Relaxed)
    }
}

fn question(query: &Query) -> String {
    let mut question = String::new();
    for (key, value) in query.pairs() {
        for part in [key, value.as_str()] {
            question += &format!("{}:{part}", part.len());
        }
    }
    question
}

/// A call that admission never makes.
fn refused<T>(service: Service) -> Result<T> {
    Err(ApiError::local(service, "", "", ErrorClass::Forbidden, "admission only reads"))
}

#[async_trait]
impl Identity for Remembering {
    async fn project_id(&self) -> Result<ProjectId> {
        self.client.project_id().await
    }

    async fn has(&self, service: Service) -> Result<bool> {
        self.client.has(service).await
    }
}

#[async_trait]
impl NetworkApi for Remembering {
    async fn networks(&self, query: &Query) -> Result<Vec<Network>> {
        self.listings.networks.get(question(query), &self.remembered, self.client.networks(query)).await
    }
    async fn subnets(&self, query: &Query) -> Result<Vec<Subnet>> {
        self.listings.subnets.get(question(query), &self.remembered, self.client.subnets(query)).await
    }
    async fn routers(&self, query: &Query) -> Result<Vec<Router>> {
        self.listings.routers.get(question(query), &self.remembered, self.client.routers(query)).await
    }
    async fn ports(&self, query: &Query) -> Result<Vec<Port>> {
        self.listings.ports.get(question(query), &self.remembered, self.client.ports(query)).await
    }
    async fn security_groups(&self, query: &Query) -> Result<Vec<SecurityGroup>> {
        self.listings.groups.get(question(query), &self.remembered, self.client.security_groups(query)).await
    }
    async fn subnet_pools(&self, query: &Query) -> Result<Vec<SubnetPool>> {
        self.listings.pools.get(question(query), &self.remembered, self.client.subnet_pools(query)).await
    }

    async fn subnet(&self, id: &SubnetId) -> Result<Subnet> {
        self.client.subnet(id).await
    }
    async fn router(&self, id: &RouterId) -> Result<Router> {
        self.client.router(id).await
    }
    async fn port(&self, id: &PortId) -> Result<Port> {
        self.client.port(id).await
    }
    async fn subnet_pool(&self, id: &SubnetPoolId) -> Result<SubnetPool> {
        self.client.subnet_pool(id).await
    }

    async fn create_network(&self, _: &NewNetwork) -> Result<Network> {
        refused(Service::Network)
    }
    async fn update_network(&self, _: &Owned<NetworkId>, _: &NetworkUpdate) -> Result<Network> {
        refused(Service::Network)
    }
    async fn delete_network(&self, _: &Owned<NetworkId>) -> Result<()> {
        refused(Service::Network)
    }
    async fn create_subnet(&self, _: &NewSubnet) -> Result<Subnet> {
        refused(Service::Network)
    }
    async fn update_subnet(&self, _: &Owned<SubnetId>, _: &SubnetUpdate) -> Result<Subnet> {
        refused(Service::Network)
    }
    async fn delete_subnet(&self, _: &Owned<SubnetId>) -> Result<()> {
        refused(Service::Network)
    }
    async fn create_router(&self, _: &NewRouter) -> Result<Router> {
        refused(Service::Network)
    }
    async fn update_router(&self, _: &Owned<RouterId>, _: &RouterUpdate) -> Result<Router> {
        refused(Service::Network)
    }
    async fn delete_router(&self, _: &Owned<RouterId>) -> Result<()> {
        refused(Service::Network)
    }
    async fn add_router_interface(&self, _: &Owned<RouterInterface>) -> Result<PortId> {
        refused(Service::Network)
    }
    async fn enable_router_interface(&self, _: &Owned<PortId>) -> Result<Port> {
        refused(Service::Network)
    }
    async fn remove_router_interface(&self, _: &Owned<RouterInterface>) -> Result<()> {
        refused(Service::Network)
    }
    async fn remove_routes(&self, _: &RouterId, _: &[Owned<Route>]) -> Result<()> {
        refused(Service::Network)
    }
    async fn create_security_group(&self, _: &NewSecurityGroup) -> Result<SecurityGroup> {
        refused(Service::Network)
    }
    async fn update_security_group(
        &self,
        _: &Owned<SecurityGroupId>,
        _: &SecurityGroupUpdate,
    ) -> Result<SecurityGroup> {
        refused(Service::Network)
    }
    async fn delete_security_group(&self, _: &Owned<SecurityGroupId>) -> Result<()> {
        refused(Service::Network)
    }
    async fn create_security_group_rules(
        &self,
        _: &Owned<SecurityGroupId>,
        _: &[NewSecurityGroupRule],
    ) -> Result<Vec<SecurityGroupRule>> {
        refused(Service::Network)
    }
    async fn delete_security_group_rule(&self, _: &Owned<SecurityGroupRuleId>) -> Result<()> {
        refused(Service::Network)
    }
    async fn add_tags(&self, _: &Owned<Taggable>, _: &[String]) -> Result<()> {
        refused(Service::Network)
    }
}

#[async_trait]
impl Compute for Remembering {
    async fn key_pair(&self, name: &str) -> Result<Option<KeyPair>> {
        self.listings.key_pairs.get(name.to_owned(), &self.remembered, self.client.key_pair(name)).await
    }
    async fn create_key_pair(&self, _: &str, _: &str) -> Result<KeyPair> {
        refused(Service::Compute)
    }
    async fn delete_key_pair(&self, _: &Owned<String>) -> Result<()> {
        refused(Service::Compute)
    }
    async fn servers(&self, prefix: &str) -> Result<Vec<Server>> {
        self.client.servers(prefix).await
    }
}

#[async_trait]
impl SharedFileSystem for Remembering {
    async fn share_networks(&self) -> Result<Vec<ShareNetwork>> {
        self.listings.shares.get(String::new(), &self.remembered, self.client.share_networks()).await
    }
    async fn create_share_network(&self, _: &NewShareNetwork) -> Result<ShareNetwork> {
        refused(Service::SharedFileSystem)
    }
    async fn update_share_network(&self, _: &Owned<ShareNetworkId>, _: &ShareNetworkUpdate) -> Result<ShareNetwork> {
        refused(Service::SharedFileSystem)
    }
    async fn delete_share_network(&self, _: &Owned<ShareNetworkId>) -> Result<()> {
        refused(Service::SharedFileSystem)
    }
}

#[async_trait]
impl LoadBalancers for Remembering {
    async fn load_balancers(&self, query: &Query) -> Result<Vec<LoadBalancer>> {
        self.client.load_balancers(query).await
    }
    async fn delete_load_balancer(&self, _: &Owned<LoadBalancerId>) -> Result<()> {
        refused(Service::LoadBalancer)
    }
}
