//! Reading and writing `serde_json` documents without panics: an absent member reads as nothing.

use serde_json::{Map, Value};

/// A member as text; empty when it is absent or of another type.
pub(crate) fn text<'a>(doc: &'a Value, key: &str) -> &'a str {
    doc.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A member as text, `None` when it is absent, null or of another type.
pub(crate) fn text_opt<'a>(doc: &'a Value, key: &str) -> Option<&'a str> {
    doc.get(key).and_then(Value::as_str)
}

/// A member as an owned text; empty when absent.
pub(crate) fn owned(doc: &Value, key: &str) -> String {
    text(doc, key).to_owned()
}

/// A member as a truth value; false when it is absent.
pub(crate) fn flag(doc: &Value, key: &str) -> bool {
    doc.get(key).and_then(Value::as_bool).unwrap_or_default()
}

/// A member as a whole number; 0 when it is absent.
pub(crate) fn int(doc: &Value, key: &str) -> i64 {
    doc.get(key).and_then(Value::as_i64).unwrap_or_default()
}

/// A member as a list; empty when it is absent.
pub(crate) fn list<'a>(doc: &'a Value, key: &str) -> &'a [Value] {
    doc.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// A member as a list of texts; other entries are left out.
pub(crate) fn texts(doc: &Value, key: &str) -> Vec<String> {
    list(doc, key).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A copy of a member; null when it is absent.
pub(crate) fn member(doc: &Value, key: &str) -> Value {
    doc.get(key).cloned().unwrap_or(Value::Null)
}

/// Sets a member. A document that is no object stays as it is.
pub(crate) fn set(doc: &mut Value, key: &str, value: impl Into<Value>) {
    if let Some(map) = doc.as_object_mut() {
        map.insert(key.to_owned(), value.into());
    }
}

/// Removes members.
pub(crate) fn drop_members(doc: &mut Value, keys: &[&str]) {
    if let Some(map) = doc.as_object_mut() {
        map.retain(|k, _| !keys.contains(&k.as_str()));
    }
}

/// The document without the members that are ours alone (their names begin with `_`), at any depth.
pub(crate) fn public(doc: &Value) -> Value {
    match doc {
        Value::Object(map) => Value::Object(
            map.iter().filter(|(k, _)| !k.starts_with('_')).map(|(k, v)| (k.clone(), public(v))).collect(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(public).collect()),
        other => other.clone(),
    }
}

/// One-member object, the envelope of most answers.
pub(crate) fn wrap(key: &str, value: Value) -> Value {
    let mut map = Map::new();
    map.insert(key.to_owned(), value);
    Value::Object(map)
}

/// RFC 7396: null removes, objects merge, everything else replaces.
pub(crate) fn merge_patch(doc: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *doc = patch.clone();
        return;
    };
    if !doc.is_object() {
        *doc = Value::Object(Map::new());
    }
    if let Some(map) = doc.as_object_mut() {
        for (key, change) in changes {
            if change.is_null() {
                map.shift_remove(key);
            } else {
                merge_patch(map.entry(key.clone()).or_insert(Value::Null), change);
            }
        }
    }
}

/// A value as it is compared with a filter of the query string.
pub(crate) fn as_filter(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(s) => s.clone(),
        Value::Bool(b) => b.to_string(),
        other => other.to_string(),
    }
}
