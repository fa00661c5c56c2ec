//! What a user asks for: `shoot.spec.provider.infrastructureConfig`, `Infrastructure.spec.providerConfig`.

use serde::{Deserialize, Serialize};

use super::{ApiVersion, kinded};
use crate::wire::{constant_text, null_default};

constant_text! {
    /// The `kind` of [`InfrastructureConfig`].
    InfrastructureConfigKind = "InfrastructureConfig"
}
kinded!(InfrastructureConfig, InfrastructureConfigKind);

/// The network a shoot's workers live in: which parts are given by the user, which are to be made.
///
/// As in Go, an absent text is empty and an absent pointer is `None`; nothing is defaulted. Values are as written;
/// whether they make sense together is for `fabric-validation` to say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct InfrastructureConfig {
    /// Always the same.
    pub api_version: ApiVersion,
    /// Always the same.
    pub kind: InfrastructureConfigKind,
    /// Name of the external network. Required.
    #[serde(deserialize_with = "null_default")]
    pub floating_pool_name: String,
    /// Name, glob or `~` regular expression of the external subnet that a router of ours takes its address from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floating_pool_subnet_name: Option<String>,
    /// The network layer.
    #[serde(deserialize_with = "null_default")]
    pub networks: Networks,
}

/// The network layer of an [`InfrastructureConfig`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Networks {
    /// An existing router; absent = one of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub router: Option<Router>,
    /// Deprecated alias of [`Networks::workers`].
    #[serde(skip_serializing_if = "String::is_empty", deserialize_with = "null_default")]
    pub worker: String,
    /// CIDR of the IPv4 worker subnet to create.
    #[serde(skip_serializing_if = "String::is_empty", deserialize_with = "null_default")]
    pub workers: String,
    /// Take the worker subnet's CIDR from this pool instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subnet_pool: Option<SubnetPool>,
    /// ID of an existing network; absent = one of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// ID of an existing IPv4 worker subnet in [`Networks::id`], connected to [`Networks::router`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subnet_id: Option<String>,
    /// ID of an existing security group for the workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security_group_id: Option<String>,
    /// ID of an existing Manila share network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_network_id: Option<String>,
    /// Whether to make a Manila share network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_network: Option<ShareNetwork>,
    /// Dual-stack settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv6: Option<Ipv6Config>,
}

/// An existing router.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Router {
    /// Its ID. Required.
    #[serde(deserialize_with = "null_default")]
    pub id: String,
}

/// An IPv4 subnet pool to allocate the worker subnet from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SubnetPool {
    /// ID of the pool. Required.
    #[serde(deserialize_with = "null_default")]
    pub id: String,
    /// Prefix length of the subnet to allocate, 1 to 32. Required.
    #[serde(deserialize_with = "null_default")]
    pub prefix_length: i64,
}

/// Whether a Manila share network is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ShareNetwork {
    /// Make one (or adopt the one that fits).
    #[serde(deserialize_with = "null_default")]
    pub enabled: bool,
}

/// IPv6 for nodes, pods and services of a dual-stack shoot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ipv6Config {
    /// ID of an IPv6 subnet pool that all three subnets come from.
    #[serde(rename = "subnetPoolID", skip_serializing_if = "Option::is_none")]
    pub subnet_pool_id: Option<String>,
    /// CIDR of the node subnet to create.
    #[serde(rename = "nodeCIDR", skip_serializing_if = "String::is_empty", deserialize_with = "null_default")]
    pub node_cidr: String,
    /// CIDR of the pods.
    #[serde(rename = "podCIDR", skip_serializing_if = "String::is_empty", deserialize_with = "null_default")]
    pub pod_cidr: String,
    /// CIDR of the services.
    #[serde(rename = "serviceCIDR", skip_serializing_if = "String::is_empty", deserialize_with = "null_default")]
    pub service_cidr: String,
    /// ID of an existing IPv6 worker subnet in the given network, connected to the given router.
    #[serde(rename = "nodeSubnetId", skip_serializing_if = "Option::is_none")]
    pub node_subnet_id: Option<String>,
}

impl Networks {
    /// The CIDR of the worker subnet as upstream reads it everywhere: `workers`, else `worker`, else empty.
    pub fn workers_cidr(&self) -> &str {
        if self.workers.is_empty() { &self.worker } else { &self.workers }
    }

    /// The given router's ID, when there is a non-empty one.
    pub fn router_id(&self) -> Option<&str> {
        self.router.as_ref().map(|router| router.id.as_str()).filter(|id| !id.is_empty())
    }

    /// Whether a Manila share network is to be made.
    pub fn share_network_enabled(&self) -> bool {
        self.share_network.as_ref().is_some_and(|share_network| share_network.enabled)
    }

    /// The given IPv6 worker subnet's ID.
    pub fn node_subnet_id(&self) -> Option<&str> {
        self.ipv6.as_ref()?.node_subnet_id.as_deref()
    }
}

impl Ipv6Config {
    /// Whether any of the three CIDRs is given.
    pub fn has_cidr(&self) -> bool {
        !(self.node_cidr.is_empty() && self.pod_cidr.is_empty() && self.service_cidr.is_empty())
    }
}
