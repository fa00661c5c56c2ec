//! A deletion as people read it, in the order in which things go.

use fabric_openstack_types::Owned;

use super::{
    blockers::Blocker,
    doubles::Doubles,
    plan::{DeletePlan, Removal, SubnetRemoval},
};
use crate::{
    find::Identified,
    plan::{Item, Verb, interface_task},
    target::{Role, Target},
};

impl DeletePlan {
    /// Every thing that goes ([`Verb::Delete`]), every given one that stays ([`Verb::Use`]), and what of others is in the
    /// way ([`Verb::Report`]). What could not be looked up is in [`DeletePlan::problems`].
    pub fn items(&self, target: &Target) -> Vec<Item> {
        let mut items = Vec::new();
        for balancer in self.load_balancers.iter().flatten().map(Owned::get) {
            let id = Some(balancer.id.as_str());
            items.push(gone("load balancer", &balancer.name, id, "this shoot's by its full name"));
        }
        for removal in self.routes.iter().flatten() {
            for route in removal.routes.iter().map(Owned::get) {
                let name = format!("{} via {}", route.destination, route.nexthop);
                let reason = format!("this shoot's pods and node, on router {}", removal.router);
                items.push(gone("route", &name, None, &reason));
            }
        }
        items.extend(
            self.share_network.iter().filter_map(|it| item("share network", it, "networks.shareNetworkId", OURS)),
        );
        items.extend(self.subnets.iter().filter_map(|it| interface(it, target)));
        items.extend(self.subnets.iter().filter_map(|it| self.subnet(it)));
        items.extend(self.network.iter().filter_map(|it| item("network", it, "networks.id", OURS)));
        items.extend(self.router.iter().filter_map(|it| item("router", it, "networks.router.id", OURS)));
        let group = self.security_group.iter();
        items.extend(group.filter_map(|it| item("security group", it, "networks.securityGroupId", OURS)));
        for pair in self.key_pair.iter().flatten().map(Owned::get) {
            items.push(gone("key pair", &pair.name, Some(&pair.name), OURS));
        }
        let Doubles { share_networks, networks, routers, security_groups } = &self.doubles;
        items.extend(share_networks.iter().map(|it| double("share network", it)));
        items.extend(networks.iter().map(|it| double("network", it)));
        items.extend(routers.iter().map(|it| double("router", it)));
        items.extend(security_groups.iter().map(|it| double("security group", it)));
        items.extend(self.blockers.iter().map(in_the_way));
        items
    }

    fn subnet(&self, removal: &SubnetRemoval) -> Option<Item> {
        let field = if removal.role == Role::Nodes { "networks.subnetId" } else { "networks.ipv6.nodeSubnetId" };
        let with_network = self.network.as_ref().is_ok_and(|network| network.owned().is_some());
        let reason = if with_network { "ours, goes with its network" } else { OURS };
        item(removal.role.noun(), removal.subnet.as_ref().ok()?, field, reason)
    }
}

const OURS: &str = "ours";

fn gone(kind: &str, name: &str, id: Option<&str>, reason: &str) -> Item {
    Item::new(Verb::Delete, kind, name, id, reason)
}

fn double<T: Identified>(kind: &str, double: &Owned<T>) -> Item {
    gone(kind, double.get().name(), Some(double.get().id()), "ours by its mark, made twice and used by nothing of ours")
}

fn item<T: Identified>(kind: &str, removal: &Removal<T>, field: &str, reason: &str) -> Option<Item> {
    match removal {
        Removal::Absent => None,
        Removal::Remove(owned) => Some(gone(kind, owned.get().name(), Some(owned.get().id()), reason)),
        Removal::Stays(given) => {
            let (name, id) = (given.get().name(), given.get().id());
            Some(Item::new(Verb::Use, kind, name, Some(id), format!("given in {field}: stays")))
        }
    }
}

fn interface(removal: &SubnetRemoval, target: &Target) -> Option<Item> {
    let interface = removal.interface.as_ref().ok()?.as_ref()?.get();
    let name = target.subnet_name(removal.role);
    let reason = format!("belongs to our subnet, on router {}", interface.router);
    Some(gone(interface_task(removal.role), &name, None, &reason))
}

fn in_the_way(blocker: &Blocker) -> Item {
    let mut reason = "not this shoot's, and in the way: it is never touched".to_owned();
    if !blocker.details.is_empty() {
        reason.push_str(&format!(" ({})", blocker.details.join(", ")));
    }
    Item::new(Verb::Report, blocker.kind, &blocker.name, Some(&blocker.id), reason)
}
