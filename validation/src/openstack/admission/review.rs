//! What is judged: an object that is about to be stored, and the one it replaces.

use fabric_apis::decode::Document;
use serde_json::Value;

/// What is about to happen to the object. Nothing is judged when it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// It is new.
    Create,
    /// It replaces another one.
    Update,
}

/// An object that is about to be stored. Its `Debug` form shows no values, as that of [`Document`].
#[derive(Clone, Copy, Debug)]
pub struct Reviewed<'a> {
    /// What is about to happen.
    pub operation: Operation,
    /// The object as it would be stored.
    pub object: &'a Document,
    /// The object as it is stored. `None` on [`Operation::Create`], and where nobody knows it: then the rules for a
    /// change are not asked.
    pub old: Option<&'a Document>,
}

impl<'a> Reviewed<'a> {
    /// A new object.
    pub fn create(object: &'a Document) -> Self {
        Self { operation: Operation::Create, object, old: None }
    }

    /// An object that replaces `old`.
    pub fn update(object: &'a Document, old: &'a Document) -> Self {
        Self { operation: Operation::Update, object, old: Some(old) }
    }

    /// An object that replaces `old`, or a new one where there is none.
    pub fn of(object: &'a Document, old: Option<&'a Document>) -> Self {
        old.map_or_else(|| Self::create(object), |old| Self::update(object, old))
    }

    /// The value at a dotted path of the object; `None` for `null` too.
    pub fn at(&self, path: &str) -> Option<&'a Value> {
        at(self.object, path)
    }

    /// The value at a dotted path of the old object; `None` for `null` too, and without an old object.
    pub fn old_at(&self, path: &str) -> Option<&'a Value> {
        self.old.and_then(|old| at(old, path))
    }

    /// The object's namespace; empty for an object without.
    pub fn namespace(&self) -> &'a str {
        self.at("metadata.namespace").and_then(Value::as_str).unwrap_or_default()
    }

    /// Whether the object is on its way out: only its finalizers hold it.
    pub fn is_in_deletion(&self) -> bool {
        self.at("metadata.deletionTimestamp").is_some()
    }

    /// Whether there is an old object that says the same at `path`.
    pub fn is_unchanged(&self, path: &str) -> bool {
        self.old.is_some() && self.at(path) == self.old_at(path)
    }
}

fn at<'a>(document: &'a Document, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(&document.value, |value, key| value.get(key)).filter(|value| !value.is_null())
}
