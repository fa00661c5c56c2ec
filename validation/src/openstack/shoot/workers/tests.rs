use super::*;

fn workers(value: Value) -> Vec<Worker> {
    decode::lenient(&value).unwrap()
}

fn told(errors: ErrorList) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

/// A pool with a `WorkerConfig` of these fields.
fn configured(fields: Value) -> Value {
    let mut config = json!({
        "apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1",
        "kind": "WorkerConfig",
    });
    config.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    json!([{"name": "a", "zones": ["z"], "labels": {"pool": "a"}, "providerConfig": config}])
}

#[test]
fn a_pool_is_judged_alone() {
    let label = |labels: Value| configured(json!({ "machineLabels": labels }));
    let template = |template: Value| configured(json!({ "nodeTemplate": template }));
    let cases: Vec<(&str, Value, &[&str])> = vec![
        ("good", json!([{"name": "a", "zones": ["z"], "volume": {"type": "t", "size": "20Gi"}}]), &[]),
        ("size without type", json!([{"name": "a", "zones": ["z"], "volume": {"size": "20Gi"}}]), &[]),
        (
            "no zones",
            json!([{"name": "a", "zones": ["z"]}, {"name": "b"}]),
            &["w[1].zones: Required value: at least one zone must be configured"],
        ),
        (
            "a volume's type without size",
            json!([{"name": "a", "zones": ["z"], "volume": {"type": "t"}}]),
            &["w[0].volume.type: Forbidden: specifying volume type without a custom volume size is not allowed"],
        ),
        ("an empty config", configured(json!({})), &[]),
        ("no config", json!([{"name": "a", "zones": ["z"], "providerConfig": null}]), &[]),
        (
            "an unknown field and one of another type",
            configured(json!({"servergroup": {}, "machineLabels": {}})),
            &[
                "w[0].providerConfig.servergroup: Forbidden: unknown field",
                "w[0].providerConfig.machineLabels: Invalid value: invalid type: map, expected a sequence",
            ],
        ),
        (
            "another kind",
            json!([{"name": "a", "zones": ["z"], "providerConfig": {"apiVersion": "v1", "kind": "WorkerConfig"}}]),
            &[
                r#"w[0].providerConfig.kind: Invalid value: "WorkerConfig": expected WorkerConfig of openstack.provider.extensions.gardener.cloud/v1alpha1, found WorkerConfig of v1"#,
            ],
        ),
        (
            "a server group without policy",
            configured(json!({"serverGroup": {}})),
            &[r#"w[0].providerConfig.serverGroup.policy: Invalid value: "": policy field cannot be empty"#],
        ),
        ("affinity in one zone", configured(json!({"serverGroup": {"policy": "affinity"}})), &[]),
        (
            "labels",
            label(json!([{"name": "x", "value": "1"}, {"name": "y", "value": "1", "triggerRollingOnUpdate": true}])),
            &[],
        ),
        (
            "labels without name and value",
            label(json!([{}])),
            &[
                "w[0].providerConfig.machineLabels[0].name: Required value: cannot be empty",
                "w[0].providerConfig.machineLabels[0].value: Required value: cannot be empty",
            ],
        ),
        (
            "a label twice, and one of the pool's",
            label(json!([{"name": "x", "value": "1"}, {"name": "x", "value": "2"}, {"name": "pool", "value": "1"}])),
            &[
                r#"w[0].providerConfig.machineLabels[1].name: Duplicate value: "x""#,
                r#"w[0].providerConfig.machineLabels[2].name: Invalid value: "pool": label name already defined as pool label"#,
            ],
        ),
        (
            "a template",
            template(json!({"capacity": {"cpu": 2, "gpu": "0", "memory": "8Gi"}, "virtualCapacity": {"a.b/c": "1"}})),
            &[],
        ),
        (
            "amounts below zero",
            template(json!({"capacity": {"cpu": "-1", "ephemeral-storage": "-1"}, "virtualCapacity": {"a": -1}})),
            &[
                r#"w[0].providerConfig.nodeTemplate.capacity.cpu: Invalid value: "-1": cpu value must not be negative"#,
                "w[0].providerConfig.nodeTemplate.virtualCapacity.a: Invalid value: -1: a value must not be negative",
            ],
        ),
        (
            "a fraction of what can't be shared",
            template(json!({"virtualCapacity": {"a": "500m"}})),
            &[
                r#"w[0].providerConfig.nodeTemplate.virtualCapacity.a: Invalid value: "500m": a value must be a whole number"#,
            ],
        ),
        (
            "no amounts",
            template(json!({"capacity": {"memory": "8gigs"}})),
            &[
                r#"w[0].providerConfig.nodeTemplate.capacity.memory: Invalid value: "8gigs": no quantity: write a number, such as 2, "500m" or "8Gi""#,
            ],
        ),
    ];
    for (case, value, expected) in cases {
        assert_eq!(told(validate(&workers(value), &Path::new("w"))), expected, "{case}");
    }
}

#[test]
fn affinity_keeps_machines_in_one_zone() {
    let mut value = configured(json!({"serverGroup": {"policy": "affinity"}}));
    value[0]["zones"] = json!(["y", "z"]);
    assert_eq!(
        told(validate(&workers(value), &Path::new("w"))),
        [
            r#"w[0].providerConfig.serverGroup.policy: Forbidden: using "affinity" policy with multiple availability zones is not allowed"#
        ]
    );
}

#[test]
fn a_change_adds_zones_at_the_end_and_leaves_machines_in_place_alone() {
    let zones = |detail: &str| format!("w[0].zones: Invalid value: {detail}");
    let place = |strategy: Value, config: Value, volumes: Value| json!([{"name": "a", "zones": ["x"], "updateStrategy": strategy, "providerConfig": config, "dataVolumes": volumes}]);
    let cases: Vec<(&str, Value, Value, Vec<String>)> = vec![
        ("the same", json!([{"name": "a", "zones": ["x", "y"]}]), json!([{"name": "a", "zones": ["x", "y"]}]), vec![]),
        ("one more", json!([{"name": "a", "zones": ["x", "y"]}]), json!([{"name": "a", "zones": ["x"]}]), vec![]),
        (
            "one less",
            json!([{"name": "a", "zones": ["x"]}]),
            json!([{"name": "a", "zones": ["x", "y"]}]),
            vec![zones(r#"["x"]: field is immutable: zones can only be added, after ["x","y"]"#)],
        ),
        (
            "one more at the front",
            json!([{"name": "a", "zones": ["y", "x"]}]),
            json!([{"name": "a", "zones": ["x"]}]),
            vec![zones(r#"["y","x"]: field is immutable: zones can only be added, after ["x"]"#)],
        ),
        (
            "pools are the same by name",
            json!([{"name": "b", "zones": ["y"]}, {"name": "a", "zones": ["x"]}]),
            json!([{"name": "a", "zones": ["x"]}]),
            vec![],
        ),
        ("rolled", place(json!("AutoRollingUpdate"), json!({"a": 1}), json!([1])), place(json!(null), json!(null), json!(null)), vec![]),
        ("in place, the same", place(json!("AutoInPlaceUpdate"), json!({"a": 1}), json!([1])), place(json!(null), json!({"a": 1}), json!([1])), vec![]),
        (
            "in place, changed",
            place(json!("ManualInPlaceUpdate"), json!({"a": 1}), json!([1])),
            place(json!("ManualInPlaceUpdate"), json!(null), json!([1, 2])),
            vec![
                r#"w[0].providerConfig: Invalid value: {"a":1}: providerConfig is immutable while machines are updated in place"#.into(),
                "w[0].dataVolumes: Invalid value: [1]: dataVolumes is immutable while machines are updated in place".into(),
            ],
        ),
    ];
    for (case, new, old, expected) in cases {
        assert_eq!(told(validate_update(&workers(new), &workers(old), &Path::new("w"))), expected, "{case}");
    }
}

#[test]
fn a_server_group_that_is_new_has_to_be_on_offer() {
    let group = |policy: &str| workers(configured(json!({"serverGroup": {"policy": policy}})));
    let refused = |detail: &str| {
        vec![format!(
            "w[0].providerConfig.serverGroup.policy: Invalid value: \"soft\": no matching server group policy found in cloudprofile: it offers {detail}"
        )]
    };
    type Case<'a> = (&'a str, Vec<Worker>, Option<Vec<Worker>>, &'a [&'a str], Vec<String>);
    let cases: Vec<Case<'_>> = vec![
        ("offered", group("soft"), None, &["hard", "soft"], vec![]),
        ("not offered", group("soft"), None, &["hard"], refused(r#"["hard"]"#)),
        ("nothing offered", group("soft"), None, &[], refused("none")),
        ("as before", group("soft"), Some(group("soft")), &[], vec![]),
        ("changed", group("soft"), Some(group("hard")), &["hard"], refused(r#"["hard"]"#)),
        ("a new pool", group("soft"), Some(vec![]), &["hard"], refused(r#"["hard"]"#)),
        ("no policy was told already", group(""), None, &[], vec![]),
        ("no group", workers(configured(json!({}))), None, &[], vec![]),
    ];
    for (case, new, old, policies, expected) in cases {
        let profile = CloudProfileConfig {
            server_group_policies: policies.iter().map(|policy| (*policy).to_owned()).collect(),
            ..Default::default()
        };
        let errors = validate_offer(&new, old.as_deref(), &profile, &Path::new("w"));
        assert_eq!(told(errors), expected, "{case}");
        let needed = case != "as before" && case != "no group";
        assert_eq!(need_offer(&new, old.as_deref()), needed, "{case}");
    }
}
