//! The rules that look into the cloud, asked by a real kube-apiserver about a real Neutron.

use fabric_test_kube::{Garden, Output, documents, on_lab, root};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::admission::{apply, counts, furnish_with, placed};
use crate::program::{Front, Program};

const ABSENT: &str = "5d0a9c2f-4e17-4c11-8a86-6d3b6e0f9a3c";

/// An example with what the lab's user could hand over.
async fn rendered(garden: &Garden, name: &str) -> Vec<Value> {
    let mut command = Command::new(root().join("hack/lab"));
    let output = command.arg("render").arg(root().join("examples").join(name)).output().await.expect("hack/lab");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    documents(&text).into_iter().map(|object| placed(garden, object)).collect()
}

/// A case with the garden's program in this mode; without the lab's OpenStack it says so and is done.
async fn with_cloud(garden: Garden, mode: &str, case: impl AsyncFnOnce(&Garden, Value)) {
    if std::env::var_os("FABRIC_LAB_FACTS").is_none_or(|path| path.is_empty()) {
        eprintln!("SKIPPED: no OpenStack in the lab; hack/lab up all && eval \"$(hack/lab env)\", or hack/test kube");
        return;
    }
    let front = Front::new().await;
    let more = ["--dynamic-validation", mode, "--dynamic-validation-timeout", "6"];
    let program = Program::admission(&garden, &front, &more).await;
    front.leads_to(&[&program]);
    program.ready().await;
    let (profile, secret) = (rendered(&garden, "20-cloudprofile.yaml"), rendered(&garden, "25-secret-password.yaml"));
    furnish_with(&garden, profile.await, secret.await).await;
    counts(&garden).await;
    let shoot = rendered(&garden, "40-shoot-byo-4-subnet.yaml").await.remove(0);
    case(&garden, shoot).await;
    let log = program.stop().await;
    assert!(!log.contains("panicked"), "{log}");
}

async fn dry(garden: &Garden, shoot: &Value) -> Output {
    garden.kubectl_with(["apply", "--dry-run=server", "-f", "-"], &shoot.to_string()).await
}

fn networks(shoot: &mut Value) -> &mut Value {
    &mut shoot["spec"]["provider"]["infrastructureConfig"]["networks"]
}

#[test]
fn what_the_cloud_does_not_hold_is_refused_when_enforced() {
    on_lab(async |garden| {
        with_cloud(garden, "enforce", async |garden, shoot| {
            let told = apply(garden, &shoot).await;
            assert_eq!(told.code, 0, "what is given fits: {}", told.stderr);
            assert!(!told.stderr.contains("not checked"), "{}", told.stderr);
            for field in ["id", "subnetId", "router"] {
                let mut lost = shoot.clone();
                lost["metadata"]["name"] = json!("lost");
                let value = if field == "router" { json!({"id": ABSENT}) } else { json!(ABSENT) };
                networks(&mut lost)[field] = value;
                let told = dry(garden, &lost).await;
                assert_eq!(told.code, 1, "{field}: {}", told.stderr);
                assert!(told.stderr.contains(&format!("infrastructureConfig.networks.{field}")), "{}", told.stderr);
                assert!(told.stderr.contains(ABSENT), "{}", told.stderr);
            }
            let mut sixth = shoot.clone();
            sixth["metadata"]["name"] = json!("sixth");
            sixth["spec"]["networking"]["ipFamilies"] = json!(["IPv4", "IPv6"]);
            let nodes = networks(&mut sixth)["subnetId"].clone();
            let ipv6 = json!({"nodeSubnetId": nodes, "podCIDR": "fd00::/56", "serviceCIDR": "fd01::/112"});
            networks(&mut sixth)["ipv6"] = ipv6;
            let told = dry(garden, &sixth).await;
            assert!(told.code == 1 && told.stderr.contains("networks.ipv6.nodeSubnetId"), "{}", told.stderr);
        })
        .await;
    });
}

#[test]
fn what_the_cloud_does_not_hold_is_a_warning_when_not_enforced() {
    on_lab(async |garden| {
        with_cloud(garden, "warn", async |garden, mut shoot| {
            networks(&mut shoot)["id"] = json!(ABSENT);
            let told = apply(garden, &shoot).await;
            assert_eq!(told.code, 0, "{}", told.stderr);
            assert!(
                told.stderr.contains("Warning: spec.provider.infrastructureConfig.networks.id: Not found"),
                "{}",
                told.stderr
            );
        })
        .await;
    });
}
