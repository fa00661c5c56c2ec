//! Properties that hold for any specification, any cloud and any rules.

use fabric_apis::{
    field::{ErrorType, Path},
    openstack::v1alpha1::{InfrastructureConfig, Ipv6Config, Networks, Router as GivenRouter},
};
use fabric_openstack_types::{
    ApiError, ErrorClass, Service,
    network::{
        Direction, EtherType, ExternalGateway, FixedIp, Network, Port, ROUTER_INTERFACE_OWNERS, Route, Router,
        RuleShape, SecurityGroup, SecurityGroupRule, Subnet,
    },
    observed::{Observed, Queried},
    share::{ShareNetwork, ShareNetworkSubnet},
};
use ipnet::IpNet;
use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::json;

use super::super::{
    Context, check,
    security_group::{covered, covers, describe, minimum, missing},
};

/// Few ids, so that things meet; one of them hostile.
fn id() -> impl Strategy<Value = String> {
    select(vec!["a", "b", "A", "", "\"\u{202e}\n"]).prop_map(str::to_owned)
}

fn address() -> impl Strategy<Value = std::net::IpAddr> {
    prop_oneof![any::<[u8; 4]>().prop_map(Into::into), any::<[u8; 16]>().prop_map(Into::into)]
}

fn range() -> impl Strategy<Value = IpNet> {
    let few = select(vec!["10.0.0.0/8", "10.1.0.0/16", "10.1.2.3/24", "0.0.0.0/0", "::/0", "fd00::/56", "fd00::/64"])
        .prop_map(|text| text.parse().unwrap());
    let any = (address(), 0u8..=128).prop_map(|(address, length)| {
        let longest = if address.is_ipv4() { 32 } else { 128 };
        IpNet::new(address, length.min(longest)).unwrap()
    });
    prop_oneof![few, any]
}

fn api_error() -> impl Strategy<Value = ApiError> {
    let class = select(vec![ErrorClass::NotFound, ErrorClass::Timeout, ErrorClass::Forbidden]);
    (class, id())
        .prop_map(|(class, id)| ApiError::local(Service::Network, "GET", &format!("/v2.0/it/{id}"), class, "x"))
}

fn queried<T: std::fmt::Debug + Clone>(
    of: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = Option<Queried<Vec<T>>>> {
    option::weighted(0.9, prop_oneof![4 => vec(of, 0..4).prop_map(Ok), 1 => api_error().prop_map(Err)])
}

fn network() -> impl Strategy<Value = Network> {
    (id(), id()).prop_map(|(id, name)| serde_json::from_value(json!({"id": id, "name": name})).unwrap())
}

fn subnet() -> impl Strategy<Value = Subnet> {
    (id(), id(), id(), range(), option::of(address()), any::<bool>()).prop_map(
        |(id, name, network, cidr, gateway, dhcp)| {
            let version = if cidr.addr().is_ipv4() == dhcp { 4 } else { 6 };
            serde_json::from_value(
                json!({"id": id, "name": name, "network_id": network, "ip_version": version, "cidr": cidr,
            "gateway_ip": gateway, "enable_dhcp": dhcp}),
            )
            .unwrap()
        },
    )
}

fn router() -> impl Strategy<Value = Router> {
    let gateway = (id(), vec((id(), option::of(address())), 0..2)).prop_map(|(network, ips)| ExternalGateway {
        network_id: network.as_str().into(),
        enable_snat: None,
        external_fixed_ips: ips
            .into_iter()
            .map(|(subnet, ip_address)| FixedIp { subnet_id: subnet.as_str().into(), ip_address })
            .collect(),
    });
    let route = (range(), address()).prop_map(|(destination, nexthop)| Route { destination, nexthop });
    (id(), option::of(gateway), vec(route, 0..4)).prop_map(|(id, gateway, routes)| {
        let router: Router = serde_json::from_value(json!({"id": id})).unwrap();
        Router { external_gateway_info: gateway, routes, ..router }
    })
}

fn port() -> impl Strategy<Value = Port> {
    let owner = prop_oneof![select(ROUTER_INTERFACE_OWNERS.to_vec()), Just("compute:nova")];
    (id(), id(), owner, vec(id(), 0..3)).prop_map(|(id, device, owner, on)| {
        let on: Vec<_> = on.into_iter().map(|subnet| json!({"subnet_id": subnet})).collect();
        serde_json::from_value(
            json!({"id": id, "network_id": "a", "device_id": device, "device_owner": owner, "fixed_ips": on}),
        )
        .unwrap()
    })
}

fn share_network() -> impl Strategy<Value = ShareNetwork> {
    let place = (option::of(id()), option::of(id())).prop_map(|(network, subnet)| ShareNetworkSubnet {
        neutron_net_id: network.map(|id| id.as_str().into()),
        neutron_subnet_id: subnet.map(|id| id.as_str().into()),
    });
    (id(), vec(place, 0..3)).prop_map(|(id, places)| {
        let it: ShareNetwork = serde_json::from_value(json!({"id": id})).unwrap();
        ShareNetwork { share_network_subnets: places, ..it }
    })
}

fn shape() -> impl Strategy<Value = RuleShape> {
    let protocol = option::of(select(vec!["tcp", "TCP", "6", "udp", "17", "icmp", "any", ""]));
    let port =
        || option::of(prop_oneof![Just(0), Just(30_000), Just(31_000), Just(31_001), Just(32_767), any::<u16>()]);
    let direction = select(vec![Direction::Ingress, Direction::Egress]);
    let ethertype = select(vec![EtherType::IPv4, EtherType::IPv6]);
    (direction, ethertype, protocol, port(), port(), option::of(range()), option::of(id()), option::weighted(0.1, id()))
        .prop_map(|(direction, ethertype, protocol, min, max, prefix, group, addresses)| RuleShape {
            direction,
            ethertype,
            protocol: protocol.map(str::to_owned),
            port_range_min: min,
            port_range_max: max,
            remote_ip_prefix: prefix,
            remote_group_id: group.map(|id| id.as_str().into()),
            remote_address_group_id: addresses,
        })
}

fn group() -> impl Strategy<Value = SecurityGroup> {
    (id(), id(), vec(shape(), 0..5)).prop_map(|(id, name, shapes)| with_rules(&id, &name, shapes))
}

fn with_rules(id: &str, name: &str, shapes: Vec<RuleShape>) -> SecurityGroup {
    let it: SecurityGroup = serde_json::from_value(json!({"id": id, "name": name})).unwrap();
    let rule =
        |shape| SecurityGroupRule { id: "r".into(), security_group_id: id.into(), description: String::new(), shape };
    SecurityGroup { rules: shapes.into_iter().map(rule).collect(), ..it }
}

prop_compose! {
    fn config()(
        pool in id(), network in option::of(id()), subnet in option::of(id()), router in option::of(id()),
        group in option::of(id()), share in option::of(id()), ipv6 in option::of((option::of(id()), id())), workers in id(),
    ) -> InfrastructureConfig {
        let networks = Networks {
            id: network,
            subnet_id: subnet,
            router: router.map(|id| GivenRouter { id }),
            security_group_id: group,
            share_network_id: share,
            workers,
            ipv6: ipv6.map(|(node_subnet_id, pod_cidr)| Ipv6Config { node_subnet_id, pod_cidr, ..Default::default() }),
            ..Default::default()
        };
        InfrastructureConfig { floating_pool_name: pool, networks, ..Default::default() }
    }
}

prop_compose! {
    fn cloud()(
        project in option::of(prop_oneof![9 => Just(Ok("p".into())), 1 => api_error().prop_map(Err)]),
        external_networks in queried(network()), networks in queried(network()), subnets in queried(subnet()),
        routers in queried(router()), router_ports in queried(port()), security_groups in queried(group()),
        share_networks in queried(share_network()),
    ) -> Observed {
        Observed {
            project, external_networks, networks, subnets, routers, router_ports, security_groups, share_networks,
            ..Default::default()
        }
    }
}

proptest! {
    #[test]
    fn any_cloud_is_judged_and_every_failure_told_has_an_error(
        config in config(), observed in cloud(), pods in vec(range(), 0..3), nodes in option::of(range()),
        dual_stack: bool, overlay_off: bool,
    ) {
        let context = Context { path: Path::new("at"), technical_id: "a", nodes, pods: &pods, dual_stack, overlay_off };
        let checked = check(&config, &context, &observed);
        let internal: Vec<_> =
            checked.findings.errors.iter().filter(|error| error.kind == ErrorType::InternalError).collect();
        for failure in &checked.failures {
            prop_assert!(observed.failures().contains(&failure));
            prop_assert!(internal.iter().any(|error| error.detail.ends_with(&failure.to_string())));
        }
        for error in &checked.findings.errors {
            prop_assert!(error.field.starts_with("at.") || error.field == "<nil>");
        }
        for error in internal {
            let told = checked.failures.iter().any(|failure| error.detail.ends_with(&failure.to_string()));
            prop_assert!(told || error.detail.ends_with("did not ask for it"));
        }
    }

    #[test]
    fn a_rule_covers_itself_and_covering_is_transitive(a in shape(), b in shape(), c in shape()) {
        let sound = a.port_range_min.unwrap_or(0) <= a.port_range_max.unwrap_or(u16::MAX);
        prop_assert!(covers(&a, &a));
        prop_assert!(!sound || covered(&[&a], &a));
        prop_assert!(!(covers(&a, &b) && covers(&b, &c)) || covers(&a, &c));
        prop_assert!(!describe(&a).is_empty());
    }

    #[test]
    fn another_rule_never_makes_a_group_lack_more(
        shapes in vec(shape(), 0..8), more in shape(), pods in vec(range(), 0..2), nodes in vec(range(), 0..2), dual_stack: bool,
    ) {
        let before = missing(&with_rules("a", "n", shapes.clone()), dual_stack, &pods, &nodes);
        let after = missing(&with_rules("a", "n", [shapes, vec![more]].concat()), dual_stack, &pods, &nodes);
        prop_assert!(after.iter().all(|rule| before.contains(rule)));
    }

    #[test]
    fn the_minimum_lacks_nothing_and_each_rule_of_it_counts(pods in vec(range(), 0..2), dual_stack: bool, drop in 0usize..20) {
        let mut shapes = minimum(&"a".into(), dual_stack, &pods);
        prop_assert_eq!(missing(&with_rules("a", "n", shapes.clone()), dual_stack, &pods, &[]), vec![]);
        let dropped = shapes.remove(drop % shapes.len());
        let lacking = missing(&with_rules("a", "n", shapes.clone()), dual_stack, &pods, &[]);
        prop_assert!(lacking.contains(&dropped) || shapes.iter().any(|rule| covers(rule, &dropped)));
    }
}

#[test]
fn a_broader_rule_covers_a_narrower_one() {
    let wanted = minimum(&"g".into(), false, &[]).remove(1);
    let rule = |change: fn(&mut RuleShape)| {
        let mut rule = wanted.clone();
        change(&mut rule);
        rule
    };
    let cases: Vec<(&str, bool, RuleShape)> = vec![
        ("equal", true, rule(|_| ())),
        (
            "any protocol, any port",
            true,
            rule(|it| {
                (it.protocol, it.port_range_min, it.port_range_max) = (None, None, None);
            }),
        ),
        ("the protocol by number", true, rule(|it| it.protocol = Some("6".into()))),
        ("all ports", true, rule(|it| (it.port_range_min, it.port_range_max) = (None, None))),
        ("more ports", true, rule(|it| it.port_range_min = Some(1))),
        ("no prefix", true, rule(|it| it.remote_ip_prefix = None)),
        ("fewer ports", false, rule(|it| it.port_range_min = Some(30_001))),
        ("another protocol", false, rule(|it| it.protocol = Some("udp".into()))),
        ("the other direction", false, rule(|it| it.direction = Direction::Egress)),
        ("the other family", false, rule(|it| it.ethertype = EtherType::IPv6)),
        ("a narrower prefix", false, rule(|it| it.remote_ip_prefix = Some("10.0.0.0/8".parse().unwrap()))),
        ("only from the group", false, rule(|it| it.remote_group_id = Some("g".into()))),
        ("only from an address group", false, rule(|it| it.remote_address_group_id = Some("x".into()))),
    ];
    for (name, expected, rule) in cases {
        assert_eq!(covers(&rule, &wanted), expected, "{name}");
    }
    let (low, high) = (rule(|it| it.port_range_max = Some(31_000)), rule(|it| it.port_range_min = Some(31_001)));
    let gap = rule(|it| it.port_range_min = Some(31_002));
    assert!(covered(&[&high, &low], &wanted), "ports split over two rules");
    assert!(!covered(&[&gap, &low], &wanted), "a port between two rules");
}
