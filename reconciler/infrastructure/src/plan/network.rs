//! The node network.

use fabric_openstack_types::{
    Given, Owned,
    network::{Network, NetworkUpdate, NewNetwork},
    observed::Observed,
};

use super::{
    items::{Change, Item},
    need,
    own::{is_adopted, lost_description, our_network},
};
use crate::{
    error::Error,
    state::{Key, State},
    target::{Source, Target},
};

/// What happens to the node network.
#[derive(Clone, Debug)]
pub enum NetworkStep {
    /// The user's.
    Use(Given<Network>),
    /// Ours, with what differs.
    Have {
        /// The network.
        network: Owned<Network>,
        /// What is put right; nothing set: it is as it should be.
        update: NetworkUpdate,
        /// It was made by somebody before us.
        adopted: bool,
    },
    /// It has to be made.
    Create(NewNetwork),
}

impl NetworkStep {
    /// The network, if it is there.
    pub fn network(&self) -> Option<&Network> {
        match self {
            Self::Use(given) => Some(given.get()),
            Self::Have { network, .. } => Some(network.get()),
            Self::Create(_) => None,
        }
    }

    pub(super) fn item(&self, target: &Target) -> Item {
        match self {
            Self::Use(given) => Item::given("network", given.get().id.as_str(), &given.get().name, "networks.id"),
            Self::Create(new) => Item::create("network", &new.name),
            Self::Have { network, update, adopted } => {
                let found = network.get();
                let changes = vec![
                    update.name.as_ref().map(|name| Change::of("name", &found.name, name)),
                    update.description.as_ref().map(|text| Change::of("description", &found.description, text)),
                    update.port_security_enabled.map(|on| Change::of("port_security_enabled", false, on)),
                    update.admin_state_up.map(|up| Change::of("admin_state_up", found.admin_state_up, up)),
                ];
                Item::owned("network", found.id.as_str(), target.name(), *adopted, changes)
            }
        }
    }
}

pub(super) fn plan(target: &Target, seen: &Observed, state: &State) -> Result<NetworkStep, Error> {
    if let Source::Given(id) = &target.network {
        let networks = need(&seen.networks, "the list of networks")?;
        let given = networks.into_iter().find(|network| network.id == *id);
        return given.map(|network| NetworkStep::Use(Given::new(network))).ok_or_else(|| Error::MissingGiven {
            field: "networks.id",
            what: "network",
            id: id.to_string(),
        });
    }
    let Some(network) = our_network(target, state, seen)? else {
        return Ok(NetworkStep::Create(NewNetwork {
            name: target.name().to_owned(),
            description: target.marker.description(),
            admin_state_up: true,
        }));
    };
    let found = network.get();
    let update = NetworkUpdate {
        name: (found.name != target.name()).then(|| target.name().to_owned()),
        description: lost_description(target, found, target.marker.description()),
        admin_state_up: (!found.admin_state_up).then_some(true),
        port_security_enabled: (found.port_security_enabled == Some(false)).then_some(true),
    };
    let adopted = is_adopted(target, state, Key::Network, &network);
    Ok(NetworkStep::Have { network, update, adopted })
}
