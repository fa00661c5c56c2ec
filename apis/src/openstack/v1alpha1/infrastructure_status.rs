//! What we report: `Infrastructure.status.providerStatus`.

use serde::{Deserialize, Serialize};

use super::{ApiVersion, kinded};
use crate::wire::{constant_text, null_default};

constant_text! {
    /// The `kind` of [`InfrastructureStatus`].
    InfrastructureStatusKind = "InfrastructureStatus"
}
kinded!(InfrastructureStatus, InfrastructureStatusKind);

/// The infrastructure as other controllers need it.
///
/// They decode it strictly: a key more breaks Worker and ControlPlane. Lists are always there, empty when there is
/// nothing; only `networks.shareNetwork` may be absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct InfrastructureStatus {
    /// Always the same.
    pub kind: InfrastructureStatusKind,
    /// Always the same.
    pub api_version: ApiVersion,
    /// The network layer.
    pub networks: NetworkStatus,
    /// What machines are made with.
    pub node: NodeStatus,
    /// One entry, purpose `nodes`.
    #[serde(deserialize_with = "null_default")]
    pub security_groups: Vec<SecurityGroup>,
}

/// The network layer of an [`InfrastructureStatus`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NetworkStatus {
    /// ID of the network, given or ours.
    pub id: String,
    /// Its real name.
    pub name: String,
    /// The external network.
    pub floating_pool: FloatingPoolStatus,
    /// The router, given or ours.
    pub router: RouterStatus,
    /// In the order `nodes`, `nodes-ipv6`, `pods`, `services`; see [`NetworkStatus::set_subnets`].
    #[serde(deserialize_with = "null_default")]
    pub subnets: Vec<Subnet>,
    /// The Manila share network, when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_network: Option<ShareNetworkStatus>,
}

impl NetworkStatus {
    /// Sets the subnets in the order that readers rely on: the Worker controller hands them to the machine class in
    /// list order, IPv4 first.
    pub fn set_subnets(&mut self, mut subnets: Vec<Subnet>) {
        subnets.sort_by_key(|subnet| subnet.purpose);
        self.subnets = subnets;
    }
}

/// The external network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FloatingPoolStatus {
    /// Its ID.
    pub id: String,
    /// Its name.
    pub name: String,
}

/// The router.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RouterStatus {
    /// Its ID.
    pub id: String,
    /// The first external address. Deprecated in favour of the list.
    pub ip: String,
    /// All external addresses. The key is singular on the wire although it is a list.
    #[serde(rename = "externalFixedIP", deserialize_with = "null_default")]
    pub external_fixed_ips: Vec<String>,
}

/// What machines are made with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeStatus {
    /// Name of the Nova key pair.
    pub key_name: String,
}

/// A subnet and what it is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subnet {
    /// What it is for.
    pub purpose: Purpose,
    /// Its ID.
    pub id: String,
    /// Its CIDR: filled for [`Purpose::Nodes`] (CSI Manila reads it), empty for the IPv6 ones.
    #[serde(default)]
    pub cidr: String,
}

/// A security group and what it is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecurityGroup {
    /// Always [`Purpose::Nodes`].
    pub purpose: Purpose,
    /// Its ID.
    pub id: String,
    /// Its name; the Worker controller selects by it.
    pub name: String,
}

/// What a subnet or a security group is for, in the order of the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Purpose {
    /// Workers (IPv4).
    #[serde(rename = "nodes")]
    Nodes,
    /// Workers (IPv6).
    #[serde(rename = "nodes-ipv6")]
    NodesIpv6,
    /// The reservation for pods (IPv6).
    #[serde(rename = "pods")]
    Pods,
    /// The reservation for services (IPv6).
    #[serde(rename = "services")]
    Services,
}

/// A Manila share network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ShareNetworkStatus {
    /// Its ID.
    pub id: String,
    /// Its name.
    pub name: String,
}
