//! Tags that a run was cut before, or that somebody removed.

use fabric_openstack::Taggable;
use fabric_openstack_types::{Owned, marker::Mark};

use super::{
    NetworkStep, RouterStep, SecurityGroupStep, SubnetStep,
    items::{Change, Item, Verb},
};
use crate::{find::Identified, target::Target};

/// The resources of ours that lack a tag. What carries no description of ours was made before us and stays untagged.
pub(super) fn plan(
    target: &Target,
    network: &NetworkStep,
    router: &RouterStep,
    subnets: &[SubnetStep],
    group: &SecurityGroupStep,
) -> Vec<Owned<Taggable>> {
    let mut bare = Vec::new();
    if let NetworkStep::Have { network, .. } = network {
        bare.extend(untagged(target, network).map(|it| it.map(|it| Taggable::Network(it.id))));
    }
    if let RouterStep::Have { router, .. } = router {
        bare.extend(untagged(target, router).map(|it| it.map(|it| Taggable::Router(it.id))));
    }
    for step in subnets {
        if let SubnetStep::Have { subnet, .. } = step {
            bare.extend(untagged(target, subnet).map(|it| it.map(|it| Taggable::Subnet(it.id))));
        }
    }
    if let SecurityGroupStep::Have { group, .. } = group {
        bare.extend(untagged(target, group).map(|it| it.map(|it| Taggable::SecurityGroup(it.id))));
    }
    bare
}

fn untagged<T: Identified>(target: &Target, owned: &Owned<T>) -> Option<Owned<T>> {
    let resource = owned.get();
    let described = target.marker.judge(resource.description(), &[]) == Mark::Ours;
    let tagged = target.marker.tags().iter().all(|tag| resource.tags().contains(tag));
    (described && !tagged).then(|| owned.clone())
}

pub(super) fn item(target: &Target, resource: &Owned<Taggable>) -> Item {
    let (kind, id) = match resource.get() {
        Taggable::Network(id) => ("network tags", id.as_str()),
        Taggable::Subnet(id) => ("subnet tags", id.as_str()),
        Taggable::Router(id) => ("router tags", id.as_str()),
        Taggable::SecurityGroup(id) => ("security group tags", id.as_str()),
    };
    let change = Change::of("tags", "incomplete", target.marker.tags().join(","));
    let base = Item::new(Verb::Change, kind, target.name(), Some(id), "ours by its description, but a tag is missing");
    Item { changes: vec![change], ..base }
}
