//! The Manila share network.

use fabric_openstack_types::{
    Given, Owned,
    ids::{NetworkId, SubnetId},
    observed::Observed,
    share::{ShareNetwork, ShareNetworkUpdate},
};

use super::{
    items::{Change, Item},
    need,
    own::{is_adopted, node_place, our_share_network},
};
use crate::{
    error::Error,
    state::{Key, State},
    target::{self, Target},
};

/// What happens to the share network.
#[derive(Clone, Debug)]
pub enum ShareNetworkStep {
    /// The user's.
    Use(Given<ShareNetwork>),
    /// Ours, made or adopted.
    Have {
        /// The share network.
        share_network: Owned<ShareNetwork>,
        /// What is put right; nothing set: it is as it should be.
        update: ShareNetworkUpdate,
        /// Found by name, network and subnet; ours from now on.
        adopted: bool,
        /// It lies elsewhere, which cannot be changed in place.
        unrepairable: Option<Change>,
    },
    /// It has to be made on the node subnet.
    Create,
}

impl ShareNetworkStep {
    /// The share network, if it is there.
    pub fn share_network(&self) -> Option<&ShareNetwork> {
        match self {
            Self::Use(given) => Some(given.get()),
            Self::Have { share_network, .. } => Some(share_network.get()),
            Self::Create => None,
        }
    }

    pub(super) fn item(&self, target: &Target) -> Item {
        let kind = "share network";
        match self {
            Self::Use(given) => {
                Item::given(kind, given.get().id.as_str(), &given.get().name, "networks.shareNetworkId")
            }
            Self::Create => Item::create(kind, target.name()),
            Self::Have { share_network, update, adopted, unrepairable: None } => {
                let found = share_network.get();
                let changes = vec![update.name.as_ref().map(|name| Change::of("name", &found.name, name))];
                Item::owned(kind, found.id.as_str(), target.name(), *adopted, changes)
            }
            Self::Have { share_network, unrepairable: Some(change), .. } => {
                let reason = "lies on another network or subnet, which cannot be changed in place";
                let id = share_network.get().id.as_str();
                Item::unrepairable(kind, id, target.name(), vec![change.clone()], reason)
            }
        }
    }
}

pub(super) fn plan(target: &Target, seen: &Observed, state: &State) -> Result<Option<ShareNetworkStep>, Error> {
    match &target.share_network {
        target::ShareNetwork::None => Ok(None),
        target::ShareNetwork::Given(id) => {
            let networks = need(&seen.share_networks, "the list of share networks")?;
            let given = networks.into_iter().find(|share| share.id == *id);
            let missing =
                || Error::MissingGiven { field: "networks.shareNetworkId", what: "share network", id: id.to_string() };
            given.map(|share| Some(ShareNetworkStep::Use(Given::new(share)))).ok_or_else(missing)
        }
        target::ShareNetwork::Own => own(target, seen, state).map(Some),
    }
}

fn own(target: &Target, seen: &Observed, state: &State) -> Result<ShareNetworkStep, Error> {
    let Some(share_network) = our_share_network(target, state, seen)? else { return Ok(ShareNetworkStep::Create) };
    let place = node_place(target, state, seen)?;
    let misplaced = place.filter(|(network, subnet)| !share_network.get().is_on(network, subnet));
    let unrepairable = misplaced.map(|(network, subnet)| {
        let is: Vec<String> = share_network.get().placements().into_iter().map(place_text).collect();
        Change::of("network/subnet", is.join(" "), format!("{network}/{subnet}"))
    });
    let adopted = is_adopted(target, state, Key::ShareNetwork, &share_network);
    let update =
        ShareNetworkUpdate { name: (share_network.get().name != target.name()).then(|| target.name().to_owned()) };
    Ok(ShareNetworkStep::Have { share_network, update, adopted, unrepairable })
}

fn place_text((network, subnet): (Option<&NetworkId>, Option<&SubnetId>)) -> String {
    let network = network.map_or("none", NetworkId::as_str);
    let subnet = subnet.map_or("none", SubnetId::as_str);
    format!("{network}/{subnet}")
}
