//! Merge patches (RFC 7396): what turns one object into another, and nothing else.

use serde_json::{Map, Value};

/// The patch from `old` to `new`; `None` when they are equal. Lists are replaced whole.
pub(crate) fn difference(old: &Value, new: &Value) -> Option<Value> {
    if old == new {
        return None;
    }
    let (Value::Object(before), Value::Object(after)) = (old, new) else { return Some(whole(new)) };
    let mut patch = Map::new();
    for (key, value) in after {
        match before.get(key) {
            Some(known) => {
                if let Some(change) = difference(known, value) {
                    patch.insert(key.clone(), change);
                }
            }
            None if value.is_null() => {}
            None => {
                patch.insert(key.clone(), whole(value));
            }
        }
    }
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

/// A value that was not there before: in a patch `null` would mean "remove".
fn whole(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            map.iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| (key.clone(), whole(value))).collect()
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// What the API server does with a patch.
    fn merge(target: &mut Value, patch: &Value) {
        let Value::Object(patch) = patch else {
            *target = patch.clone();
            return;
        };
        if !target.is_object() {
            *target = json!({});
        }
        let Value::Object(target) = target else { return };
        for (key, value) in patch {
            if value.is_null() {
                target.remove(key);
            } else {
                merge(target.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
    }

    #[test]
    fn equal_objects_need_no_patch() {
        assert_eq!(difference(&json!({ "a": [1], "b": { "c": 1 } }), &json!({ "b": { "c": 1 }, "a": [1] })), None);
        assert_eq!(difference(&json!({}), &json!({ "a": null })), None);
    }

    #[test]
    fn a_key_that_goes_is_set_to_null_and_nothing_else_is_sent() {
        let (old, new) = (json!({ "data": { "a": "1", "b": "2" }, "c": 1 }), json!({ "data": { "a": "1" }, "c": 1 }));
        assert_eq!(difference(&old, &new), Some(json!({ "data": { "b": null } })));
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(Value::from),
            (0..3_i64).prop_map(Value::from),
            "[ab]".prop_map(Value::from)
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map("[abc]", inner, 0..4).prop_map(|map| map.into_iter().collect()),
            ]
        })
    }

    fn object() -> impl Strategy<Value = Value> {
        prop::collection::btree_map("[abc]", value(), 0..4).prop_map(|map| map.into_iter().collect())
    }

    proptest! {
        #[test]
        fn the_patch_makes_the_new_object_out_of_the_old_one(old in object(), new in object()) {
            let mut merged = old.clone();
            match difference(&old, &new) {
                Some(patch) => merge(&mut merged, &patch),
                None => prop_assert_eq!(&old, &new),
            }
            prop_assert_eq!(merged, new);
        }
    }
}
