//! A project with one shoot in any mix of given and own, among others.

use std::{collections::BTreeSet, time::Duration};

use fabric_flow::{FlowError, Options};
use fabric_openstack_types::{Marker, observed::Observed};
use serde_json::{Value, json};

use crate::{
    apply::{ApplyError, Timing},
    delete::{DeletePlan, apply_delete, plan_delete},
    error::Error,
    observe::{Purpose, observe},
    plan::Verb,
    state::{Key, State},
    target::{Ipv6, NodeSubnet, Role, ShareNetwork, Source, Target},
    testing::{FakeCloud, PROJECT, Saves, World},
};

pub(super) const ID: &str = "shoot--dev--a";
pub(super) const GIVEN: [&str; 6] =
    ["given-network", "given-router", "given-subnet", "given-subnet-ipv6", "given-group", "given-share"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    None,
    Own,
    Given,
}
use Owner::{Given, Own};

/// Who owns what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mix {
    pub network: Owner,
    pub router: Owner,
    pub subnet: Owner,
    pub ipv6: Owner,
    pub group: Owner,
    pub share: Owner,
}

impl Mix {
    /// The patterns of the specification by number; 5 is 4 with a given group.
    pub(super) fn pattern(number: u8) -> Self {
        let given_from = |from: u8| if number >= from { Given } else { Own };
        Self {
            network: given_from(2),
            router: given_from(3),
            subnet: given_from(4),
            ipv6: Owner::None,
            group: given_from(5),
            share: Owner::None,
        }
    }

    pub(super) fn target(&self) -> Target {
        fn source<Id: for<'a> From<&'a str>>(owner: Owner, id: &str) -> Source<Id> {
            if owner == Given { Source::Given(id.into()) } else { Source::Own }
        }
        let net = |text: &str| text.parse().unwrap();
        let (nodes, pods, services) =
            ("fd00:1::/64".parse().unwrap(), "fd00:2::/56".parse().unwrap(), "fd00:3::/112".parse().unwrap());
        Target {
            marker: Marker::new(ID, "uid-1"),
            region: None,
            floating_pool: "public".to_owned(),
            floating_subnet: None,
            use_snat: None,
            network: source(self.network, "given-network"),
            router: source(self.router, "given-router"),
            subnet: match self.subnet {
                Given => NodeSubnet::Given("given-subnet".into()),
                _ => NodeSubnet::Cidr(net("10.250.0.0/16")),
            },
            ipv6: match self.ipv6 {
                Owner::None => None,
                Own => Some(Ipv6::Cidrs { nodes, pods, services }),
                Given => Some(Ipv6::Given { nodes: "given-subnet-ipv6".into(), pods, services }),
            },
            security_group: source(self.group, "given-group"),
            share_network: match self.share {
                Owner::None => ShareNetwork::None,
                Own => ShareNetwork::Own,
                Given => ShareNetwork::Given("given-share".into()),
            },
            dns_servers: Vec::new(),
            nodes: Some(net("10.250.0.0/16")),
            pods: Some(net("100.96.0.0/11")),
            services: Some(net("100.64.0.0/13")),
            overlay_off: false,
            ssh_public_key: None,
        }
    }

    fn id(owner: Owner, thing: &str) -> String {
        format!("{}-{thing}", if owner == Given { "given" } else { "own" })
    }

    pub(super) fn network_id(&self) -> String {
        Self::id(self.network, "network")
    }

    pub(super) fn router_id(&self) -> String {
        Self::id(self.router, "router")
    }

    pub(super) fn subnet_id(&self) -> String {
        Self::id(self.subnet, "subnet")
    }

    /// What a reconcile leaves: ours carries our marker and is in the state.
    pub(super) fn scene(self) -> Scene {
        let mut scene = Scene { mix: self, target: self.target(), world: World::new(), state: State::default() };
        let mark = Marker::new(ID, "uid-1").description();
        let about = |owner: Owner, suffix: &str| match owner {
            Given => (format!("users{suffix}"), String::new()),
            _ => (format!("{ID}{suffix}"), mark.clone()),
        };
        scene.put("networks", json!({"id": "public", "name": "public", "router:external": true}));
        scene.state.set(Key::FloatingNetwork, "public");
        let (name, description) = about(self.network, "");
        let network = self.network_id();
        scene.put("networks", json!({"id": network, "name": name, "description": description, "project_id": PROJECT}));
        scene.know(Key::Network, &network);
        let (name, description) = about(self.router, "");
        let router = self.router_id();
        let gateway =
            json!({"network_id": "public", "external_fixed_ips": [{"subnet_id": "x", "ip_address": "192.0.2.7"}]});
        scene.put(
            "routers",
            json!({"id": router, "name": name, "description": description, "project_id": PROJECT,
            "external_gateway_info": gateway, "routes": []}),
        );
        scene.know(Key::Router, &router);
        scene.add_subnet(self.subnet, Role::Nodes, "10.250.0.0/16", "subnet", &about(self.subnet, ""));
        if self.ipv6 != Owner::None {
            scene.add_subnet(self.ipv6, Role::NodesIpv6, "fd00:1::/64", "subnet-ipv6", &about(self.ipv6, "-ipv6"));
        }
        if self.ipv6 == Own {
            scene.add_subnet(Own, Role::PodsIpv6, "fd00:2::/56", "subnet-pod", &about(Own, "-ipv6-pod"));
            scene.add_subnet(Own, Role::ServicesIpv6, "fd00:3::/112", "subnet-svc", &about(Own, "-ipv6-svc"));
        }
        let (name, description) = about(self.group, "");
        let (group, description) = (Self::id(self.group, "group"), format!("Cluster Nodes {description}"));
        scene.put(
            "groups",
            json!({"id": group, "name": name, "description": description, "project_id": PROJECT,
            "security_group_rules": []}),
        );
        scene.know(Key::SecurityGroup, &group);
        if self.share != Owner::None {
            let (name, description) = about(self.share, "");
            let share = Self::id(self.share, "share");
            scene.put(
                "shares",
                json!({"id": share, "name": name, "description": description, "project_id": PROJECT,
                "share_network_subnets": [{"neutron_net_id": network, "neutron_subnet_id": self.subnet_id()}]}),
            );
            scene.know(Key::ShareNetwork, &share);
        }
        scene.put("keypairs", json!({"name": ID, "fingerprint": "aa:bb"}));
        scene.state.set(Key::KeyPair, ID);
        scene.state.set(Key::Uid, "uid-1");
        scene
    }

    /// The specification's list: what a deletion takes away, by id.
    pub(super) fn expected(&self) -> BTreeSet<String> {
        let mut ids = vec![(Own, ID.to_owned())];
        ids.extend([
            (self.network, "own-network".to_owned()),
            (self.router, "own-router".to_owned()),
            (self.subnet, "own-subnet".to_owned()),
            (self.subnet, format!("interface {ID}")),
            (self.ipv6, "own-subnet-ipv6".to_owned()),
            (self.ipv6, "own-subnet-pod".to_owned()),
            (self.ipv6, "own-subnet-svc".to_owned()),
            (self.ipv6, format!("interface {ID}-ipv6")),
            (self.group, "own-group".to_owned()),
            (self.share, "own-share".to_owned()),
        ]);
        ids.into_iter().filter(|(owner, _)| *owner == Own).map(|(_, id)| id).collect()
    }
}

/// A shoot and its surroundings.
pub(super) struct Scene {
    pub mix: Mix,
    pub target: Target,
    pub world: World,
    pub state: State,
}

impl Scene {
    pub(super) fn put(&mut self, collection: &'static str, object: Value) {
        self.world.entry(collection).or_default().push(object);
    }

    /// Remembers an id as apply does.
    fn know(&mut self, key: Key, id: &str) {
        self.state.set(key, id);
        if id.starts_with("given") {
            self.state.mark_given(key);
        }
    }

    fn add_subnet(&mut self, owner: Owner, role: Role, cidr: &str, thing: &str, about: &(String, String)) {
        let id = Mix::id(owner, thing);
        let version = if role == Role::Nodes { 4 } else { 6 };
        let mode = (role == Role::NodesIpv6).then_some("slaac");
        self.put(
            "subnets",
            json!({"id": id, "name": about.0, "description": about.1, "project_id": PROJECT, "cidr": cidr,
                "network_id": self.mix.network_id(), "ip_version": version, "ipv6_address_mode": mode}),
        );
        self.know(Key::subnet(role), &id);
        if matches!(role, Role::Nodes | Role::NodesIpv6) {
            let address = if role == Role::Nodes { "10.250.0.1" } else { "fd00:1::1" };
            let router = self.mix.router_id();
            self.add_port(&format!("interface-{id}"), "network:router_interface", &router, &id, address);
        }
    }

    pub(super) fn add_port(&mut self, id: &str, owner: &str, device: &str, subnet: &str, address: &str) {
        let network = self.mix.network_id();
        self.put(
            "ports",
            json!({"id": id, "name": id, "network_id": network, "device_owner": owner, "device_id": device,
                "project_id": PROJECT, "fixed_ips": [{"subnet_id": subnet, "ip_address": address}]}),
        );
    }

    pub(super) fn add_server(&mut self, name: &str, address: &str) {
        let subnet = self.mix.subnet_id();
        self.put("servers", json!({"id": format!("id-{name}"), "name": name}));
        self.add_port(&format!("port-{name}"), "compute:nova", &format!("id-{name}"), &subnet, address);
    }

    pub(super) fn add_balancer(&mut self, id: &str, name: &str, subnet: &str, project: &str) {
        self.put(
            "balancers",
            json!({"id": id, "name": name, "project_id": project, "provisioning_status": "ACTIVE",
                "vip_subnet_id": subnet, "vip_port_id": format!("vip-{id}")}),
        );
        self.add_port(&format!("vip-{id}"), "Octavia", &format!("lb-{id}"), subnet, "10.250.3.3");
    }

    pub(super) fn route(&mut self, destination: &str, nexthop: &str) {
        let router = self.mix.router_id();
        let route = json!({"destination": destination, "nexthop": nexthop});
        self.edit("routers", &router, |it| it["routes"].as_array_mut().unwrap().push(route));
    }

    pub(super) fn edit(&mut self, collection: &'static str, id: &str, change: impl FnOnce(&mut Value)) {
        change(self.world.get_mut(collection).unwrap().iter_mut().find(|it| it["id"] == id).unwrap());
    }

    pub(super) fn drop(&mut self, collection: &'static str, id: &str) {
        self.world.get_mut(collection).unwrap().retain(|it| it["id"] != id);
    }

    /// As an earlier controller made it.
    pub(super) fn unmark(&mut self) {
        for it in self.world.values_mut().flatten().filter(|it| it["description"].is_string()) {
            let group = it["description"].as_str().unwrap().starts_with("Cluster Nodes");
            it["description"] = json!(if group { "Cluster Nodes" } else { "" });
        }
    }

    pub(super) fn cloud(&self) -> FakeCloud {
        FakeCloud::new(self.world.clone())
    }

    pub(super) async fn seen(&self, cloud: &FakeCloud) -> Observed {
        observe(cloud, &self.target, &self.state, Purpose::Delete).await
    }

    pub(super) async fn plan(&self) -> DeletePlan {
        self.plan_on(&self.cloud()).await.unwrap()
    }

    pub(super) async fn plan_on(&self, cloud: &FakeCloud) -> Result<DeletePlan, Vec<Error>> {
        plan_delete(&self.target, &self.seen(cloud).await, &self.state)
    }

    /// Plans and runs.
    pub(super) async fn delete(&self, cloud: &FakeCloud, saves: &Saves) -> Result<State, ApplyError> {
        let plan = self.plan_on(cloud).await.unwrap();
        let state = self.state.clone();
        let timing = Timing { poll: Duration::from_millis(100), ..Timing::default() };
        apply_delete(plan, &self.target, cloud, state, saves, timing, Options::default()).await
    }
}

/// What the plan takes away: ids, and names where there is no id.
pub(super) fn deleted(plan: &DeletePlan, target: &Target) -> BTreeSet<String> {
    let items = plan.items(target).into_iter().filter(|item| item.verb == Verb::Delete);
    items.map(|item| item.id.unwrap_or_else(|| format!("interface {}", item.name))).collect()
}

/// The failed tasks with their errors.
pub(super) fn failures(error: &ApplyError) -> Vec<String> {
    match &error.failure {
        FlowError::Tasks(tasks) => tasks.iter().map(ToString::to_string).collect(),
        other => panic!("{other}"),
    }
}

/// What of the world carries an id that begins so.
pub(super) fn objects(world: &World, prefix: &str) -> Vec<Value> {
    let all = world.values().flatten();
    all.filter(|it| it["id"].as_str().is_some_and(|id| id.starts_with(prefix))).cloned().collect()
}
