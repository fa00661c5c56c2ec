//! What we remember between runs: the data of an `InfrastructureState`, key by key.
//!
//! The keys are upstream's, so that either controller continues the other's work; keys that we do not know
//! are kept as they are.

use std::collections::BTreeMap;

use async_trait::async_trait;
use fabric_apis::openstack::v1alpha1::{DELETED, InfrastructureState, key};

use crate::{error::Error, target::Role};

/// The keys of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// Router id.
    Router,
    /// Network id.
    Network,
    /// IPv4 node subnet id.
    Subnet,
    /// IPv6 node subnet id.
    SubnetIpv6,
    /// IPv6 pod reservation's id.
    SubnetIpv6Pod,
    /// IPv6 service reservation's id.
    SubnetIpv6Svc,
    /// External network id.
    FloatingNetwork,
    /// Security group id.
    SecurityGroup,
    /// Share network id.
    ShareNetwork,
    /// External network name.
    FloatingNetworkName,
    /// Pattern of the external subnet.
    FloatingPoolSubnetName,
    /// Network name.
    NetworkName,
    /// Key pair name.
    KeyPair,
    /// Security group name.
    SecurityGroupName,
    /// Share network name.
    ShareNetworkName,
    /// Range of the IPv4 node subnet (pool or given).
    WorkersCidr,
    /// Range of the IPv6 node subnet.
    NodeSubnetIpv6Cidr,
    /// IPv6 pod range.
    PodSubnetIpv6Cidr,
    /// IPv6 service range.
    ServiceSubnetIpv6Cidr,
    /// Ours: the fingerprint of the key pair that we made (it has no marker).
    KeyPairFingerprint,
    /// Ours: which of the ids above are the user's, comma separated. What is in it is never owned.
    Given,
    /// Ours: ids of the rules that we made in our group, comma separated.
    SecurityGroupRules,
    /// Ours: the shoot's uid where Gardener does not give one (the command line).
    Uid,
}

impl Key {
    /// The key on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Router => key::ROUTER,
            Self::Network => key::NETWORK,
            Self::Subnet => key::SUBNET,
            Self::SubnetIpv6 => key::SUBNET_IPV6,
            Self::SubnetIpv6Pod => key::SUBNET_IPV6_POD,
            Self::SubnetIpv6Svc => key::SUBNET_IPV6_SVC,
            Self::FloatingNetwork => key::FLOATING_NETWORK,
            Self::SecurityGroup => key::SECURITY_GROUP,
            Self::ShareNetwork => key::SHARE_NETWORK,
            Self::FloatingNetworkName => key::FLOATING_NETWORK_NAME,
            Self::FloatingPoolSubnetName => key::FLOATING_POOL_SUBNET_NAME,
            Self::NetworkName => key::NETWORK_NAME,
            Self::KeyPair => key::KEY_PAIR,
            Self::SecurityGroupName => key::SECURITY_GROUP_NAME,
            Self::ShareNetworkName => key::SHARE_NETWORK_NAME,
            Self::WorkersCidr => key::WORKERS_CIDR,
            Self::NodeSubnetIpv6Cidr => key::NODE_SUBNET_IPV6_CIDR,
            Self::PodSubnetIpv6Cidr => key::POD_SUBNET_IPV6_CIDR,
            Self::ServiceSubnetIpv6Cidr => key::SERVICE_SUBNET_IPV6_CIDR,
            Self::KeyPairFingerprint => "fabric.KeyPairFingerprint",
            Self::Given => "fabric.Given",
            Self::SecurityGroupRules => "fabric.SecurityGroupRules",
            Self::Uid => "fabric.UID",
        }
    }

    /// The id key of a subnet.
    pub fn subnet(role: Role) -> Self {
        match role {
            Role::Nodes => Self::Subnet,
            Role::NodesIpv6 => Self::SubnetIpv6,
            Role::PodsIpv6 => Self::SubnetIpv6Pod,
            Role::ServicesIpv6 => Self::SubnetIpv6Svc,
        }
    }

    /// The range key of a subnet.
    pub fn range(role: Role) -> Self {
        match role {
            Role::Nodes => Self::WorkersCidr,
            Role::NodesIpv6 => Self::NodeSubnetIpv6Cidr,
            Role::PodsIpv6 => Self::PodSubnetIpv6Cidr,
            Role::ServicesIpv6 => Self::ServiceSubnetIpv6Cidr,
        }
    }
}

/// The data of an `InfrastructureState`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State(BTreeMap<String, String>);

impl State {
    /// Takes the data as it was saved. The legacy key `RouterIP` is dropped, as upstream does.
    pub fn from_data(mut data: BTreeMap<String, String>) -> Self {
        data.remove(key::ROUTER_IP);
        Self(data)
    }

    /// The object to save.
    pub fn to_object(&self) -> InfrastructureState {
        InfrastructureState { data: self.0.clone(), ..InfrastructureState::default() }
    }

    /// The data to save.
    pub fn data(&self) -> &BTreeMap<String, String> {
        &self.0
    }

    /// A value; empty and deleted ones read as absent.
    pub fn get(&self, key: Key) -> Option<&str> {
        self.0.get(key.as_str()).map(String::as_str).filter(|value| !value.is_empty() && *value != DELETED)
    }

    /// Sets a value.
    pub fn set(&mut self, key: Key, value: impl Into<String>) {
        self.0.insert(key.as_str().to_owned(), value.into());
    }

    /// Forgets a value.
    pub fn clear(&mut self, key: Key) {
        self.0.remove(key.as_str());
    }

    /// Whether nothing that stands for a resource is remembered: there is nothing to delete by state.
    pub fn is_empty(&self) -> bool {
        let about_us = [Key::Uid.as_str(), Key::Given.as_str(), key::RESOURCE_EXIST];
        self.0.iter().all(|(key, value)| about_us.contains(&key.as_str()) || value.is_empty() || value == DELETED)
    }

    /// Whether the id under `key` is remembered as the user's.
    pub fn is_given(&self, key: Key) -> bool {
        self.list(Key::Given).any(|name| name == key.as_str())
    }

    /// Remembers that the id under `key` is the user's.
    pub fn mark_given(&mut self, key: Key) {
        self.insert(Key::Given, key.as_str());
    }

    /// The parts of a comma separated value.
    pub fn list(&self, key: Key) -> impl Iterator<Item = &str> {
        self.get(key).into_iter().flat_map(|value| value.split(','))
    }

    /// Adds a part to a comma separated value, once.
    pub fn insert(&mut self, key: Key, part: &str) {
        let mut parts: Vec<String> = self.list(key).map(str::to_owned).collect();
        if !parts.iter().any(|known| known == part) {
            parts.push(part.to_owned());
            parts.sort();
            self.set(key, parts.join(","));
        }
    }
}

/// Where a state is kept: a file for the command line, the status for the controller.
#[async_trait]
pub trait StateStore: Send + Sync {
    /// Saves the state, durably, before it returns.
    async fn save(&self, state: &State) -> Result<(), Error>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_and_deleted_values_read_as_absent() {
        let mut state = State::default();
        assert!(state.is_empty());
        state.set(Key::Router, DELETED);
        state.set(Key::Network, "");
        state.set(Key::Uid, "u");
        assert_eq!((state.get(Key::Router), state.get(Key::Network)), (None, None));
        assert!(state.is_empty());
        state.set(Key::Router, "r");
        assert!(!state.is_empty());
    }

    #[test]
    fn unknown_keys_survive_and_the_legacy_one_does_not() {
        let data = [("RouterIP", "1.2.3.4"), ("Future", "x")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        assert_eq!(State::from_data(data.into()).data().keys().collect::<Vec<_>>(), ["Future"]);
    }

    #[test]
    fn remembers_what_is_given_once() {
        let mut state = State::default();
        state.mark_given(Key::Router);
        state.mark_given(Key::Network);
        state.mark_given(Key::Router);
        assert_eq!(state.get(Key::Given), Some("Network,Router"));
        assert!(state.is_given(Key::Router) && !state.is_given(Key::Subnet));
    }
}
