//! A garden, a cloud with a user's things in it, and the webhooks in front of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use fabric_admission::{Health, Limits, Metrics, Service};
use fabric_openstack_sim::{Cloud, Config, Service as OpenStack};
use fabric_validation::openstack::admission::{Defaults, Lookup, Reference, ReferenceKind, Webhook};
use fabric_webhooks::dynamic::{Dynamic, Mode};
use fabric_webhooks::{Fetch, Rules, routes};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use prometheus_client::registry::Registry;
use serde_json::{Value, json};

/// A password that must show up nowhere.
pub(crate) const PASSWORD: &str = "correct-horse-battery";
const CORE: &str = "core.gardener.cloud/v1beta1";
const CONFIG: &str = "openstack.provider.extensions.gardener.cloud/v1alpha1";
/// The time box in these tests.
pub(crate) const BOX: Duration = Duration::from_millis(1500);

/// Other objects, by reference. What is not in here is not there.
#[derive(Default)]
pub(crate) struct Garden(Mutex<HashMap<Reference, Lookup>>);

impl Garden {
    pub(crate) fn put(&self, kind: ReferenceKind, namespace: &str, name: &str, lookup: Lookup) {
        self.0.lock().unwrap().insert(Reference::new(kind, namespace, name), lookup);
    }
}

#[async_trait]
impl Fetch for Garden {
    async fn fetch(&self, reference: &Reference) -> Arc<Lookup> {
        self.0.lock().unwrap().get(reference).cloned().unwrap_or(Lookup::NotFound).into()
    }
}

/// What a user of the webhook sees.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) allowed: bool,
    pub(crate) code: u64,
    pub(crate) message: String,
    pub(crate) warnings: Vec<String>,
    pub(crate) patch: Option<String>,
    /// The whole answer.
    pub(crate) text: String,
}

impl Seen {
    /// Whether some warning has all these parts.
    pub(crate) fn warns(&self, parts: &[&str]) -> bool {
        self.warnings.iter().any(|warning| parts.iter().all(|part| warning.contains(part)))
    }
}

pub(crate) struct World {
    pub(crate) cloud: Cloud,
    pub(crate) garden: Arc<Garden>,
    pub(crate) service: Service,
    pub(crate) network: String,
    pub(crate) subnet: String,
    pub(crate) router: String,
    /// A network with a subnet, and no router at either.
    pub(crate) lonely: (String, String),
    pub(crate) share: String,
}

impl World {
    pub(crate) async fn start(mode: Mode) -> Self {
        let config = Config { delay: Duration::ZERO, ..Config::default() };
        let cloud = Cloud::start(config).await.unwrap();
        let demo = cloud.user("demo").unwrap();
        let made = |path: &str, body: Value, pointer: &str| {
            let answer = demo.post(OpenStack::Network, path, body);
            assert!(answer.status < 300, "{path}: {answer:?}");
            answer.text(pointer)
        };
        let network = |name: &str| made("/v2.0/networks", json!({"network": {"name": name}}), "/network/id");
        let subnet = |network: &str, cidr: &str| {
            let body = json!({"subnet": {"network_id": network, "ip_version": 4, "cidr": cidr,
                                         "dns_nameservers": ["192.0.2.53"]}});
            made("/v2.0/subnets", body, "/subnet/id")
        };
        let (office, lonely) = (network("office"), network("lonely"));
        let (nodes, beside) = (subnet(&office, "10.250.0.0/24"), subnet(&lonely, "10.251.0.0/24"));
        let public = cloud.id("networks", "public").unwrap();
        let gateway = json!({"router": {"name": "office", "external_gateway_info": {"network_id": public}}});
        let router = made("/v2.0/routers", gateway, "/router/id");
        let share = json!({"share_network": {"name": "s", "neutron_net_id": office, "neutron_subnet_id": nodes}});
        let share = demo.post(OpenStack::SharedFileSystem, "/v2/share-networks", share).text("/share_network/id");
        drop(demo);
        let garden = Arc::new(Garden::default());
        let world = Self {
            service: service(mode, Arc::clone(&garden)),
            cloud,
            garden,
            network: office,
            subnet: nodes,
            router,
            lonely: (lonely, beside),
            share,
        };
        world.connect(&world.subnet);
        world.furnish();
        world
    }

    /// Puts the router on a subnet.
    pub(crate) fn connect(&self, subnet: &str) {
        let path = format!("/v2.0/routers/{}/add_router_interface", self.router);
        let answer = self.cloud.user("demo").unwrap().put(OpenStack::Network, &path, json!({"subnet_id": subnet}));
        assert_eq!(answer.status, 200);
    }

    /// What a Shoot refers to.
    fn furnish(&self) {
        let profile = json!({
            "apiVersion": CORE, "kind": "CloudProfile", "metadata": {"name": "openstack"},
            "spec": {"type": "openstack", "providerConfig": self.profile()},
        });
        self.garden.put(ReferenceKind::CloudProfile, "", "openstack", Lookup::Found(profile));
        let binding = json!({
            "apiVersion": "security.gardener.cloud/v1alpha1", "kind": "CredentialsBinding",
            "metadata": {"name": "openstack", "namespace": "garden-dev"}, "provider": {"type": "openstack"},
            "credentialsRef": {"apiVersion": "v1", "kind": "Secret", "name": "keys", "namespace": "garden-keys"},
        });
        self.garden.put(ReferenceKind::CredentialsBinding, "garden-dev", "openstack", Lookup::Found(binding));
        self.login("demo", &[]);
    }

    /// The login that the binding leads to.
    pub(crate) fn login(&self, password: &str, more: &[(&str, &str)]) {
        let mut data = json!({"domainName": "demo", "tenantName": "demo", "username": "demo", "password": password});
        for (key, value) in more {
            data[*key] = json!(value);
        }
        let secret = |name: &str, namespace: &str| {
            let metadata = json!({"name": name, "namespace": namespace});
            Lookup::Found(json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": data}))
        };
        self.garden.put(ReferenceKind::Secret, "garden-keys", "keys", secret("keys", "garden-keys"));
        let namespace = "shoot--dev--a";
        self.garden.put(ReferenceKind::Secret, namespace, "cloudprovider", secret("cloudprovider", namespace));
    }

    fn profile(&self) -> Value {
        json!({
            "apiVersion": CONFIG, "kind": "CloudProfileConfig", "keystoneURL": self.cloud.auth_url(),
            "constraints": {"floatingPools": [{"name": "public"}], "loadBalancerProviders": [{"name": "amphora"}]},
        })
    }

    /// A sound Shoot with these `networks`.
    pub(crate) fn shoot(&self, networks: &Value) -> Value {
        json!({
            "apiVersion": CORE, "kind": "Shoot", "metadata": {"name": "a", "namespace": "garden-dev"},
            "spec": {
                "cloudProfile": {"kind": "CloudProfile", "name": "openstack"},
                "credentialsBindingName": "openstack", "region": "RegionOne",
                "networking": {"type": "calico", "nodes": "10.250.0.0/15", "pods": "100.96.0.0/11",
                               "services": "100.64.0.0/13"},
                "provider": {
                    "type": "openstack",
                    "infrastructureConfig": self.config(networks),
                    "controlPlaneConfig": {"apiVersion": CONFIG, "kind": "ControlPlaneConfig",
                                           "loadBalancerProvider": "amphora"},
                    "workers": [{"name": "w", "zones": ["nova"], "machine": {"type": "m"}}],
                },
            },
        })
    }

    pub(crate) fn config(&self, networks: &Value) -> Value {
        json!({"apiVersion": CONFIG, "kind": "InfrastructureConfig", "floatingPoolName": "public", "networks": networks})
    }

    /// Its Infrastructure in the seed, with the Cluster beside it.
    pub(crate) fn infrastructure(&self, networks: &Value) -> Value {
        let mut shoot = self.shoot(networks);
        shoot["status"] = json!({"technicalID": "shoot--dev--a", "uid": "u"});
        let cluster = json!({
            "apiVersion": "extensions.gardener.cloud/v1alpha1", "kind": "Cluster",
            "metadata": {"name": "shoot--dev--a"},
            "spec": {"shoot": shoot, "cloudProfile": {"spec": {"type": "openstack", "providerConfig": self.profile()}}},
        });
        self.garden.put(ReferenceKind::Cluster, "", "shoot--dev--a", Lookup::Found(cluster));
        json!({
            "apiVersion": "extensions.gardener.cloud/v1alpha1", "kind": "Infrastructure",
            "metadata": {"name": "a", "namespace": "shoot--dev--a"},
            "spec": {"type": "openstack", "region": "RegionOne", "providerConfig": self.config(networks),
                     "secretRef": {"name": "cloudprovider", "namespace": "shoot--dev--a"}},
        })
    }

    /// Given network, subnet and router.
    pub(crate) fn given(&self) -> Value {
        json!({"id": self.network, "subnetId": self.subnet, "router": {"id": self.router}})
    }

    pub(crate) async fn create(&self, webhook: Webhook, object: &Value) -> Seen {
        self.review(webhook, "CREATE", Some(object), None).await
    }

    pub(crate) async fn review(
        &self,
        webhook: Webhook,
        operation: &str,
        new: Option<&Value>,
        old: Option<&Value>,
    ) -> Seen {
        let object = new.or(old).unwrap();
        let api_version = object["apiVersion"].as_str().unwrap();
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let review = json!({
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "request": {
                "uid": "r-1", "operation": operation,
                "kind": {"group": group, "version": version, "kind": object["kind"]},
                "object": new, "oldObject": old,
            },
        });
        let request = hyper::Request::post(format!("{}?timeout=10s", webhook.path()))
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(serde_json::to_vec(&review).unwrap())))
            .unwrap();
        let answer = self.service.webhook(request).await.unwrap();
        assert_eq!(answer.status(), 200);
        let bytes = answer.into_body().collect().await.unwrap().to_bytes();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let answer: Value = serde_json::from_str(&text).unwrap();
        let response = &answer["response"];
        let strings = |value: &Value| -> Vec<String> {
            value.as_array().into_iter().flatten().map(|it| it.as_str().unwrap().to_owned()).collect()
        };
        Seen {
            allowed: response["allowed"] == true,
            code: response["status"]["code"].as_u64().unwrap_or(200),
            message: response["status"]["message"].as_str().unwrap_or_default().to_owned(),
            warnings: strings(&response["warnings"]),
            patch: response["patch"].as_str().map(str::to_owned),
            text,
        }
    }

    pub(crate) async fn metrics(&self) -> String {
        let request = hyper::Request::get("/metrics").body(Full::<Bytes>::default()).unwrap();
        let answer = self.service.operations(request).await.unwrap();
        let bytes = answer.into_body().collect().await.unwrap().to_bytes();
        String::from_utf8(bytes.to_vec()).unwrap()
    }
}

fn service(mode: Mode, garden: Arc<Garden>) -> Service {
    let mut registry = Registry::default();
    let metrics = Metrics::register(&mut registry);
    let openstack = fabric_openstack::Metrics::register(&mut registry);
    let dynamic = Dynamic::new(mode, BOX, openstack, &mut registry);
    let rules = Arc::new(Rules { fetch: garden, dynamic, defaults: Defaults::default() });
    let routes = routes(&Webhook::ALL, &rules).unwrap();
    Service::new(routes, Health::new(), Limits::default(), metrics, registry)
}
