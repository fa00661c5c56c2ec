use fabric_apis::decode::Document;

use super::*;

fn shoot(networking: Value) -> Value {
    json!({"spec": {"provider": {"type": "openstack", "workers": [{"name": "a"}]}, "networking": networking}})
}

fn document(value: Value) -> Document {
    Document { index: 0, value, duplicates: Vec::new() }
}

/// Each `path = value`.
fn preset(new: Value, old: Option<Value>, overlay: bool) -> Vec<String> {
    let (new, old) = (document(new), old.map(document));
    let reviewed = old.as_ref().map_or_else(|| Reviewed::create(&new), |old| Reviewed::update(&new, old));
    let sets = mutate(&reviewed, &Resolved::new(), &Defaults { overlay }).unwrap();
    sets.into_iter().map(|set| format!("{} = {}", set.path, set.value)).collect()
}

const CONFIG: &str = "/spec/networking/providerConfig";

#[test]
fn a_new_shoot_gets_the_overlay_that_its_operator_wants() {
    let cases: Vec<(&str, Value, bool, Vec<String>)> = vec![
        ("no config", json!({"type": "calico"}), true, vec![format!(r#"{CONFIG} = {{"overlay":{{"enabled":true}}}}"#)]),
        (
            "null",
            json!({"type": "cilium", "providerConfig": null}),
            true,
            vec![format!(r#"{CONFIG} = {{"overlay":{{"enabled":true}}}}"#)],
        ),
        (
            "routes where there is no overlay",
            json!({"type": "calico"}),
            false,
            vec![format!(r#"{CONFIG} = {{"overlay":{{"enabled":false,"createPodRoutes":true}}}}"#)],
        ),
        (
            "a config without the setting is kept",
            json!({"type": "calico", "providerConfig": {"kind": "NetworkConfig", "overlay": null}}),
            true,
            vec![format!(r#"{CONFIG}/overlay = {{"enabled":true}}"#)],
        ),
        ("said on", json!({"type": "calico", "providerConfig": {"overlay": {"enabled": true}}}), false, vec![]),
        (
            "said off, the rest is kept",
            json!({"type": "calico", "providerConfig": {"overlay": {"enabled": false, "more": 1, "createPodRoutes": null}}}),
            true,
            vec![format!(r#"{CONFIG}/overlay = {{"enabled":false,"more":1,"createPodRoutes":true}}"#)],
        ),
        (
            "no routes wanted",
            json!({"type": "calico", "providerConfig": {"overlay": {"enabled": false, "createPodRoutes": false}}}),
            true,
            vec![],
        ),
        ("an overlay that says nothing", json!({"type": "calico", "providerConfig": {"overlay": {}}}), false, vec![]),
        ("an overlay that is none", json!({"type": "calico", "providerConfig": {"overlay": "off"}}), false, vec![]),
        ("a config that is none", json!({"type": "calico", "providerConfig": "x"}), true, vec![]),
        ("another network", json!({"type": "flannel"}), true, vec![]),
        ("no network", json!({}), true, vec![]),
    ];
    for (case, networking, overlay, expected) in cases {
        assert_eq!(preset(shoot(networking), None, overlay), expected, "{case}");
    }
}

#[test]
fn a_change_that_drops_the_overlay_gets_the_old_one_back() {
    let new = |config: Value| shoot(json!({"type": "calico", "pods": "new", "providerConfig": config}));
    let old = |config: Value| Some(shoot(json!({"type": "calico", "providerConfig": config})));
    let on = json!({"overlay": {"enabled": true}});
    let off = json!({"overlay": {"enabled": false}});
    assert_eq!(
        preset(new(json!(null)), old(on.clone()), false),
        [format!(r#"{CONFIG} = {{"overlay":{{"enabled":true}}}}"#)]
    );
    assert_eq!(
        preset(new(json!({})), old(off), true),
        [format!(r#"{CONFIG}/overlay = {{"enabled":false,"createPodRoutes":true}}"#)]
    );
    // One that never said anything must not change its network now.
    assert_eq!(preset(new(json!({})), old(json!(null)), false), Vec::<String>::new());
    assert_eq!(preset(new(on), old(json!(null)), false), Vec::<String>::new());
}

#[test]
fn the_node_local_dns_cache_asks_over_udp() {
    let with = |cache: Value| {
        let mut shoot = shoot(json!({}));
        shoot["spec"]["systemComponents"] = json!({ "nodeLocalDNS": cache });
        shoot
    };
    let set = ["/spec/systemComponents/nodeLocalDNS/forceTCPToUpstreamDNS = false"];
    let cases: [(Value, &[&str]); 6] = [
        (json!({"enabled": true}), &set),
        (json!({"enabled": true, "forceTCPToUpstreamDNS": null}), &set),
        (json!({"enabled": true, "forceTCPToUpstreamDNS": true}), &[]),
        (json!({"enabled": false}), &[]),
        (json!({}), &[]),
        (json!(null), &[]),
    ];
    for (cache, expected) in cases {
        assert_eq!(preset(with(cache.clone()), None, true), expected, "{cache}");
    }
}

#[test]
fn a_shoot_that_must_stay_as_it_is_gets_nothing() {
    let good = || shoot(json!({"type": "calico"}));
    let changed = |pointer: &str, value: Value| {
        let mut shoot = good();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        for name in ["metadata", "status"] {
            shoot.as_object_mut().unwrap().entry(name).or_insert_with(|| json!({}));
        }
        shoot.pointer_mut(parent).unwrap()[key] = value;
        shoot
    };
    let off = || Some(shoot(json!({"type": "calico", "providerConfig": {"overlay": {"enabled": true}}})));
    let operation = |kind: &str, state: &str| changed("/status/lastOperation", json!({"type": kind, "state": state}));
    let deleted = || changed("/metadata/deletionTimestamp", json!("2026-01-01T00:00:00Z"));
    let mut old_in_deletion = off().unwrap();
    old_in_deletion["metadata"] = json!({"deletionTimestamp": "2026-01-01T00:00:00Z"});
    let mut rescheduled = operation("Reconcile", "Succeeded");
    rescheduled["spec"]["seedName"] = json!("b");
    rescheduled["status"]["seedName"] = json!("a");
    let untouched: Vec<(&str, Value, Option<Value>)> = vec![
        ("of another provider", changed("/spec/provider/type", json!("aws")), None),
        ("workerless", changed("/spec/provider/workers", json!([])), None),
        ("in deletion", deleted(), off()),
        ("in deletion before", good(), Some(old_in_deletion)),
        ("with the spec as it was", good(), Some(good())),
        ("migrating", operation("Migrate", "Succeeded"), off()),
        ("being restored", operation("Restore", "Processing"), off()),
        ("about to move", rescheduled, off()),
    ];
    for (case, new, old) in untouched {
        assert_eq!(preset(new, old, true), Vec::<String>::new(), "{case}");
    }
    for (new, old) in [(good(), None), (good(), off()), (operation("Restore", "Succeeded"), off())] {
        assert_eq!(preset(new, old, true).len(), 1);
    }
}
