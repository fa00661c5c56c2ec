use super::*;
use serde_json::json;

fn review(request: serde_json::Value) -> Bytes {
    json!({"apiVersion": API_VERSION, "kind": KIND, "request": request}).to_string().into()
}

#[test]
fn a_request_is_read_with_its_objects_as_they_were_sent() {
    let body = Bytes::from_static(
        br#"{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","unknown":1,"request":{"uid":"u-1",
        "kind":{"group":"core.gardener.cloud","version":"v1beta1","kind":"Shoot"},
        "resource":{"group":"core.gardener.cloud","version":"v1beta1","resource":"shoots"},
        "operation":"UPDATE","name":"s","namespace":"garden-p","userInfo":{"username":"me","groups":["a"]},
        "object":{"a":1, "a":2},"oldObject": {"a":0} ,"dryRun":true}}"#,
    );
    let request = decode(&body, Instant::now()).unwrap();
    assert_eq!(request.kind, Kind::new("core.gardener.cloud", "v1beta1", "Shoot"));
    assert_eq!(request.resource.resource, "shoots");
    assert_eq!(request.operation, Operation::Update);
    assert_eq!((request.name.as_str(), request.namespace.as_str()), ("s", "garden-p"));
    assert_eq!((request.user.username.as_str(), request.user.groups.len()), ("me", 1));
    assert!(request.dry_run);
    assert_eq!(request.object.as_ref().unwrap().bytes(), br#"{"a":1, "a":2}"#, "duplicates are not lost");
    assert_eq!(request.old_object.as_ref().unwrap().bytes(), br#"{"a":0}"#);
}

#[test]
fn what_is_no_review_is_told_what_is_missing() {
    let kind = json!({"version": "v1", "kind": "Secret"});
    let table: [(Bytes, &str); 9] = [
        (Bytes::new(), "the body is empty"),
        (Bytes::from_static(b"nonsense"), "the body is no AdmissionReview: expected"),
        (Bytes::from_static(b"[]"), "the body is no AdmissionReview: "),
        (Bytes::from_static(b"{}"), "the body must be a AdmissionReview of admission.k8s.io/v1"),
        (
            json!({"apiVersion": "admission.k8s.io/v1beta1", "kind": KIND}).to_string().into(),
            "list v1 in the webhook's admissionReviewVersions",
        ),
        (json!({"apiVersion": API_VERSION, "kind": KIND}).to_string().into(), "has no request"),
        (review(json!({"kind": kind, "operation": "CREATE"})), "missing field `uid`"),
        (review(json!({"uid": "", "kind": kind, "operation": "CREATE"})), "request.uid is empty"),
        (review(json!({"uid": "1", "kind": kind, "operation": "EAT"})), "unknown variant `EAT`"),
    ];
    for (body, expected) in table {
        let message = decode(&body, Instant::now()).unwrap_err();
        assert!(message.contains(expected), "{message:?} lacks {expected:?}");
    }
}

#[test]
fn an_object_named_twice_is_refused() {
    let body = Bytes::from_static(
        br#"{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"1","kind":{"version":"v1","kind":"X"},
        "operation":"CREATE","object":{"good":1},"object":{"bad":1}}}"#,
    );
    assert!(decode(&body, Instant::now()).unwrap_err().contains("duplicate field `object`"));
}

#[test]
fn neither_objects_nor_their_content_are_shown() {
    let body = review(json!({"uid": "1", "kind": {"version": "v1", "kind": "Secret"}, "operation": "CREATE",
        "object": {"data": {"password": "hunter2"}}}));
    let shown = format!("{:?}", decode(&body, Instant::now()).unwrap());
    assert!(shown.contains("Object(") && !shown.contains("hunter2"), "{shown}");
}

#[test]
fn answers_have_the_wire_s_form() {
    let patch = vec![PatchOperation::Add { path: "/spec/x".into(), value: json!({"a": 1}) }];
    let table = [
        (Verdict::allowed(), json!({"uid": "u", "allowed": true})),
        (Verdict::allowed().with_warnings(["a\nb"]), json!({"uid": "u", "allowed": true, "warnings": ["a b"]})),
        (
            Verdict::patched(patch),
            json!({"uid": "u", "allowed": true, "patchType": "JSONPatch",
                "patch": "W3sib3AiOiJhZGQiLCJwYXRoIjoiL3NwZWMveCIsInZhbHVlIjp7ImEiOjF9fV0="}),
        ),
        (Verdict::patched(Vec::new()), json!({"uid": "u", "allowed": true})),
        (
            Verdict::denied("no"),
            json!({"uid": "u", "allowed": false, "status": {"kind": "Status", "apiVersion": "v1", "status": "Failure",
                "code": 403, "reason": "Forbidden", "message": "no"}}),
        ),
    ];
    for (verdict, expected) in table {
        let answer: serde_json::Value = serde_json::from_slice(&encode("u", &verdict)).unwrap();
        assert_eq!(answer["kind"], KIND);
        assert_eq!(answer["apiVersion"], API_VERSION);
        assert_eq!(answer["response"], expected);
    }
}

#[test]
fn a_refusal_joins_all_errors_and_lists_them() {
    use fabric_apis::field::{Error, ErrorList, Path};
    let path = Path::new("networks");
    let errors: ErrorList = [
        Error::invalid(&path.child("id"), "x", "must be a UUID"),
        Error::required(&path.child("workers"), "give a CIDR"),
    ]
    .into_iter()
    .collect();
    let verdict = Verdict::of_errors(&errors);
    assert_eq!((verdict.is_allowed(), verdict.code()), (false, Some(403)));
    assert_eq!(
        verdict.message(),
        Some(r#"[networks.id: Invalid value: "x": must be a UUID, networks.workers: Required value: give a CIDR]"#)
    );
    let answer: serde_json::Value = serde_json::from_slice(&encode("u", &verdict)).unwrap();
    assert_eq!(
        answer["response"]["status"]["details"]["causes"][0],
        json!({"reason": "FieldValueInvalid", "field": "networks.id", "message": "Invalid value: \"x\": must be a UUID"})
    );
    assert!(Verdict::of_errors(&ErrorList::new()).is_allowed());
}
