//! What upstream's extension made before us: unmarked, with its state or with its state lost.

use fabric_infrastructure::State;
use fabric_test_openstack::{Service, World, raw_text as text};
use serde_json::{Value, json};

/// Makes a pattern 1 cluster as upstream does, and returns its state.
async fn cluster(world: &World, name: &str, key: &str) -> Value {
    let me = world.gardener().await;
    let make = |path: &'static str, key: &'static str, fields: Value| {
        let me = me.clone();
        async move { text(&me.post(Service::Network, path, json!({key: fields})).await[key]["id"]) }
    };
    let gateway = json!({"network_id": world.facts.external_network_id});
    let network = make("networks", "network", json!({"name": name, "admin_state_up": true}));
    let router = make("routers", "router", json!({"name": name, "external_gateway_info": gateway}));
    let group = make("security-groups", "security_group", json!({"name": name, "description": "Cluster Nodes"}));
    let (network, router, group) = tokio::join!(network, router, group);
    let fields = json!({"name": name, "network_id": network, "cidr": "10.250.0.0/19", "ip_version": 4});
    let subnet = make("subnets", "subnet", fields).await;
    world.interface(&router, &subnet).await;
    let rule = |description: &str, fields: Value| {
        let mut rule = json!({"security_group_id": group, "direction": "ingress", "ethertype": "IPv4",
                              "description": description});
        rule.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        rule
    };
    let ports = |protocol: &str| {
        let range = json!({"protocol": protocol, "port_range_min": 30000, "port_range_max": 32767,
                           "remote_ip_prefix": "0.0.0.0/0"});
        rule(&format!("IPv4: allow all incoming {protocol} traffic with port range 30000-32767"), range)
    };
    let same = "IPv4: allow all incoming traffic within the same security group";
    let rules = [rule(same, json!({"remote_group_id": group})), ports("tcp"), ports("udp")];
    me.post(Service::Network, "security-group-rules", json!({"security_group_rules": rules})).await;
    let pair = json!({"keypair": {"name": name, "public_key": key}});
    me.post(Service::Compute, "os-keypairs", pair).await;
    json!({
        "FloatingNetwork": world.facts.external_network_id, "FloatingNetworkName": world.facts.external_network,
        "Network": network, "NetworkName": name, "Router": router, "Subnet": subnet,
        "SecurityGroup": group, "SecurityGroupName": name, "KeyPair": name, "RouterIP": "172.24.4.1",
    })
}

pub(crate) async fn an_existing_cluster_does_not_notice_the_change_with_its_state_and_without(world: World) {
    let empty = world.snapshot().await;
    let mut shoot = world.shoot("up", json!({"workers": "10.250.0.0/19"}));
    let name = shoot.id().to_owned();
    let data = cluster(&world, &name, fabric_test_openstack::SSH_KEY).await;
    let before = world.snapshot().await;

    // Its state lost: found by shape, told as adopted, touched by nothing.
    let lines = fabric_test_openstack::unsettled(&shoot.plan().await.unwrap());
    assert!(lines.iter().all(|line| line.starts_with("adopt ")), "{lines:#?}");
    assert_eq!(lines.len(), 5, "{lines:#?}");
    let run = shoot.applied().await;
    assert_eq!(run.calls.changing, 0, "with its state lost");
    let found = shoot.state.clone();

    // With its state.
    shoot.state = State::from_data(serde_json::from_value(data).unwrap());
    let run = shoot.applied().await;
    assert_eq!(run.calls.changing, 0, "with its state");
    assert_eq!(shoot.state, found, "both ways lead to one state");
    shoot.assert_settled("afterwards").await;
    before.assert_same(&world.snapshot().await, "takeover");

    shoot.state = State::default();
    shoot.deleted().await;
    empty.assert_same(&world.snapshot().await, "the deletion takes all of it, also without the state");
}
