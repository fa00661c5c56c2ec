//! A seed with one shoot's namespace, and the cloud that its infrastructure is to be made in: the embedded one, or the
//! lab's.

use std::path::Path;
use std::time::{Duration, Instant};

use fabric_openstack_sim::{Cloud, Config};
use fabric_test_kube::{Garden, in_garden, on_lab};
use fabric_test_openstack::World;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, core::DynamicObject};
use serde_json::{Value, json};

use crate::program::Program;

pub(crate) const PACKAGE: &str = "gardener-extension-openstack-fabric";
pub(crate) const OPERATION: &str = "gardener.cloud/operation";
pub(crate) const WORKERS: &str = "10.250.0.0/19";
/// What the operator's profile names for nodes.
pub(crate) const DNS: &str = "1.1.1.1";
pub(crate) const UID: &str = "6d3b6e0f-9a3c-4c11-8a86-5d0a9c2f4e17";
/// The key below, as text.
pub(crate) const SSH_KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIO+itB2CfjLw4zFww64ZVavl3AODVImIip4OGVpdq0Ag";
const PUBLIC_KEY: &str =
    "c3NoLWVkMjU1MTkgQUFBQUMzTnphQzFsWkRJMU5URTVBQUFBSU8raXRCMkNmakx3NHpGd3c2NFpWYXZsM0FPRFZJbUlpcDRPR1ZwZHEwQWcK";

/// A namespace of the lab's cluster, as gardenlet would leave it in a seed.
pub(crate) struct Seed<C = Cloud> {
    pub(crate) garden: Garden,
    pub(crate) cloud: C,
    place: Place,
}

/// What an operator and a project's member know of a cloud.
#[derive(Clone)]
struct Place {
    auth_url: String,
    region: String,
    pool: String,
    secret: Value,
}

/// Runs a case in a seed of its own.
pub(crate) fn in_seed<F: Future<Output = ()> + Send>(case: impl FnOnce(Seed) -> F + Send + 'static) {
    on_lab(async move |garden| {
        let config = Config { delay: Duration::from_millis(5), rng_seed: Some(7), ..Config::default() };
        let cloud = Cloud::start(config).await.unwrap();
        let place = Place {
            auth_url: cloud.auth_url(),
            region: cloud.region(),
            pool: "public".to_owned(),
            secret: json!({"domainName": "demo", "tenantName": "demo", "username": "demo", "password": "demo"}),
        };
        case(Seed { garden, cloud, place }.furnished().await).await;
    });
}

/// Runs a case in a seed of its own, with a project of its own on the lab's OpenStack.
pub(crate) fn in_seed_on_openstack<F>(case: impl FnOnce(Seed<World>) -> F + Send + 'static)
where
    F: Future<Output = ()> + Send + 'static,
{
    fabric_test_openstack::on_lab(async move |world: World| in_seed_of(world, case).await);
}

/// The same on an embedded cloud of its own.
pub(crate) fn in_seed_on_embedded<F>(case: impl FnOnce(Seed<World>) -> F + Send + 'static)
where
    F: Future<Output = ()> + Send + 'static,
{
    fabric_test_openstack::on_embedded(async move |world: World| {
        world.hurry();
        in_seed_of(world, case).await;
    });
}

async fn in_seed_of<F>(world: World, case: impl FnOnce(Seed<World>) -> F + Send + 'static)
where
    F: Future<Output = ()> + Send + 'static,
{
    in_garden(async move |garden| {
        let facts = &world.facts;
        let place = Place {
            auth_url: facts.auth_url.clone(),
            region: facts.region.clone(),
            pool: facts.external_network.clone(),
            secret: world.secret(),
        };
        case(Seed { garden, cloud: world, place }.furnished().await).await;
    })
    .await;
}

impl<C> Seed<C> {
    /// The same shoot's namespace in another seed, with the same cloud.
    pub(crate) async fn at(&self, garden: Garden) -> Seed<()> {
        Seed { garden, cloud: (), place: self.place.clone() }.furnished().await
    }

    /// The technical ID of the shoot.
    pub(crate) fn name(&self) -> &str {
        &self.garden.namespace
    }

    async fn furnished(self) -> Self {
        let name = self.name();
        self.garden.owns(format!("clusters.extensions.gardener.cloud/{name}"));
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "cloudprovider" },
            "stringData": self.place.secret,
        });
        let cluster = json!({
            "apiVersion": "extensions.gardener.cloud/v1alpha1", "kind": "Cluster", "metadata": { "name": name },
            "spec": {
                "cloudProfile": { "apiVersion": "core.gardener.cloud/v1beta1", "kind": "CloudProfile", "spec": {
                    "type": "openstack", "providerConfig": {
                        "apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
                        "keystoneURL": self.place.auth_url, "dnsServers": [DNS],
                    },
                } },
                "seed": {},
                "shoot": {
                    "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot",
                    "metadata": { "name": "openstack", "namespace": "garden-foobar" },
                    "spec": {
                        "region": self.place.region, "provider": { "type": "openstack", "workers": [{ "name": "w" }] },
                        "networking": { "type": "calico", "nodes": WORKERS, "pods": "100.96.0.0/11", "services": "100.64.0.0/13" },
                    },
                    "status": { "technicalID": name, "uid": UID },
                },
            },
        });
        for object in [secret, cluster] {
            let told = self.garden.kubectl_with(["create", "-f", "-"], &object.to_string()).await;
            assert_eq!(told.code, 0, "{}", told.stderr);
        }
        self
    }

    /// The controller, for this seed's objects alone.
    pub(crate) async fn controller(&self, more: &[&str]) -> Program {
        self.controller_by(&self.garden.kubeconfig, more).await
    }

    /// The same on another way to the apiserver.
    pub(crate) async fn controller_by(&self, kubeconfig: &Path, more: &[&str]) -> Program {
        let arguments = [
            ["--extension-classes", self.name()],
            ["--webhook-config-namespace", self.name()],
            ["--webhook-config-server-host", "127.0.0.1"],
            ["--webhook-config-server-port", "0"],
            ["--metrics-bind-address", "0"],
            ["--health-bind-address", "127.0.0.1:0"],
            ["--shutdown-notice", "0.1s"],
            ["--disable-webhooks", "infrastructure,cloudprovider"],
        ];
        let arguments: Vec<&str> = arguments.as_flattened().iter().chain(more).copied().collect();
        Program::spawn(PACKAGE, &arguments, Some(kubeconfig)).await
    }

    /// Says in the Cluster which address families the shoot has.
    pub(crate) async fn families(&self, families: &[&str]) {
        let networking = json!({ "ipFamilies": families });
        let patch = json!({ "spec": { "shoot": { "spec": { "networking": networking } } } });
        let clusters = self.garden.api("extensions.gardener.cloud", "clusters");
        clusters.patch(self.name(), &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    }

    pub(crate) fn api(&self) -> Api<DynamicObject> {
        self.garden.api("extensions.gardener.cloud", "infrastructures")
    }

    /// The Infrastructure of this shoot.
    pub(crate) fn infrastructure(&self, networks: Value) -> Value {
        json!({
            "apiVersion": "extensions.gardener.cloud/v1alpha1", "kind": "Infrastructure",
            "metadata": { "name": "openstack", "namespace": self.name(), "annotations": { OPERATION: "reconcile" } },
            "spec": {
                "type": "openstack", "class": self.name(), "region": self.place.region, "sshPublicKey": PUBLIC_KEY,
                "secretRef": { "name": "cloudprovider", "namespace": self.name() },
                "providerConfig": {
                    "apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "InfrastructureConfig",
                    "floatingPoolName": self.place.pool, "networks": networks,
                },
            },
        })
    }

    pub(crate) async fn create(&self, object: Value) {
        let object = serde_json::from_value(object).unwrap();
        self.api().create(&PostParams::default(), &object).await.unwrap();
    }

    /// The object; null when it is gone.
    pub(crate) async fn object(&self) -> Value {
        let found = self.api().get_opt("openstack").await.unwrap();
        found.map_or(Value::Null, |object| serde_json::to_value(object).unwrap())
    }

    pub(crate) async fn patch(&self, patch: Value) {
        self.api().patch("openstack", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    }

    pub(crate) async fn patch_status(&self, status: Value) {
        let patch = Patch::Merge(json!({ "status": status }));
        self.api().patch_status("openstack", &PatchParams::default(), &patch).await.unwrap();
    }

    /// As gardenlet asks: the annotation, and when it was written.
    pub(crate) async fn ask(&self, operation: &str) {
        let now = k8s_openapi::jiff::Timestamp::now().to_string();
        self.patch(json!({ "metadata": { "annotations": { OPERATION: operation, "gardener.cloud/timestamp": now } } }))
            .await;
    }

    /// Waits until the object is as told, and returns it.
    pub(crate) async fn see(&self, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        self.see_within(Duration::from_secs(40), what, is_so).await
    }

    /// The same within a time of its own.
    pub(crate) async fn see_within(&self, time: Duration, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + time;
        loop {
            let object = self.object().await;
            if is_so(&object) {
                return object;
            }
            assert!(Instant::now() < end, "{what}: not seen; the object is {object:#}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits until gardenlet would take the last operation for done (contract §3.1).
    pub(crate) async fn ready(&self) -> Value {
        self.see("ready", is_ready).await
    }
}

impl Seed {
    /// What the cloud holds, without times.
    pub(crate) fn content(&self) -> Value {
        let mut all = self.cloud.snapshot();
        strip(&mut all);
        all
    }
}

/// As gardenlet sees it: what was asked has been done.
pub(crate) fn is_ready(object: &Value) -> bool {
    let annotation = |name: &str| object["metadata"]["annotations"][name].as_str();
    let last = &object["status"]["lastOperation"];
    let seconds = |text: Option<&str>| {
        text.and_then(|text| text.parse::<k8s_openapi::jiff::Timestamp>().ok()).map(|time| time.as_second())
    };
    let asked = seconds(annotation("gardener.cloud/timestamp"));
    annotation(OPERATION).is_none()
        && object["status"]["lastError"].is_null()
        && object["status"]["observedGeneration"] == object["metadata"]["generation"]
        && last["state"] == "Succeeded"
        && asked.is_none_or(|asked| seconds(last["lastUpdateTime"].as_str()).is_some_and(|done| done >= asked))
}

pub(crate) fn has_failed(object: &Value) -> bool {
    object["status"]["lastOperation"]["state"] == "Error"
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for moving in ["updated_at", "revision_number"] {
                map.remove(moving);
            }
            map.values_mut().for_each(strip);
        }
        Value::Array(list) => list.iter_mut().for_each(strip),
        _ => {}
    }
}
