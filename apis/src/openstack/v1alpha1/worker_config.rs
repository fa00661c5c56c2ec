//! What a user sets for the machines of one worker pool: `shoot.spec.provider.workers[].providerConfig`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ApiVersion, kinded};
use crate::wire::{constant_text, is_false, null_default};

constant_text! {
    /// The `kind` of [`WorkerConfig`].
    WorkerConfigKind = "WorkerConfig"
}
kinded!(WorkerConfig, WorkerConfigKind);

/// Settings of the machines of one worker pool. Complete, so that it decodes strictly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkerConfig {
    /// Always the same.
    pub api_version: ApiVersion,
    /// Always the same.
    pub kind: WorkerConfigKind,
    /// What a node brings, for the autoscaler of a pool without nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_template: Option<NodeTemplate>,
    /// Keep the machines together, or apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_group: Option<ServerGroup>,
    /// Metadata of the machines.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub machine_labels: Vec<MachineLabel>,
}

/// What a node brings. The amounts are Kubernetes quantities: texts (`"2"`, `"8Gi"`) or plain numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeTemplate {
    /// `cpu`, `gpu`, `memory` and others.
    #[serde(deserialize_with = "null_default")]
    pub capacity: BTreeMap<String, Value>,
    /// Resources that no machine has and the scheduler counts all the same.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "null_default")]
    pub virtual_capacity: BTreeMap<String, Value>,
}

/// A Nova server group of the pool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerGroup {
    /// One of the profile's `serverGroupPolicies`. Required.
    #[serde(deserialize_with = "null_default")]
    pub policy: String,
}

/// One entry of a machine's metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MachineLabel {
    /// Its key.
    #[serde(deserialize_with = "null_default")]
    pub name: String,
    /// Its value.
    #[serde(deserialize_with = "null_default")]
    pub value: String,
    /// Replace the machines when the value changes.
    #[serde(skip_serializing_if = "is_false", deserialize_with = "null_default")]
    pub trigger_rolling_on_update: bool,
}
