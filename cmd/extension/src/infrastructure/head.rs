//! An Infrastructure as far as the queue has to know it: five hundred of them must fit into little memory, and one that
//! can't be read whole must not keep the others from being listed.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use fabric_apis::gardener::{Infrastructure, ObjectMeta};
use kube::Resource;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::contract::Facts;

/// Name, version and what decides about it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head {
    metadata: ObjectMeta,
    /// What decides.
    pub(crate) facts: Facts,
    /// Tells one status from another.
    pub(crate) status: u64,
}

impl<'de> Deserialize<'de> for Head {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = Value::deserialize(deserializer)?;
        let text = |path: &str| object.pointer(path).and_then(Value::as_str).map(str::to_owned);
        let mut hasher = DefaultHasher::new();
        object.get("status").unwrap_or(&Value::Null).hash(&mut hasher);
        Ok(Self {
            metadata: ObjectMeta {
                name: text("/metadata/name"),
                namespace: text("/metadata/namespace"),
                uid: text("/metadata/uid"),
                resource_version: text("/metadata/resourceVersion"),
                ..ObjectMeta::default()
            },
            facts: Facts::of(&object),
            status: hasher.finish(),
        })
    }
}

impl Resource for Head {
    type DynamicType = ();
    type Scope = <Infrastructure as Resource>::Scope;

    fn kind((): &()) -> Cow<'_, str> {
        Infrastructure::kind(&())
    }

    fn group((): &()) -> Cow<'_, str> {
        Infrastructure::group(&())
    }

    fn version((): &()) -> Cow<'_, str> {
        Infrastructure::version(&())
    }

    fn plural((): &()) -> Cow<'_, str> {
        Infrastructure::plural(&())
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}
