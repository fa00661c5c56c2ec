use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::{Request, Response};
use kube::client::Body;
use serde_json::{Value, json};

use super::*;

/// An apiserver that notes what it is asked. Configurations are there or not as told.
#[derive(Default)]
struct Apiserver {
    asked: Mutex<Vec<(String, Value)>>,
    absent: AtomicBool,
}

impl Apiserver {
    fn client(self: &Arc<Self>) -> Client {
        let server = Arc::clone(self);
        let service = tower::service_fn(move |request: Request<Body>| {
            let server = Arc::clone(&server);
            async move { Ok::<_, std::io::Error>(server.answer(request).await) }
        });
        Client::new(service, "default")
    }

    async fn answer(&self, request: Request<Body>) -> Response<Full<Bytes>> {
        let what = format!("{} {}", request.method(), request.uri().path());
        let query = request.uri().query().unwrap_or_default().to_owned();
        let body = request.into_body().collect().await.unwrap().to_bytes();
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let (code, answer) = if what == "GET /api/v1/namespaces/garden" {
            (200, json!({"metadata": {"name": "garden", "uid": "u-1"}}))
        } else if what.starts_with("GET") && self.absent.load(Ordering::SeqCst) {
            (404, json!({"kind": "Status", "status": "Failure", "code": 404, "message": "no", "reason": "NotFound"}))
        } else if what.starts_with("PATCH") {
            assert!(query.contains("force=true") && query.contains("fieldManager="), "{query}");
            (200, body.clone())
        } else if what.starts_with("DELETE") {
            (200, json!({"apiVersion": "v1", "kind": "Status", "status": "Success"}))
        } else {
            (200, json!({"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": {"name": "x"}}))
        };
        self.asked.lock().unwrap().push((what, body));
        Response::builder().status(code).body(Full::from(serde_json::to_vec(&answer).unwrap())).unwrap()
    }

    fn asked(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

fn webhook(name: &str, kind: WebhookKind, path: &'static str) -> Webhook {
    let of = |kind: &str, plural: &str| {
        let kind = Kind::new("core.gardener.cloud", "v1beta1", kind);
        (kind, plural.to_owned(), vec![Operation::Create, Operation::Update])
    };
    let create_only = Kind::new("security.gardener.cloud", "v1alpha1", "CredentialsBinding");
    Webhook {
        name: format!("{name}.example.org"),
        kind,
        path,
        rules: vec![
            of("Shoot", "shoots"),
            of("CloudProfile", "cloudprofiles"),
            (create_only, "credentialsbindings".into(), vec![Operation::Create]),
        ],
        labels: [("provider/openstack".to_owned(), "true".to_owned())].into(),
        namespaces: Vec::new(),
        namespace_labels: BTreeMap::new(),
        condition: None,
        failure: FailurePolicy::Fail,
        timeout: 10,
    }
}

fn configurations(server: &Arc<Apiserver>, webhooks: Vec<Webhook>, owner: Option<&str>) -> Configurations {
    let reach = Reach::Service { namespace: "garden".into(), name: "svc".into(), port: 443 };
    Configurations::new(server.client(), "ours", reach, webhooks, owner.map(str::to_owned), Arc::new(|| true))
}

#[tokio::test]
async fn a_configuration_says_everything_that_an_apiserver_must_know() {
    let server = Arc::new(Apiserver::default());
    let webhooks = vec![webhook("validator", WebhookKind::Validating, "/webhooks/validate")];
    configurations(&server, webhooks, Some("garden")).publish("PEM").await.unwrap();
    let asked = server.asked();
    let (what, sent) = &asked[1];
    assert_eq!(what, "PATCH /apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/ours");
    let expected = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {
            "name": "ours",
            "ownerReferences": [{"apiVersion": "v1", "kind": "Namespace", "name": "garden", "uid": "u-1"}],
        },
        "webhooks": [{
            "name": "validator.example.org",
            "admissionReviewVersions": ["v1"],
            "clientConfig": {
                "caBundle": "UEVN",
                "service": {"name": "svc", "namespace": "garden", "path": "/webhooks/validate", "port": 443},
            },
            "failurePolicy": "Fail",
            "matchPolicy": "Exact",
            "objectSelector": {"matchLabels": {"provider/openstack": "true"}},
            "rules": [
                {"apiGroups": ["core.gardener.cloud"], "apiVersions": ["v1beta1"],
                 "operations": ["CREATE", "UPDATE"], "resources": ["shoots", "cloudprofiles"]},
                {"apiGroups": ["security.gardener.cloud"], "apiVersions": ["v1alpha1"],
                 "operations": ["CREATE"], "resources": ["credentialsbindings"]},
            ],
            "sideEffects": "None",
            "timeoutSeconds": 10,
        }],
    });
    assert_eq!(*sent, expected);
}

#[tokio::test]
async fn a_url_is_completed_by_the_path_and_roots_may_be_the_callers_own() {
    let server = Arc::new(Apiserver::default());
    let mut one = webhook("mutator", WebhookKind::Mutating, "/webhooks/mutate");
    one.condition = Some(("openstack".into(), "object.spec.type == 'openstack'".into()));
    one.failure = FailurePolicy::Ignore;
    one.namespaces = vec!["garden-dev".into()];
    one.namespace_labels = [("shoot/provider".to_owned(), "openstack".to_owned())].into();
    let mut configurations = configurations(&server, vec![one], None);
    configurations.reach = Reach::Url("https://admission.example.org:8443/".into());
    configurations.publish("").await.unwrap();
    let asked = server.asked();
    let (_, sent) = asked.iter().find(|(what, _)| what.starts_with("PATCH")).unwrap();
    let sent = &sent["webhooks"][0];
    assert_eq!(sent["clientConfig"], json!({"url": "https://admission.example.org:8443/webhooks/mutate"}));
    assert_eq!(sent["failurePolicy"], "Ignore");
    let by_name = json!({"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["garden-dev"]});
    let both = json!({"matchLabels": {"shoot/provider": "openstack"}, "matchExpressions": [by_name]});
    assert_eq!(sent["namespaceSelector"], both);
    assert_eq!(sent["matchConditions"][0]["expression"], "object.spec.type == 'openstack'");
}

#[tokio::test]
async fn a_configuration_without_webhooks_goes_if_it_is_there() {
    for (absent, deletions) in [(false, 1), (true, 0)] {
        let server = Arc::new(Apiserver::default());
        server.absent.store(absent, Ordering::SeqCst);
        let webhooks = vec![webhook("validator", WebhookKind::Validating, "/v")];
        configurations(&server, webhooks, None).publish("PEM").await.unwrap();
        let asked = server.asked();
        let deleted: Vec<_> = asked.iter().filter(|(what, _)| what.starts_with("DELETE")).collect();
        assert_eq!(deleted.len(), deletions, "{asked:?}");
        for (what, _) in deleted {
            assert!(what.ends_with("/mutatingwebhookconfigurations/ours"), "{what}");
        }
    }
}

#[tokio::test]
async fn a_replica_that_does_not_lead_asks_for_nothing() {
    let server = Arc::new(Apiserver::default());
    let webhooks = vec![webhook("validator", WebhookKind::Validating, "/v")];
    let mut configurations = configurations(&server, webhooks, Some("garden"));
    configurations.leader = Arc::new(|| false);
    let error = configurations.publish("PEM").await.unwrap_err();
    assert_eq!(error.to_string(), "another replica leads now");
    assert_eq!(server.asked(), []);
}
