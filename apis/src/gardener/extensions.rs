//! `extensions.gardener.cloud/v1alpha1`: what gardenlet hands to extensions.

use k8s_openapi::ByteString;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CloudProfile, Other, RawExtension, Shoot};
use crate::decode::Kinded;
use crate::wire::null_default;

/// The infrastructure of one shoot, to be made by the extension for `type`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "extensions.gardener.cloud",
    version = "v1alpha1",
    kind = "Infrastructure",
    doc = "The infrastructure of one shoot.",
    namespaced,
    status = "InfrastructureObjectStatus",
    schema = "disabled",
    derive = "Default",
    derive = "PartialEq"
)]
#[serde(rename_all = "camelCase", default)]
pub struct InfrastructureSpec {
    /// `openstack` for the objects we serve.
    #[serde(rename = "type")]
    pub type_: String,
    /// `garden`, `seed` or `shoot`; absent = shoot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// An `InfrastructureConfig`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_config: Option<RawExtension>,
    /// OpenStack region.
    pub region: String,
    /// The `cloudprovider` secret.
    pub secret_ref: SecretReference,
    /// Public key for the workers; absent when SSH access is disabled.
    #[serde(rename = "sshPublicKey", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub ssh_public_key: Option<ByteString>,
    /// Fields we don't know.
    #[serde(flatten)]
    pub other: Other,
}

impl Kinded for Infrastructure {
    const API_VERSION: &'static str = "extensions.gardener.cloud/v1alpha1";
    const KIND: &'static str = "Infrastructure";
}

/// A secret by name and namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SecretReference {
    /// Its name.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
}

/// The status of an [`Infrastructure`] object. (The provider's own status is inside, in `provider_status`.)
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct InfrastructureObjectStatus {
    /// An `InfrastructureStatus`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_status: Option<RawExtension>,
    /// Conditions of extensions.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub conditions: Vec<Condition>,
    /// Why the last operation failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<LastError>,
    /// What was done last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_operation: Option<LastOperation>,
    /// The generation the last finished operation was about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// An `InfrastructureState`; travels with the shoot when its control plane moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<RawExtension>,
    /// Set by providers that choose the nodes CIDR; never by us.
    #[serde(rename = "nodesCIDR", skip_serializing_if = "Option::is_none")]
    pub nodes_cidr: Option<String>,
    /// Addresses the shoot's traffic leaves from.
    #[serde(rename = "egressCIDRs", skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub egress_cidrs: Vec<String>,
    /// Address ranges in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub networking: Option<InfrastructureNetworking>,
    /// Fields we don't know.
    #[serde(flatten)]
    pub other: Other,
}

/// Address ranges in force, both families.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct InfrastructureNetworking {
    /// CIDRs of the pods.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub pods: Vec<String>,
    /// CIDRs of the nodes.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub nodes: Vec<String>,
    /// CIDRs of the services.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub services: Vec<String>,
}

/// A condition in Gardener's own form, which has an update time beside the transition time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// What it is about.
    #[serde(rename = "type")]
    pub type_: String,
    /// `True`, `False`, `Unknown` or `Progressing`.
    pub status: String,
    /// Since when.
    #[schemars(with = "String")]
    pub last_transition_time: Time,
    /// When it was last confirmed.
    #[schemars(with = "String")]
    pub last_update_time: Time,
    /// One word.
    pub reason: String,
    /// One sentence.
    pub message: String,
    /// Error codes.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub codes: Vec<String>,
}

/// Why an operation failed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct LastError {
    /// One sentence.
    pub description: String,
    /// The task that failed.
    #[serde(rename = "taskID", skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Error codes (`ERR_CONFIGURATION_PROBLEM`, …).
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub codes: Vec<String>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub last_update_time: Option<Time>,
}

/// What was done last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastOperation {
    /// One sentence.
    pub description: String,
    /// When it last moved.
    #[schemars(with = "String")]
    pub last_update_time: Time,
    /// Percent.
    pub progress: i32,
    /// `Processing`, `Succeeded`, `Error`, `Failed`, `Pending` or `Aborted`.
    pub state: String,
    /// `Create`, `Reconcile`, `Delete`, `Migrate` or `Restore`.
    #[serde(rename = "type")]
    pub type_: String,
}

/// The garden's objects that belong to one shoot, mirrored to the seed. Its name is the shoot's technical ID.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, CustomResource)]
#[kube(
    group = "extensions.gardener.cloud",
    version = "v1alpha1",
    kind = "Cluster",
    doc = "The garden's objects of one shoot, as seen on the seed.",
    schema = "disabled",
    derive = "Default",
    derive = "PartialEq"
)]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterSpec {
    /// A `CloudProfile` (for a NamespacedCloudProfile: the merged one).
    #[serde(deserialize_with = "null_default")]
    pub cloud_profile: RawExtension,
    /// A `Seed`; absent for self-hosted shoots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<RawExtension>,
    /// A `Shoot`.
    #[serde(deserialize_with = "null_default")]
    pub shoot: RawExtension,
}

impl Kinded for Cluster {
    const API_VERSION: &'static str = "extensions.gardener.cloud/v1alpha1";
    const KIND: &'static str = "Cluster";
}

impl ClusterSpec {
    /// The shoot inside.
    ///
    /// # Errors
    /// When a field that we read has the wrong type.
    pub fn shoot(&self) -> Result<Shoot, crate::decode::Error> {
        crate::decode::lenient(&self.shoot)
    }

    /// The profile inside.
    ///
    /// # Errors
    /// When a field that we read has the wrong type.
    pub fn cloud_profile(&self) -> Result<CloudProfile, crate::decode::Error> {
        crate::decode::lenient(&self.cloud_profile)
    }
}
