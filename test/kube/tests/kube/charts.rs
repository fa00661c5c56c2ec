//! The charts as the real helm renders them, held against golden files (`UPDATE_GOLDEN=1` writes them anew), the
//! program that they start, and the schema of their values.

mod extension;
mod installed;

use std::fs;
use std::path::PathBuf;

use fabric_test_kube::{Garden, Output, binary, documents, on_lab, root};
use serde_json::Value;
use tokio::process::Command;

const NAME: &str = "gardener-extension-admission-openstack-fabric";
const RUNTIME: &str = "gardener-extension-admission-openstack-fabric/charts/runtime";
const APPLICATION: &str = "gardener-extension-admission-openstack-fabric/charts/application";
const EXTENSION: &str = "gardener-extension-openstack-fabric";

/// What is rendered: the golden file's name, the chart below `charts/`, and values.
const SETS: [(&str, &str, &[&str]); 11] = [
    ("default", NAME, &[]),
    (
        "kubeconfig",
        RUNTIME,
        &["kubeconfig=not one", "gardener.virtualCluster.namespace=extension-x", "vpa.enabled=false"],
    ),
    (
        "projected-token",
        RUNTIME,
        &[
            "projectedKubeconfig.baseMountPath=/var/run/secrets/gardener.cloud/",
            "projectedKubeconfig.genericKubeconfigSecretName=generic-token-kubeconfig",
            "projectedKubeconfig.tokenSecretName=access-admission",
            "image.repository=registry.example/admission",
            "image.tag=sha256:0b1c",
        ],
    ),
    (
        "url",
        RUNTIME,
        &[
            "webhookConfig.url=admission.example:8443",
            "webhookConfig.serverPort=9443",
            "metrics.enableScraping=false",
            "service.topologyAwareRouting.enabled=true",
        ],
    ),
    (
        "enforce",
        RUNTIME,
        &[
            "dynamicValidation.mode=enforce",
            "dynamicValidation.timeoutSeconds=3",
            "webhookConfig.namespaces={garden-a,garden-b}",
            "logging.level=debug",
            "logging.format=text",
            "replicaCount=3",
            "resources.limits.memory=256Mi",
        ],
    ),
    (
        "mutator-off",
        NAME,
        &[
            "runtime.mutatingWebhook.enabled=false",
            "application.mutatingWebhook.enabled=false",
            "runtime.overlayByDefault=false",
        ],
    ),
    (
        "operator-runtime",
        RUNTIME,
        &[
            "gardener.runtimeCluster.priorityClassName=gardener-garden-system-400",
            "gardener.virtualCluster.enabled=true",
            "gardener.virtualCluster.namespace=extension-openstack-fabric",
            // gardener-operator hands the same values to both.
            "dynamicValidation.mode=warn",
        ],
    ),
    (
        "operator-application",
        APPLICATION,
        &[
            "gardener.virtualCluster.enabled=true",
            "gardener.virtualCluster.serviceAccount.name=extension-admission-openstack-fabric",
            "gardener.virtualCluster.serviceAccount.namespace=kube-system",
            "dynamicValidation.mode=warn",
        ],
    ),
    ("extension", EXTENSION, &[]),
    (
        "extension-everything",
        EXTENSION,
        &[
            "replicaCount=2",
            "maxSurge=100%",
            "maxUnavailable=1",
            "image.repository=registry.example/extension",
            "image.tag=sha256:0b1c",
            "controllers.infrastructure.concurrentSyncs=20",
            "controllers.infrastructure.driftIntervalSeconds=0",
            "controllers.infrastructure.repairDrift=true",
            "controllers.ignoreOperationAnnotation=true",
            "disableWebhooks=null",
            "webhookConfig.mode=url",
            "webhookConfig.url=extension.example:8443",
            "webhookConfig.serverPort=9443",
            "dynamicValidation.mode=warn",
            "controllers.heartbeat.renewIntervalSeconds=10",
            "imageVectorOverwrite=images: []",
            "metrics.enableScraping=false",
            "vpa.enabled=false",
            "logging.level=debug",
            "logging.format=text",
        ],
    ),
    (
        // What gardenlet and gardener-operator add by themselves.
        "extension-operator",
        EXTENSION,
        &[
            "gardener.version=v1.148.1",
            "gardener.gardenlet.featureGates.NewWorkerPoolHash=true",
            "gardener.seed.name=seed-a",
            "gardener.garden.clusterIdentity=garden-a",
            "gardener.runtimeCluster.enabled=true",
            "gardener.runtimeCluster.priorityClassName=gardener-garden-system-200",
            "usablePorts={30010,30011,30012,30013,30014}",
            "extensionClasses={garden}",
            "disableControllers={infrastructure}",
            "disableWebhooks={infrastructure,cloudprovider}",
        ],
    ),
];

/// A folder of the charts.
fn chart(below: &str) -> String {
    root().join("charts").join(below).display().to_string()
}

async fn template(garden: &Garden, namespace: &str, below: &str, values: &[&str]) -> Output {
    let chart = chart(below);
    // A version of our own choice: the charts ask for it in one place.
    let mut arguments =
        vec!["template", "admission", &chart, "--namespace", namespace, "--kube-version", "1.34.0", "--set"];
    let values = values.join(",");
    arguments.push(&values);
    garden.helm_with(&arguments).await
}

/// Objects of one kind among those rendered.
fn of_kind<'a>(objects: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    objects.iter().filter(move |object| object["kind"] == kind)
}

fn objects(rendered: &str) -> Vec<Value> {
    documents(rendered).into_iter().filter(|object| !object.is_null()).collect()
}

fn command(deployment: &Value) -> Vec<String> {
    let command = deployment["spec"]["template"]["spec"]["containers"][0]["command"].as_array().expect("a command");
    command.iter().map(|word| word.as_str().expect("text").to_owned()).collect()
}

#[test]
fn charts_are_rendered_as_in_the_golden_files() {
    on_lab(async |garden| {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/kube/golden");
        let update = std::env::var_os("UPDATE_GOLDEN").is_some();
        let mut known: Vec<String> = Vec::new();
        for (name, below, values) in SETS {
            let rendered = template(&garden, "garden", below, values).await.ends_with(0).stdout;
            let path = folder.join(format!("chart-{name}.yaml"));
            known.push(format!("chart-{name}.yaml"));
            if update {
                fs::write(&path, &rendered).unwrap();
            }
            let golden = fs::read_to_string(&path).unwrap_or_default();
            let differs = golden.lines().zip(rendered.lines()).find(|(golden, now)| golden != now);
            assert!(golden == rendered, "{name}: first difference {differs:?}; UPDATE_GOLDEN=1 renews the files");
        }
        for entry in fs::read_dir(&folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(!name.starts_with("chart-") || known.contains(&name), "{name} is of no set");
        }
    });
}

#[test]
fn charts_lint_and_both_have_one_schema() {
    on_lab(async |garden| {
        for below in [NAME, RUNTIME, APPLICATION, EXTENSION] {
            garden.helm(["lint", "--strict", &chart(below)]).await.ends_with(0);
        }
        let schema = |below: &str| fs::read_to_string(PathBuf::from(chart(below)).join("values.schema.json")).unwrap();
        // gardener-operator hands the values of either chart to both.
        assert_eq!(schema(RUNTIME), schema(APPLICATION));
        described("", &serde_json::from_str(&schema(RUNTIME)).unwrap());
        let mut extension: Value = serde_json::from_str(&schema(EXTENSION)).unwrap();
        // gardenlet adds to it from version to version.
        extension["properties"].as_object_mut().unwrap().remove("gardener");
        described("", &extension);
    });
}

/// Every value says what it means, and no object takes names that nobody knows.
fn described(path: &str, schema: &Value) {
    for (name, value) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        assert!(value["description"].as_str().is_some_and(|text| text.len() > 5), "{path} says nothing");
        let open = value["properties"].is_object() && value["additionalProperties"] != false;
        assert!(!open, "{path} takes any name");
        described(&path, value);
    }
}

#[test]
fn a_wrong_value_is_refused_with_its_name() {
    on_lab(async |garden| {
        for (below, value, part) in [
            (RUNTIME, "replicaCoun=3", "'replicaCoun' not allowed"),
            (RUNTIME, "image.tagg=1", "at '/image': additional properties 'tagg'"),
            (RUNTIME, "dynamicValidation.mode=of", "/dynamicValidation/mode"),
            (RUNTIME, "dynamicValidation.timeoutSeconds=7", "/dynamicValidation/timeoutSeconds"),
            (RUNTIME, "webhookConfig.mode=uri", "/webhookConfig/mode"),
            (RUNTIME, "webhookConfig.url=https://admission.example", "/webhookConfig/url"),
            (RUNTIME, "webhookConfig.mode=url", "webhookConfig.url: the mode url needs the host"),
            (RUNTIME, "webhookConfig.serverPort=0", "/webhookConfig/serverPort"),
            (RUNTIME, "webhookConfig.namespaces={A}", "/webhookConfig/namespaces/0"),
            (RUNTIME, "mutatingWebhook.enabled=maybe", "/mutatingWebhook/enabled"),
            (RUNTIME, "logging.level=trace", "/logging/level"),
            (RUNTIME, "vpa.updatePolicy.updateMode=Auto", "/vpa/updatePolicy/updateMode"),
            (RUNTIME, "projectedKubeconfig.tokenSecretName=x", "'baseMountPath'"),
            (RUNTIME, "gardener.virtualCluster.enable=true", "at '/gardener/virtualCluster'"),
            (APPLICATION, "gardener.virtualCluster.serviceAccount.nam=x", "serviceAccount': additional"),
            (APPLICATION, "dynamicValidaton.mode=warn", "'dynamicValidaton' not allowed"),
            (NAME, "replicaCount=3", "'replicaCount' not allowed"),
            (NAME, "runtime.replicaCoun=3", "'replicaCoun' not allowed"),
        ] {
            let told = template(&garden, "garden", below, &[value]).await;
            assert_ne!(told.code, 0, "{value} passed");
            assert!(told.stderr.contains(part), "{value}: {}", told.stderr);
        }
        for (value, part) in [
            ("controllers.infrastructure.concurrentSync=3", "at '/controllers/infrastructure': additional"),
            ("controllers.infrastructure.concurrentSyncs=0", "/controllers/infrastructure/concurrentSyncs"),
            ("disableControllers={worker}", "/disableControllers/0"),
            ("disableWebhooks={mutator}", "/disableWebhooks/0"),
            ("extensionClasses={}", "/extensionClasses"),
            ("maxSurge=all", "/maxSurge"),
            ("webhookConfig.mode=url", "webhookConfig.url: the mode url needs the host"),
            ("controllers.heartbeat.renewIntervalSeconds=0", "/controllers/heartbeat/renewIntervalSeconds"),
            ("usablePorts={8080}", "/usablePorts"),
            ("gardener.runtimeCluster.enabled=maybe", "/gardener/runtimeCluster/enabled"),
        ] {
            let told = template(&garden, "garden", EXTENSION, &[value]).await;
            assert!(told.code != 0 && told.stderr.contains(part), "{value}: {}", told.stderr);
        }
        // A bare `off` in a file is no text in YAML, and still means what it says.
        let chart = chart(RUNTIME);
        let arguments = ["template", "admission", &chart, "-f", "-"];
        let told = garden.helm_reading(&arguments, "dynamicValidation: {mode: off}").await;
        let rendered = objects(&told.ends_with(0).stdout);
        let deployment = of_kind(&rendered, "Deployment").next().unwrap();
        assert!(command(deployment).contains(&"--dynamic-validation=off".to_owned()));
    });
}

#[test]
fn the_program_takes_the_flags_of_every_set() {
    on_lab(async |garden| {
        for (name, below, values) in SETS {
            let rendered = objects(&template(&garden, "garden", below, values).await.ends_with(0).stdout);
            for deployment in of_kind(&rendered, "Deployment") {
                let command = command(deployment);
                let package = if below == EXTENSION { EXTENSION } else { NAME };
                assert_eq!(command[0], format!("/{package}"), "{name}");
                let program = tokio::task::spawn_blocking(move || binary(package)).await.unwrap();
                // Every flag is read and checked before the first look for a cluster, and here is none.
                let started = Command::new(&program).args(&command[1..]).env_clear().output().await.unwrap();
                let told = String::from_utf8(started.stderr).unwrap();
                let kubeconfig = command.iter().find_map(|word| word.strip_prefix("--kubeconfig="));
                let expected = match kubeconfig {
                    Some(path) => format!("error: kubeconfig {path}: "),
                    None => "error: no cluster: ".to_owned(),
                };
                assert!(told.contains(&expected), "{name}: {told}");
                assert_eq!(started.status.code(), Some(1), "{name}: {told}");
                assert!(started.stdout.is_empty());
            }
        }
    });
}

#[test]
fn pods_are_locked_down_whatever_the_values() {
    on_lab(async |garden| {
        for (name, below, values) in SETS {
            let rendered = objects(&template(&garden, "garden", below, values).await.ends_with(0).stdout);
            for deployment in of_kind(&rendered, "Deployment") {
                let pod = &deployment["spec"]["template"]["spec"];
                assert_eq!(pod["securityContext"]["runAsNonRoot"], true, "{name}");
                assert_eq!(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault", "{name}");
                let container = &pod["containers"][0]["securityContext"];
                assert_eq!(container["allowPrivilegeEscalation"], false, "{name}");
                assert_eq!(container["readOnlyRootFilesystem"], true, "{name}");
                assert_eq!(container["capabilities"]["drop"], serde_json::json!(["ALL"]), "{name}");
                // Nothing that can be written to.
                for mount in pod["containers"][0]["volumeMounts"].as_array().into_iter().flatten() {
                    assert_eq!(mount["readOnly"], true, "{name}: {mount}");
                }
                let command = command(deployment);
                assert!(!command.iter().any(|word| word.contains("cert-dir")), "{name}");
                let elsewhere = command.iter().any(|word| word.starts_with("--kubeconfig="));
                assert_eq!(command.contains(&"--source-cluster=enabled".to_owned()), elsewhere, "{name}");
                // The selector is a part of the labels, and the Service's is the same.
                let labels = &deployment["spec"]["template"]["metadata"]["labels"];
                let selector = &deployment["spec"]["selector"]["matchLabels"];
                fabric_test_kube::all_of(selector, labels).unwrap();
                let service = of_kind(&rendered, "Service").next().unwrap();
                assert_eq!(&service["spec"]["selector"], selector);
            }
        }
    });
}
