//! What a user sets for the cloud controllers: `shoot.spec.provider.controlPlaneConfig`. In outline: the parts that
//! say something about the infrastructure.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ApiVersion, LoadBalancerClass, kinded};
use crate::wire::{constant_text, null_default};

constant_text! {
    /// The `kind` of [`ControlPlaneConfig`].
    ControlPlaneConfigKind = "ControlPlaneConfig"
}
kinded!(ControlPlaneConfig, ControlPlaneConfigKind);

/// Settings of the cloud controllers of one shoot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ControlPlaneConfig {
    /// Always the same.
    pub api_version: ApiVersion,
    /// Always the same.
    pub kind: ControlPlaneConfigKind,
    /// Not read by us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cloud_controller_manager: Option<Value>,
    /// Load balancer driver. Required.
    #[serde(deserialize_with = "null_default")]
    pub load_balancer_provider: String,
    /// Load balancer classes of this shoot.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub load_balancer_classes: Vec<LoadBalancerClass>,
    /// Deprecated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// Storage drivers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage: Option<Storage>,
}

/// Storage drivers of a shoot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Storage {
    /// The Manila driver, which needs a share network.
    #[serde(rename = "csiManila", skip_serializing_if = "Option::is_none")]
    pub csi_manila: Option<CsiManila>,
}

/// The Manila driver.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CsiManila {
    /// Install it.
    #[serde(deserialize_with = "null_default")]
    pub enabled: bool,
}
