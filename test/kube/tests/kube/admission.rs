//! The webhooks as a real kube-apiserver calls them, and the refusals that a user of kubectl sees.

use std::fs;

use fabric_test_kube::{Garden, documents, on_lab, root, until};
use k8s_openapi::api::core::v1::Secret;
use kube::api::Api;
use serde_json::{Value, json};

use crate::program::{Front, Program};

const LABEL: &str = "provider.extensions.gardener.cloud/openstack";
const SECRET_LABEL: &str = "provider.shoot.gardener.cloud/openstack";
/// What stands for the placeholders of the examples.
const VALUES: [(&str, &str); 8] = [
    ("NODES_CIDR", "10.250.0.0/16"),
    ("WORKERS_CIDR", "10.250.0.0/19"),
    ("AUTH_URL", "https://keystone.example.org/v3"),
    ("REGION", "RegionOne"),
    ("FLOATING_POOL", "public"),
    ("DOMAIN", "demo"),
    ("PROJECT", "demo"),
    ("USERNAME", "demo"),
];

/// An example's objects for this garden: placeholders filled in, in its namespace, labelled as Gardener does.
pub(crate) fn example(garden: &Garden, name: &str) -> Vec<Value> {
    let mut text = fs::read_to_string(root().join("examples").join(name)).unwrap();
    for (placeholder, value) in VALUES {
        text = text.replace(&format!("${{{placeholder}}}"), value);
    }
    let text = fabric_test_kube::filled_in(&text);
    documents(&text).into_iter().map(|object| placed(garden, object)).collect()
}

pub(crate) fn placed(garden: &Garden, mut object: Value) -> Value {
    let kind = object["kind"].as_str().unwrap().to_owned();
    let label = if kind == "Secret" { SECRET_LABEL } else { LABEL };
    object["metadata"]["labels"][label] = json!("true");
    if kind == "CloudProfile" {
        object["metadata"]["name"] = json!(garden.cluster_name("profile"));
    } else {
        object["metadata"]["namespace"] = json!(garden.namespace);
    }
    if kind == "Shoot" {
        object["spec"]["cloudProfile"]["name"] = json!(garden.cluster_name("profile"));
    }
    object
}

/// What Shoots refer to: the operator's profile, a binding, and the secret that it leads to.
pub(crate) async fn furnish(garden: &Garden) {
    furnish_with(garden, example(garden, "20-cloudprofile.yaml"), example(garden, "25-secret-password.yaml")).await;
}

pub(crate) async fn furnish_with(garden: &Garden, profile: Vec<Value>, secret: Vec<Value>) {
    garden.owns(format!("cloudprofiles.core.gardener.cloud/{}", garden.cluster_name("profile")));
    for object in profile.into_iter().chain(secret) {
        apply(garden, &object).await.ends_with(0);
    }
    let binding = json!({
        "apiVersion": "security.gardener.cloud/v1alpha1", "kind": "CredentialsBinding",
        "metadata": {"name": "openstack"}, "provider": {"type": "openstack"},
        "credentialsRef": {"apiVersion": "v1", "kind": "Secret", "name": "cloudprovider", "namespace": garden.namespace},
    });
    apply(garden, &placed(garden, binding)).await.ends_with(0);
}

pub(crate) async fn apply(garden: &Garden, object: &Value) -> fabric_test_kube::Output {
    garden.kubectl_with(["apply", "-f", "-"], &object.to_string()).await
}

/// Waits until the apiserver asks the webhooks: a webhook counts shortly after its registration.
pub(crate) async fn counts(garden: &Garden) {
    let mut broken = shoot(garden, "probe");
    broken["spec"]["provider"]["infrastructureConfig"]["networks"] = json!({});
    until("the apiserver asks the webhooks", async || {
        let told = garden.kubectl_with(["apply", "--dry-run=server", "-f", "-"], &broken.to_string()).await;
        told.stderr.contains("networks.workers: Required value").then_some(())
    })
    .await;
}

pub(crate) fn shoot(garden: &Garden, name: &str) -> Value {
    let mut shoot = example(garden, "40-shoot-byo-4-subnet.yaml").remove(0);
    shoot["metadata"]["name"] = json!(name);
    shoot
}

#[test]
fn examples_pass_and_what_breaks_a_rule_is_refused_with_its_path() {
    on_lab(async |garden| {
        let front = Front::new().await;
        let program = Program::admission(&garden, &front, &[]).await;
        front.leads_to(&[&program]);
        program.ready().await;
        furnish(&garden).await;
        counts(&garden).await;
        examples_pass(&garden).await;
        twins_are_refused(&garden).await;
        changes_are_refused(&garden).await;
        let (_, metrics) = program.get("/metrics").await;
        assert!(metrics.contains("admission_refusals_total{path=\"/webhooks/validate\""), "{metrics}");
        let log = program.stop().await;
        assert!(!log.contains("panicked") && !log.contains("\"level\":\"ERROR\""), "{log}");
    });
}

async fn examples_pass(garden: &Garden) {
    let mut names: Vec<String> = fs::read_dir(root().join("examples"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("40-shoot"))
        .collect();
    names.sort();
    assert!(names.len() >= 10, "{names:?}");
    for name in names {
        for object in example(garden, &name) {
            let applied = apply(garden, &object).await;
            assert_eq!(applied.code, 0, "{name}: {}", applied.stderr);
        }
    }
}

async fn twins_are_refused(garden: &Garden) {
    let id = "0f4b3a52-3c0d-4f6e-9d43-6f0b8c1f7a11";
    let networks = [
        ("no parent", json!({"subnetId": id, "router": {"id": id}}), "networks.subnetId: Invalid value"),
        ("no router", json!({"id": id, "subnetId": id}), "networks.subnetId: Invalid value"),
        (
            "no UUID",
            json!({"id": id, "subnetId": "x", "router": {"id": id}}),
            "networks.subnetId: Invalid value: \"x\"",
        ),
        (
            "two ways",
            json!({"id": id, "subnetId": id, "router": {"id": id}, "workers": "10.250.0.0/24"}),
            "networks.subnetId",
        ),
        ("a group alone", json!({"workers": "10.250.0.0/24", "securityGroupId": id}), "networks.securityGroupId"),
        (
            "shares twice",
            json!({"id": id, "workers": "10.250.0.0/24", "shareNetworkId": id, "shareNetwork": {"enabled": true}}),
            "networks.shareNetworkId",
        ),
        ("outside", json!({"workers": "10.1.0.0/24"}), "networks.workers: Invalid value"),
        ("unknown", json!({"workers": "10.250.0.0/24", "foo": 1}), "networks.foo"),
    ];
    for (name, networks, part) in networks {
        let mut twin = shoot(garden, "twin");
        twin["spec"]["provider"]["infrastructureConfig"]["networks"] = networks;
        refused(garden, name, &twin, &format!("spec.provider.infrastructureConfig.{part}")).await;
    }
    let mut pool = shoot(garden, "twin");
    pool["spec"]["provider"]["infrastructureConfig"]["floatingPoolName"] = json!("elsewhere");
    refused(garden, "pool", &pool, "floatingPoolName: Unsupported value: \"elsewhere\": supported values: \"public\"")
        .await;
    let mut provider = shoot(garden, "twin");
    provider["spec"]["provider"]["controlPlaneConfig"]["loadBalancerProvider"] = json!("none-such");
    refused(garden, "provider", &provider, "loadBalancerProvider: Unsupported value").await;
    let mut secret = example(garden, "25-secret-password.yaml").remove(0);
    secret["metadata"]["name"] = json!("twin");
    secret["stringData"].as_object_mut().unwrap().remove("tenantName");
    refused(garden, "secret", &secret, "secret.data[tenantName]: Required value").await;
    let mut profile = example(garden, "20-cloudprofile.yaml").remove(0);
    profile["metadata"]["name"] = json!(garden.cluster_name("twin"));
    profile["spec"]["providerConfig"]["constraints"]["floatingPools"] = json!([]);
    refused(garden, "profile", &profile, "spec.providerConfig.constraints.floatingPools").await;
}

async fn refused(garden: &Garden, name: &str, object: &Value, part: &str) {
    let told = apply(garden, object).await;
    assert_eq!(told.code, 1, "{name} passed: {}", told.stdout);
    assert!(told.stderr.contains(part), "{name}: {}", told.stderr);
    assert!(told.stderr.contains(".admission-openstack-fabric.extensions.gardener.cloud"), "{name}: {}", told.stderr);
}

async fn changes_are_refused(garden: &Garden) {
    let sound = shoot(garden, "changing");
    apply(garden, &sound).await.ends_with(0);
    // The mutating webhook has been there.
    let stored = garden.kubectl(["get", "shoot", "changing", "-o", "json"]).await.ends_with(0);
    let stored: Value = serde_json::from_str(&stored.stdout).unwrap();
    assert_eq!(stored["spec"]["networking"]["providerConfig"]["overlay"]["enabled"], true);
    let mut moved = sound.clone();
    moved["spec"]["provider"]["infrastructureConfig"]["networks"]["subnetId"] =
        json!("5d0a9c2f-4e17-4c11-8a86-6d3b6e0f9a3c");
    refused(garden, "moved", &moved, "networks.subnetId: Invalid value").await;
    // Labels and what else the rules don't look at may change, and the object may go.
    let told = garden.kubectl(["label", "shoot", "changing", "team=blue"]).await;
    assert_eq!(told.code, 0, "{}", told.stderr);
    garden.kubectl(["delete", "shoot", "changing"]).await.ends_with(0);
}

#[test]
fn two_replicas_share_certificates_and_either_may_leave_or_die() {
    on_lab(async |garden| {
        let front = Front::new().await;
        let first = Program::admission(&garden, &front, &[]).await;
        first.ready().await;
        let second = Program::admission(&garden, &front, &[]).await;
        front.leads_to(&[&first, &second]);
        second.ready().await;
        furnish(&garden).await;
        counts(&garden).await;
        let secrets = Api::<Secret>::namespaced(garden.client.clone(), &garden.namespace);
        let bytes = async |name: &str, key: &str| secrets.get(name).await.ok()?.data?.remove(key).map(|value| value.0);
        let (ca, server) = ("ca-admission-openstack-fabric-webhook", "admission-openstack-fabric-webhook-server");

        // The hard case: the CA is lost. The leader makes another, tells the apiserver, and moves at once.
        let before = bytes(server, "tls.crt").await.unwrap();
        secrets.delete(ca, &Default::default()).await.unwrap();
        until("another certificate", async || bytes(server, "tls.crt").await.filter(|now| *now != before)).await;
        until("both replicas use it", async || all_accept(&garden, &front, &[&first, &second]).await).await;

        // One leaves as a pod does: out of the Service, no longer ready, and nobody is refused.
        front.leads_to(&[&second]);
        let (log, failed) = tokio::join!(first.stop(), async {
            let mut failed = Vec::new();
            for number in 0..8 {
                let told = apply(&garden, &shoot(&garden, &format!("meanwhile-{number}"))).await;
                failed.extend((told.code != 0).then_some(told.stderr));
            }
            failed
        });
        assert!(failed.is_empty(), "{failed:?}\n{log}");

        // It gave its lease back; the other one has what there is to write now.
        until("the second one leads", async || second.log().contains("holding the lease").then_some(())).await;
        let third = Program::admission(&garden, &front, &[]).await;
        third.ready().await;
        front.leads_to(&[&third]);
        // Its node dies: the lease has to end by itself.
        second.kill().await;
        let broken = async || {
            secrets.delete(ca, &Default::default()).await.ok();
            third.log().contains("holding the lease").then_some(())
        };
        until("the third one leads", broken).await;
        until("its CA", async || bytes(ca, "ca.crt").await).await;
        counts(&garden).await;
        apply(&garden, &shoot(&garden, "afterwards")).await.ends_with(0);
        third.stop().await;
    });
}

/// Whether the apiserver gets an answer from each of them.
async fn all_accept(garden: &Garden, front: &Front, replicas: &[&Program]) -> Option<()> {
    for replica in replicas {
        front.leads_to(&[replica]);
        let told =
            garden.kubectl_with(["apply", "--dry-run=server", "-f", "-"], &shoot(garden, "probe").to_string()).await;
        if told.code != 0 {
            return None;
        }
    }
    front.leads_to(replicas);
    Some(())
}

#[test]
fn what_is_no_review_gets_a_proper_answer() {
    on_lab(async |garden| {
        let front = Front::new().await;
        let program = Program::admission(&garden, &front, &["--webhook-config-register", "false"]).await;
        program.ready().await;
        let json = "content-type: application/json";
        let pod = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
            "uid": "1", "operation": "CREATE", "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "object": {"apiVersion": "v1", "kind": "Pod"},
        }});
        let large = format!("{{\"x\":\"{}\"}}", "a".repeat(4 << 20));
        for (name, path, header, body, code, part) in [
            ("too large", "validate", json, large.as_str(), "413", "larger than"),
            ("no JSON by its type", "validate", "content-type: text/plain", "{}", "415", "application/json"),
            ("bad JSON", "validate", json, "{\"kind\":", "400", "no AdmissionReview"),
            ("nothing", "validate", json, "", "400", "empty"),
            ("no webhook", "elsewhere", json, "{}", "404", "no webhook"),
            ("a kind without rules", "validate", json, &pod.to_string(), "200", "has no rule for CREATE of v1/Pod"),
        ] {
            let (told, answer) = program.post(&format!("/webhooks/{path}"), header, body).await;
            assert_eq!(told, code, "{name}: {answer}");
            assert!(answer.contains(part), "{name}: {answer}");
        }
        assert!(program.get("/readyz").await.0 == 200);
        program.stop().await;
    });
}
