//! What a reconcile remembers between runs: `Infrastructure.status.state`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ApiVersion, kinded};
use crate::wire::{constant_text, null_default};

constant_text! {
    /// The `kind` of [`InfrastructureState`].
    InfrastructureStateKind = "InfrastructureState"
}
kinded!(InfrastructureState, InfrastructureStateKind);

/// Ids, names and CIDRs found or made so far, by the keys in [`key`].
///
/// Group, version and kind must be exact: upstream takes any other state for Terraform's and starts a migration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct InfrastructureState {
    /// Always the same.
    pub api_version: ApiVersion,
    /// Always the same.
    pub kind: InfrastructureStateKind,
    /// The entries. An empty value means absent, [`DELETED`] means known to be gone; `/` in a key builds a hierarchy.
    #[serde(deserialize_with = "null_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub data: BTreeMap<String, String>,
}

/// The value of an entry whose object is known to be deleted. Reads as absent.
pub const DELETED: &str = "<deleted>";

/// The keys upstream uses in [`InfrastructureState::data`], by which both can take over from each other.
pub mod key {
    /// ID of the router.
    pub const ROUTER: &str = "Router";
    /// ID of the network.
    pub const NETWORK: &str = "Network";
    /// ID of the IPv4 worker subnet.
    pub const SUBNET: &str = "Subnet";
    /// ID of the IPv6 worker subnet.
    pub const SUBNET_IPV6: &str = "SubnetIPv6";
    /// ID of the IPv6 reservation for pods.
    pub const SUBNET_IPV6_POD: &str = "SubnetIPv6Pod";
    /// ID of the IPv6 reservation for services.
    pub const SUBNET_IPV6_SVC: &str = "SubnetIPv6Svc";
    /// ID of the external network.
    pub const FLOATING_NETWORK: &str = "FloatingNetwork";
    /// ID of the workers' security group.
    pub const SECURITY_GROUP: &str = "SecurityGroup";
    /// ID of the Manila share network.
    pub const SHARE_NETWORK: &str = "ShareNetwork";
    /// Name of the external network.
    pub const FLOATING_NETWORK_NAME: &str = "FloatingNetworkName";
    /// Name of the external subnet.
    pub const FLOATING_POOL_SUBNET_NAME: &str = "FloatingPoolSubnetName";
    /// Name of the network.
    pub const NETWORK_NAME: &str = "NetworkName";
    /// Name of the key pair.
    pub const KEY_PAIR: &str = "KeyPair";
    /// Name of the security group.
    pub const SECURITY_GROUP_NAME: &str = "SecurityGroupName";
    /// Name of the share network.
    pub const SHARE_NETWORK_NAME: &str = "ShareNetworkName";
    /// CIDR of the IPv4 worker subnet, from a pool or of a given subnet.
    pub const WORKERS_CIDR: &str = "WorkersCIDR";
    /// CIDR of the IPv6 worker subnet.
    pub const NODE_SUBNET_IPV6_CIDR: &str = "NodeSubnetIPv6CIDR";
    /// IPv6 CIDR of the pods.
    pub const POD_SUBNET_IPV6_CIDR: &str = "PodSubnetIPv6CIDR";
    /// IPv6 CIDR of the services.
    pub const SERVICE_SUBNET_IPV6_CIDR: &str = "ServiceSubnetIPv6CIDR";
    /// `"true"` after upstream's migration from Terraform.
    pub const RESOURCE_EXIST: &str = "resource_exist";
    /// Legacy; dropped at the start of each reconcile.
    pub const ROUTER_IP: &str = "RouterIP";
}

impl InfrastructureState {
    /// The entry's value; `None` when it is absent, empty or known to be deleted.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.data.get(key).map(String::as_str).filter(|value| !value.is_empty() && *value != DELETED)
    }

    /// Whether the entry's object is known to be deleted.
    pub fn is_deleted(&self, key: &str) -> bool {
        self.data.get(key).is_some_and(|value| value == DELETED)
    }

    /// Remembers a value.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<String>) {
        self.data.insert(key.into(), value.into());
    }

    /// Remembers that the entry's object is gone.
    pub fn set_deleted(&mut self, key: impl Into<String>) {
        self.set(key, DELETED);
    }

    /// Forgets the entry.
    pub fn remove(&mut self, key: &str) {
        self.data.remove(key);
    }
}
