//! The nodes' security group.

use fabric_openstack_types::{
    Given, Owned,
    network::{NewSecurityGroup, SecurityGroup, SecurityGroupUpdate},
    observed::Observed,
};

use super::{
    items::{Change, Item},
    need,
    own::{GROUP_DESCRIPTION, is_adopted, lost_description, our_security_group},
};
use crate::{
    error::Error,
    state::{Key, State},
    target::{Source, Target},
};

/// What happens to the group.
#[derive(Clone, Debug)]
pub enum SecurityGroupStep {
    /// The user's, rules and all.
    Use(Given<SecurityGroup>),
    /// Ours.
    Have {
        /// The group.
        group: Owned<SecurityGroup>,
        /// What is put right; nothing set: it is as it should be. The worker controller finds it by its name.
        update: SecurityGroupUpdate,
        /// It was made by somebody before us.
        adopted: bool,
    },
    /// It has to be made.
    Create(NewSecurityGroup),
}

impl SecurityGroupStep {
    /// The group, if it is there.
    pub fn group(&self) -> Option<&SecurityGroup> {
        match self {
            Self::Use(given) => Some(given.get()),
            Self::Have { group, .. } => Some(group.get()),
            Self::Create(_) => None,
        }
    }

    pub(super) fn item(&self, target: &Target) -> Item {
        let kind = "security group";
        match self {
            Self::Use(given) => {
                Item::given(kind, given.get().id.as_str(), &given.get().name, "networks.securityGroupId")
            }
            Self::Create(new) => Item::create(kind, &new.name),
            Self::Have { group, update, adopted } => {
                let found = group.get();
                let changes = vec![
                    update.name.as_ref().map(|name| Change::of("name", &found.name, name)),
                    update.description.as_ref().map(|text| Change::of("description", &found.description, text)),
                    update.stateful.map(|stateful| Change::of("stateful", !stateful, stateful)),
                ];
                Item::owned(kind, found.id.as_str(), target.name(), *adopted, changes)
            }
        }
    }
}

pub(super) fn plan(target: &Target, seen: &Observed, state: &State) -> Result<SecurityGroupStep, Error> {
    if let Source::Given(id) = &target.security_group {
        let groups = need(&seen.security_groups, "the list of security groups")?;
        let given = groups.into_iter().find(|group| group.id == *id);
        return given.map(|group| SecurityGroupStep::Use(Given::new(group))).ok_or_else(|| Error::MissingGiven {
            field: "networks.securityGroupId",
            what: "security group",
            id: id.to_string(),
        });
    }
    let Some(group) = our_security_group(target, state, seen)? else {
        return Ok(SecurityGroupStep::Create(NewSecurityGroup {
            name: target.name().to_owned(),
            description: target.marker.description_after(GROUP_DESCRIPTION),
        }));
    };
    let found = group.get();
    let update = SecurityGroupUpdate {
        name: (found.name != target.name()).then(|| target.name().to_owned()),
        description: lost_description(target, found, target.marker.description_after(GROUP_DESCRIPTION)),
        stateful: (found.stateful == Some(false)).then_some(true),
    };
    let adopted = is_adopted(target, state, Key::SecurityGroup, &group);
    Ok(SecurityGroupStep::Have { group, update, adopted })
}
