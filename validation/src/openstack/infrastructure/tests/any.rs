use fabric_apis::decode;
use proptest::prelude::*;

use super::*;

// Boxed, because the unboxed strategies of a whole config don't fit a test thread's stack.
fn any_text() -> BoxedStrategy<String> {
    prop_oneof![
        Just(String::new()),
        Just(A.to_owned()),
        Just("10.250.0.0/19".to_owned()),
        Just("fd00::/56".to_owned()),
        "[0-9a-fA-F:./{}-]{0,45}",
        any::<String>(),
    ]
    .boxed()
}

fn any_config() -> BoxedStrategy<InfrastructureConfig> {
    let ids = (
        proptest::option::of(any_text()),
        proptest::option::of(any_text()),
        proptest::option::of(any_text()),
        proptest::option::of(any_text()),
        proptest::option::of(any_text()),
    );
    let ipv6 = (proptest::option::of(any_text()), any_text(), any_text(), any_text(), proptest::option::of(any_text()));
    let rest = (
        any_text(),
        proptest::option::of(any_text()),
        any_text(),
        any_text(),
        proptest::option::of((any_text(), any::<i64>())),
        proptest::option::of(any::<bool>()),
    );
    (ids, proptest::option::of(ipv6), rest)
        .prop_map(|(ids, ipv6, rest)| {
            let mut config = InfrastructureConfig {
                floating_pool_name: rest.0,
                floating_pool_subnet_name: rest.1,
                ..Default::default()
            };
            let networks = &mut config.networks;
            networks.id = ids.0;
            networks.subnet_id = ids.1;
            networks.security_group_id = ids.2;
            networks.share_network_id = ids.3;
            networks.router = ids.4.map(|id| Router { id });
            networks.worker = rest.2;
            networks.workers = rest.3;
            networks.subnet_pool = rest.4.map(|(id, prefix_length)| SubnetPool { id, prefix_length });
            networks.share_network = rest.5.map(|enabled| ShareNetwork { enabled });
            networks.ipv6 = ipv6.map(|ipv6| Ipv6Config {
                subnet_pool_id: ipv6.0,
                node_cidr: ipv6.1,
                pod_cidr: ipv6.2,
                service_cidr: ipv6.3,
                node_subnet_id: ipv6.4,
            });
            config
        })
        .boxed()
}

proptest! {
    #[test]
    fn any_config_is_judged_without_panic_and_always_alike(
        config in any_config(),
        other in any_config(),
        nodes in proptest::option::of(any_text()),
    ) {
        let context = StaticContext { nodes: nodes.as_deref(), ip_families: Some(&[]) };
        let findings = validate(&config, &context, &Path::nil());
        prop_assert_eq!(&findings, &validate(&config.clone(), &context, &Path::nil()));
        prop_assert!(findings.errors.iter().all(|error| !error.field.is_empty()));
        prop_assert!(validate_update(&config, &config, &Path::nil()).is_empty());
        // A change is told both ways, except that a share network may be asked for later.
        let mut other = other;
        other.networks.share_network = config.networks.share_network.clone();
        prop_assert_eq!(
            validate_update(&other, &config, &Path::nil()).len(),
            validate_update(&config, &other, &Path::nil()).len()
        );
    }

    #[test]
    fn a_config_survives_its_own_encoding(config in any_config()) {
        let value = serde_json::to_value(&config).unwrap();
        let back: InfrastructureConfig = decode::strict(&value, std::iter::empty()).unwrap();
        prop_assert_eq!(back, config);
    }
}
