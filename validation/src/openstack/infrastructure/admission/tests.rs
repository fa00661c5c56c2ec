use fabric_apis::decode::Document;
use serde_json::{Value, json};

use super::*;
use crate::openstack::admission::{Lookup, entry};

fn infrastructure(workers: &str) -> Value {
    json!({
        "metadata": {"name": "a", "namespace": "shoot--dev--a"},
        "spec": {
            "type": "openstack",
            "providerConfig": {
                "apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1",
                "kind": "InfrastructureConfig",
                "floatingPoolName": "pool",
                "networks": {"workers": workers},
            },
        },
    })
}

fn changed(pointer: &str, value: Value) -> Value {
    let mut object = infrastructure("10.250.0.0/33");
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    object.pointer_mut(parent).unwrap()[key] = value;
    object
}

fn told(new: Value, old: Option<Value>, cluster: Option<Lookup>) -> Vec<String> {
    let document = |value| Document { index: 0, value, duplicates: Vec::new() };
    let (new, old) = (document(new), old.map(document));
    let reviewed = old.as_ref().map_or_else(|| Reviewed::create(&new), |old| Reviewed::update(&new, old));
    let rules = entry("extensions.gardener.cloud/v1alpha1", "Infrastructure").unwrap().open(reviewed);
    let mut resolved = Resolved::new();
    for reference in rules.references(&resolved) {
        assert_eq!(reference.to_string(), "Cluster shoot--dev--a");
        if let Some(cluster) = &cluster {
            resolved.insert(reference, cluster.clone());
        }
    }
    let findings = rules.judge(&resolved);
    assert!(findings.warnings.is_empty());
    findings.errors.iter().map(ToString::to_string).collect()
}

const UNREADABLE: &str =
    r#"spec.providerConfig.networks.workers: Invalid value: "10.250.0.0/33": invalid CIDR address: 10.250.0.0/33"#;

#[test]
fn the_config_is_judged_with_paths_of_the_object() {
    let config = "/spec/providerConfig";
    assert_eq!(told(infrastructure("10.250.0.0/19"), None, None), Vec::<String>::new());
    assert_eq!(told(infrastructure("10.250.0.0/33"), None, None), [UNREADABLE]);
    assert_eq!(
        told(changed(config, Value::Null), None, None),
        ["spec.providerConfig: Required value: an InfrastructureConfig must be set"]
    );
    // What can be read is judged beside what is unknown.
    assert_eq!(
        told(changed("/spec/providerConfig/networks/extra", json!(1)), None, None),
        ["spec.providerConfig.networks.extra: Forbidden: unknown field", UNREADABLE]
    );
    let foreign = told(changed("/spec/providerConfig/kind", json!("Other")), None, None);
    assert_eq!(foreign.len(), 1);
    assert!(foreign[0].starts_with("spec.providerConfig.kind: Invalid value: \"Other\""), "{foreign:?}");
}

#[test]
fn the_cluster_tells_the_ranges_of_the_shoot_around_it() {
    let cluster = |shoot: Value| Some(Lookup::Found(json!({"spec": {"shoot": shoot}})));
    let nodes = |nodes: &str| cluster(json!({"spec": {"networking": {"nodes": nodes}}}));
    let new = || infrastructure("10.250.0.0/19");
    assert_eq!(told(new(), None, nodes("10.250.0.0/16")), Vec::<String>::new());
    assert_eq!(
        told(new(), None, nodes("10.0.0.0/16")),
        [
            r#"spec.providerConfig.networks.workers: Invalid value: "10.250.0.0/19": must be a subset of "networking.nodes" ("10.0.0.0/16")"#
        ]
    );
    let none = [Lookup::NotFound, Lookup::Unreadable("timed out".into()), Lookup::Found(json!({"spec": 1}))];
    for cluster in none {
        assert_eq!(told(new(), None, Some(cluster)), Vec::<String>::new());
    }
    let leaving = json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}});
    assert_eq!(told(infrastructure("10.250.0.0/33"), None, cluster(leaving)), Vec::<String>::new());
}

#[test]
fn a_changed_config_is_compared_with_the_old_one() {
    let (new, old) = (infrastructure("10.250.0.0/19"), infrastructure("10.250.0.0/20"));
    assert_eq!(
        told(new.clone(), Some(old), None),
        [r#"spec.providerConfig.networks.workers: Invalid value: "10.250.0.0/19": field is immutable"#]
    );
    assert_eq!(told(new, Some(changed("/spec/providerConfig", json!("?"))), None), Vec::<String>::new());
}

#[test]
fn what_no_rule_is_for_passes_whatever_it_says() {
    let exempt = [
        ("of another type", changed("/spec/type", json!("aws")), None),
        ("in deletion", changed("/metadata/deletionTimestamp", json!("2026-01-01T00:00:00Z")), None),
        (
            "with the config as it was",
            changed("/metadata/labels", json!({"a": "b"})),
            Some(infrastructure("10.250.0.0/33")),
        ),
    ];
    for (case, new, old) in exempt {
        assert_eq!(told(new, old, None), Vec::<String>::new(), "{case}");
    }
}
