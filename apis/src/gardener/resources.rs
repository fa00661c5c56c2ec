//! `resources.gardener.cloud/v1alpha1`: objects that the resource manager applies for us.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Other, RawExtension};
use crate::decode::Kinded;
use crate::wire::null_default;

/// Manifests in secrets that Gardener's resource manager applies to the shoot (no class) or the seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "resources.gardener.cloud",
    version = "v1alpha1",
    kind = "ManagedResource",
    doc = "Manifests that the resource manager applies.",
    namespaced,
    shortname = "mr",
    status = "ManagedResourceStatus",
    schema = "disabled",
    derive = "Default",
    derive = "PartialEq"
)]
#[serde(rename_all = "camelCase", default)]
pub struct ManagedResourceSpec {
    /// Absent = the shoot; `seed` = the seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The secrets with the manifests. Required.
    #[serde(deserialize_with = "null_default")]
    pub secret_refs: Vec<LocalSecretReference>,
    /// Labels put on every object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inject_labels: Option<std::collections::BTreeMap<String, String>>,
    /// Whether to leave the objects when this one goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_objects: Option<bool>,
    /// Fields we don't know.
    #[serde(flatten)]
    pub other: Other,
}

impl Kinded for ManagedResource {
    const API_VERSION: &'static str = "resources.gardener.cloud/v1alpha1";
    const KIND: &'static str = "ManagedResource";
}

/// A secret in the same namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LocalSecretReference {
    /// Its name.
    pub name: String,
}

/// What the resource manager says about a [`ManagedResource`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ManagedResourceStatus {
    /// `ResourcesApplied`, `ResourcesHealthy`, `ResourcesProgressing`.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    #[schemars(with = "Vec<RawExtension>")]
    pub conditions: Vec<Condition>,
    /// The generation this is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The objects, by reference.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub resources: Vec<RawExtension>,
    /// Checksum of the secrets' data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secrets_data_checksum: Option<String>,
}
