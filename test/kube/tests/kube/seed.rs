//! The seed's webhooks: an Infrastructure is judged when its program is there, and passes when it is not; a shoot's
//! secret is completed where that is asked for.

use fabric_apis::gardener::ByteString;
use fabric_test_kube::{Garden, Output, on_lab, until};
use serde_json::{Value, json};

use crate::infrastructure::seed::{PACKAGE, Seed, in_seed};
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

#[test]
fn a_secret_gets_the_operators_keystone_where_the_webhook_is_on() {
    in_seed(async |seed: Seed| {
        let garden = &seed.garden;
        let label = ["label", "namespace", seed.name(), "shoot.gardener.cloud/provider=openstack"];
        garden.kubectl(label).await.ends_with(0);
        let front = Front::new().await;
        let more = ["--disable-controllers", "infrastructure", "--disable-webhooks", "none"];
        let program = Program::start(PACKAGE, garden, &front, &more).await;
        front.leads_to(&[&program]);
        program.ready().await;
        let of = |purpose: &str, name: &str| {
            json!({
                "apiVersion": "v1", "kind": "Secret",
                "metadata": {"name": name, "labels": {"gardener.cloud/purpose": purpose}},
                "stringData": {"username": "u", "password": "hush", "authURL": "https://mine", "insecure": "true"},
            })
            .to_string()
        };
        let keystone = async |secret: &str| {
            let told = garden.kubectl_with(["apply", "--dry-run=server", "-o", "json", "-f", "-"], secret).await;
            let object: Value = serde_json::from_str(&told.ends_with(0).stdout).unwrap();
            let text = |key: &str| {
                let bytes = serde_json::from_value::<ByteString>(object["data"].get(key)?.clone()).ok()?.0;
                String::from_utf8(bytes).ok()
            };
            ["authURL", "insecure", "username"].map(text)
        };
        let completed = [Some(seed.cloud.auth_url()), None, Some("u".to_owned())];
        let secret = of("cloudprovider", "cloudprovider");
        until("the apiserver asks the webhook", async || (keystone(&secret).await == completed).then_some(())).await;
        let as_it_was = ["https://mine", "true", "u"].map(|text| Some(text.to_owned()));
        assert_eq!(keystone(&of("other", "cloudprovider")).await, as_it_was, "others' secrets never come here");
        assert_eq!(keystone(&of("cloudprovider", "another")).await, as_it_was);

        // Without its Cluster nobody knows the profile: better no secret than one that leads elsewhere.
        let cluster = format!("clusters.extensions.gardener.cloud/{}", seed.name());
        garden.kubectl(["delete", &cluster]).await.ends_with(0);
        let refused = garden.kubectl_with(["apply", "--dry-run=server", "-f", "-"], &secret).await;
        assert_ne!(refused.code, 0);
        let expected = format!("metadata.namespace: Not found: \"Cluster {}\"", seed.name());
        assert!(refused.stderr.contains(&expected), "{}", refused.stderr);
        let log = program.stop().await;
        assert!(!log.contains("hush"), "{log}");
    });
}
