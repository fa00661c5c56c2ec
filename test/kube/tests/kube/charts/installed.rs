//! The charts installed on a real apiserver, and the real program with no right but theirs.

use std::path::{Path, PathBuf};

use fabric_test_kube::{Garden, on_lab, until};
use serde_json::{Value, json};

use super::{APPLICATION, NAME, RUNTIME, SETS, chart, command, objects, template};
use crate::admission::{apply, example, furnish, placed, shoot};
use crate::program::{Front, Program};

const CA: &str = "secret/ca-admission-openstack-fabric-webhook";
const SERVER: &str = "secret/admission-openstack-fabric-webhook-server";
const ROLE: &str = "clusterroles.rbac.authorization.k8s.io";
const BINDING: &str = "clusterrolebindings.rbac.authorization.k8s.io";
const VALIDATING: &str = "validatingwebhookconfigurations.admissionregistration.k8s.io";
const MUTATING: &str = "mutatingwebhookconfigurations.admissionregistration.k8s.io";

/// What stands outside of the garden's namespace.
struct Elsewhere {
    /// A namespace that stands for the extension's in the virtual garden.
    namespace: String,
    /// Kubeconfigs and tokens, as they are mounted into a pod.
    folder: PathBuf,
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn what_is_rendered_is_accepted_and_the_rights_are_what_the_program_needs() {
    on_lab(async |garden| {
        let elsewhere = elsewhere(&garden).await;
        every_set_is_accepted(&garden).await;
        install(&garden, &elsewhere).await;
        let (garden_file, home_file) = (
            account(&garden, &elsewhere, "garden", &elsewhere.namespace).await,
            account(&garden, &elsewhere, "home", &garden.namespace).await,
        );
        furnish(&garden).await;

        let front = Front::new().await;
        upgrade(&garden, &elsewhere, &front, true).await;
        let program = start(&garden, &front, &garden_file, &home_file).await;
        it_registers(&garden, &elsewhere).await;
        judged(&garden, &shoot(&garden, "sound"), "networks.workers").await;
        it_makes_again_what_is_lost(&garden).await;
        assert!(!program.log().contains("forbidden"), "{}", program.log());
        every_right_counts(&garden).await;
        nothing_else_is_allowed(&garden, &elsewhere).await;

        // As a rolling update does: other cases' profiles are asked about here too, so there is always somebody.
        upgrade(&garden, &elsewhere, &front, false).await;
        let next = start(&garden, &front, &garden_file, &home_file).await;
        program.stop().await;
        let program = next;
        until("the mutating configuration goes", async || gone(&garden, &format!("{MUTATING}/{NAME}")).await).await;
        judged(&garden, &shoot(&garden, "sound"), "networks.workers").await;
        assert!(!program.log().contains("forbidden"), "{}", program.log());
        uninstall(&garden, &elsewhere).await;
        program.stop().await;
        in_one_cluster(&garden, &elsewhere).await;
    });
}

async fn elsewhere(garden: &Garden) -> Elsewhere {
    let namespace = garden.cluster_name("virtual");
    for object in [format!("namespaces/{namespace}")]
        .into_iter()
        .chain([ROLE, BINDING, VALIDATING, MUTATING].map(|k| format!("{k}/{NAME}")))
    {
        garden.owns(object);
    }
    garden.kubectl(["create", "namespace", &namespace]).await.ends_with(0);
    let folder = std::env::temp_dir().join(&namespace);
    std::fs::create_dir(&folder).unwrap();
    Elsewhere { namespace, folder }
}

/// Also what is never installed here; without the VerticalPodAutoscaler, a kind that this cluster does not know.
async fn every_set_is_accepted(garden: &Garden) {
    for (name, below, values) in SETS {
        let rendered = template(garden, &garden.namespace, below, values).await.ends_with(0);
        let known: Vec<Value> =
            objects(&rendered.stdout).into_iter().filter(|object| object["kind"] != "VerticalPodAutoscaler").collect();
        let list = json!({"apiVersion": "v1", "kind": "List", "items": known}).to_string();
        let strict = ["apply", "--dry-run=server", "--validate=strict", "-f", "-"];
        let told = garden.kubectl_with(strict, &list).await;
        assert_eq!(told.code, 0, "{name}: {}", told.stderr);
        assert_eq!(told.stdout.lines().count(), known.len(), "{name}: {}", told.stdout);
        assert!(!told.stderr.contains("Warning"), "{name}: {}", told.stderr);
    }
}

async fn install(garden: &Garden, elsewhere: &Elsewhere) {
    let application = chart(APPLICATION);
    let in_garden = ["--namespace", &elsewhere.namespace, "--set", "gardener.virtualCluster.enabled=true"];
    let install = ["install", "admission", &application];
    garden.helm_with(&[&install[..], &in_garden].concat()).await.ends_with(0);
    let runtime = chart(RUNTIME);
    garden.helm(["install", "admission", &runtime, "--set", "vpa.enabled=false"]).await.ends_with(0);
}

/// Other values for both, as a user gives them.
async fn upgrade(garden: &Garden, elsewhere: &Elsewhere, front: &Front, mutator: bool) {
    let mutator = format!("mutatingWebhook.enabled={mutator}");
    let application = chart(APPLICATION);
    let values = ["--namespace", &elsewhere.namespace, "--reuse-values", "--set", &mutator];
    garden.helm_with(&[&["upgrade", "admission", &application][..], &values].concat()).await.ends_with(0);
    let (runtime, namespace) = (chart(RUNTIME), &garden.namespace);
    let owner = &elsewhere.namespace;
    let values = format!(
        "vpa.enabled=false,{mutator},gardener.virtualCluster.enabled=true,gardener.virtualCluster.namespace={owner},\
         webhookConfig.url=127.0.0.1:{},webhookConfig.namespaces={{{namespace}}}",
        front.port
    );
    garden.helm(["upgrade", "admission", &runtime, "--set", &values]).await.ends_with(0);
}

/// A kubeconfig of the account that a chart made: `kubeconfig` beside `token`, as Gardener's generic one.
async fn account(garden: &Garden, elsewhere: &Elsewhere, name: &str, namespace: &str) -> PathBuf {
    let folder = elsewhere.folder.join(name);
    std::fs::create_dir(&folder).unwrap();
    let token = garden.kubectl(["create", "token", NAME, "--namespace", namespace]).await.ends_with(0);
    std::fs::write(folder.join("token"), token.stdout.trim()).unwrap();
    let admin = garden.kubectl(["config", "view", "--raw", "-o", "json"]).await.ends_with(0);
    let mut config: Value = serde_json::from_str(&admin.stdout).unwrap();
    for user in config["users"].as_array_mut().unwrap() {
        user["user"] = json!({"tokenFile": folder.join("token")});
    }
    let file = folder.join("kubeconfig");
    std::fs::write(&file, config.to_string()).unwrap();
    file
}

/// The program with the command that its Deployment has, but for addresses of a pod, and files that are mounted into one.
async fn start(garden: &Garden, front: &Front, garden_file: &Path, home_file: &Path) -> Program {
    let deployment = garden.kubectl(["get", "deployment", NAME, "-o", "json"]).await.ends_with(0);
    let here = |word: &String| match word.split_once('=').unwrap().0 {
        "--kubeconfig" => format!("--kubeconfig={}", garden_file.display()),
        "--source-cluster" => format!("--source-kubeconfig={}", home_file.display()),
        "--webhook-config-server-port" => "--webhook-config-server-port=0".to_owned(),
        "--metrics-bind-address" => "--metrics-bind-address=0".to_owned(),
        "--health-bind-address" => "--health-bind-address=127.0.0.1:0".to_owned(),
        _ => word.clone(),
    };
    let mut words: Vec<String> =
        command(&serde_json::from_str(&deployment.stdout).unwrap())[1..].iter().map(here).collect();
    for more in ["--webhook-config-server-host=127.0.0.1", "--webhook-config-cert-round=1s", "--shutdown-notice=0.2s"] {
        words.push(more.to_owned());
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let program = Program::spawn(NAME, &words, None).await;
    front.leads_to(&[&program]);
    program.ready().await;
    program
}

async fn it_registers(garden: &Garden, elsewhere: &Elsewhere) {
    for (kind, webhooks) in [(VALIDATING, 2), (MUTATING, 1)] {
        let filled = until("the configuration is filled in", async || {
            let told = garden.kubectl(["get", kind, NAME, "-o", "json"]).await.ends_with(0);
            let object: Value = serde_json::from_str(&told.stdout).unwrap();
            object["webhooks"].is_array().then_some(object)
        })
        .await;
        assert_eq!(filled["webhooks"].as_array().unwrap().len(), webhooks);
        // Helm's object, with the owner that gardener-operator's way needs.
        assert_eq!(filled["metadata"]["labels"]["app.kubernetes.io/managed-by"], "Helm");
        assert_eq!(filled["metadata"]["ownerReferences"][0]["name"], json!(elsewhere.namespace));
    }
}

/// A sound Shoot passes; without networks it is refused by our webhook.
async fn judged(garden: &Garden, sound: &Value, part: &str) {
    let mut broken = sound.clone();
    broken["spec"]["provider"]["infrastructureConfig"]["networks"] = json!({});
    let dry =
        async |object: &Value| garden.kubectl_with(["apply", "--dry-run=server", "-f", "-"], &object.to_string()).await;
    let told = until("the apiserver asks the webhook", async || {
        Some(dry(&broken).await).filter(|told| told.stderr.contains(part))
    })
    .await;
    assert!(told.stderr.contains("validator.admission-openstack-fabric.extensions.gardener.cloud"), "{}", told.stderr);
    dry(sound).await.ends_with(0);
}

/// Also what a chart made to be filled in: with gardener-operator there is nothing of the kind.
async fn it_makes_again_what_is_lost(garden: &Garden) {
    for object in [SERVER, &format!("lease/{NAME}"), &format!("{VALIDATING}/{NAME}"), &format!("{MUTATING}/{NAME}")] {
        garden.kubectl(["delete", object]).await.ends_with(0);
        until(object, async || (garden.kubectl(["get", object]).await.code == 0).then_some(())).await;
    }
    judged(garden, &shoot(garden, "sound"), "networks.workers").await;
}

/// Whatever Shoots and bindings may refer to: with the right to read it they pass, without it they don't.
async fn every_right_counts(garden: &Garden) {
    let namespace = &garden.namespace;
    let binding = |kind: &str, name: &str| {
        json!({
            "apiVersion": "security.gardener.cloud/v1alpha1", "kind": "CredentialsBinding",
            "metadata": {"name": format!("by-{name}")}, "provider": {"type": "openstack"},
            "credentialsRef": {
                "apiVersion": if kind == "Secret" { "v1" } else { "core.gardener.cloud/v1beta1" },
                "kind": kind, "name": name, "namespace": namespace,
            },
        })
    };
    let secret = example(garden, "25-secret-password.yaml").remove(0);
    let mut internal = json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "InternalSecret",
        "metadata": {"name": "internal", "namespace": namespace}, "type": "Opaque", "data": {}});
    let stored = garden.kubectl(["get", "secret", secret["metadata"]["name"].as_str().unwrap(), "-o", "json"]).await;
    let stored: Value = serde_json::from_str(&stored.ends_with(0).stdout).unwrap();
    internal["data"] = stored["data"].clone();
    let old = json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "SecretBinding",
        "metadata": {"name": "old", "namespace": namespace}, "provider": {"type": "openstack"},
        "secretRef": {"name": secret["metadata"]["name"], "namespace": namespace}});
    for object in [internal, old.clone()] {
        apply(garden, &placed(garden, object)).await.ends_with(0);
    }
    let by_binding = shoot(garden, "by-binding");
    let mut by_old = by_binding.clone();
    by_old["spec"].as_object_mut().unwrap().remove("credentialsBindingName");
    by_old["spec"]["secretBindingName"] = json!("old");
    let mut by_namespaced = by_binding.clone();
    by_namespaced["spec"]["cloudProfile"] = json!({"kind": "NamespacedCloudProfile", "name": "none"});
    for (resource, passes, object) in [
        ("cloudprofiles", true, &by_binding),
        ("credentialsbindings", true, &by_binding),
        ("secrets", true, &placed(garden, binding("Secret", secret["metadata"]["name"].as_str().unwrap()))),
        ("internalsecrets", true, &placed(garden, binding("InternalSecret", "internal"))),
        ("secretbindings", true, &by_old),
        // There is none: what counts is who says so.
        ("namespacedcloudprofiles", false, &by_namespaced),
    ] {
        let dry = async || garden.kubectl_with(["apply", "--dry-run=server", "-f", "-"], &object.to_string()).await;
        let denied = |text: &str| text.contains("forbidden: User \"system:serviceaccount:");
        let with = dry().await;
        assert!((with.code == 0) == passes && !denied(&with.stderr), "{resource}: {}", with.stderr);
        let role = garden.kubectl(["get", ROLE, NAME, "-o", "json"]).await.ends_with(0).stdout;
        let mut less: Value = serde_json::from_str(&role).unwrap();
        for rule in less["rules"].as_array_mut().unwrap() {
            rule["resources"].as_array_mut().unwrap().retain(|one| one != resource);
        }
        less["rules"].as_array_mut().unwrap().retain(|rule| rule["resources"] != json!([]));
        change_role(garden, &less["rules"]).await;
        until(resource, async || Some(dry().await).filter(|told| told.code != 0 && denied(&told.stderr))).await;
        let whole: Value = serde_json::from_str(&role).unwrap();
        change_role(garden, &whole["rules"]).await;
        until(resource, async || Some(dry().await).filter(|told| !denied(&told.stderr))).await;
    }
}

async fn change_role(garden: &Garden, rules: &Value) {
    let patch = json!({"rules": rules}).to_string();
    garden.kubectl(["patch", ROLE, NAME, "--type", "merge", "--patch", &patch]).await.ends_with(0);
}

async fn nothing_else_is_allowed(garden: &Garden, elsewhere: &Elsewhere) {
    let (there, here) = (&elsewhere.namespace, &garden.namespace);
    let in_garden = format!("system:serviceaccount:{there}:{NAME}");
    let at_home = format!("system:serviceaccount:{here}:{NAME}");
    let other = format!("{VALIDATING}/gardener-extension-admission-openstack");
    for (who, allowed, question) in [
        (&in_garden, "yes", ["get", "secrets", "--namespace", "garden-x"]),
        (&in_garden, "no", ["list", "secrets", "--namespace", "garden-x"]),
        (&in_garden, "no", ["watch", "secrets", "--namespace", "garden-x"]),
        (&in_garden, "no", ["create", "secrets", "--namespace", there]),
        (&in_garden, "no", ["get", "shoots.core.gardener.cloud", "--namespace", "garden-x"]),
        (&in_garden, "no", ["list", "cloudprofiles.core.gardener.cloud", "--namespace", "garden-x"]),
        (&in_garden, "no", ["patch", "cloudprofiles.core.gardener.cloud", "--namespace", "garden-x"]),
        (&in_garden, "no", ["get", "namespaces/garden", "--namespace", "garden"]),
        (&in_garden, "no", ["patch", &other, "--namespace", there]),
        (&in_garden, "no", ["delete", &other, "--namespace", there]),
        (&in_garden, "no", ["create", VALIDATING, "--namespace", there]),
        (&in_garden, "no", ["list", VALIDATING, "--namespace", there]),
        (&at_home, "yes", ["patch", CA, "--namespace", here]),
        (&at_home, "no", ["get", "secrets/other", "--namespace", here]),
        (&at_home, "no", ["list", "secrets", "--namespace", here]),
        (&at_home, "no", ["delete", CA, "--namespace", here]),
        (&at_home, "no", ["get", CA, "--namespace", there]),
        (&at_home, "no", ["patch", "leases.coordination.k8s.io/other", "--namespace", here]),
        (&at_home, "no", ["create", "events", "--namespace", here]),
        (&at_home, "no", ["get", "cloudprofiles.core.gardener.cloud", "--namespace", here]),
    ] {
        let [verb, what, flag, namespace] = question;
        let told = garden.kubectl(["auth", "can-i", verb, what, flag, namespace, "--as", who]).await;
        assert_eq!(told.stdout.trim(), allowed, "{who}: {verb} {what} in {namespace}: {}", told.stderr);
    }
}

async fn gone(garden: &Garden, object: &str) -> Option<()> {
    garden.kubectl(["get", object]).await.stderr.contains("NotFound").then_some(())
}

/// Both releases go, and with them all that the program wrote.
async fn uninstall(garden: &Garden, elsewhere: &Elsewhere) {
    garden.helm(["uninstall", "admission", "--namespace", &elsewhere.namespace]).await.ends_with(0);
    for kind in [VALIDATING, MUTATING, ROLE, BINDING] {
        until(kind, async || gone(garden, &format!("{kind}/{NAME}")).await).await;
    }
    garden.helm(["uninstall", "admission"]).await.ends_with(0);
    nothing_is_left(garden, elsewhere).await;
}

async fn nothing_is_left(garden: &Garden, elsewhere: &Elsewhere) {
    let kinds =
        "deployments,services,poddisruptionbudgets,serviceaccounts,roles,rolebindings,leases,secrets,configmaps";
    for namespace in [&garden.namespace, &elsewhere.namespace] {
        until("nothing is left behind", async || {
            let told = garden.kubectl(["get", kinds, "--namespace", namespace, "-o", "name"]).await.ends_with(0);
            told.stdout.lines().all(|name| !name.contains("admission")).then_some(())
        })
        .await;
    }
    for kind in [VALIDATING, MUTATING, ROLE, BINDING] {
        until(kind, async || gone(garden, &format!("{kind}/{NAME}")).await).await;
    }
}

/// The umbrella: one release, one account with both kinds of rights.
async fn in_one_cluster(garden: &Garden, elsewhere: &Elsewhere) {
    let umbrella = chart(NAME);
    let notes =
        garden.helm(["install", "admission", &umbrella, "--set", "runtime.vpa.enabled=false"]).await.ends_with(0);
    assert!(notes.stdout.contains(NAME), "{}", notes.stdout);
    let who = format!("system:serviceaccount:{}:{NAME}", garden.namespace);
    for question in [["get", "cloudprofiles.core.gardener.cloud"], ["patch", CA]] {
        let asks = async || garden.kubectl(["auth", "can-i", question[0], question[1], "--as", &who]).await;
        until("it may", async || (asks().await.code == 0).then_some(())).await;
    }
    garden.helm(["uninstall", "admission"]).await.ends_with(0);
    nothing_is_left(garden, elsewhere).await;
}
