//! Every rule on a cloud that is right but for one thing, with the exact words.

mod any;
mod failures;

use fabric_apis::{
    field::Path,
    openstack::v1alpha1::{InfrastructureConfig, Ipv6Config, Networks, Router as GivenRouter},
};
use fabric_openstack_types::{
    ApiError, ErrorClass, Service,
    network::{Port, Router, SecurityGroup, Subnet},
    observed::{Observed, Queried},
    share::ShareNetwork,
};
use ipnet::IpNet;
use serde_json::{Value, json};

use super::{Checked, Context, check};

/// A specification, what surrounds it and the cloud that it meets.
struct Case {
    config: InfrastructureConfig,
    nodes: Option<IpNet>,
    pods: Vec<IpNet>,
    dual_stack: bool,
    overlay_off: bool,
    observed: Observed,
}

impl Case {
    /// Everything given, dual-stack, no overlay, and a cloud where all of it fits.
    fn fitting() -> Self {
        let networks = Networks {
            id: Some("net".into()),
            subnet_id: Some("sub".into()),
            router: Some(GivenRouter { id: "rtr".into() }),
            security_group_id: Some("grp".into()),
            share_network_id: Some("shr".into()),
            ipv6: Some(Ipv6Config {
                node_subnet_id: Some("sub6".into()),
                pod_cidr: "fd00::/56".into(),
                service_cidr: "fd01::/112".into(),
                ..Default::default()
            }),
            ..Default::default()
        };
        Self {
            config: InfrastructureConfig { floating_pool_name: "public".into(), networks, ..Default::default() },
            nodes: Some(range("10.250.0.0/16")),
            pods: vec![range("100.96.0.0/11")],
            dual_stack: true,
            overlay_off: true,
            observed: Observed {
                project: Some(Ok("mine".into())),
                external_networks: made(json!([
                    {"id": "ext", "name": "public"}, {"id": "ext2", "name": "other"}
                ])),
                networks: made(json!([{"id": "net", "name": "hub"}])),
                subnets: made(json!([
                    {"id": "sub", "network_id": "net", "ip_version": 4, "cidr": "10.250.1.0/24", "gateway_ip": "10.250.1.1",
                     "enable_dhcp": true, "dns_nameservers": ["9.9.9.9"]},
                    {"id": "sub6", "network_id": "net", "ip_version": 6, "cidr": "2001:db8::/64", "gateway_ip": "2001:db8::1",
                     "enable_dhcp": true}
                ])),
                routers: made(json!([
                    {"id": "rtr", "external_gateway_info": {"network_id": "ext", "external_fixed_ips": [
                        {"subnet_id": "extsub", "ip_address": "192.0.2.7"}]},
                     "routes": [{"destination": "100.96.3.0/24", "nexthop": "10.250.1.30"},
                                {"destination": "0.0.0.0/0", "nexthop": "10.9.9.9"},
                                {"destination": "172.16.0.0/12", "nexthop": "10.9.9.9"}]}
                ])),
                router_ports: made(json!([
                    interface("sub"),
                    {"id": "p6", "network_id": "net", "device_id": "rtr",
                     "device_owner": "network:ha_router_replicated_interface", "fixed_ips": [{"subnet_id": "sub6"}]}
                ])),
                security_groups: made(json!([
                    {"id": "grp", "name": "nodes", "security_group_rules": minimum_rules()},
                    {"id": "default", "name": "default"}
                ])),
                share_networks: made(json!([
                    {"id": "shr", "share_network_subnets": [{"neutron_net_id": "net", "neutron_subnet_id": "sub"}]}
                ])),
                ..Default::default()
            },
        }
    }

    fn run(&self) -> Checked {
        self.run_at(Path::nil())
    }

    fn run_at(&self, path: Path<'_>) -> Checked {
        let context = Context {
            path,
            technical_id: "shoot--p--s",
            nodes: self.nodes,
            pods: &self.pods,
            dual_stack: self.dual_stack,
            overlay_off: self.overlay_off,
        };
        check(&self.config, &context, &self.observed)
    }

    fn networks(&mut self) -> &mut Networks {
        &mut self.config.networks
    }

    fn subnet(&mut self, index: usize) -> &mut Subnet {
        &mut of(&mut self.observed.subnets)[index]
    }

    fn router(&mut self) -> &mut Router {
        &mut of(&mut self.observed.routers)[0]
    }

    fn ports(&mut self) -> &mut Vec<Port> {
        of(&mut self.observed.router_ports)
    }

    fn group(&mut self) -> &mut SecurityGroup {
        &mut of(&mut self.observed.security_groups)[0]
    }

    fn share_network(&mut self) -> &mut ShareNetwork {
        &mut of(&mut self.observed.share_networks)[0]
    }
}

fn made<T: serde::de::DeserializeOwned>(from: Value) -> Option<Queried<T>> {
    Some(Ok(serde_json::from_value(from).unwrap()))
}

fn of<T>(query: &mut Option<Queried<T>>) -> &mut T {
    query.as_mut().unwrap().as_mut().unwrap()
}

fn range(text: &str) -> IpNet {
    text.parse().unwrap()
}

fn interface(subnet: &str) -> Value {
    json!({"id": "p", "network_id": "net", "device_id": "rtr", "device_owner": "network:router_interface",
           "fixed_ips": [{"subnet_id": subnet}]})
}

fn minimum_rules() -> Value {
    let rule = |direction, ethertype, protocol: Option<&str>, prefix: Option<&str>, group: Option<&str>| {
        let ports = protocol.map(|_| (30_000, 32_767));
        json!({"id": "r", "security_group_id": "grp", "direction": direction, "ethertype": ethertype,
               "protocol": protocol, "port_range_min": ports.map(|it| it.0), "port_range_max": ports.map(|it| it.1),
               "remote_ip_prefix": prefix, "remote_group_id": group})
    };
    json!([
        rule("ingress", "IPv4", None, None, Some("grp")),
        rule("ingress", "IPv4", Some("tcp"), Some("0.0.0.0/0"), None),
        rule("ingress", "IPv4", Some("udp"), Some("0.0.0.0/0"), None),
        rule("egress", "IPv4", None, None, None),
        rule("ingress", "IPv4", None, Some("100.96.0.0/11"), None),
        rule("ingress", "IPv6", None, None, Some("grp")),
        rule("ingress", "IPv6", Some("tcp"), Some("::/0"), None),
        rule("ingress", "IPv6", Some("udp"), Some("::/0"), None),
        rule("egress", "IPv6", None, None, None),
        rule("ingress", "IPv6", None, Some("fd00::/56"), None),
    ])
}

fn failure(class: ErrorClass) -> ApiError {
    ApiError::local(Service::Network, "GET", "/v2.0/things", class, "no answer")
}

fn texts(checked: &Checked) -> Vec<String> {
    checked.findings.errors.iter().map(ToString::to_string).collect()
}

fn warnings(checked: &Checked) -> Vec<String> {
    checked.findings.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn a_cloud_that_fits_yields_nothing() {
    assert_eq!(Case::fitting().run(), Checked::default());
}

#[test]
fn a_specification_that_gives_nothing_asks_only_for_its_floating_pool() {
    let mut case = Case::fitting();
    case.config.networks = Networks { workers: "10.250.0.0/19".into(), ..Default::default() };
    case.observed = Observed { external_networks: case.observed.external_networks, ..Default::default() };
    assert_eq!(case.run(), Checked::default());
}

type Change = fn(&mut Case);

#[test]
fn each_rule_refuses_in_its_own_words() {
    const NO_V4: &str = r#"networks.router: Invalid value: "rtr": router "rtr" has no interface on subnet "sub"; add one to the router, interfaces on a given subnet are not made for you"#;
    const NO_V6: &str = r#"networks.router: Invalid value: "rtr": router "rtr" has no interface on subnet "sub6"; add one to the router, interfaces on a given subnet are not made for you"#;
    const NOT_HERE: &str = r#"networks.subnetId: Invalid value: "sub": subnet "sub" not found in network "net""#;
    const NO_IP: &str = r#"networks.router.id: Invalid value: "rtr": router "rtr" has no external fixed IP; set its external gateway to the floating pool "public""#;
    let cases: &[(&str, Change, &[&str])] = &[
        (
            "floating pool absent",
            |case| case.config.floating_pool_name = "nowhere".into(),
            &[r#"floatingPoolName: Not found: "nowhere""#],
        ),
        ("network absent", |case| of(&mut case.observed.networks).clear(), &[r#"networks.id: Not found: "net""#]),
        ("subnet absent", |case| drop(of(&mut case.observed.subnets).remove(0)), &[NOT_HERE]),
        ("subnet in another network", |case| case.subnet(0).network_id = "else".into(), &[NOT_HERE]),
        (
            "subnet of the wrong family",
            |case| {
                *case.subnet(0) = Subnet { id: "sub".into(), ..case.subnet(1).clone() };
                of(&mut case.observed.subnets)[0].dns_nameservers = vec!["2620:fe::fe".parse().unwrap()];
            },
            &[r#"networks.subnetId: Invalid value: "sub": subnet "sub" has IP version 6, must have IP version 4"#],
        ),
        (
            "router absent: two errors, three with IPv6",
            |case| of(&mut case.observed.routers).clear(),
            &[r#"networks.router.id: Not found: "rtr""#, NO_V4, NO_V6],
        ),
        (
            "router absent, its ports never asked for",
            |case| {
                of(&mut case.observed.routers).clear();
                case.observed.router_ports = None;
            },
            &[r#"networks.router.id: Not found: "rtr""#, NO_V4, NO_V6],
        ),
        (
            "router's gateway without an address",
            |case| case.router().external_gateway_info.as_mut().unwrap().external_fixed_ips.clear(),
            &[NO_IP],
        ),
        ("router without a gateway", |case| case.router().external_gateway_info = None, &[NO_IP]),
        ("no interface on the subnet", |case| drop(case.ports().remove(0)), &[NO_V4]),
        ("a port that is no interface", |case| case.ports()[0].device_owner = "network:dhcp".into(), &[NO_V4]),
        ("an interface of another router", |case| case.ports()[0].device_id = "else".into(), &[NO_V4]),
        (
            "security group absent",
            |case| drop(of(&mut case.observed.security_groups).remove(0)),
            &[r#"networks.securityGroupId: Not found: "grp""#],
        ),
        (
            "IPv6 subnet absent",
            |case| drop(of(&mut case.observed.subnets).remove(1)),
            &[r#"networks.ipv6.nodeSubnetId: Invalid value: "sub6": subnet "sub6" not found in network "net""#],
        ),
        (
            "IPv6 subnet of the wrong family",
            |case| *case.subnet(1) = Subnet { id: "sub6".into(), ..case.subnet(0).clone() },
            &[
                r#"networks.ipv6.nodeSubnetId: Invalid value: "sub6": subnet "sub6" has IP version 4, must have IP version 6"#,
            ],
        ),
        ("no interface on the IPv6 subnet", |case| drop(case.ports().remove(1)), &[NO_V6]),
        (
            "share network absent",
            |case| of(&mut case.observed.share_networks).clear(),
            &[r#"networks.shareNetworkId: Not found: "shr""#],
        ),
        (
            "share network elsewhere",
            |case| case.share_network().share_network_subnets[0].neutron_net_id = Some("else".into()),
            &[
                r#"networks.shareNetworkId: Invalid value: "shr": share network "shr" is on network "else", must be on network "net""#,
            ],
        ),
        (
            "share network nowhere",
            |case| case.share_network().share_network_subnets.clear(),
            &[
                r#"networks.shareNetworkId: Invalid value: "shr": share network "shr" is on no Neutron network, must be on network "net""#,
            ],
        ),
    ];
    for (name, change, expected) in cases {
        let mut case = Case::fitting();
        change(&mut case);
        let checked = case.run();
        assert_eq!(
            (texts(&checked).as_slice(), checked.failures.as_slice()),
            (&owned(expected)[..], &[][..]),
            "{name}"
        );
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

#[test]
fn each_misfit_is_said_and_not_refused() {
    const LACKS: &str = "add it, rules of a given group are not changed for you";
    let lacks =
        |rule: &str| format!(r#"networks.securityGroupId: security group "grp" lacks the rule "{rule}"; {LACKS}"#);
    let foreign = |routes: &str| {
        format!(
            r#"networks.router.id: router "rtr" has routes of others that overlap the pod range 100.96.0.0/11, fd00::/56: {routes}; give each cluster on a router pod ranges of its own, or another router"#
        )
    };
    let cases: Vec<(&str, Change, Vec<String>)> = vec![
        (
            "two pools of one name",
            |case| of(&mut case.observed.external_networks)[1].name = "public".into(),
            owned(&[
                r#"floatingPoolName: 2 external networks are named "public"; rename all but one, a floating pool's name must be unique"#,
            ]),
        ),
        (
            "a range that another subnet of the network has",
            |case| {
                case.networks().subnet_id = None;
                case.networks().ipv6 = None;
                case.networks().workers = "10.250.0.0/16".into();
                case.subnet(0).name = "team".into();
            },
            owned(&[
                r#"networks.workers: 10.250.0.0/16 overlaps 10.250.1.0/24 of subnet "team" in the given network; choose a range that is free in this network"#,
            ]),
        ),
        (
            "our own subnet in the given network",
            |case| {
                case.networks().subnet_id = None;
                case.networks().ipv6 = None;
                case.networks().workers = "10.250.1.0/24".into();
                case.subnet(0).description = "osf:shoot--p--s/1".into();
            },
            owned(&[]),
        ),
        (
            "subnet outside the nodes range",
            |case| case.nodes = Some(range("10.240.0.0/16")),
            owned(&[
                r#"networks.subnetId: subnet "sub" has range 10.250.1.0/24, outside spec.networking.nodes 10.240.0.0/16; let the nodes range contain it, routes and firewalls of the cluster are made for that range"#,
            ]),
        ),
        (
            "DHCP off",
            |case| case.subnet(0).enable_dhcp = false,
            owned(&[
                r#"networks.subnetId: subnet "sub" has DHCP disabled; enable it, or make sure that the machine image configures its addresses otherwise"#,
            ]),
        ),
        (
            "no IPv6 gateway",
            |case| case.subnet(1).gateway_ip = None,
            owned(&[
                r#"networks.ipv6.nodeSubnetId: subnet "sub6" has no gateway; set one, nodes learn their default route from it"#,
            ]),
        ),
        (
            "no DNS servers",
            |case| case.subnet(0).dns_nameservers.clear(),
            owned(&[
                r#"networks.subnetId: subnet "sub" has no DNS servers; set some, unless the cloud's DHCP offers a resolver that knows the cloud's endpoints"#,
            ]),
        ),
        (
            "gateway in another pool",
            |case| case.router().external_gateway_info.as_mut().unwrap().network_id = "ext2".into(),
            owned(&[
                r#"networks.router.id: router "rtr" has its gateway in external network "other", not in floating pool "public"; name that network as the floating pool, or move the gateway; floating IPs of one don't work through the other"#,
            ]),
        ),
        (
            "another cluster's pods inside our range",
            |case| case.router().routes[0].nexthop = "10.1.0.5".parse().unwrap(),
            vec![foreign("100.96.3.0/24 via 10.1.0.5")],
        ),
        (
            "ranges wider than our pods, though into our subnet, and another",
            |case| {
                case.router().routes[0].destination = range("100.64.0.0/10");
                case.router().routes[2].destination = range("fd00::/64");
            },
            vec![foreign("100.64.0.0/10 via 10.250.1.30 and 1 more")],
        ),
        (
            "no same-group rule",
            |case| drop(case.group().rules.remove(0)),
            vec![lacks("ingress IPv4 any protocol from group grp")],
        ),
        (
            "no node ports over TCP",
            |case| drop(case.group().rules.remove(1)),
            vec![lacks("ingress IPv4 tcp 30000-32767 from 0.0.0.0/0")],
        ),
        (
            "too few node ports over UDP",
            |case| case.group().rules[2].shape.port_range_max = Some(32_000),
            vec![lacks("ingress IPv4 udp 30000-32767 from 0.0.0.0/0")],
        ),
        ("no egress", |case| drop(case.group().rules.remove(3)), vec![lacks("egress IPv4 any protocol to anywhere")]),
        (
            "no pods",
            |case| drop(case.group().rules.remove(4)),
            vec![lacks("ingress IPv4 any protocol from 100.96.0.0/11")],
        ),
        (
            "no IPv6 twins",
            |case| case.group().rules.truncate(5),
            vec![
                lacks("ingress IPv6 any protocol from group grp"),
                lacks("ingress IPv6 tcp 30000-32767 from ::/0"),
                lacks("ingress IPv6 udp 30000-32767 from ::/0"),
                lacks("egress IPv6 any protocol to anywhere"),
                lacks("ingress IPv6 any protocol from fd00::/56"),
            ],
        ),
        (
            "the name twice",
            |case| of(&mut case.observed.security_groups)[1].name = "nodes".into(),
            owned(&[
                r#"networks.securityGroupId: security group "grp" shares its name "nodes" with another group; rename one, machines refer to their group by its name"#,
            ]),
        ),
        (
            "share network on another subnet",
            |case| case.share_network().share_network_subnets[0].neutron_subnet_id = Some("else".into()),
            owned(&[
                r#"networks.shareNetworkId: share network "shr" is on another subnet than the node subnet "sub"; make sure that nodes reach it through the router, or give one on the node subnet"#,
            ]),
        ),
    ];
    for (name, change, expected) in cases {
        let mut case = Case::fitting();
        change(&mut case);
        let checked = case.run();
        assert_eq!((warnings(&checked), texts(&checked)), (expected, vec![]), "{name}");
    }
}

#[test]
fn what_is_as_good_is_not_warned_about() {
    let cases: Vec<(&str, Change)> = vec![
        ("the pods' rule with an overlay", |case| {
            case.overlay_off = false;
            case.group().rules.retain(|rule| rule.shape.remote_ip_prefix.is_none_or(|prefix| prefix.prefix_len() == 0));
        }),
        ("IPv6 twins without dual-stack", |case| {
            case.dual_stack = false;
            case.networks().ipv6 = None;
            case.group().rules.truncate(5);
        }),
        ("node addresses for the group", |case| {
            case.group().rules[0].shape.remote_group_id = None;
            case.group().rules[0].shape.remote_ip_prefix = Some(range("10.250.0.0/16"));
        }),
        ("any nodes range while there is none", |case| case.nodes = None),
        ("ids in upper case", |case| {
            case.networks().id = Some("NET".into());
            case.networks().subnet_id = Some("SUB".into());
            case.networks().router = Some(GivenRouter { id: "RTR".into() });
        }),
        ("older Manila", |case| {
            let share_network = case.share_network();
            share_network.share_network_subnets.clear();
            (share_network.neutron_net_id, share_network.neutron_subnet_id) = (Some("net".into()), Some("sub".into()));
        }),
        ("own subnet from a pool, found by name", |case| {
            case.networks().subnet_id = None;
            case.networks().share_network_id = None;
            case.subnet(0).id = "made".into();
            case.subnet(0).name = "shoot--p--s".into();
        }),
    ];
    for (name, change) in cases {
        let mut case = Case::fitting();
        change(&mut case);
        assert_eq!(case.run(), Checked::default(), "{name}");
    }
}

#[test]
fn nothing_stops_at_the_first_finding() {
    let mut case = Case::fitting();
    case.config.floating_pool_name = "nowhere".into();
    case.observed.networks = Some(Err(failure(ErrorClass::Server)));
    of(&mut case.observed.routers).clear();
    case.ports().clear();
    case.subnet(0).enable_dhcp = false;
    of(&mut case.observed.share_networks).clear();
    let checked = case.run_at(Path::new("spec.provider.infrastructureConfig"));
    let fields: Vec<&str> = checked.findings.errors.iter().map(|error| error.field.as_str()).collect();
    let prefix = "spec.provider.infrastructureConfig";
    let names = [
        "floatingPoolName",
        "networks.id",
        "networks.router.id",
        "networks.router",
        "networks.router",
        "networks.shareNetworkId",
    ];
    assert_eq!(fields, names.map(|name| format!("{prefix}.{name}")));
    assert_eq!(checked.findings.warnings[0].field, format!("{prefix}.networks.subnetId"));
}

#[test]
fn static_findings_are_not_repeated() {
    let mut case = Case::fitting();
    case.config.floating_pool_name.clear();
    case.config.networks = Networks {
        subnet_id: Some("elsewhere".into()),
        security_group_id: Some(String::new()),
        router: Some(GivenRouter::default()),
        ..Default::default()
    };
    assert_eq!(texts(&case.run()), Vec::<String>::new());
}
