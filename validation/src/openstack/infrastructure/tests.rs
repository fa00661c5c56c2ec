use fabric_apis::decode;
use fabric_apis::openstack::v1alpha1::{Ipv6Config, Router, ShareNetwork, SubnetPool};

use super::*;

mod any;
mod update;

const A: &str = "123e4567-e89b-12d3-a456-426614174000";
const B: &str = "223e4567-e89b-12d3-a456-426614174000";
const NODES: StaticContext<'static> = StaticContext { nodes: Some("10.250.0.0/16"), ip_families: None };
const NOTHING: StaticContext<'static> = StaticContext { nodes: None, ip_families: None };

type Change = fn(&mut InfrastructureConfig);

/// Pattern 1: everything is ours.
fn managed() -> InfrastructureConfig {
    let mut config = InfrastructureConfig { floating_pool_name: "pool".into(), ..Default::default() };
    config.networks.workers = "10.250.0.0/19".into();
    config
}

/// Pattern 4: network, subnet and router are given.
fn given() -> InfrastructureConfig {
    let mut config = InfrastructureConfig { floating_pool_name: "pool".into(), ..Default::default() };
    config.networks.id = Some(A.into());
    config.networks.subnet_id = Some(B.into());
    config.networks.router = Some(Router { id: A.into() });
    config
}

/// Pattern 4 with both families given.
fn given_dual_stack() -> InfrastructureConfig {
    let mut config = given();
    config.networks.ipv6 = Some(Ipv6Config {
        node_subnet_id: Some(A.into()),
        pod_cidr: "fd00::/56".into(),
        service_cidr: "fd01::/112".into(),
        ..Default::default()
    });
    config
}

/// Pattern 1 with IPv6 ranges of ours.
fn managed_dual_stack() -> InfrastructureConfig {
    let mut config = managed();
    config.networks.ipv6 = Some(Ipv6Config {
        node_cidr: "fd00:1::/64".into(),
        pod_cidr: "fd00:2::/56".into(),
        service_cidr: "fd00:3::/112".into(),
        ..Default::default()
    });
    config
}

fn v6(config: &mut InfrastructureConfig) -> &mut Ipv6Config {
    config.networks.ipv6.get_or_insert_default()
}

fn errors(config: &InfrastructureConfig, context: &StaticContext<'_>) -> Vec<String> {
    validate(config, context, &Path::nil()).errors.iter().map(ToString::to_string).collect()
}

/// Each case: rule and name, a good config, what is changed about it, and all the errors that follow.
#[test]
fn each_rule_tells_its_path_kind_and_reason() {
    let cases: Vec<(&str, InfrastructureConfig, Change, Vec<String>)> = vec![
        ("0 pattern 1", managed(), |_| {}, vec![]),
        ("0 pattern 4", given(), |_| {}, vec![]),
        ("0 given dual-stack", given_dual_stack(), |_| {}, vec![]),
        ("0 own dual-stack", managed_dual_stack(), |_| {}, vec![]),
        ("0 pattern 2", managed(), |c| c.networks.id = Some(A.into()), vec![]),
        (
            "0 pattern 3",
            managed(),
            |c| {
                c.networks.id = Some(A.into());
                c.networks.router = Some(Router { id: B.into() });
            },
            vec![],
        ),
        (
            "0 pattern 5 needs a given network only",
            managed(),
            |c| {
                c.networks.id = Some(A.into());
                c.networks.security_group_id = Some(B.into());
            },
            vec![],
        ),
        (
            "0 a share network of ours on a given subnet",
            given(),
            |c| c.networks.share_network = Some(ShareNetwork { enabled: true }),
            vec![],
        ),
        ("0 IPv6 from a pool", managed(), |c| v6(c).subnet_pool_id = Some("pool".into()), vec![]),
        (
            "0 new ids as 32 digits",
            given(),
            |c| c.networks.subnet_id = Some(B.replace('-', "")),
            vec![],
        ),
        (
            "1 no floating pool",
            managed(),
            |c| c.floating_pool_name.clear(),
            vec!["floatingPoolName: Required value: cannot be empty".into()],
        ),
        (
            "1 floating pool with braces",
            managed(),
            |c| c.floating_pool_name = "{pool}".into(),
            vec![r#"floatingPoolName: Invalid value: "{pool}": does not match expected regex "^[^{}\\[\\]\\n]+$""#.into()],
        ),
        (
            "2 nothing says where workers live",
            managed(),
            |c| c.networks.workers.clear(),
            vec!["networks.workers: Required value: must specify the network range for the worker network, a subnet pool or an existing subnet".into()],
        ),
        ("2 the deprecated field is enough", managed(), |c| std::mem::swap(&mut c.networks.worker, &mut c.networks.workers), vec![]),
        (
            "3 pool and range",
            managed(),
            |c| c.networks.subnet_pool = Some(SubnetPool { id: "p".into(), prefix_length: 24 }),
            vec![r#"networks.subnetPool: Invalid value: {"id":"p","prefixLength":24}: networks.subnetPool is mutually exclusive with networks.workers and networks.worker"#.into()],
        ),
        (
            "4 subnet and workers",
            given(),
            |c| c.networks.workers = "10.250.0.0/19".into(),
            vec![format!("networks.subnetId: Invalid value: \"{B}\": networks.subnetId is mutually exclusive with networks.workers and networks.worker")],
        ),
        (
            "4 subnet and worker",
            given(),
            |c| c.networks.worker = "10.250.0.0/19".into(),
            vec![format!("networks.subnetId: Invalid value: \"{B}\": networks.subnetId is mutually exclusive with networks.workers and networks.worker")],
        ),
        (
            "4 subnet and pool",
            given(),
            |c| c.networks.subnet_pool = Some(SubnetPool { id: "p".into(), prefix_length: 24 }),
            vec![format!("networks.subnetId: Invalid value: \"{B}\": networks.subnetId is mutually exclusive with networks.subnetPool")],
        ),
        (
            "5 unreadable workers",
            managed(),
            |c| c.networks.workers = "10.250.0/19".into(),
            vec![r#"networks.workers: Invalid value: "10.250.0/19": invalid CIDR address: 10.250.0/19"#.into()],
        ),
        (
            "5 host bits in workers",
            managed(),
            |c| c.networks.workers = "10.250.0.3/19".into(),
            vec![r#"networks.workers: Invalid value: "10.250.0.3/19": must be valid canonical CIDR"#.into()],
        ),
        (
            "5 both fields are checked",
            managed(),
            |c| {
                c.networks.worker = "x".into();
                c.networks.workers = "y".into();
            },
            vec![
                r#"networks.worker: Invalid value: "x": invalid CIDR address: x"#.into(),
                r#"networks.workers: Invalid value: "y": invalid CIDR address: y"#.into(),
            ],
        ),
        (
            "6 workers outside of the nodes",
            managed(),
            |c| c.networks.workers = "10.0.0.0/19".into(),
            vec![r#"networks.workers: Invalid value: "10.0.0.0/19": must be a subset of "networking.nodes" ("10.250.0.0/16")"#.into()],
        ),
        (
            "6 the deprecated field alone",
            managed(),
            |c| {
                c.networks.workers.clear();
                c.networks.worker = "10.0.0.0/19".into();
            },
            vec![r#"networks.worker: Invalid value: "10.0.0.0/19": must be a subset of "networking.nodes" ("10.250.0.0/16")"#.into()],
        ),
        ("6 with both only workers is compared", managed(), |c| c.networks.worker = "10.0.0.0/19".into(), vec![]),
        (
            "7 pool without id; 8 and without length",
            managed(),
            |c| {
                c.networks.workers.clear();
                c.networks.subnet_pool = Some(SubnetPool::default());
            },
            vec![
                "networks.subnetPool.id: Required value: must provide the id of the subnet pool".into(),
                "networks.subnetPool.prefixLength: Invalid value: 0: must be a prefix length between 1 and 32".into(),
            ],
        ),
        (
            "8 pool length too long",
            managed(),
            |c| {
                c.networks.workers.clear();
                c.networks.subnet_pool = Some(SubnetPool { id: "any text".into(), prefix_length: 33 });
            },
            vec!["networks.subnetPool.prefixLength: Invalid value: 33: must be a prefix length between 1 and 32".into()],
        ),
        (
            "9 network id",
            managed(),
            |c| c.networks.id = Some("net".into()),
            vec![r#"networks.id: Invalid value: "net": must be a valid UUID: invalid UUID length: 3"#.into()],
        ),
        (
            "10 subnet without network",
            given(),
            |c| c.networks.id = None,
            vec![format!("networks.subnetId: Invalid value: \"{B}\": networks.id must be provided when networks.subnetId is set")],
        ),
        (
            "11 subnet without router",
            given(),
            |c| c.networks.router = None,
            vec![format!("networks.subnetId: Invalid value: \"{B}\": networks.router.id must be provided when networks.subnetId is set; the router must already have an interface to the subnet")],
        ),
        (
            "11 subnet with an empty router id; 15",
            given(),
            |c| c.networks.router = Some(Router::default()),
            vec![
                format!("networks.subnetId: Invalid value: \"{B}\": networks.router.id must be provided when networks.subnetId is set; the router must already have an interface to the subnet"),
                r#"networks.router.id: Invalid value: "": router id must not be empty when router key is provided"#.into(),
            ],
        ),
        (
            "12 subnet id",
            given(),
            |c| c.networks.subnet_id = Some("sub".into()),
            vec![r#"networks.subnetId: Invalid value: "sub": must be a valid UUID: invalid UUID length: 3"#.into()],
        ),
        (
            "12 subnet id in braces",
            given(),
            |c| c.networks.subnet_id = Some(format!("{{{B}}}")),
            vec![format!("networks.subnetId: Invalid value: \"{{{B}}}\": must be a valid UUID: only 36 characters or 32 hexadecimal digits are accepted")],
        ),
        (
            "13 security group without network, and its id",
            managed(),
            |c| c.networks.security_group_id = Some("sg".into()),
            vec![
                r#"networks.securityGroupId: Invalid value: "sg": networks.id must be provided when networks.securityGroupId is set"#.into(),
                r#"networks.securityGroupId: Invalid value: "sg": must be a valid UUID: invalid UUID length: 2"#.into(),
            ],
        ),
        (
            "14 share network without network, beside an own one, and its id",
            managed(),
            |c| {
                c.networks.share_network_id = Some("sn".into());
                c.networks.share_network = Some(ShareNetwork { enabled: true });
            },
            vec![
                r#"networks.shareNetworkId: Invalid value: "sn": networks.id must be provided when networks.shareNetworkId is set"#.into(),
                r#"networks.shareNetworkId: Invalid value: "sn": networks.shareNetworkId is mutually exclusive with networks.shareNetwork.enabled"#.into(),
                r#"networks.shareNetworkId: Invalid value: "sn": must be a valid UUID: invalid UUID length: 2"#.into(),
            ],
        ),
        (
            "14 a share network that is not enabled does not matter",
            given(),
            |c| {
                c.networks.share_network_id = Some(A.into());
                c.networks.share_network = Some(ShareNetwork { enabled: false });
            },
            vec![],
        ),
        (
            "15 router id",
            managed(),
            |c| c.networks.router = Some(Router { id: "rrrrrrrr-rrrr-rrrr-rrrr-rrrrrrrrrrrr".into() }),
            vec![r#"networks.router.id: Invalid value: "rrrrrrrr-rrrr-rrrr-rrrr-rrrrrrrrrrrr": must be a valid UUID: invalid UUID format"#.into()],
        ),
        (
            "16 floating subnet name",
            managed(),
            |c| c.floating_pool_subnet_name = Some(String::new()),
            vec!["floatingPoolSubnetName: Required value: cannot be empty".into()],
        ),
        (
            "17 floating subnet name and a given router",
            managed(),
            |c| {
                c.floating_pool_subnet_name = Some("fip-*".into());
                c.networks.router = Some(Router { id: A.into() });
            },
            vec!["router: Forbidden: router cannot be set when floatingPoolSubnetName is given: an existing router has its external address already".into()],
        ),
        (
            "18 empty IPv6 block",
            managed(),
            |c| c.networks.ipv6 = Some(Ipv6Config::default()),
            vec!["networks.ipv6: Required value: must specify subnetPoolID, nodeSubnetId or all of nodeCIDR, podCIDR and serviceCIDR".into()],
        ),
        (
            "19 one range brings all",
            managed(),
            |c| v6(c).node_cidr = "fd00::/64".into(),
            vec![
                "networks.ipv6.podCIDR: Required value: must be provided when any of nodeCIDR, podCIDR and serviceCIDR is set".into(),
                "networks.ipv6.serviceCIDR: Required value: must be provided when any of nodeCIDR, podCIDR and serviceCIDR is set".into(),
            ],
        ),
        (
            "20 unreadable, with host bits, of the other family",
            managed_dual_stack(),
            |c| {
                v6(c).node_cidr = "fd00".into();
                v6(c).pod_cidr = "fd00:2::1/56".into();
                v6(c).service_cidr = "10.0.0.0/16".into();
            },
            vec![
                r#"networks.ipv6.nodeCIDR: Invalid value: "fd00": invalid CIDR address: fd00"#.into(),
                r#"networks.ipv6.podCIDR: Invalid value: "fd00:2::1/56": must be valid canonical CIDR"#.into(),
                r#"networks.ipv6.serviceCIDR: Invalid value: "10.0.0.0/16": must be a valid IPv6 address"#.into(),
            ],
        ),
        (
            "21 the later one overlaps",
            managed_dual_stack(),
            |c| {
                v6(c).node_cidr = "fd00::/32".into();
                v6(c).pod_cidr = "fd00::/56".into();
            },
            vec![r#"networks.ipv6.podCIDR: Invalid value: "fd00::/56": must not overlap with "networks.ipv6.nodeCIDR" ("fd00::/32")"#.into()],
        ),
        (
            "21 services overlap nodes and pods",
            managed_dual_stack(),
            |c| v6(c).service_cidr = "fd00::/16".into(),
            vec![
                r#"networks.ipv6.serviceCIDR: Invalid value: "fd00::/16": must not overlap with "networks.ipv6.nodeCIDR" ("fd00:1::/64")"#.into(),
                r#"networks.ipv6.serviceCIDR: Invalid value: "fd00::/16": must not overlap with "networks.ipv6.podCIDR" ("fd00:2::/56")"#.into(),
            ],
        ),
        (
            "22 pods of ours too small",
            managed_dual_stack(),
            |c| v6(c).pod_cidr = "fd00:2::/65".into(),
            vec![r#"networks.ipv6.podCIDR: Invalid value: "fd00:2::/65": IPv6 pod CIDR prefix length must be ≤ 64; the kube-controller-manager allocates a /64 per node"#.into()],
        ),
        ("22 a single node's worth is enough", given_dual_stack(), |c| v6(c).pod_cidr = "fd00::/64".into(), vec![]),
        (
            "22 pods beside a given subnet too small",
            given_dual_stack(),
            |c| v6(c).pod_cidr = "fd00::/112".into(),
            vec![r#"networks.ipv6.podCIDR: Invalid value: "fd00::/112": IPv6 pod CIDR prefix length must be ≤ 64; the kube-controller-manager allocates a /64 per node"#.into()],
        ),
        (
            "23 given subnet beside pool and range, and its id",
            given_dual_stack(),
            |c| {
                v6(c).node_subnet_id = Some("six".into());
                v6(c).subnet_pool_id = Some("pool".into());
                v6(c).node_cidr = "not looked at".into();
            },
            vec![
                r#"networks.ipv6.nodeSubnetId: Invalid value: "six": networks.ipv6.nodeSubnetId is mutually exclusive with networks.ipv6.subnetPoolID"#.into(),
                r#"networks.ipv6.nodeSubnetId: Invalid value: "six": networks.ipv6.nodeSubnetId is mutually exclusive with networks.ipv6.nodeCIDR"#.into(),
                r#"networks.ipv6.nodeSubnetId: Invalid value: "six": must be a valid UUID: invalid UUID length: 3"#.into(),
            ],
        ),
        (
            "24 given subnet without ranges",
            given_dual_stack(),
            |c| {
                v6(c).pod_cidr.clear();
                v6(c).service_cidr.clear();
            },
            vec![
                "networks.ipv6.podCIDR: Required value: networks.ipv6.podCIDR must be provided when networks.ipv6.nodeSubnetId is set".into(),
                "networks.ipv6.serviceCIDR: Required value: networks.ipv6.serviceCIDR must be provided when networks.ipv6.nodeSubnetId is set".into(),
            ],
        ),
        (
            "24 overlap beside a given subnet",
            given_dual_stack(),
            |c| v6(c).service_cidr = "fd00::/112".into(),
            vec![r#"networks.ipv6.serviceCIDR: Invalid value: "fd00::/112": must not overlap with "networks.ipv6.podCIDR" ("fd00::/56")"#.into()],
        ),
        (
            "25, 26 and 27 given IPv6 subnet without network, router and IPv4 subnet",
            given_dual_stack(),
            |c| {
                c.networks.id = None;
                c.networks.router = None;
                c.networks.subnet_id = None;
                c.networks.workers = "10.250.0.0/19".into();
            },
            vec![
                format!("networks.ipv6.nodeSubnetId: Invalid value: \"{A}\": networks.id must be provided when networks.ipv6.nodeSubnetId is set"),
                format!("networks.ipv6.nodeSubnetId: Invalid value: \"{A}\": networks.router.id must be provided when networks.ipv6.nodeSubnetId is set; the router must already have an interface to the subnet"),
                format!("networks.ipv6.nodeSubnetId: Invalid value: \"{A}\": networks.subnetId must be provided when networks.ipv6.nodeSubnetId is set"),
            ],
        ),
    ];
    for (case, mut config, change, expected) in cases {
        change(&mut config);
        assert_eq!(errors(&config, &NODES), expected, "rule {case}");
    }
}

/// What upstream accepts and we accept too, but say something about.
#[test]
fn what_merely_looks_wrong_is_a_warning() {
    const IPV4_ONLY: StaticContext<'_> = StaticContext { nodes: None, ip_families: Some(&[IpFamily::Ipv4]) };
    const UNSAID: StaticContext<'_> = StaticContext { nodes: None, ip_families: Some(&[]) };
    const DUAL: StaticContext<'_> = StaticContext { nodes: None, ip_families: Some(&[IpFamily::Ipv4, IpFamily::Ipv6]) };
    let cases: Vec<(&str, StaticContext<'_>, InfrastructureConfig, Change, &[&str])> = vec![
        ("nothing", NOTHING, managed(), |_| {}, &[]),
        ("worker equal to workers", NOTHING, managed(), |c| c.networks.worker = c.networks.workers.clone(), &[]),
        ("worker differs", NOTHING, managed(), |c| c.networks.worker = "10.0.0.0/8".into(), &["networks.worker"]),
        ("IPv6 workers", NOTHING, managed(), |c| c.networks.workers = "fd00::/64".into(), &["networks.workers"]),
        (
            "IPv6 worker",
            NOTHING,
            managed(),
            |c| c.networks.worker = "fd00::/64".into(),
            &["networks.worker", "networks.worker"],
        ),
        ("network id as URN", NOTHING, managed(), |c| c.networks.id = Some(format!("urn:uuid:{A}")), &["networks.id"]),
        (
            "router id in braces",
            NOTHING,
            given(),
            |c| c.networks.router = Some(Router { id: format!("{{{A}}}") }),
            &["networks.router.id"],
        ),
        (
            "pool beside ranges",
            NOTHING,
            managed_dual_stack(),
            |c| v6(c).subnet_pool_id = Some("p".into()),
            &["networks.ipv6.subnetPoolID"],
        ),
        (
            "given IPv4 subnet, IPv6 from a pool",
            NOTHING,
            given(),
            |c| v6(c).subnet_pool_id = Some("p".into()),
            &["networks.ipv6"],
        ),
        (
            "given IPv4 subnet, IPv6 ranges",
            NOTHING,
            managed_dual_stack(),
            |c| {
                let ipv6 = c.networks.ipv6.take();
                *c = given();
                c.networks.ipv6 = ipv6;
            },
            &["networks.ipv6"],
        ),
        ("given IPv6 subnet, families unknown", NOTHING, given_dual_stack(), |_| {}, &[]),
        ("given IPv6 subnet, dual-stack", DUAL, given_dual_stack(), |_| {}, &[]),
        ("given IPv6 subnet, IPv4 only", IPV4_ONLY, given_dual_stack(), |_| {}, &["networks.ipv6.nodeSubnetId"]),
        ("given IPv6 subnet, no family said", UNSAID, given_dual_stack(), |_| {}, &["networks.ipv6.nodeSubnetId"]),
    ];
    for (case, context, mut config, change, expected) in cases {
        change(&mut config);
        let findings = validate(&config, &context, &Path::nil());
        assert!(findings.errors.is_empty(), "{case}: {}", findings.errors);
        let fields: Vec<&str> = findings.warnings.iter().map(|warning| warning.field.as_str()).collect();
        assert_eq!(fields, expected, "{case}");
        assert!(findings.warnings.iter().all(|warning| !warning.detail.is_empty()), "{case}");
    }
}

#[test]
fn the_minimal_example_of_the_specification_fails_on_its_router_id_only() {
    let yaml = r#"
apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
kind: InfrastructureConfig
floatingPoolName: MY-FLOATING-POOL
networks:
  id: "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"      # existing network
  subnetId: "11111111-2222-3333-4444-555555555555" # existing subnet
  router:
    id: "rrrrrrrr-rrrr-rrrr-rrrr-rrrrrrrrrrrr"    # existing router (required)
"#;
    let documents = decode::documents("example.yaml", yaml.as_bytes()).unwrap();
    let config: InfrastructureConfig = documents[0].strict().unwrap();
    let findings = validate(&config, &NODES, &Path::new("spec.provider.infrastructureConfig"));
    assert_eq!(
        findings.errors.to_string(),
        r#"spec.provider.infrastructureConfig.networks.router.id: Invalid value: "rrrrrrrr-rrrr-rrrr-rrrr-rrrrrrrrrrrr": must be a valid UUID: invalid UUID format"#
    );
    assert!(findings.warnings.is_empty());
}

#[test]
fn overlap_messages_name_the_other_field_by_its_full_path() {
    let mut config = given_dual_stack();
    v6(&mut config).service_cidr = "fd00::/112".into();
    let findings = validate(&config, &NOTHING, &Path::new("spec.c"));
    assert_eq!(
        findings.errors.to_string(),
        r#"spec.c.networks.ipv6.serviceCIDR: Invalid value: "fd00::/112": must not overlap with "spec.c.networks.ipv6.podCIDR" ("fd00::/56")"#
    );
}
