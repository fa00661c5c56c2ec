//! Files that are broken, odd or meant to hurt.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::gardener::{CloudProfile, Cluster, Infrastructure, ManagedResource, NamespacedCloudProfile, Shoot};
use crate::openstack::v1alpha1::{ControlPlaneConfig, InfrastructureState, InfrastructureStatus};

fn refusal(bytes: &[u8]) -> String {
    documents("C:\\dir\\f.yaml", bytes).unwrap_err().to_string()
}

#[test]
fn a_list_is_never_an_object() {
    let body = "
floatingPoolName: a
networks: {router: [r], ipv6: [], subnetPool: [p, 24], shareNetwork: [true]}
";
    let text = config(body).unwrap_err();
    for field in ["router", "ipv6", "subnetPool", "shareNetwork"] {
        let part = format!("field \"networks.{field}\": invalid type: sequence, expected an object");
        assert!(text.contains(&part), "{part}\nis missing in\n{text}");
    }
    assert_eq!(
        config("networks: []\n").unwrap_err(),
        "strict decoding error: field \"networks\": invalid type: sequence, expected an object"
    );
    for part in ["spec: []", "spec: {provider: []}", "spec: {networking: [calico]}", "metadata: []"] {
        let error = one(&format!("kind: Shoot\n{part}\n")).lenient::<Shoot>().unwrap_err();
        assert!(error.to_string().contains("invalid type: sequence, expected"), "{part}: {error}");
    }
}

/// Text, and what the refusal starts with.
#[test]
fn broken_bytes_are_told_with_their_place() {
    let cases: &[(&[u8], &str)] = &[
        (b"\xff\xfea\0:\0 \x001\0", "C:\\dir\\f.yaml:1:1: the file is not UTF-8 text"),
        (b"a: 1\nb: \xc3(\n", "C:\\dir\\f.yaml:2:4: the file is not UTF-8 text"),
        (b"{\"a\": \"\xc3(\"}", "C:\\dir\\f.yaml:1:8: "),
        (b"{\"a\": \"\\ud800\"}", "C:\\dir\\f.yaml:1:"),
        (b"{\"a\": 1}}", "C:\\dir\\f.yaml:1:9: "),
        (b"\0\0", "C:\\dir\\f.yaml:1:1: "),
        (b"a: \0", "C:\\dir\\f.yaml:1:"),
        (b"a:\n\t- b: 1\n", "C:\\dir\\f.yaml:2:"),
        (b"a: !!binary aGk=\n", "C:\\dir\\f.yaml:1:13: !!binary is not supported; write the text"),
        (b"a: &x 1\n---\nb: *x\n", "C:\\dir\\f.yaml:3:4: "),
        (b"? [a]\n: 1\n", "C:\\dir\\f.yaml:1:3: a key must be a text, not a list or an object"),
        (b"a: 'x\n", "C:\\dir\\f.yaml:1:4: "),
        (b"%YAML 3.0\n---\na: 1\n", "C:\\dir\\f.yaml:1:"),
    ];
    for (bytes, start) in cases {
        let text = refusal(bytes);
        assert!(text.starts_with(start) && text.lines().count() == 1, "{:?}: {text}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn what_editors_put_into_files_does_not_matter() {
    let expected = json!({"a": 1, "b": ["x"]});
    let texts = [
        "\u{feff}{\"a\": 1, \"b\": [\"x\"]}",
        "\u{feff}a: 1\nb: [x]\n",
        "a: 1\r\nb:\r\n- x\r\n",
        "{\r\n\t\"a\": 1,\r\n\t\"b\": [\"x\"]\r\n}\r\n",
        "# a comment\n\n---\na: 1 # more\nb: [x]\n...\n# the end\n",
        "%YAML 1.2\n---\na: 1\nb:\n  - x",
    ];
    for text in texts {
        assert_eq!(one(text).value, expected, "{text:?}");
    }
    for nothing in ["", "\n", "---\n", "---", "---\n---\n...\n", "# only\n# comments\n", "\u{feff}", "~\n", " \t\n"] {
        assert_eq!(documents("f", nothing.as_bytes()).unwrap(), [], "{nothing:?}");
    }
}

#[test]
fn equal_keys_are_found_however_they_are_spelled() {
    let cases = [
        (r#"{"networks": {"id": 1, "\u0069d": 2}}"#, "networks.id"),
        (r#"{"a": [[{"b": {"c": 1, "c": 1, "c": 1}}]]}"#, "a[0][0].b.c"),
        ("networks: {id: 1, \"\\u0069d\": 2}", "networks.id"),
        ("networks: {id: 1, 'id': 2, !!str id: 3}", "networks.id"),
        ("k: &k id\nnetworks: {id: 1, *k : 2}", "networks.id"),
        ("1: a\n'1': b\n", "1"),
        ("<<: {id: 1, id: 2}\n", "<<.id"),
    ];
    for (text, path) in cases {
        assert_eq!(one(text).duplicates, [path], "{text}");
    }
    assert_eq!(one("base: &b {id: 1}\nnetworks: {<<: *b, id: 2}\n").duplicates, Vec::<String>::new());
}

#[test]
fn ids_that_look_like_numbers_are_kept_or_refused_but_never_changed() {
    let kept = ["0123", "1_000", "0x", "1e999", "11112222333344445555666677778888", "2026-01-02", "0o8", "12:30", "no"];
    for id in kept {
        let found = config(&format!("networks: {{id: {id}}}\n")).unwrap();
        assert_eq!(found.networks.id.as_deref(), Some(id));
    }
    for id in ["1e10", "0x10", "0o17", "12", "1.0", "true", "12345678901234567890"] {
        let text = config(&format!("networks: {{id: {id}}}\n")).unwrap_err();
        assert!(text.starts_with("strict decoding error: field \"networks.id\": invalid type: "), "{text}");
        assert!(text.ends_with(", expected a string; put the value in quotes"), "{text}");
    }
}

/// Each of these is below a megabyte and would take gigabytes or hours.
#[test]
fn no_file_grows_much_beyond_its_own_size() {
    let nested =
        format!("{}{}{}", (0..60).map(|i| format!("&a{i} [")).collect::<String>(), "x,".repeat(50_000), "]".repeat(60));
    let long = "x".repeat(50_000);
    let bombs = [
        ("anchors around anchors", nested),
        ("many aliases of a long text", format!("a: &a {long}\nb: [{}]\n", "*a,".repeat(1000))),
        ("many aliases of a long key", format!("a: &a\n  ? {long}\n  : 1\nb: [{}]\n", "*a,".repeat(1000))),
        ("many anchors of a long key", format!("? &a {long}\n: 1\nb: {{{}}}\n", "*a : 1, ".repeat(1000))),
        ("many merges", format!("a: &a {{x: 1}}\nb: {{{}}}\n", "<<: *a, ".repeat(90_000))),
    ];
    for (name, text) in bombs {
        let error = documents("f", text.as_bytes()).map(|found| found.len()).unwrap_err().to_string();
        assert!(error.ends_with("anchors and aliases expand to more than 4 MiB"), "{name}: {error}");
    }
}

#[test]
fn a_report_is_bounded_whatever_the_file_holds() {
    let long = "k".repeat(50_000);
    let texts = [
        format!("{HEAD}? {long}\n: {{{}}}\n", "a: 1, ".repeat(5000)),
        format!("{HEAD}{}", "a: 1\n".repeat(50_000)),
        format!("{HEAD}{}", (0..50_000).map(|i| format!("u{i}: 1\nu{i}: 1\n")).collect::<String>()),
        format!("{HEAD}networks: {{id: 1, id: 2}}\n{}", (0..50_000).map(|i| format!("u{i}: 1\n")).collect::<String>()),
    ];
    for text in texts {
        let document = one(&text);
        assert!(document.duplicates.len() <= reader::MAX_DUPLICATES);
        let json = one(&document.value.to_string());
        for document in [document, json] {
            let told = document.strict::<InfrastructureConfig>().unwrap_err().to_string();
            assert!(told.len() < 20_000, "{}", told.len());
        }
    }
    let json = format!("{{\"{long}\": {{{}\"a\": 1}}}}", "\"a\": 1, ".repeat(5000));
    assert_eq!(one(&json).duplicates, [format!("{}….a", "k".repeat(128))]);
}

/// Any JSON; `plain` leaves out what YAML has no equal for: control characters, and floats, which may stay text there.
fn any_json(plain: bool) -> impl Strategy<Value = Value> {
    const NAMES: [&str; 24] = [
        "metadata",
        "name",
        "spec",
        "status",
        "provider",
        "workers",
        "networks",
        "id",
        "router",
        "ipv6",
        "constraints",
        "floatingPools",
        "region",
        "data",
        "subnets",
        "securityGroups",
        "shareNetwork",
        "providerConfig",
        "conditions",
        "lastOperation",
        "infrastructureConfig",
        "networking",
        "ipFamilies",
        "secretRef",
    ];
    let text = if plain { "[ -~äß😀\n\t]{0,8}".boxed() } else { any::<String>().boxed() };
    let name = prop_oneof![9 => proptest::sample::select(NAMES.to_vec()).prop_map(str::to_owned), 1 => text.clone()];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(move |float| if plain { Value::Null } else { float.into() }),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        let object = proptest::collection::vec((name.clone(), inner.clone()), 0..6);
        prop_oneof![
            1 => proptest::collection::vec(inner, 0..4).prop_map(Value::Array),
            3 => object.prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>())),
        ]
    })
    .boxed()
}

/// Reads as `T`, whatever `value` says it is. What is accepted means the same when it is written and read again.
fn survives<T: Kinded + DeserializeOwned + serde::Serialize + PartialEq + fmt::Debug>(value: &Value) {
    let mut value = value.clone();
    if let Some(object) = value.as_object_mut() {
        object.insert("apiVersion".to_owned(), T::API_VERSION.into());
        object.insert("kind".to_owned(), T::KIND.into());
    }
    let strictly = strict::<T>(&value, std::iter::empty());
    let leniently = lenient::<T>(&value);
    if let Ok(found) = strictly {
        assert_eq!(leniently.as_ref(), Ok(&found));
        let mut again = serde_json::to_value(&found).unwrap();
        again["apiVersion"] = T::API_VERSION.into();
        again["kind"] = T::KIND.into();
        assert_eq!(strict::<T>(&again, std::iter::empty()), Ok(found));
    } else if let Err(error) = strictly {
        assert!(!error.to_field_errors(&Path::nil()).is_empty(), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_json_is_read_as_any_kind_without_panic(value in any_json(false)) {
        survives::<InfrastructureConfig>(&value);
        survives::<InfrastructureStatus>(&value);
        survives::<InfrastructureState>(&value);
        survives::<CloudProfileConfig>(&value);
        survives::<ControlPlaneConfig>(&value);
        survives::<Shoot>(&value);
        survives::<CloudProfile>(&value);
        survives::<NamespacedCloudProfile>(&value);
        survives::<Infrastructure>(&value);
        survives::<Cluster>(&value);
        survives::<ManagedResource>(&value);
    }

    #[test]
    fn json_means_the_same_when_it_is_read_as_yaml(value in any_json(true)) {
        prop_assume!(value.is_object());
        let json = value.to_string();
        let yaml = yaml::read("f", json.as_bytes()).map_err(|error| error.to_string());
        let yaml = yaml.map(|found| found.into_iter().map(|raw| raw.value).collect::<Vec<_>>());
        prop_assert_eq!(yaml, Ok(vec![value]));
    }
}
