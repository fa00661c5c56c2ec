//! What a user sets for the cloud controllers: `shoot.spec.provider.controlPlaneConfig`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

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
    /// The cloud controller manager.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cloud_controller_manager: Option<CloudControllerManager>,
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

/// Settings of the cloud controller manager.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CloudControllerManager {
    /// Kubernetes features by name, switched on or off.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "null_default")]
    pub feature_gates: BTreeMap<String, bool>,
}

/// Storage drivers of a shoot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Storage {
    /// The Manila driver, which needs a share network.
    #[serde(rename = "csiManila", skip_serializing_if = "Option::is_none")]
    pub csi_manila: Option<CsiManila>,
}

impl ControlPlaneConfig {
    /// Whether the Manila driver is wanted.
    pub fn wants_manila(&self) -> bool {
        self.storage.as_ref().and_then(|storage| storage.csi_manila.as_ref()).is_some_and(|driver| driver.enabled)
    }
}

/// The Manila driver.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CsiManila {
    /// Install it.
    #[serde(deserialize_with = "null_default")]
    pub enabled: bool,
}
