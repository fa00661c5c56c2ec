//! A cloud with a user's things in it, and a shoot that uses them.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use fabric_apis::openstack::v1alpha1::InfrastructureConfig;
use fabric_flow::Options;
use fabric_infrastructure::{
    Error, Failure, Input, Reconciled, Shoot, State, StateStore, Timing,
    reconcile::{delete, reconcile},
};
use fabric_openstack::{Client, RetryPolicy};
use fabric_openstack_sim::{Cloud, Config, Service};
use fabric_openstack_types::credentials::{AuthMethod, Credentials, DomainRef, Interface, Scope, UserRef};
use serde_json::{Value, json};

pub const NAME: &str = "shoot--dev--a";

/// Waits as short as an embedded cloud needs.
pub const TIMING: Timing =
    Timing { task: Duration::from_secs(20), ready: Duration::from_secs(5), poll: Duration::from_millis(2) };

/// A running cloud and the ids of what its user has.
pub struct World {
    pub cloud: Cloud,
    pub network: String,
    pub subnet: String,
    pub subnet_v6: String,
    pub router: String,
    pub group: String,
    pub share: String,
}

/// Keeps what was saved.
#[derive(Default)]
pub struct Memory(Mutex<Vec<State>>);

impl Memory {
    pub fn last(&self) -> State {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).last().cloned().unwrap_or_default()
    }

    pub fn saves(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

#[async_trait]
impl StateStore for Memory {
    async fn save(&self, state: &State) -> Result<(), Error> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(state.clone());
        Ok(())
    }
}

impl World {
    pub async fn start() -> Self {
        let config = Config { delay: Duration::ZERO, rng_seed: Some(7), ..Config::default() };
        Self::with(Cloud::start(config).await.unwrap())
    }

    fn with(cloud: Cloud) -> Self {
        let demo = cloud.user("demo").unwrap();
        let neutron = |path: &str, body: Value, pointer: &str| {
            let answer = demo.post(Service::Network, path, body);
            assert!(answer.status < 300, "{path}: {answer:?}");
            answer.text(pointer)
        };
        let public = cloud.id("networks", "public").unwrap();
        let network = neutron("/v2.0/networks", json!({"network": {"name": "office"}}), "/network/id");
        let subnet = |version: u8, cidr: &str| {
            let modes = if version == 6 { json!("slaac") } else { Value::Null };
            let mut body = json!({"network_id": network, "ip_version": version, "cidr": cidr, "name": cidr});
            if version == 6 {
                body["ipv6_address_mode"] = modes.clone();
                body["ipv6_ra_mode"] = modes;
            }
            neutron("/v2.0/subnets", json!({"subnet": body}), "/subnet/id")
        };
        let (v4, v6) = (subnet(4, "10.250.0.0/19"), subnet(6, "2001:db8:77::/64"));
        let gateway = json!({"router": {"name": "office", "external_gateway_info": {"network_id": public}}});
        let router = neutron("/v2.0/routers", gateway, "/router/id");
        for id in [&v4, &v6] {
            let path = format!("/v2.0/routers/{router}/add_router_interface");
            assert_eq!(demo.put(Service::Network, &path, json!({"subnet_id": id})).status, 200);
        }
        let group =
            neutron("/v2.0/security-groups", json!({"security_group": {"name": "office"}}), "/security_group/id");
        for rule in minimum_rules(&group) {
            neutron("/v2.0/security-group-rules", json!({"security_group_rule": rule}), "/security_group_rule/id");
        }
        let share = json!({"share_network": {"name": "office", "neutron_net_id": network, "neutron_subnet_id": v4}});
        let answer = demo.post(Service::SharedFileSystem, "/v2/share-networks", share);
        assert!(answer.status < 300, "{answer:?}");
        let share = answer.text("/share_network/id");
        drop(demo);
        // What the user made is ACTIVE by now; what we make takes its time.
        cloud.set_delay(Duration::from_millis(1));
        Self { cloud, network, subnet: v4, subnet_v6: v6, router, group, share }
    }

    /// What the user has, by table.
    pub fn users(&self) -> [(&'static str, &String); 6] {
        [
            ("networks", &self.network),
            ("subnets", &self.subnet),
            ("subnets", &self.subnet_v6),
            ("routers", &self.router),
            ("security_groups", &self.group),
            ("share_networks", &self.share),
        ]
    }

    /// Another network of the user, with one subnet; gives its id.
    pub fn network_of(&self, name: &str, cidr: &str) -> String {
        let demo = self.cloud.user("demo").unwrap();
        let network = demo.post(Service::Network, "/v2.0/networks", json!({"network": {"name": name}}));
        let id = network.text("/network/id");
        let subnet = json!({"subnet": {"network_id": id, "ip_version": 4, "cidr": cidr, "name": name}});
        assert_eq!(demo.post(Service::Network, "/v2.0/subnets", subnet).status, 201);
        id
    }

    /// A client as the user `demo`, or another of the seed.
    pub async fn client_of(&self, user: &str, password: &str) -> Client {
        let domain = || DomainRef::Name("demo".to_owned());
        let credentials = Credentials {
            auth_url: self.cloud.auth_url(),
            method: AuthMethod::Password {
                user: UserRef::Name { name: user.to_owned(), domain: domain() },
                password: password.to_owned().into(),
                scope: Scope::ProjectName { name: "demo".to_owned(), domain: domain() },
            },
            region: Some("RegionOne".to_owned()),
            interface: Interface::Public,
            ca_cert: None,
            insecure: false,
            endpoint_overrides: std::collections::BTreeMap::new(),
        };
        let retry = RetryPolicy {
            attempts: 3,
            base: Duration::from_millis(1),
            longest: Duration::from_millis(5),
            ..RetryPolicy::default()
        };
        let options = fabric_openstack::Options {
            retry,
            request_timeout: Duration::from_millis(800),
            ..fabric_openstack::Options::default()
        };
        Client::connect(credentials, options).await.unwrap()
    }

    pub async fn client(&self) -> Client {
        self.client_of("demo", "demo").await
    }

    /// The shoot with these `networks`.
    pub fn input(&self, networks: Value) -> Input {
        let config = json!({
            "apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "InfrastructureConfig",
            "floatingPoolName": "public", "networks": networks,
        });
        let config: InfrastructureConfig = serde_json::from_value(config).unwrap();
        let shoot = Shoot {
            technical_id: NAME.to_owned(),
            uid: "0f6d1c7e-8a5b-4f0e-9c53-6d0c7f1f2a11".to_owned(),
            region: Some("RegionOne".to_owned()),
            pods: Some("100.96.0.0/11".to_owned()),
            services: Some("100.64.0.0/13".to_owned()),
            ssh_public_key: Some(
                "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl".to_owned(),
            ),
            ..Shoot::default()
        };
        Input::bare(config, shoot)
    }

    /// One reconcile from `state`. Its saves go to `memory`.
    pub async fn reconcile(&self, input: &Input, state: State, memory: &Memory) -> Result<Reconciled, Failure> {
        let client = self.client().await;
        reconcile(&client, input, state, memory, TIMING, Options::default()).await
    }

    /// One deletion from `state`.
    pub async fn delete(&self, input: &Input, state: State, memory: &Memory) -> Result<State, Failure> {
        let client = self.client().await;
        delete(&client, input, state, memory, TIMING, Options::default()).await
    }

    /// Everything that there is, without what changes by being looked at or used.
    pub fn content(&self) -> Value {
        let mut all = self.cloud.snapshot();
        strip(&mut all);
        all
    }

    /// How many things of each kind there are.
    pub fn counts(&self) -> Vec<(String, usize)> {
        let all = self.cloud.snapshot();
        let tables = all.as_object().unwrap();
        tables.iter().map(|(name, rows)| (name.clone(), rows.as_array().map_or(0, Vec::len))).collect()
    }
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|key, _| !["revision_number", "updated_at", "created_at"].contains(&key.as_str()));
            map.values_mut().for_each(strip);
        }
        Value::Array(list) => list.iter_mut().for_each(strip),
        _ => {}
    }
}

fn minimum_rules(group: &str) -> Vec<Value> {
    let mut rules = vec![json!({"security_group_id": group, "direction": "ingress", "remote_group_id": group})];
    for protocol in ["tcp", "udp"] {
        rules.push(json!({"security_group_id": group, "direction": "ingress", "protocol": protocol,
            "port_range_min": 30000, "port_range_max": 32767, "remote_ip_prefix": "0.0.0.0/0"}));
    }
    rules
}

/// Every shape of a specification, by name.
pub fn specifications(world: &World) -> Vec<(&'static str, Value)> {
    let (net, sub, rt, sg) = (&world.network, &world.subnet, &world.router, &world.group);
    let pool_v4 = world.cloud.id("subnetpools", "shared-v4").unwrap();
    let pool_v6 = world.cloud.id("subnetpools", "shared-v6").unwrap();
    vec![
        ("1 managed", json!({"workers": "10.240.0.0/19"})),
        ("2 network", json!({"id": net, "workers": "10.240.0.0/19"})),
        ("3 network and router", json!({"id": net, "router": {"id": rt}, "workers": "10.240.0.0/19"})),
        ("4 subnet", json!({"id": net, "subnetId": sub, "router": {"id": rt}})),
        ("5 security group", json!({"id": net, "subnetId": sub, "router": {"id": rt}, "securityGroupId": sg})),
        ("pool", json!({"subnetPool": {"id": pool_v4, "prefixLength": 24}})),
        ("shares", json!({"workers": "10.240.0.0/19", "shareNetwork": {"enabled": true}})),
        (
            "given share network",
            json!({"id": net, "subnetId": sub, "router": {"id": rt}, "shareNetworkId": world.share}),
        ),
        (
            "shares on a given subnet",
            json!({"id": net, "subnetId": sub, "router": {"id": rt}, "shareNetwork": {"enabled": true}}),
        ),
        ("dual-stack by pool", json!({"workers": "10.240.0.0/19", "ipv6": {"subnetPoolID": pool_v6}})),
        (
            "dual-stack by ranges",
            json!({"workers": "10.240.0.0/19", "ipv6": {"nodeCIDR": "2001:db8:1::/64",
                "podCIDR": "2001:db8:2::/56", "serviceCIDR": "2001:db8:3::/112"}}),
        ),
        (
            "dual-stack given",
            json!({"id": net, "subnetId": sub, "router": {"id": rt}, "ipv6": {"nodeSubnetId": world.subnet_v6,
                "podCIDR": "fd00::/56", "serviceCIDR": "fd01::/112"}}),
        ),
    ]
}

/// Fails with the places where two contents differ, and nothing else: the whole is hundreds of lines.
pub fn assert_same(is: &Value, was: &Value, when: &str) {
    let mut places = Vec::new();
    differences("", is, was, &mut places);
    assert!(places.is_empty(), "{when}:\n{}", places.join("\n"));
}

fn differences(path: &str, is: &Value, was: &Value, places: &mut Vec<String>) {
    match (is, was) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for key in keys {
                differences(&format!("{path}/{key}"), &is[key], &was[key], places);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (index, (x, y)) in a.iter().zip(b).enumerate() {
                differences(&format!("{path}/{index}"), x, y, places);
            }
        }
        _ if is == was => {}
        _ => places.push(format!("{path}: is {is}, was {was}")),
    }
}
