//! A request's body, up to the answer: it is read, judged by the rules of its webhook, and answered, never by a 500.
//! The first byte chooses the webhook.

#![no_main]

use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use fabric_admission::{Health, Limits, Metrics, Service};
use fabric_fuzz::{begin, examples, words};
use fabric_validation::openstack::admission::{Defaults, Lookup, Reference, Webhook, entries};
use fabric_webhooks::{Fetch, Rules, routes};
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Bytes;
use libfuzzer_sys::fuzz_target;
use prometheus_client::registry::Registry;
use serde_json::{Value, json};

/// A cluster that holds the examples, whatever name is asked for.
struct Cluster(Vec<Value>);

#[async_trait]
impl Fetch for Cluster {
    async fn fetch(&self, reference: &Reference) -> Arc<Lookup> {
        let found = self.0.iter().find(|object| object["kind"] == reference.kind.kind());
        // A name that ends in `0` is of nothing.
        let found = found.filter(|_| !reference.name.ends_with('0'));
        found.map_or(Lookup::NotFound, |object| Lookup::Found(object.clone())).into()
    }
}

static SERVICE: LazyLock<Service> = LazyLock::new(|| {
    let mut objects: Vec<Value> = examples().into_iter().map(|example| example.object).collect();
    objects.push(binding());
    let rules = Rules { fetch: Arc::new(Cluster(objects)), dynamic: None, defaults: Defaults::default() };
    let routes = routes(&Webhook::ALL, &Arc::new(rules)).expect("a table");
    let mut registry = Registry::default();
    let metrics = Metrics::register(&mut registry);
    Service::new(routes, Health::new(), Limits::default(), metrics, registry)
});

fn binding() -> Value {
    json!({"apiVersion": "security.gardener.cloud/v1alpha1", "kind": "CredentialsBinding",
        "metadata": {"name": "openstack", "namespace": "garden-dev"}, "provider": {"type": "openstack"},
        "credentialsRef": {"apiVersion": "v1", "kind": "Secret", "name": "cloudprovider", "namespace": "garden-dev"}})
}

/// A creation and a change of every object to every webhook that has rules for it.
fn reviews() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let objects = examples().into_iter().map(|example| example.object).chain([binding()]);
    for object in objects {
        for (number, webhook) in (b'0'..).zip(Webhook::ALL) {
            let known = entries(webhook).find(|entry| {
                entry.is_for(object["apiVersion"].as_str().unwrap_or(""), object["kind"].as_str().unwrap_or(""))
            });
            let Some(entry) = known else { continue };
            let mut old = object.clone();
            old["metadata"]["generation"] = json!(1);
            old["spec"]["purpose"] = json!("testing");
            for (operation, old) in [("CREATE", Value::Null), ("UPDATE", old)] {
                let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
                    "uid": "1", "kind": {"group": entry.group, "version": entry.version, "kind": entry.kind},
                    "operation": operation, "object": object, "oldObject": old}});
                all.push([vec![number], review.to_string().into_bytes()].concat());
            }
        }
    }
    all
}

fuzz_target!(init: begin(reviews(), words()), |data: &[u8]| {
    let Some((choice, body)) = data.split_first() else { return };
    let webhook = Webhook::ALL[usize::from(choice % 4)];
    let request = Request::post(webhook.path()).header("content-type", "application/json");
    let request = request.header("content-length", body.len()).body(Full::new(Bytes::from(body.to_vec()))).expect("a request");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let (code, text) = runtime.block_on(async {
        let Ok(answer) = SERVICE.webhook(request).await;
        let code = answer.status().as_u16();
        (code, answer.into_body().collect().await.expect("a body").to_bytes())
    });
    let answer: Value = serde_json::from_slice(&text).expect("an answer in JSON");
    match code {
        200 => {
            let response = &answer["response"];
            assert!(answer["kind"] == "AdmissionReview" && response["uid"].is_string(), "{answer}");
            assert_ne!(response["status"]["code"], 500, "{answer}");
            let refused = response["allowed"] == false;
            assert_eq!(refused, response["status"]["message"].as_str().is_some_and(|text| !text.is_empty()), "{answer}");
        }
        400 => assert!(answer["message"].as_str().is_some_and(|text| !text.is_empty()), "{answer}"),
        other => panic!("{other}: {answer}"),
    }
});
