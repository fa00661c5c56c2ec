use std::pin::Pin;
use std::task::{Context, Poll};

use fabric_apis::field::{Error, Path};
use http_body_util::BodyExt;
use hyper::body::Frame;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{Kind, Operation, Rule};

const TYPE: &str = "application/json";

/// Refuses by the object's `rule`: none, error, panic, or wait for ever.
struct Rules;

#[async_trait::async_trait]
impl Handler for Rules {
    async fn review(&self, request: &review::Request) -> Verdict {
        let object = request.object.as_ref().map(|object| serde_json::from_slice::<Value>(object.bytes()));
        match object.and_then(Result::ok).as_ref().and_then(|object| object["rule"].as_str()) {
            Some("error") => {
                Verdict::of_errors(&Error::invalid(&Path::new("spec").child("list").index(3), 1, "no").into())
            }
            Some("panic") => panic!("as asked"),
            Some("wait") => std::future::pending().await,
            _ => Verdict::allowed(),
        }
    }
}

fn limits() -> Limits {
    let soon = Duration::from_millis(40);
    Limits { body: 2_000, bodies: 3_000, body_time: soon, review: soon, ..Limits::default() }
}

fn service_with(limits: Limits) -> Service {
    let rule = Rule::new(Kind::new("g", "v1", "Thing"), &[Operation::Create, Operation::Update], Arc::new(Rules));
    let routes = Routes::new([Route::new("/webhooks/validate").with(rule)]).unwrap();
    let mut registry = Registry::default();
    let metrics = Metrics::register(&mut registry);
    Service::new(routes, Health::new(), limits, metrics, registry)
}

fn service() -> Service {
    service_with(limits())
}

fn review_of(kind: &str, operation: &str, object: Value) -> Vec<u8> {
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "u-1", "kind": {"group": "g", "version": "v1", "kind": kind}, "operation": operation, "object": object}})
    .to_string()
    .into_bytes()
}

fn post(path: &str, content_type: &str, body: Vec<u8>) -> Request<Full<Bytes>> {
    let request = Request::post(path).header(CONTENT_TYPE, content_type).header("content-length", body.len());
    request.body(Full::new(body.into())).unwrap()
}

async fn whole(answer: Answer) -> (u16, Value, bool) {
    let code = answer.status().as_u16();
    let closes = answer.headers().get(CONNECTION).is_some_and(|value| value == "close");
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    (
        code,
        serde_json::from_slice(&body).unwrap_or_else(|_| Value::from(String::from_utf8_lossy(&body).as_ref())),
        closes,
    )
}

async fn send(service: &Service, request: Request<Full<Bytes>>) -> (u16, Value, bool) {
    whole(service.webhook(request).await.unwrap()).await
}

async fn metrics_of(service: &Service) -> String {
    let answer = service.operations(Request::get("/metrics").body(()).unwrap()).await.unwrap();
    String::from_utf8(answer.into_body().collect().await.unwrap().to_bytes().into()).unwrap()
}

/// Body pieces that come at once, then nothing for ever, or a broken end.
struct Pieces(Vec<Vec<u8>>, End);

enum End {
    Never,
    Broken,
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = &'static str;
    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        match (self.0.pop(), &self.1) {
            (Some(piece), _) => Poll::Ready(Some(Ok(Frame::data(piece.into())))),
            (None, End::Never) => Poll::Pending,
            (None, End::Broken) => Poll::Ready(Some(Err("reset"))),
        }
    }
}

#[tokio::test]
async fn each_bad_request_gets_its_own_answer() {
    let service = service();
    let good = || review_of("Thing", "CREATE", json!({}));
    let at = "/webhooks/validate";
    let table: [(&str, Request<Full<Bytes>>, u16, &str); 8] = [
        ("path", post("/webhooks/other", TYPE, good()), 404, "no webhook at /webhooks/other"),
        ("method", Request::get(at).body(Full::default()).unwrap(), 405, "POST only"),
        ("type", post(at, "text/yaml", good()), 415, "application/json"),
        ("no type", Request::post(at).body(Full::new(good().into())).unwrap(), 415, "application/json"),
        ("size", post(at, TYPE, vec![b' '; 2_001]), 413, "larger than 2000 bytes"),
        ("JSON", post(at, TYPE, b"{".to_vec()), 400, "no AdmissionReview: EOF"),
        ("encoding", post(at, TYPE, b"\"\xff\"".to_vec()), 400, "no AdmissionReview"),
        ("nothing", post(at, TYPE, Vec::new()), 400, "is empty"),
    ];
    for (name, request, code, message) in table {
        let (found, status, closes) = send(&service, request).await;
        assert_eq!((found, &status["code"], closes), (code, &json!(code), false), "{name}: {status}");
        assert_eq!((&status["kind"], &status["status"]), (&json!("Status"), &json!("Failure")), "{name}");
        assert!(status["message"].as_str().unwrap().contains(message), "{name}: {status}");
    }
    let (code, _, _) = send(&service, post(at, "Application/JSON; charset=utf-8", good())).await;
    assert_eq!(code, 200, "parameters and case of the content type don't matter");
}

#[tokio::test]
async fn a_body_that_goes_on_and_on_is_cut_off_after_the_answer() {
    let head = |body| Request::post("/webhooks/validate").header(CONTENT_TYPE, TYPE).body(body).unwrap();
    let service = service();
    let (code, _, closes) =
        whole(service.webhook(head(Pieces(vec![vec![b' '; 1_500]; 2], End::Never))).await.unwrap()).await;
    assert_eq!((code, closes), (413, true), "large, then slow");
    let (code, _, closes) =
        whole(service.webhook(head(Pieces(vec![vec![b' '; 100]; 3], End::Never))).await.unwrap()).await;
    assert_eq!((code, closes), (408, true), "slow");
    let (code, _, closes) =
        whole(service.webhook(head(Pieces(vec![vec![b' '; 100]; 3], End::Broken))).await.unwrap()).await;
    assert_eq!((code, closes), (400, true), "broken off");
    // Told in advance, so not even waited for.
    let announced = Request::post("/webhooks/validate").header(CONTENT_TYPE, TYPE).header("content-length", 9_999_999);
    let request = announced.body(Pieces(Vec::new(), End::Never)).unwrap();
    let started = Instant::now();
    let (code, _, closes) =
        whole(service_with(Limits { body: 2_000, ..Limits::default() }).webhook(request).await.unwrap()).await;
    assert_eq!((code, closes), (413, true));
    assert!(started.elapsed() < Duration::from_secs(4));
}

#[tokio::test]
async fn bodies_share_a_bounded_memory_and_give_it_back() {
    let service = service();
    let slow = || {
        Request::post("/webhooks/validate")
            .header(CONTENT_TYPE, TYPE)
            .body(Pieces(vec![vec![b' '; 1_900]], End::Never))
            .unwrap()
    };
    let (first, second) = tokio::join!(service.webhook(slow()), service.webhook(slow()));
    let codes = [first.unwrap().status().as_u16(), second.unwrap().status().as_u16()];
    assert_eq!(codes, [408, 503], "the second would need more than there is");
    let (code, _, _) = send(&service, post("/webhooks/validate", TYPE, review_of("Thing", "CREATE", json!({})))).await;
    assert_eq!(code, 200, "all is given back");
    assert!(metrics_of(&service).await.contains("admission_rejected_total{reason=\"memory\"} 1"));
}

#[tokio::test]
async fn whatever_a_handler_does_there_is_a_review() {
    let service = service();
    for (rule, allowed, code, word) in [
        ("none", true, 0, "allowed"),
        ("error", false, 403, "refused"),
        ("panic", false, 500, "broken"),
        ("wait", false, 504, "late"),
    ] {
        let body = review_of("Thing", "CREATE", json!({"rule": rule}));
        let (http, answer, _) = send(&service, post("/webhooks/validate", TYPE, body)).await;
        let response = &answer["response"];
        assert_eq!((http, &response["uid"], &response["allowed"]), (200, &json!("u-1"), &json!(allowed)), "{rule}");
        assert_eq!(response["status"]["code"].as_u64().unwrap_or(0), code, "{rule}");
        let counted =
            format!("admission_review_duration_seconds_count{{path=\"/webhooks/validate\",verdict=\"{word}\"}} 1");
        assert!(metrics_of(&service).await.contains(&counted), "{rule}");
    }
    let refusal = "admission_refusals_total{path=\"/webhooks/validate\",field=\"spec.list[]\"} 1";
    assert!(metrics_of(&service).await.contains(refusal));
}

#[tokio::test]
async fn what_the_table_does_not_have_is_refused_by_name() {
    let service = service();
    for (kind, operation, object, message) in [
        ("Other", "CREATE", json!({}), "has no rule for CREATE of g/v1/Other"),
        ("Thing", "DELETE", json!({}), "has no rule for DELETE of g/v1/Thing"),
        ("Thing", "CREATE", Value::Null, "CREATE without request.object"),
        ("Thing", "UPDATE", json!({}), "UPDATE without request.oldObject"),
    ] {
        let body = review_of(kind, operation, object);
        let (http, answer, _) = send(&service, post("/webhooks/validate", TYPE, body)).await;
        let status = &answer["response"]["status"];
        assert_eq!((http, &status["code"]), (200, &json!(400)), "{message}");
        assert!(status["message"].as_str().unwrap().contains(message), "{status}");
    }
}

#[tokio::test]
async fn the_deepest_object_that_fits_is_no_danger() {
    let service = service_with(Limits { body: 3 << 20, bodies: 3 << 20, ..Limits::default() });
    let depth = (3 << 19) - 500;
    let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let body = String::from_utf8(review_of("Thing", "CREATE", json!("here"))).unwrap().replace("\"here\"", &deep);
    let (code, answer, _) = send(&service, post("/webhooks/validate", TYPE, body.into_bytes())).await;
    assert_eq!((code, &answer["response"]["allowed"]), (200, &json!(true)), "{answer}");
}

#[test]
fn a_review_gets_less_time_than_its_caller_waits() {
    let limit = Duration::from_secs(9);
    for (query, expected) in [
        (None, 9_000),
        (Some("timeout=10s"), 9_000),
        (Some("a=b&timeout=2s"), 1_800),
        (Some("timeout=30s"), 9_000),
        (Some("timeout=later"), 9_000),
    ] {
        assert_eq!(allowance(query, limit), Duration::from_millis(expected), "{query:?}");
    }
}

#[tokio::test]
async fn readiness_names_what_is_missing_and_ends_with_leaving() {
    let check: crate::Check = Arc::new(|| Err("no certificate yet".into()));
    let mut registry = Registry::default();
    let metrics = Metrics::register(&mut registry);
    let health = Health::new().with("certificate", check);
    let unready = Service::new(Routes::default(), health, limits(), metrics, registry);
    let get = |path: &str| Request::get(path).body(()).unwrap();
    let shown = metrics_of(&unready).await;
    assert!(shown.contains("admission_limit{name=\"body\"} 2000.0"), "{shown}");
    assert!(shown.contains("admission_limit{name=\"review\"} 0.04"), "{shown}");
    let (code, text, _) = whole(unready.operations(get("/readyz")).await.unwrap()).await;
    assert_eq!((code, text), (503, json!("[+]server ok\n[-]certificate failed: no certificate yet\n")));
    assert_eq!(whole(unready.operations(get("/healthz")).await.unwrap()).await.0, 200);
    assert_eq!(whole(unready.operations(get("/else")).await.unwrap()).await.0, 404);
    let post = Request::post("/readyz").body(()).unwrap();
    assert_eq!(whole(unready.operations(post).await.unwrap()).await.0, 405);

    let service = service();
    assert_eq!(whole(service.operations(get("/readyz")).await.unwrap()).await.0, 200);
    service.health().leaving.cancel();
    assert_eq!(whole(service.operations(get("/readyz")).await.unwrap()).await.0, 503);
    let (code, _, closes) =
        send(&service, super::tests::post("/webhooks/validate", TYPE, review_of("Thing", "CREATE", json!({})))).await;
    assert_eq!((code, closes), (200, true), "still answered, for the last time on its connection");
}

fn bodies() -> impl Strategy<Value = Vec<u8>> {
    let review = review_of("Thing", "CREATE", json!({"rule": "error", "a": [1, {"b": "\"}"}]}));
    let cut = (0..review.len(), any::<u8>(), any::<bool>()).prop_map(move |(at, byte, flip)| {
        let mut review = review.clone();
        if flip {
            review[at] = byte
        } else {
            review.truncate(at)
        }
        review
    });
    let any_object = "\\PC{0,40}".prop_map(|text| review_of("Thing", "UPDATE", json!({ "rule": text })));
    let field = prop_oneof![Just(json!(null)), Just(json!(1)), Just(json!("CREATE")), Just(json!({})), Just(json!([]))];
    let odd = (field.clone(), field.clone(), field.clone(), field).prop_map(|(uid, kind, operation, object)| {
        json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "request": {"uid": uid, "kind": kind, "operation": operation, "object": object}})
        .to_string()
        .into_bytes()
    });
    let deep = (1_usize..900).prop_map(|depth| b"[".repeat(depth));
    prop_oneof![prop::collection::vec(any::<u8>(), 0..2_500), cut, any_object, odd, deep]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn no_body_brings_the_service_out_of_order(body in bodies(), content_type in prop_oneof![9 => Just(TYPE.to_owned()), 1 => "[ -~]{0,20}"]) {
        thread_local!(static SETUP: (tokio::runtime::Runtime, Service) = (
            tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap(), service()));
        let (code, answer, _) = SETUP.with(|(runtime, service)| {
            runtime.block_on(send(service, post("/webhooks/validate", &content_type, body)))
        });
        match code {
            200 => prop_assert!(answer["response"]["allowed"].is_boolean() && answer["response"]["uid"].is_string(), "{}", answer),
            400 | 413 | 415 => prop_assert_eq!(&answer["code"], &json!(code)),
            other => prop_assert!(false, "{}: {}", other, answer),
        }
    }
}
