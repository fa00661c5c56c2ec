//! Gardener's kinds, as definitions made from our types.

use std::collections::BTreeSet;

use fabric_apis::crd;
use fabric_apis::gardener::{Infrastructure, InfrastructureObjectStatus, InfrastructureSpec, SecretReference};
use fabric_test_kube::{Garden, all_of, on_lab};
use k8s_openapi::ByteString;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::objects::{Row, rows};

#[test]
fn every_definition_is_established_structural_and_as_generated() {
    on_lab(async |garden| {
        let api = Api::<CustomResourceDefinition>::all(garden.client);
        for definition in crd::definitions() {
            let name = format!("{}.{}", definition.plural, definition.group);
            let there = serde_json::to_value(api.get(&name).await.unwrap_or_else(|e| panic!("{name}: {e}"))).unwrap();
            all_of(&definition.object["spec"], &there["spec"]).unwrap_or_else(|problem| panic!("{name}: {problem}"));
            let conditions = there["status"]["conditions"].as_array().unwrap();
            let status = |wanted: &str| conditions.iter().find(|one| one["type"] == wanted).map(|one| &one["status"]);
            assert_eq!(status("Established"), Some(&json!("True")), "{name}: {conditions:?}");
            assert_ne!(status("NonStructuralSchema"), Some(&json!("True")), "{name}: {conditions:?}");
        }
    });
}

#[test]
fn every_kind_has_a_row() {
    let known: BTreeSet<_> = crd::definitions().into_iter().map(|one| (one.group, one.plural)).collect();
    assert_eq!(rows().iter().map(|row| (row.group, row.plural)).collect::<BTreeSet<_>>(), known);
}

#[test]
fn a_good_object_of_each_kind_is_kept_with_all_that_nobody_models() {
    on_lab(async |garden| {
        for row in rows() {
            let kept = create(&garden, &row, "good", &row.good).await.unwrap_or_else(|e| panic!("{}: {e}", row.plural));
            all_of(&row.good, &kept).unwrap_or_else(|problem| panic!("{}: {problem}", row.plural));
        }
    });
}

#[test]
fn what_has_the_wrong_type_or_is_missing_is_refused_under_its_field() {
    on_lab(async |garden| {
        let mut refused = 0;
        for row in rows() {
            for &(pointer, value, says) in row.bad {
                let place = format!("{} {pointer} {value}", row.plural);
                let error = create(&garden, &row, "bad", &damaged(&row.good, pointer, value)).await.expect_err(&place);
                let kube::Error::Api(status) = error else { panic!("{place}: {error}") };
                assert_eq!(status.code, 422, "{place}: {status:?}");
                assert!(status.message.contains(says), "{place}: {}", status.message);
                refused += 1;
            }
        }
        assert!(refused > 30, "{refused}");
    });
}

#[test]
fn a_status_is_written_through_its_subresource_and_nowhere_else() {
    on_lab(async |garden| {
        let with_status = |row: &Row| {
            let definitions = crd::definitions();
            let one = definitions.iter().find(|one| (one.group, one.plural) == (row.group, row.plural)).unwrap();
            one.object["spec"]["versions"][0]["subresources"].get("status").is_some()
        };
        let mut seen = 0;
        for row in rows().into_iter().filter(with_status) {
            let mut object = row.good.clone();
            object["status"] = json!({"observedGeneration": 7});
            let made = create(&garden, &row, "status", &object).await.unwrap();
            assert_eq!(made.get("status"), None, "{}", row.plural);

            let api = garden.api(row.group, row.plural);
            let name = made["metadata"]["name"].as_str().unwrap();
            let change = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"more": 1}, "status": {"observedGeneration": 7, "other": [1]}});
            let written = api.patch_status(name, &PatchParams::default(), &Patch::Merge(&change)).await.unwrap();
            let written = serde_json::to_value(written).unwrap();
            assert_eq!(written["status"], change["status"], "{}", row.plural);
            assert_eq!(written["spec"], made["spec"], "{}", row.plural);
            assert_eq!(written["metadata"]["generation"], 1, "{}", row.plural);

            let change = json!({"spec": {"more": 1}, "status": {"observedGeneration": 8}});
            let written = api.patch(name, &PatchParams::default(), &Patch::Merge(&change)).await.unwrap();
            let written = serde_json::to_value(written).unwrap();
            assert_eq!(written["status"]["observedGeneration"], 7, "{}", row.plural);
            assert_eq!(written["metadata"]["generation"], 2, "{}", row.plural);
            seen += 1;
        }
        assert_eq!(seen, 5);
    });
}

#[test]
fn an_infrastructure_of_our_type_comes_back_as_it_was_sent() {
    on_lab(async |garden| {
        let spec = InfrastructureSpec {
            type_: "openstack".to_owned(),
            region: "RegionOne".to_owned(),
            secret_ref: SecretReference { name: "cloudprovider".to_owned(), namespace: garden.namespace.clone() },
            ssh_public_key: Some(ByteString(vec![0, 159, 255])),
            provider_config: Some(json!({"kind": "InfrastructureConfig", "networks": {"workers": "10.0.0.0/19"}})),
            other: json!({"unknown": {"to": ["us"]}}).as_object().unwrap().clone(),
            ..InfrastructureSpec::default()
        };
        let status = InfrastructureObjectStatus {
            state: Some(json!({"data": {"Network": "id"}})),
            egress_cidrs: vec!["192.0.2.1/32".to_owned()],
            observed_generation: Some(1),
            ..InfrastructureObjectStatus::default()
        };
        let api = Api::<Infrastructure>::namespaced(garden.client.clone(), &garden.namespace);
        let mut made = api.create(&PostParams::default(), &Infrastructure::new("web", spec.clone())).await.unwrap();
        assert_eq!(made.spec, spec);
        made.status = Some(status.clone());
        let made = api.replace_status("web", &PostParams::default(), &made).await.unwrap();
        assert_eq!((made.spec, made.status), (spec, Some(status)));
    });
}

/// Creates an object of a row's kind; what stands outside of namespaces goes after the case.
async fn create(garden: &Garden, row: &Row, name: &str, object: &Value) -> kube::Result<Value> {
    let name = garden.cluster_name(name);
    garden.owns(format!("{}.{}/{name}", row.plural, row.group));
    let mut object = object.clone();
    object["metadata"] = json!({"name": name});
    let object: DynamicObject = serde_json::from_value(object).unwrap();
    let kept = garden.api(row.group, row.plural).create(&PostParams::default(), &object).await?;
    Ok(serde_json::to_value(kept).unwrap())
}

/// The object with another value at the pointer, or without it.
fn damaged(good: &Value, pointer: &str, value: &str) -> Value {
    let mut object = good.clone();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let value: Value = serde_json::from_str(value).unwrap();
    let target = object.pointer_mut(parent).unwrap();
    match (value, target) {
        (Value::Null, Value::Object(fields)) => drop(fields.shift_remove(key).unwrap()),
        (value, target) => *target.pointer_mut(&format!("/{key}")).unwrap() = value,
    }
    object
}
