//! The seed's webhook: an Infrastructure is judged when its program is there, and passes when it is not.

use fabric_test_kube::{Garden, Output, on_lab, until};
use serde_json::{Value, json};

use crate::infrastructure::seed::PACKAGE;
use crate::program::{Front, Program};

fn infrastructure(garden: &Garden, provider: &str, networks: &Value) -> Value {
    json!({
        "apiVersion": "extensions.gardener.cloud/v1alpha1", "kind": "Infrastructure",
        "metadata": {"name": provider, "namespace": garden.namespace},
        "spec": {
            "type": provider, "region": "RegionOne",
            "secretRef": {"name": "cloudprovider", "namespace": garden.namespace},
            "providerConfig": {
                "apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "InfrastructureConfig",
                "floatingPoolName": "public", "networks": networks,
            },
        },
    })
}

async fn dry(garden: &Garden, object: &Value) -> Output {
    garden.kubectl_with(["apply", "--dry-run=server", "-f", "-"], &object.to_string()).await
}

#[test]
fn an_infrastructure_is_judged_and_passes_when_nobody_is_there() {
    on_lab(async |garden| {
        let front = Front::new().await;
        let program = Program::start(PACKAGE, &garden, &front, &["--disable-controllers", "infrastructure"]).await;
        front.leads_to(&[&program]);
        program.ready().await;
        let broken = infrastructure(&garden, "openstack", &json!({"subnetId": "x"}));
        let told = until("the apiserver asks the webhook", async || {
            Some(dry(&garden, &broken).await).filter(|told| told.code != 0)
        })
        .await;
        assert!(told.stderr.contains("spec.providerConfig.networks.subnetId: Invalid value: \"x\""), "{}", told.stderr);
        assert!(told.stderr.contains("validator.openstack-fabric.extensions.gardener.cloud"), "{}", told.stderr);
        dry(&garden, &infrastructure(&garden, "openstack", &json!({"workers": "10.250.0.0/19"}))).await.ends_with(0);
        // Others' infrastructures never come here.
        let asked = async || program.get("/metrics").await.1.lines().filter(|line| line.contains("_count{")).count();
        let before = asked().await;
        dry(&garden, &infrastructure(&garden, "other", &json!({"subnetId": "x"}))).await.ends_with(0);
        assert_eq!(asked().await, before);
        // The controller checks again, so a seed without this program is no seed without infrastructures.
        program.stop().await;
        dry(&garden, &broken).await.ends_with(0);
    });
}
