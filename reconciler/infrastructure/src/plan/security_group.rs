//! The nodes' security group.

use fabric_openstack_types::{
    Given, Owned,
    network::{NewSecurityGroup, SecurityGroup},
    observed::Observed,
};

use super::{
    items::{Change, Item},
    need,
    own::{GROUP_DESCRIPTION, is_adopted, our_security_group},
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
        /// The name it gets back; the worker controller finds it by name.
        rename: Option<String>,
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
            Self::Have { group, rename, adopted } => {
                let change = rename.as_ref().map(|name| Change::of("name", &group.get().name, name));
                Item::owned(kind, group.get().id.as_str(), target.name(), *adopted, vec![change])
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
    let rename = (group.get().name != target.name()).then(|| target.name().to_owned());
    let adopted = is_adopted(target, state, Key::SecurityGroup, &group);
    Ok(SecurityGroupStep::Have { group, rename, adopted })
}
