//! The extension's chart installed on a real apiserver, and the real program with no right but the chart's.

use fabric_test_kube::{Garden, until};
use serde_json::{Value, json};

use super::{EXTENSION, chart, command, objects, of_kind, template};
use crate::infrastructure::seed::{Seed, WORKERS, in_seed};
use crate::program::Program;

const ROLE: &str = "clusterroles.rbac.authorization.k8s.io";
const BINDING: &str = "clusterrolebindings.rbac.authorization.k8s.io";
const VALIDATING: &str = "validatingwebhookconfigurations.admissionregistration.k8s.io";

#[test]
fn with_the_charts_rights_alone_a_shoot_lives_and_goes() {
    in_seed(async |seed: Seed| {
        let garden = &seed.garden;
        for kind in [ROLE, BINDING, VALIDATING] {
            garden.owns(format!("{kind}/{EXTENSION}"));
        }
        let chart = chart(EXTENSION);
        // In mode url nobody answers: what counts are the rights, and the failure policy is Ignore.
        let values = format!(
            "vpa.enabled=false,extensionClasses={{{}}},webhookConfig.mode=url,webhookConfig.url=127.0.0.1:9",
            seed.name()
        );
        garden.helm(["install", "extension", &chart, "--set", &values]).await.ends_with(0);
        let program = start(&seed).await;
        until("registered", async || {
            let told = garden.kubectl(["get", VALIDATING, EXTENSION, "-o", "jsonpath={.webhooks[*].name}"]).await;
            (told.code == 0 && !told.stdout.is_empty()).then_some(())
        })
        .await;
        seed.create(seed.infrastructure(json!({ "workers": WORKERS }))).await;
        seed.ready().await;
        let plan = json!({ "metadata": { "annotations": { "fabric.extensions.gardener.cloud/plan": "true" } } });
        seed.patch(plan).await;
        until("an event", async || {
            let events = garden.kubectl(["get", "events.events.k8s.io", "-o", "json"]).await.ends_with(0).stdout;
            events.contains("InfrastructurePlan").then_some(())
        })
        .await;
        until("a heartbeat", async || {
            let holder = "jsonpath={.spec.holderIdentity}";
            let told = garden.kubectl(["get", "lease", "gardener-extension-heartbeat", "-o", holder]).await;
            (told.stdout == "openstack-fabric").then_some(())
        })
        .await;
        seed.api().delete("openstack", &Default::default()).await.unwrap();
        seed.see("gone", Value::is_null).await;
        let log = program.stop().await;
        assert!(!log.contains("forbidden") && !log.contains("Forbidden"), "{log}");

        nothing_else_is_allowed(garden).await;
        garden.helm(["uninstall", "extension"]).await.ends_with(0);
        let kinds =
            "deployments,services,poddisruptionbudgets,serviceaccounts,roles,rolebindings,leases,configmaps,secrets";
        until("nothing is left", async || {
            let left = garden.kubectl(["get", kinds, "-o", "name"]).await.ends_with(0).stdout;
            left.lines().all(|name| !name.contains("extension") && !name.contains("webhook")).then_some(())
        })
        .await;
        let configuration = garden.kubectl(["get", VALIDATING, EXTENSION]).await;
        assert!(configuration.stderr.contains("NotFound"), "{}", configuration.stderr);
    });
}

/// The program with its Deployment's command, but for addresses of a pod; as the account that the chart made.
async fn start(seed: &Seed) -> Program {
    let garden = &seed.garden;
    let told = garden.kubectl(["get", "deployment", EXTENSION, "-o", "json"]).await.ends_with(0);
    let here = |word: &String| match word.split_once('=').unwrap().0 {
        "--webhook-config-server-port" => "--webhook-config-server-port=0".to_owned(),
        "--metrics-bind-address" => "--metrics-bind-address=0".to_owned(),
        "--health-bind-address" => "--health-bind-address=127.0.0.1:0".to_owned(),
        _ => word.clone(),
    };
    let words = command(&serde_json::from_str(&told.stdout).unwrap());
    let mut words: Vec<String> = words[1..].iter().map(here).collect();
    words.extend(["--webhook-config-server-host=127.0.0.1", "--shutdown-notice=0.1s"].map(str::to_owned));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();

    let token = garden.kubectl(["create", "token", EXTENSION]).await.ends_with(0);
    let admin = garden.kubectl(["config", "view", "--raw", "-o", "json"]).await.ends_with(0);
    let mut config: Value = serde_json::from_str(&admin.stdout).unwrap();
    for user in config["users"].as_array_mut().unwrap() {
        user["user"] = json!({ "token": token.stdout.trim() });
    }
    let file = std::env::temp_dir().join(format!("{}.kubeconfig", seed.name()));
    std::fs::write(&file, config.to_string()).unwrap();
    let program = Program::spawn(EXTENSION, &words, Some(&file)).await;
    std::fs::remove_file(&file).unwrap();
    program
}

async fn nothing_else_is_allowed(garden: &Garden) {
    let who = format!("system:serviceaccount:{}:{EXTENSION}", garden.namespace);
    let own = garden.namespace.as_str();
    for (allowed, verb, what, namespace) in [
        ("yes", "get", "secrets", "shoot--a--b"),
        ("no", "list", "secrets", "shoot--a--b"),
        ("no", "patch", "secrets", "shoot--a--b"),
        ("no", "create", "secrets", "shoot--a--b"),
        ("no", "delete", "infrastructures.extensions.gardener.cloud", "shoot--a--b"),
        ("no", "create", "infrastructures.extensions.gardener.cloud", "shoot--a--b"),
        ("no", "list", "clusters.extensions.gardener.cloud", "shoot--a--b"),
        ("no", "get", "workers.extensions.gardener.cloud", "shoot--a--b"),
        ("no", "get", "pods", own),
        ("no", "patch", "leases.coordination.k8s.io/other", own),
        ("no", "patch", "validatingwebhookconfigurations.admissionregistration.k8s.io/other", own),
        ("no", "get", "namespaces/garden", "garden"),
    ] {
        let told = garden.kubectl(["auth", "can-i", verb, what, "--namespace", namespace, "--as", &who]).await;
        assert_eq!(told.stdout.trim(), allowed, "{verb} {what} in {namespace}: {}", told.stderr);
    }
}

/// What the chart brings, filled in by the program, is what the program calls it.
#[test]
fn names_of_what_is_filled_in_are_the_programs() {
    fabric_test_kube::on_lab(async |garden| {
        let rendered = template(&garden, "garden", EXTENSION, &["disableWebhooks=null"]).await.ends_with(0).stdout;
        let rendered = objects(&rendered);
        let names = |kind: &str| {
            let all = of_kind(&rendered, kind).map(|object| object["metadata"]["name"].as_str().unwrap().to_owned());
            all.collect::<Vec<_>>()
        };
        assert_eq!(names("Secret"), ["ca-openstack-fabric-webhook", "openstack-fabric-webhook-server"]);
        assert_eq!(names("Lease"), [EXTENSION, fabric_runtime::heartbeat::NAME]);
        for kind in ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"] {
            assert_eq!(names(kind), [EXTENSION]);
        }
    });
}

/// Objects and texts as Gardener's own programs hand them over, which `--set` can't write.
#[test]
fn what_gardener_adds_to_the_values_is_taken() {
    fabric_test_kube::on_lab(async |garden| {
        let deployment = async |values: &str| {
            let arguments = ["template", "extension", &chart(EXTENSION), "-f", "-"];
            let rendered = objects(&garden.helm_reading(&arguments, values).await.ends_with(0).stdout);
            of_kind(&rendered, "Deployment").next().unwrap().clone()
        };
        // gardener-operator, in the garden's runtime cluster: a truth that is a text.
        let operator =
            r#"gardener: {runtimeCluster: {enabled: "true", priorityClassName: gardener-garden-system-200}}"#;
        let class = |deployment: &Value| deployment["spec"]["template"]["spec"]["priorityClassName"].clone();
        assert_eq!(class(&deployment(operator).await), "gardener-garden-system-200");
        // gardenlet, and when it sets up a control plane's node, beside others in the host's network.
        let gardenlet = r#"
            usablePorts: [30010, 30011, 30012, 30013, 30014]
            gardener:
              version: v1.148.1
              garden: {clusterIdentity: garden, genericKubeconfigSecretName: generic}
              seed: {name: seed, labels: {a: b}, annotations: null, taints: [], networks: {pods: 10.0.0.0/8}, spec: {x: 1}}
              shoot: {name: self, namespace: garden}
              selfHostedShootCluster: true
              gardenlet: {featureGates: {A: true}}
        "#;
        let deployment = deployment(gardenlet).await;
        assert_eq!(class(&deployment), "gardener-system-900");
        let command = command(&deployment);
        for word in
            ["--metrics-bind-address=:30010", "--webhook-config-server-port=30011", "--health-bind-address=:30012"]
        {
            assert!(command.iter().any(|one| one == word), "{word}: {command:?}");
        }
    });
}
