//! Every example is an object that the API server takes, and keeps as it is.

use std::fs;

use fabric_apis::crd;
use fabric_test_kube::{Garden, all_of, documents, filled_in, on_lab, root};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, DynamicObject, PostParams};
use serde_json::{Value, json};

#[test]
fn every_object_of_the_examples_is_taken_and_nothing_of_it_is_lost() {
    on_lab(async |garden| {
        let mut names: Vec<_> = fs::read_dir(root().join("examples"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".yaml") && !name.starts_with("20-crd-"))
            .collect();
        names.sort();
        let mut taken = 0;
        for name in names {
            let text = fs::read_to_string(root().join("examples").join(&name)).unwrap();
            for (index, object) in documents(&filled_in(&text)).into_iter().enumerate() {
                let place = format!("{name}[{index}]");
                taken += usize::from(is_taken(&garden, &place, object).await);
            }
        }
        assert!(taken >= 15, "only {taken} objects");
    });
}

/// Sends an object to the garden's own namespace, under a name that is free. False for what is no object of an API
/// server by itself: a bare config; a namespace.
async fn is_taken(garden: &Garden, place: &str, mut object: Value) -> bool {
    let kind = object["kind"].as_str().unwrap().to_owned();
    object["metadata"]["name"] = json!(garden.cluster_name(&place.to_lowercase().replace(['[', ']', '.'], "-")) + "x");
    object["metadata"].as_object_mut().unwrap().remove("namespace");
    match kind.as_str() {
        "Namespace" | "InfrastructureConfig" => return false,
        "Secret" => {
            let api = Api::<Secret>::namespaced(garden.client.clone(), &garden.namespace);
            let secret = serde_json::from_value(object).unwrap();
            api.create(&PostParams::default(), &secret).await.unwrap_or_else(|error| panic!("{place}: {error}"));
        }
        _ => {
            let definitions = crd::definitions();
            let definition = definitions.iter().find(|one| one.object["spec"]["names"]["kind"] == kind.as_str());
            let definition = definition.unwrap_or_else(|| panic!("{place} is a {kind}, which has no definition"));
            garden.owns(format!(
                "{}.{}/{}",
                definition.plural,
                definition.group,
                object["metadata"]["name"].as_str().unwrap()
            ));
            let sent: DynamicObject = serde_json::from_value(object.clone()).unwrap();
            let api = garden.api(definition.group, definition.plural);
            let kept =
                api.create(&PostParams::default(), &sent).await.unwrap_or_else(|error| panic!("{place}: {error}"));
            // A status comes through its subresource, and only there.
            object.as_object_mut().unwrap().remove("status");
            all_of(&object, &serde_json::to_value(kept).unwrap())
                .unwrap_or_else(|problem| panic!("{place}: {problem}"));
        }
    }
    true
}
