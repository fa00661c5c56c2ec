//! The webhooks of both programs, from the review's bytes to the answer's.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use fabric_admission::{Health, Limits, Metrics, Service};
use fabric_test_fidelity::{Case, cases};
use fabric_validation::openstack::admission::{Defaults, Lookup, Reference, Webhook};
use fabric_webhooks::{Fetch, Rules, routes};
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Bytes;
use prometheus_client::registry::Registry;
use serde_json::{Value, json};

use crate::{Places, assert_alike, kind, of_table, sorted};

struct Garden(HashMap<Reference, Lookup>);

#[async_trait]
impl Fetch for Garden {
    async fn fetch(&self, reference: &Reference) -> Arc<Lookup> {
        self.0.get(reference).unwrap_or_else(|| panic!("nobody looked for {reference}")).clone().into()
    }
}

/// The review of a case, for the webhook of its kind.
pub(crate) fn review(case: &Case) -> Request<Full<Bytes>> {
    let webhook = match kind(case) {
        "Secret" => Webhook::Secrets,
        "Infrastructure" => Webhook::Infrastructure,
        _ => Webhook::Validate,
    };
    let api_version = case.new["apiVersion"].as_str().unwrap();
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let operation = if case.old.is_some() { "UPDATE" } else { "CREATE" };
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "r-1", "operation": operation, "object": case.new, "oldObject": case.old,
        "kind": {"group": group, "version": version, "kind": kind(case)},
    }});
    Request::post(format!("{}?timeout=10s", webhook.path()))
        .header("host", "localhost")
        .header("content-type", "application/json")
        .body(Full::new(review.to_string().into()))
        .unwrap()
}

/// What an answer says.
pub(crate) fn said(answer: &[u8]) -> Places {
    let answer: Value = serde_json::from_slice(answer).unwrap();
    let (response, text) = (&answer["response"], |value: &Value| value.as_str().unwrap().to_owned());
    let causes = response["status"]["details"]["causes"].as_array().into_iter().flatten();
    let places = sorted(causes.map(|cause| (text(&cause["field"]), text(&cause["reason"]))).collect());
    assert_eq!(response["allowed"] == true, places.is_empty(), "{answer}");
    places
}

/// Whether the webhook of its kind is sent the case: an API server asks for the operations of the table only.
pub(crate) fn is_sent(case: &Case) -> bool {
    kind(case) != "CredentialsBinding" || case.old.is_none()
}

#[tokio::test]
async fn the_webhooks_say_what_the_table_says() {
    let cases = cases();
    let mut registry = Registry::default();
    let metrics = Metrics::register(&mut registry);
    let around = cases.iter().flat_map(|case| case.around.iter().cloned());
    let rules = Rules { fetch: Arc::new(Garden(around.collect())), dynamic: None, defaults: Defaults::default() };
    let routes = routes(&Webhook::ALL, &Arc::new(rules)).unwrap();
    let service = Service::new(routes, Health::new(), Limits::default(), metrics, registry);
    let mut judged = Vec::new();
    for case in cases.iter().filter(|case| is_sent(case)) {
        let answer = service.webhook(review(case)).await.unwrap();
        assert_eq!(answer.status(), 200, "{case:#?}");
        let said = said(&answer.into_body().collect().await.unwrap().to_bytes());
        judged.push((case, said, of_table(&case.told)));
    }
    assert_alike("the webhook", judged.into_iter());
}
