use super::*;
use serde_json::json;

#[test]
fn paths_print_children_indexes_and_keys() {
    let spec = Path::new("spec.provider");
    assert_eq!(
        spec.child("workers").index(2).child("labels").key("a.b").to_string(),
        "spec.provider.workers[2].labels[a.b]"
    );
    assert_eq!(Path::nil().to_string(), "<nil>");
    assert_eq!(Path::nil().child("networks").child("id").to_string(), "networks.id");
}

#[test]
fn each_kind_prints_as_kubernetes_does() {
    let path = Path::new("a.b");
    let cases = [
        (Error::required(&path, "say it"), "a.b: Required value: say it"),
        (Error::required(&path, ""), "a.b: Required value"),
        (Error::invalid(&path, "x\"y\n", "no"), r#"a.b: Invalid value: "x\"y\n": no"#),
        (Error::invalid(&path, 33, "1 to 32"), "a.b: Invalid value: 33: 1 to 32"),
        (Error::invalid(&path, Value::Null, "field is immutable"), r#"a.b: Invalid value: "null": field is immutable"#),
        (Error::invalid(&path, json!({"id": "r"}), "no"), r#"a.b: Invalid value: {"id":"r"}: no"#),
        (Error::type_invalid(&path, true, "no"), "a.b: Invalid value: true: no"),
        (Error::not_supported(&path, "c", &["a", "b"]), r#"a.b: Unsupported value: "c": supported values: "a", "b""#),
        (Error::not_supported::<&str>(&path, "c", &[]), r#"a.b: Unsupported value: "c""#),
        (Error::forbidden(&path, "not here"), "a.b: Forbidden: not here"),
        (Error::duplicate(&path, "x"), r#"a.b: Duplicate value: "x""#),
        (Error::not_found(&path, "x"), r#"a.b: Not found: "x""#),
        (Error::internal(&Path::nil(), "no cloud"), "<nil>: Internal error: no cloud"),
        (Error::too_long(&path, 63), "a.b: Too long: may not be more than 63 bytes"),
        (Error::too_many(&path, 3, 2), "a.b: Too many: 3: must have at most 2 items"),
    ];
    for (error, text) in cases {
        assert_eq!(error.to_string(), text);
        assert_eq!(serde_json::to_value(error.kind).unwrap(), error.kind.as_cause());
    }
}

#[test]
fn lists_join_in_brackets_and_say_each_message_once() {
    let path = Path::new("a");
    let mut list = ErrorList::from(Error::required(&path, "x"));
    list.push(Error::required(&path, "x"));
    assert_eq!(list.to_string(), "a: Required value: x");
    list.push(Error::forbidden(&path, "y"));
    assert_eq!(list.to_string(), "[a: Required value: x, a: Forbidden: y]");
}

#[test]
fn a_prefix_is_put_before_every_path() {
    let list: ErrorList = [
        Error::required(&Path::new("networks.id"), ""),
        Error::internal(&Path::nil(), "x"),
        Error::required(&Path::nil().index(1), ""),
    ]
    .into_iter()
    .collect();
    assert_eq!(
        list.with_prefix(&Path::new("spec.c")).to_string(),
        "[spec.c.networks.id: Required value, spec.c: Internal error: x, spec.c[1]: Required value]"
    );
}

#[test]
fn json_carries_type_field_value_and_detail() {
    let error = Error::invalid(&Path::new("a"), 3, "no");
    assert_eq!(
        serde_json::to_value(error).unwrap(),
        json!({"type": "FieldValueInvalid", "field": "a", "value": 3, "detail": "no"})
    );
}

#[test]
fn strings_are_quoted_as_in_go() {
    let mut out = String::new();
    quote("ü \u{0} \u{7f} \u{a0} \u{200b} \u{e0001} \t", &mut out);
    assert_eq!(out, "\"ü \\x00 \\x7f \\u00a0 \\u200b \u{e0001} \\t\"");
}
