//! One case's garden: a namespace of its own, on the lab's cluster.

use std::collections::BTreeSet;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use fabric_apis::crd;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use serde_json::json;

use crate::{Output, run};

/// A namespace on the lab's cluster, and who asks there: the cluster's administrator.
#[derive(Clone)]
pub struct Garden {
    /// A client of the lab's cluster.
    pub client: kube::Client,
    /// The namespace: `garden-` and a random word.
    pub namespace: String,
    /// The kubeconfig of the lab's administrator.
    pub kubeconfig: PathBuf,
    bin: PathBuf,
    outside: Arc<Mutex<BTreeSet<String>>>,
}

/// The folder of the lab's second cluster, which a case may restart.
pub fn second() -> Option<PathBuf> {
    std::env::var_os("FABRIC_LAB_SECOND").filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Runs a case on the lab in a garden of its own, and takes that away afterwards, also when the case fails. Without a
/// lab (`FABRIC_LAB_KUBECONFIG`) it says so and is done.
pub fn on_lab<F: Future<Output = ()> + Send + 'static>(case: impl FnOnce(Garden) -> F) {
    tokio::runtime::Runtime::new().expect("a runtime").block_on(in_garden(case));
}

/// The same for a case that runs already.
pub async fn in_garden<F: Future<Output = ()> + Send + 'static>(case: impl FnOnce(Garden) -> F) {
    let named = |name: &str| std::env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let (Some(kubeconfig), Some(bin)) = (named("FABRIC_LAB_KUBECONFIG"), named("FABRIC_LAB_KUBE_BIN")) else {
        eprintln!("SKIPPED: no Kubernetes in the lab; hack/lab up kube && eval \"$(hack/lab env)\", or hack/test kube");
        return;
    };
    let garden = Garden::new(kubeconfig, bin).await;
    let result = tokio::spawn(case(garden.clone())).await;
    garden.leave().await;
    if let Err(failure) = result {
        std::panic::resume_unwind(failure.into_panic());
    }
}

impl Garden {
    async fn new(kubeconfig: PathBuf, bin: PathBuf) -> Self {
        let word = uuid::Uuid::new_v4().simple().to_string();
        Self::named(kubeconfig, bin, &word[..8]).await
    }

    /// The same namespace in the lab's second cluster, whose folder `FABRIC_LAB_SECOND` names. Without one it says so.
    /// It has to [leave](Self::leave).
    pub async fn twin(&self) -> Option<Self> {
        let Some(folder) = second() else {
            eprintln!("SKIPPED: no second Kubernetes; hack/test kube and hack/soak have one");
            return None;
        };
        let word = self.namespace.trim_start_matches("garden-");
        Some(Self::named(folder.join("kube/admin.kubeconfig"), self.bin.clone(), word).await)
    }

    async fn named(kubeconfig: PathBuf, bin: PathBuf, word: &str) -> Self {
        let client = fabric_runtime::cluster::connect(Some(&kubeconfig)).await.expect("a client of the lab's cluster");
        let namespace = format!("garden-{word}");
        let object = serde_json::from_value(json!({"metadata": {"name": namespace, "labels": {
            "gardener.cloud/role": "project", "project.gardener.cloud/name": word,
        }}}));
        let api = Api::<Namespace>::all(client.clone());
        let made = api.create(&PostParams::default(), &object.unwrap()).await;
        made.unwrap_or_else(|error| panic!("the lab's cluster ({}) does not answer: {error}", kubeconfig.display()));
        Self { client, namespace, kubeconfig, bin, outside: Arc::default() }
    }

    /// A controller that is gone by now takes no finalizer off, and then the namespace stays for ever.
    async fn let_go(&self) {
        let infrastructures = self.api("extensions.gardener.cloud", "infrastructures");
        let left = infrastructures.list(&ListParams::default()).await.map(|list| list.items).unwrap_or_default();
        for name in left.into_iter().filter_map(|object| object.metadata.name) {
            let free = Patch::Merge(json!({"metadata": {"finalizers": null}}));
            if let Err(error) = infrastructures.patch(&name, &PatchParams::default(), &free).await {
                eprintln!("the Infrastructure {name} stays behind: {error}");
            }
        }
    }

    /// Takes the namespace away, and what else was [owned](Self::owns).
    pub async fn leave(self) {
        self.let_go().await;
        let outside = std::mem::take(&mut *self.outside.lock().unwrap());
        if !outside.is_empty() {
            let all =
                ["delete", "--ignore-not-found", "--wait=false"].into_iter().chain(outside.iter().map(String::as_str));
            let gone = self.run("kubectl", &all.collect::<Vec<_>>(), "").await;
            if gone.code != 0 {
                eprintln!("not everything was deleted: {}", gone.stderr);
            }
        }
        let namespaces = Api::<Namespace>::all(self.client);
        if let Err(error) = namespaces.delete(&self.namespace, &DeleteParams::default()).await {
            eprintln!("the namespace {} stays behind: {error}", self.namespace);
        }
    }

    /// A name for an object outside of every namespace: this garden's, and `name`.
    pub fn cluster_name(&self, name: &str) -> String {
        format!("{}-{name}", self.namespace)
    }

    /// Has an object outside of the namespace deleted after the case: `clusters.extensions.gardener.cloud/NAME`.
    pub fn owns(&self, object: impl Into<String>) {
        self.outside.lock().unwrap().insert(object.into());
    }

    /// Requests for objects of one of Gardener's kinds: in this namespace, or for a kind outside of namespaces in the
    /// cluster.
    pub fn api(&self, group: &str, plural: &str) -> Api<DynamicObject> {
        let definitions = crd::definitions();
        let definition = definitions.iter().find(|one| (one.group, one.plural) == (group, plural));
        let spec = &definition.unwrap_or_else(|| panic!("no kind {plural} in {group}")).object["spec"];
        let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
        let kind = GroupVersionKind::gvk(group, &text(&spec["versions"][0]["name"]), &text(&spec["names"]["kind"]));
        let resource = ApiResource::from_gvk_with_plural(&kind, plural);
        if spec["scope"] == "Cluster" {
            Api::all_with(self.client.clone(), &resource)
        } else {
            Api::namespaced_with(self.client.clone(), &self.namespace, &resource)
        }
    }

    /// `kubectl …` in this namespace, as the administrator.
    pub async fn kubectl<const N: usize>(&self, arguments: [&str; N]) -> Output {
        self.run("kubectl", &arguments, "").await
    }

    /// `kubectl …` with something to read: `kubectl(["apply", "-f", "-"])`.
    pub async fn kubectl_with<const N: usize>(&self, arguments: [&str; N], input: &str) -> Output {
        self.run("kubectl", &arguments, input).await
    }

    /// `helm …` in this namespace, as the administrator.
    pub async fn helm<const N: usize>(&self, arguments: [&str; N]) -> Output {
        self.run("helm", &arguments, "").await
    }

    /// `helm …` with as many arguments as there happen to be.
    pub async fn helm_with(&self, arguments: &[&str]) -> Output {
        self.run("helm", arguments, "").await
    }

    /// `helm …` with something to read: `helm_reading(&["template", …, "-f", "-"], values)`.
    pub async fn helm_reading(&self, arguments: &[&str], input: &str) -> Output {
        self.run("helm", arguments, input).await
    }

    async fn run(&self, program: &str, arguments: &[&str], input: &str) -> Output {
        let arguments: Vec<&str> =
            ["--namespace", &self.namespace].into_iter().chain(arguments.iter().copied()).collect();
        run::run(&self.program(program), &arguments, &self.kubeconfig, input).await
    }

    fn program(&self, name: &str) -> PathBuf {
        Path::new(&self.bin).join(name)
    }
}
