//! Plans against a world made of plain JSON: what is settled plans nothing, each attribute that differs is found.

use fabric_openstack_types::{
    Marker,
    ids::ProjectId,
    network::{Network, Port, Router, SecurityGroup, Subnet},
    observed::Observed,
    share::ShareNetwork,
};
use serde_json::{Value, json};

use super::{Item, Verb, plan};
use crate::{
    error::Error,
    state::{Key, State},
    target::{self, NodeSubnet, Source, Target},
};

const NAME: &str = "shoot--dev--a";

fn marker() -> Marker {
    Marker::new(NAME, "uid-1")
}

fn target() -> Target {
    Target {
        marker: marker(),
        region: Some("RegionOne".to_owned()),
        floating_pool: "public".to_owned(),
        floating_subnet: None,
        use_snat: None,
        network: Source::Own,
        router: Source::Own,
        subnet: NodeSubnet::Cidr("10.250.0.0/19".parse().unwrap()),
        ipv6: None,
        security_group: Source::Own,
        share_network: target::ShareNetwork::Own,
        dns_servers: vec!["9.9.9.9".parse().unwrap()],
        nodes: None,
        pods: Some("100.96.0.0/11".parse().unwrap()),
        services: None,
        overlay_off: false,
        ssh_public_key: Some("ssh-ed25519 AAAAkey a".to_owned()),
    }
}

/// What the cloud holds after a good run, as the services would print it.
fn world() -> Value {
    let description = marker().description();
    let tags = marker().tags();
    let owned = |id: &str| json!({"id": id, "name": NAME, "project_id": "p", "description": description, "tags": tags});
    let with = |id: &str, more: Value| {
        let mut value = owned(id);
        value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        value
    };
    let rule = |id: &str, direction: &str, family: &str, proto: Value, ports: Value, prefix: Value, group: Value| {
        json!({"id": id, "security_group_id": "sg", "direction": direction, "ethertype": family, "protocol": proto,
               "port_range_min": ports[0], "port_range_max": ports[1], "remote_ip_prefix": prefix,
               "remote_group_id": group, "description": ""})
    };
    let none = Value::Null;
    json!({
        "external": [{"id": "ext", "name": "public", "router:external": true}],
        "networks": [with("net", json!({"admin_state_up": true, "port_security_enabled": true}))],
        "subnets": [with("sub", json!({
            "network_id": "net", "ip_version": 4, "cidr": "10.250.0.0/19", "gateway_ip": "10.250.0.1",
            "enable_dhcp": true, "dns_nameservers": ["9.9.9.9"], "host_routes": [],
            "allocation_pools": [{"start": "10.250.0.2", "end": "10.250.31.254"}]}))],
        "routers": [with("rt", json!({
            "admin_state_up": true, "routes": [{"destination": "100.96.1.0/24", "nexthop": "10.250.0.9"}],
            "external_gateway_info": {"network_id": "ext", "enable_snat": true,
                "external_fixed_ips": [{"subnet_id": "es", "ip_address": "172.24.4.9"}]}}))],
        "ports": [{"id": "port", "network_id": "net", "device_id": "rt", "device_owner": "network:router_interface",
                   "admin_state_up": true, "status": "ACTIVE",
                   "fixed_ips": [{"subnet_id": "sub", "ip_address": "10.250.0.1"}]}],
        "groups": [with("sg", json!({"description": marker().description_after("Cluster Nodes"), "stateful": true,
            "security_group_rules": [
                rule("r1", "ingress", "IPv4", none.clone(), json!([null, null]), none.clone(), json!("sg")),
                rule("r2", "egress", "IPv4", none.clone(), json!([null, null]), none.clone(), none.clone()),
                rule("r3", "egress", "IPv6", none.clone(), json!([null, null]), none.clone(), none.clone()),
                rule("r4", "ingress", "IPv4", json!("tcp"), json!([30000, 32767]), json!("0.0.0.0/0"), none.clone()),
                rule("r5", "ingress", "IPv4", json!("udp"), json!([30000, 32767]), json!("0.0.0.0/0"), none),
            ]}))],
        "key": {"name": NAME, "fingerprint": "aa:bb", "public_key": "ssh-ed25519 AAAAkey other comment"},
        "shares": [{"id": "share", "name": NAME, "project_id": "p", "description": description,
                    "share_network_subnets": [{"neutron_net_id": "net", "neutron_subnet_id": "sub"}]}],
    })
}

fn observed(world: &Value) -> Observed {
    fn list<T: serde::de::DeserializeOwned>(value: &Value) -> Option<Result<Vec<T>, fabric_openstack_types::ApiError>> {
        Some(Ok(serde_json::from_value(value.clone()).unwrap()))
    }
    Observed {
        project: Some(Ok(ProjectId::new("p"))),
        external_networks: list::<Network>(&world["external"]),
        networks: list::<Network>(&world["networks"]),
        subnets: list::<Subnet>(&world["subnets"]),
        routers: list::<Router>(&world["routers"]),
        router_ports: list::<Port>(&world["ports"]),
        security_groups: list::<SecurityGroup>(&world["groups"]),
        key_pair: Some(Ok(serde_json::from_value(world["key"].clone()).unwrap())),
        share_networks: list::<ShareNetwork>(&world["shares"]),
        ..Observed::default()
    }
}

fn state() -> State {
    let mut state = State::default();
    let ids = [
        (Key::Network, "net"),
        (Key::Subnet, "sub"),
        (Key::Router, "rt"),
        (Key::SecurityGroup, "sg"),
        (Key::KeyPair, NAME),
        (Key::ShareNetwork, "share"),
        (Key::SecurityGroupRules, "r1,r2,r3,r4,r5"),
    ];
    for (key, value) in ids {
        state.set(key, value);
    }
    state
}

fn items(target: &Target, world: &Value, state: &State) -> Vec<Item> {
    plan(target, &observed(world), state).unwrap().items(target)
}

fn work(items: &[Item]) -> Vec<(Verb, String)> {
    items.iter().filter(|item| !item.verb.is_settled()).map(|item| (item.verb, item.kind.clone())).collect()
}

#[test]
fn a_settled_world_plans_nothing_with_and_without_its_state() {
    assert_eq!(work(&items(&target(), &world(), &state())), []);
    // The key pair has no marker: without the state it is taken over by its name, and that is all.
    assert_eq!(work(&items(&target(), &world(), &State::default())), [(Verb::Adopt, "key pair".to_owned())]);
}

#[test]
fn an_empty_world_is_made_whole() {
    let mut empty = world();
    for kind in ["networks", "subnets", "routers", "ports", "groups", "shares"] {
        empty[kind] = json!([]);
    }
    empty["key"] = Value::Null;
    let made = work(&items(&target(), &empty, &State::default()));
    assert!(made.iter().all(|(verb, _)| *verb == Verb::Create), "{made:?}");
    let kinds: Vec<&str> = made.iter().map(|(_, kind)| kind.as_str()).collect();
    let rules = ["security group rule"; 5];
    let first = ["network", "subnet", "router", "router interface", "security group"];
    assert_eq!(kinds, [&first[..], &rules[..], &["key pair", "share network"][..]].concat());
}

#[test]
fn every_attribute_that_differs_is_found() {
    let cases: Vec<(&str, Value, Verb, &str, &str)> = vec![
        ("/networks/0/name", json!("x"), Verb::Change, "network", "name"),
        ("/networks/0/description", json!(""), Verb::Change, "network", "description"),
        ("/networks/0/admin_state_up", json!(false), Verb::Change, "network", "admin_state_up"),
        ("/networks/0/port_security_enabled", json!(false), Verb::Change, "network", "port_security_enabled"),
        ("/networks/0/tags", json!([]), Verb::Change, "network tags", "tags"),
        ("/subnets/0/name", json!("x"), Verb::Change, "subnet", "name"),
        ("/subnets/0/description", json!(""), Verb::Change, "subnet", "description"),
        ("/subnets/0/gateway_ip", Value::Null, Verb::Change, "subnet", "gateway_ip"),
        ("/subnets/0/gateway_ip", json!("10.250.0.5"), Verb::Change, "subnet", "gateway_ip"),
        ("/subnets/0/enable_dhcp", json!(false), Verb::Change, "subnet", "enable_dhcp"),
        ("/subnets/0/dns_nameservers", json!([]), Verb::Change, "subnet", "dns_nameservers"),
        ("/subnets/0/dns_nameservers", json!(["9.9.9.9", "1.1.1.1"]), Verb::Change, "subnet", "dns_nameservers"),
        ("/subnets/0/allocation_pools", json!([]), Verb::Change, "subnet", "allocation_pools"),
        (
            "/subnets/0/host_routes",
            json!([{"destination": "10.0.0.0/8", "nexthop": "10.250.0.7"}]),
            Verb::Change,
            "subnet",
            "host_routes",
        ),
        ("/subnets/0/tags", json!([]), Verb::Change, "subnet tags", "tags"),
        ("/subnets/0/cidr", json!("10.250.0.0/20"), Verb::Unrepairable, "subnet", "cidr"),
        ("/routers/0/name", json!("x"), Verb::Change, "router", "name"),
        ("/routers/0/description", json!(""), Verb::Change, "router", "description"),
        ("/routers/0/admin_state_up", json!(false), Verb::Change, "router", "admin_state_up"),
        ("/routers/0/external_gateway_info", Value::Null, Verb::Change, "router", "external_gateway_info"),
        (
            "/routers/0/external_gateway_info/network_id",
            json!("other"),
            Verb::Change,
            "router",
            "external_gateway_info",
        ),
        (
            "/routers/0/external_gateway_info/external_fixed_ips",
            json!([]),
            Verb::Change,
            "router",
            "external_gateway_info",
        ),
        ("/routers/0/tags", json!([]), Verb::Change, "router tags", "tags"),
        ("/ports/0/status", json!("DOWN"), Verb::Change, "router interface", "status"),
        ("/ports/0/admin_state_up", json!(false), Verb::Change, "router interface", "admin_state_up"),
        ("/groups/0/name", json!("x"), Verb::Change, "security group", "name"),
        ("/groups/0/description", json!(""), Verb::Change, "security group", "description"),
        ("/groups/0/stateful", json!(false), Verb::Change, "security group", "stateful"),
        ("/groups/0/tags", json!([]), Verb::Change, "security group tags", "tags"),
        ("/key/public_key", json!("ssh-ed25519 AAAAother"), Verb::Change, "key pair", "public_key"),
        ("/shares/0/name", json!("x"), Verb::Change, "share network", "name"),
        (
            "/shares/0/share_network_subnets/0/neutron_subnet_id",
            json!("elsewhere"),
            Verb::Unrepairable,
            "share network",
            "network/subnet",
        ),
    ];
    for (pointer, value, verb, kind, attribute) in cases {
        let mut world = world();
        *world.pointer_mut(pointer).unwrap() = value;
        let items = items(&target(), &world, &state());
        assert!(work(&items).contains(&(verb, kind.to_owned())), "{pointer}: {items:#?}");
        let changed = items.iter().find(|item| item.verb == verb && item.kind == kind).unwrap();
        assert!(changed.changes.iter().any(|change| change.attribute == attribute), "{pointer}: {changed:?}");
    }
}

#[test]
fn the_gateway_of_an_ipv6_subnet_is_one_of_those_that_neutron_gives() {
    let mut dual = target();
    let range = |text: &str| text.parse().unwrap();
    let (nodes, pods, services) = (range("fd00:10::/64"), range("fd00:20::/56"), range("fd00:30::/108"));
    dual.ipv6 = Some(target::Ipv6::Cidrs { nodes, pods, services });
    for (gateway, start, attributes) in [
        (json!("fd00:10::"), "fd00:10::1", &[][..]),
        (json!("fd00:10::1"), "fd00:10::2", &[]),
        (json!("fd00:10::1"), "fd00:10::9", &["allocation_pools"]),
        (json!("fd00:10::"), "fd00:10::2", &["allocation_pools"]),
        (json!("fd00:10::5"), "fd00:10::6", &["gateway_ip", "allocation_pools"]),
        (Value::Null, "fd00:10::1", &["gateway_ip", "allocation_pools"]),
    ] {
        let mut world = world();
        let mut subnet = world["subnets"][0].clone();
        subnet.as_object_mut().unwrap().extend(
            json!({
                "id": "v6", "name": format!("{NAME}-ipv6"), "ip_version": 6, "cidr": "fd00:10::/64",
                "gateway_ip": gateway, "dns_nameservers": [],
                "ipv6_address_mode": "slaac", "ipv6_ra_mode": "slaac",
                "allocation_pools": [{"start": start, "end": "fd00:10::ffff:ffff:ffff:ffff"}],
            })
            .as_object()
            .unwrap()
            .clone(),
        );
        world["subnets"].as_array_mut().unwrap().push(subnet);
        let items = items(&dual, &world, &state());
        let found = items.iter().find(|item| item.kind == "IPv6 subnet").unwrap();
        let changed: Vec<&str> = found.changes.iter().map(|change| change.attribute.as_str()).collect();
        assert_eq!(changed, attributes, "{gateway} {start}");
    }
}

#[test]
fn what_is_gone_is_made_again() {
    for (kind, verb, item) in [
        ("networks", Verb::Create, "network"),
        ("subnets", Verb::Create, "subnet"),
        ("routers", Verb::Create, "router"),
        ("ports", Verb::Create, "router interface"),
        ("groups", Verb::Create, "security group"),
        ("shares", Verb::Create, "share network"),
    ] {
        let mut world = world();
        world[kind] = json!([]);
        let items = items(&target(), &world, &state());
        assert!(work(&items).contains(&(verb, item.to_owned())), "{kind}: {items:#?}");
    }
}

#[test]
fn a_rule_that_is_gone_comes_back_and_a_foreign_one_stays() {
    let mut world = world();
    let rules = world.pointer_mut("/groups/0/security_group_rules").unwrap().as_array_mut().unwrap();
    rules.remove(3);
    rules.push(json!({"id": "bastion", "security_group_id": "sg", "direction": "ingress", "ethertype": "IPv4",
        "protocol": "tcp", "port_range_min": 22, "port_range_max": 22, "remote_ip_prefix": "10.0.0.1/32"}));
    let items = items(&target(), &world, &state());
    assert_eq!(work(&items), [(Verb::Create, "security group rule".to_owned())]);
    let foreign = items.iter().find(|item| item.verb == Verb::Report).unwrap();
    assert_eq!(foreign.name, "IPv4 ingress tcp port 22 10.0.0.1/32");
}

#[test]
fn a_rule_of_ours_that_is_no_longer_wanted_goes() {
    let mut off = target();
    off.overlay_off = true;
    let added = items(&off, &world(), &state());
    let pods = "IPv4: allow all incoming traffic from the pod network (overlay disabled)";
    assert!(added.iter().any(|item| item.verb == Verb::Create && item.name == pods), "{added:#?}");
    let mut with_rule = world();
    with_rule.pointer_mut("/groups/0/security_group_rules").unwrap().as_array_mut().unwrap().push(json!({
        "id": "r6", "security_group_id": "sg", "direction": "ingress", "ethertype": "IPv4",
        "remote_ip_prefix": "100.96.0.0/11", "description": marker().description_after(pods)}));
    assert_eq!(work(&items(&off, &with_rule, &state())), []);
    assert_eq!(work(&items(&target(), &with_rule, &state())), [(Verb::Delete, "security group rule".to_owned())]);
}

#[test]
fn snat_is_put_right_only_where_the_profile_says_so() {
    let mut switched = target();
    switched.use_snat = Some(false);
    let items_of = items(&switched, &world(), &state());
    let router = items_of.iter().find(|item| item.kind == "router").unwrap();
    assert_eq!((router.verb, router.changes[0].should.as_str()), (Verb::Change, "ext enable_snat=false"));
    switched.use_snat = Some(true);
    assert_eq!(work(&items(&switched, &world(), &state())), []);
}

#[test]
fn without_ssh_access_any_key_of_ours_stays() {
    let mut closed = target();
    closed.ssh_public_key = None;
    assert_eq!(work(&items(&closed, &world(), &state())), []);
}

#[test]
fn what_was_made_before_us_is_adopted_untouched() {
    let mut bare = world();
    for pointer in ["/networks/0", "/subnets/0", "/routers/0", "/groups/0", "/shares/0"] {
        let it = bare.pointer_mut(pointer).unwrap();
        it["description"] = json!(if pointer == "/groups/0" { "Cluster Nodes" } else { "" });
        it["tags"] = json!([]);
    }
    let with_state = items(&target(), &bare, &state());
    assert_eq!(work(&with_state), [], "its state says that it is this shoot's");
    let without = work(&items(&target(), &bare, &State::default()));
    assert!(without.iter().all(|(verb, _)| *verb == Verb::Adopt), "{without:?}");
    assert_eq!(without.len(), 6, "{without:?}");
}

#[test]
fn a_near_miss_is_not_adopted() {
    for (pointer, value) in [
        ("/shares/0/share_network_subnets/0/neutron_subnet_id", json!("other")),
        ("/shares/0/share_network_subnets/0/neutron_net_id", json!("other")),
        ("/shares/0/project_id", json!("q")),
        ("/shares/0/name", json!("shoot--dev--ab")),
    ] {
        let mut world = world();
        world["shares"][0]["description"] = json!("");
        *world.pointer_mut(pointer).unwrap() = value;
        let items = items(&target(), &world, &State::default());
        assert!(work(&items).contains(&(Verb::Create, "share network".to_owned())), "{pointer}: {items:#?}");
    }
}

#[test]
fn a_resource_that_was_given_never_becomes_ours_by_editing_the_config() {
    let mut remembered = state();
    remembered.mark_given(Key::Network);
    let errors = plan(&target(), &observed(&world()), &remembered).unwrap_err();
    let Error::Configuration { field, .. } = &errors[0] else { panic!("{errors:?}") };
    assert_eq!(*field, "networks.id");
}

#[test]
fn given_resources_are_used_and_missing_ones_are_all_named() {
    let mut given = target();
    given.network = Source::Given("net".into());
    given.router = Source::Given("rt".into());
    given.subnet = NodeSubnet::Given("sub".into());
    given.security_group = Source::Given("sg".into());
    given.share_network = target::ShareNetwork::Given("share".into());
    let mut remembered = State::default();
    remembered.set(Key::KeyPair, NAME);
    let all = items(&given, &world(), &remembered);
    assert_eq!(work(&all), []);
    assert_eq!(all.iter().filter(|item| item.verb == Verb::Use).count(), 6);
    let mut gone = world();
    for kind in ["networks", "subnets", "routers", "groups", "shares"] {
        gone[kind] = json!([]);
    }
    let errors = plan(&given, &observed(&gone), &remembered).unwrap_err();
    let text: Vec<String> = errors.iter().map(ToString::to_string).collect();
    for field in
        ["networks.id", "networks.subnetId", "networks.router", "networks.securityGroupId", "networks.shareNetworkId"]
    {
        assert!(text.iter().any(|text| text.starts_with(field)), "{field}: {text:#?}");
    }
}
