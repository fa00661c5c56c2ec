use fabric_apis::decode;
use fabric_apis::openstack::v1alpha1::{CsiManila, FloatingPool, ShareNetwork, Storage};

use super::*;

fn config(value: Value) -> ControlPlaneConfig {
    decode::lenient(&value).unwrap()
}

fn class(value: Value) -> LoadBalancerClass {
    decode::lenient(&value).unwrap()
}

fn told(errors: ErrorList) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn a_config_is_judged_alone() {
    let classes = |classes: Value| json!({"loadBalancerProvider": "amphora", "loadBalancerClasses": classes});
    let cases: Vec<(&str, Value, &[&str])> = vec![
        ("good", json!({"loadBalancerProvider": "amphora"}), &[]),
        (
            "no provider",
            json!({}),
            &["c.loadBalancerProvider: Required value: must provide the name of a load balancer provider"],
        ),
        (
            "each purpose",
            classes(json!([{"name": "a", "purpose": "default"}, {"name": "b", "purpose": "private"}, {"name": "c"}])),
            &[],
        ),
        (
            "vpn is the operator's",
            classes(json!([{"name": "a", "purpose": "vpn"}])),
            &[
                r#"c.loadBalancerClasses[0]: Invalid value: "vpn": a class with purpose "vpn" is for the operator to define, in the CloudProfile"#,
            ],
        ),
        (
            "another purpose",
            classes(json!([{"name": "a", "purpose": "public"}])),
            &[
                r#"c.loadBalancerClasses[0]: Invalid value: "public": no purpose of a load balancer class: it is "default", "private", or none"#,
            ],
        ),
        (
            "one selector",
            classes(json!([{"name": "a", "floatingSubnetTags": "t", "floatingNetworkID": "n", "subnetID": "s"}])),
            &[],
        ),
        (
            "two selectors",
            classes(json!([{"name": "a", "floatingSubnetID": "i", "floatingSubnetName": "n"}])),
            &[
                "c.loadBalancerClasses[0]: Forbidden: a floating subnet is chosen by one of floatingSubnetID, floatingSubnetName and floatingSubnetTags",
            ],
        ),
        (
            "a name twice",
            classes(json!([{"name": "a"}, {"name": "a"}])),
            &[r#"c.loadBalancerClasses[1].name: Duplicate value: "a""#],
        ),
        (
            "two defaults, one by its name",
            classes(json!([{"name": "a", "purpose": "default"}, {"name": "default"}])),
            &[
                r#"c.loadBalancerClasses: Invalid value: [{"name":"a","purpose":"default"},{"name":"default"}]: only one class can be the default one, by its purpose or by its name"#,
            ],
        ),
        (
            "three private ones are two too many",
            classes(
                json!([{"name": "private"}, {"name": "b", "purpose": "private"}, {"name": "c", "purpose": "private"}]),
            ),
            &[r#"c.loadBalancerClasses: Invalid value: [{"name":"private"},{"name":"b","purpose":"private"},{"name":"c","purpose":"private"}]: only one class can be the private one, by its purpose or by its name"#;
                2],
        ),
        (
            "feature gates",
            json!({"loadBalancerProvider": "amphora", "cloudControllerManager": {"featureGates": {"CSIMigration": true, "IPv6DualStack": false}}}),
            &[],
        ),
        (
            "no feature gates",
            json!({"loadBalancerProvider": "amphora", "cloudControllerManager": {"featureGates": {"a-b": true, "": true, "1a": true}}}),
            &[
                r#"c.cloudControllerManager.featureGates.: Invalid value: "": no name of a Kubernetes feature: they are letters and digits only"#,
                r#"c.cloudControllerManager.featureGates.1a: Invalid value: "1a": no name of a Kubernetes feature: they are letters and digits only"#,
                r#"c.cloudControllerManager.featureGates.a-b: Invalid value: "a-b": no name of a Kubernetes feature: they are letters and digits only"#,
            ],
        ),
    ];
    for (case, value, expected) in cases {
        assert_eq!(told(validate(&config(value), None, &Path::new("c"))), expected, "{case}");
    }
}

#[test]
fn the_manila_driver_needs_a_share_network_made_or_given() {
    let with = |share_network: Option<bool>, id: Option<&str>| {
        let mut config = InfrastructureConfig::default();
        config.networks.share_network = share_network.map(|enabled| ShareNetwork { enabled });
        config.networks.share_network_id = id.map(str::to_owned);
        config
    };
    let refused = ["c.storage.csiManila.enabled: Invalid value: true: the Manila driver needs a share network: set \
         networks.shareNetwork.enabled or networks.shareNetworkId in infrastructureConfig"];
    let cases: [(bool, Option<InfrastructureConfig>, &[&str]); 6] = [
        (true, Some(with(None, None)), &refused),
        (true, Some(with(Some(false), None)), &refused),
        (true, Some(with(Some(true), None)), &[]),
        (true, Some(with(None, Some("id"))), &[]),
        (false, Some(with(None, None)), &[]),
        // What could not be read was told already.
        (true, None, &[]),
    ];
    for (enabled, infrastructure, expected) in cases {
        let config = ControlPlaneConfig {
            load_balancer_provider: "amphora".into(),
            storage: Some(Storage { csi_manila: Some(CsiManila { enabled }) }),
            ..Default::default()
        };
        assert_eq!(told(validate(&config, infrastructure.as_ref(), &Path::new("c"))), expected, "{infrastructure:?}");
    }
}

/// Providers of region `r`, of everywhere and of another region; pools with and without classes.
fn profile() -> CloudProfileConfig {
    let mut profile = CloudProfileConfig::default();
    let provider = |name: &str, region: Option<&str>| LoadBalancerProvider {
        name: name.into(),
        region: region.map(str::to_owned),
    };
    profile.constraints.load_balancer_providers = vec![
        provider("global", None),
        provider("ovn", Some("r")),
        provider("amphora", Some("r")),
        provider("x", Some("x")),
    ];
    profile.constraints.floating_pools = vec![
        FloatingPool { name: "any".into(), ..Default::default() },
        FloatingPool {
            name: "few".into(),
            load_balancer_classes: vec![
                class(json!({"name": "a", "floatingNetworkID": "n"})),
                class(json!({"name": "b"})),
            ],
            ..Default::default()
        },
    ];
    profile
}

#[test]
fn what_is_new_or_changed_has_to_be_on_offer() {
    let new = |provider: &str, classes: Value| {
        config(json!({"loadBalancerProvider": provider, "loadBalancerClasses": classes}))
    };
    let provider = [r#"c.loadBalancerProvider: Unsupported value: "global": supported values: "ovn", "amphora""#];
    let other = [
        r#"c.loadBalancerClasses[1]: Unsupported value: {"name":"c"}: supported values: "{\"name\":\"a\",\"floatingNetworkID\":\"n\"}", "{\"name\":\"b\"}""#,
    ];
    let (b, bc) = (json!([{"name": "b"}]), json!([{"name": "b"}, {"name": "c"}]));
    type Case<'a> = (&'a str, ControlPlaneConfig, Option<ControlPlaneConfig>, &'a str, &'a str, &'a [&'a str]);
    let cases: Vec<Case<'_>> = vec![
        ("a provider of the region", new("ovn", json!([])), None, "any", "r", &[]),
        ("providers of the region hide those of everywhere", new("global", json!([])), None, "any", "r", &provider),
        ("no provider of the region: those of everywhere", new("global", json!([])), None, "any", "q", &[]),
        ("a provider as before", new("global", json!([])), Some(new("global", b.clone())), "any", "r", &[]),
        ("a changed provider", new("global", json!([])), Some(new("ovn", json!([]))), "any", "r", &provider),
        ("an empty one was told already", new("", json!([])), None, "any", "r", &[]),
        ("a pool without classes takes any", new("ovn", bc.clone()), None, "any", "r", &[]),
        ("a class of the pool", new("ovn", b.clone()), None, "few", "r", &[]),
        ("a class that the pool lacks", new("ovn", bc.clone()), None, "few", "r", &other),
        ("classes as before", new("ovn", bc.clone()), Some(new("amphora", bc.clone())), "few", "r", &[]),
        ("changed classes", new("ovn", bc.clone()), Some(new("ovn", b.clone())), "few", "r", &other),
        ("none at all, in no pool", new("ovn", json!([])), None, "gone", "r", &[]),
        (
            "classes of a pool that is not on offer",
            new("ovn", b),
            None,
            "gone",
            "r",
            &[
                r#"c.loadBalancerClasses: Invalid value: [{"name":"b"}]: cannot be compared with those of the floating pool "gone", which the CloudProfile does not offer"#,
            ],
        ),
    ];
    for (case, new, old, pool, region, expected) in cases {
        let offer = Offer { profile: &profile(), domain: "d", region };
        assert_eq!(told(validate_offer(&new, old.as_ref(), pool, &offer, &Path::new("c"))), expected, "{case}");
    }
}
