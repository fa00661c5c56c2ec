//! Manila's resources, as far as we read or write them.

use serde::{Deserialize, Serialize};

use crate::ids::{NetworkId, ProjectId, ShareNetworkId, SubnetId};

/// A share network. Before microversion 2.51 it has one Neutron network and subnet of its own; since then
/// they are in its list of subnets. Both forms decode; [`ShareNetwork::placements`] reads either.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareNetwork {
    /// Its id.
    pub id: ShareNetworkId,
    /// Its name.
    #[serde(default, deserialize_with = "null_as_empty")]
    pub name: String,
    /// Free text; holds our marker if we made it.
    #[serde(default, deserialize_with = "null_as_empty")]
    pub description: String,
    /// The project that owns it.
    #[serde(default = "no_project")]
    pub project_id: ProjectId,
    /// Older form: the Neutron network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neutron_net_id: Option<NetworkId>,
    /// Older form: the Neutron subnet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neutron_subnet_id: Option<SubnetId>,
    /// Newer form: one entry an availability zone.
    #[serde(default)]
    pub share_network_subnets: Vec<ShareNetworkSubnet>,
}

/// Where a share network touches Neutron.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareNetworkSubnet {
    /// The Neutron network.
    #[serde(default)]
    pub neutron_net_id: Option<NetworkId>,
    /// The Neutron subnet.
    #[serde(default)]
    pub neutron_subnet_id: Option<SubnetId>,
}

impl ShareNetwork {
    /// Every (network, subnet) that it touches.
    pub fn placements(&self) -> Vec<(Option<&NetworkId>, Option<&SubnetId>)> {
        let own = (self.neutron_net_id.as_ref(), self.neutron_subnet_id.as_ref());
        let listed = self.share_network_subnets.iter();
        let mut all: Vec<_> = listed.map(|s| (s.neutron_net_id.as_ref(), s.neutron_subnet_id.as_ref())).collect();
        if all.is_empty() && own.0.is_some() {
            all.push(own);
        }
        all
    }

    /// Whether it lies on this network and subnet.
    pub fn is_on(&self, network: &NetworkId, subnet: &SubnetId) -> bool {
        self.placements().contains(&(Some(network), Some(subnet)))
    }
}

/// A share network to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewShareNetwork {
    /// Its name.
    pub name: String,
    /// Our marker.
    pub description: String,
    /// The Neutron network.
    pub neutron_net_id: NetworkId,
    /// The Neutron subnet.
    pub neutron_subnet_id: SubnetId,
}

/// What of a share network changes; absent fields stay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ShareNetworkUpdate {
    /// A new name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

fn no_project() -> ProjectId {
    ProjectId::new("")
}

fn null_as_empty<'de, D: serde::Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}
