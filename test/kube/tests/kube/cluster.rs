//! The lab's cluster does what the other cases rely on.

use fabric_test_kube::{on_lab, until};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, ServiceAccount};
use kube::api::{Api, DeleteParams, PostParams};
use serde_json::{Value, json};

#[test]
fn kubectl_helm_and_the_api_server_are_of_the_pinned_release_and_agree() {
    on_lab(async |garden| {
        let versions: Value =
            serde_json::from_str(&garden.kubectl(["version", "-o", "json"]).await.ends_with(0).stdout).unwrap();
        let (client, server) = (&versions["clientVersion"], &versions["serverVersion"]);
        assert!(client["gitVersion"].as_str().unwrap().starts_with("v1."), "{versions}");
        assert_eq!(client["gitVersion"], server["gitVersion"], "{versions}");
        garden.helm(["list"]).await.ends_with(0);
    });
}

#[test]
fn a_namespace_gets_its_service_account_and_takes_its_objects_along() {
    on_lab(async |garden| {
        let accounts = Api::<ServiceAccount>::namespaced(garden.client.clone(), &garden.namespace);
        until("the default service account", || async { accounts.get_opt("default").await.unwrap() }).await;
        let maps = Api::<ConfigMap>::namespaced(garden.client.clone(), &garden.namespace);
        let map = serde_json::from_value(json!({"metadata": {"name": "left"}})).unwrap();
        maps.create(&PostParams::default(), &map).await.unwrap();
        let namespaces = Api::<Namespace>::all(garden.client.clone());
        namespaces.delete(&garden.namespace, &DeleteParams::default()).await.unwrap();
        let gone = || async { maps.get_opt("left").await.unwrap().is_none().then_some(()) };
        until("the namespace's objects are gone", gone).await;
    });
}
