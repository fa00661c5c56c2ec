//! Which of the observed resources are this shoot's.

use fabric_openstack_types::{
    Evidence, Owned,
    ids::{NetworkId, ProjectId, RouterId, SecurityGroupId, SubnetId},
    marker::Mark,
    network::{IpVersion, Network, Router, SecurityGroup, Subnet},
    observed::Observed,
};
use ipnet::IpNet;

use super::{need, project};
use crate::{
    error::Error,
    find::{Wanted, find},
    observe,
    state::{Key, State},
    target::{Ipv6, NodeSubnet, Role, ShareNetwork, Target},
};

/// What upstream's extension writes into the description of the group it makes.
pub(crate) const GROUP_DESCRIPTION: &str = "Cluster Nodes";

fn wanted<'a>(target: &'a Target, state: &'a State, key: Key, project: &'a ProjectId, name: &'a str) -> Wanted<'a> {
    // An id that is remembered as given is no evidence of ownership.
    let state_id = if state.is_given(key) { None } else { state.get(key) };
    Wanted { marker: &target.marker, project, state_id, name }
}

/// Our network, if it is there.
pub fn our_network(target: &Target, state: &State, seen: &Observed) -> Result<Option<Owned<Network>>, Error> {
    let project = project(seen)?;
    let wanted = wanted(target, state, Key::Network, &project, target.name());
    let networks = need(&seen.networks, "the list of networks")?;
    find(
        &networks,
        &wanted,
        |_| true,
        |network| !network.external && !network.shared && holds_only_ours(target, seen, network),
    )
}

/// An unmarked network with our name is ours only if nothing but our subnets lies in it.
fn holds_only_ours(target: &Target, seen: &Observed, network: &Network) -> bool {
    let Some(subnets) = Observed::ok(&seen.subnets) else { return true };
    let inside = subnets.iter().filter(|subnet| subnet.network_id == network.id);
    inside.into_iter().all(|subnet| Role::ALL.iter().any(|role| subnet.name == target.subnet_name(*role)))
}

/// Our router, if it is there.
pub fn our_router(target: &Target, state: &State, seen: &Observed) -> Result<Option<Owned<Router>>, Error> {
    let project = project(seen)?;
    let wanted = wanted(target, state, Key::Router, &project, target.name());
    let pool = Observed::ok(&seen.external_networks)
        .and_then(|networks| networks.iter().find(|network| network.name == target.floating_pool));
    let leads_out = |router: &Router| {
        let gateway = router.external_gateway_info.as_ref();
        gateway.is_some_and(|gateway| pool.is_none_or(|pool| pool.id == gateway.network_id))
    };
    find(&need(&seen.routers, "the list of routers")?, &wanted, |_| true, leads_out)
}

/// Our subnet of this role, if it is there.
pub fn our_subnet(target: &Target, state: &State, seen: &Observed, role: Role) -> Result<Option<Owned<Subnet>>, Error> {
    let Some(network) = observe::network_id(target, state, seen) else { return Ok(None) };
    let project = project(seen)?;
    let name = target.subnet_name(role);
    let wanted = wanted(target, state, Key::subnet(role), &project, &name);
    let subnets: Vec<Subnet> = need(&seen.subnets, "the list of subnets")?;
    let inside: Vec<Subnet> = subnets.into_iter().filter(|subnet| subnet.network_id == network).collect();
    let plays = |subnet: &Subnet| match role {
        Role::Nodes => subnet.ip_version == IpVersion::V4,
        // The three of them carry one marker: the name tells them apart, and the range if somebody changed the name.
        Role::NodesIpv6 | Role::PodsIpv6 | Role::ServicesIpv6 => {
            let named = Role::ALL.iter().any(|role| subnet.name == target.subnet_name(*role));
            let ranges = matches!(target.ipv6, Some(Ipv6::Cidrs { .. }));
            subnet.name == name || !named && ranges && has_range(target, role, subnet)
        }
    };
    find(&inside, &wanted, plays, |subnet| has_range(target, role, subnet))
}

/// Whether the subnet has the range, or the origin, that the specification asks for.
pub(crate) fn has_range(target: &Target, role: Role, subnet: &Subnet) -> bool {
    match (role, &target.subnet, &target.ipv6) {
        (Role::Nodes, NodeSubnet::Cidr(cidr), _) => subnet.cidr == *cidr,
        (Role::Nodes, NodeSubnet::Pool { id, prefix_length }, _) => {
            subnet.subnetpool_id.as_ref() == Some(id) && subnet.cidr.prefix_len() == *prefix_length
        }
        (Role::Nodes, NodeSubnet::Given(_), _) => false,
        (_, _, Some(Ipv6::Pool(id))) => subnet.subnetpool_id.as_ref() == Some(id),
        (_, _, Some(Ipv6::Cidrs { nodes, pods, services })) => {
            let range = match role {
                Role::PodsIpv6 => pods,
                Role::ServicesIpv6 => services,
                Role::Nodes | Role::NodesIpv6 => nodes,
            };
            subnet.cidr == IpNet::V6(*range)
        }
        (_, _, Some(Ipv6::Given { .. }) | None) => false,
    }
}

/// Our security group, if it is there.
pub fn our_security_group(
    target: &Target,
    state: &State,
    seen: &Observed,
) -> Result<Option<Owned<SecurityGroup>>, Error> {
    let project = project(seen)?;
    let wanted = wanted(target, state, Key::SecurityGroup, &project, target.name());
    let groups = need(&seen.security_groups, "the list of security groups")?;
    find(&groups, &wanted, |_| true, |group| group.description == GROUP_DESCRIPTION)
}

/// Our share network, if it is there. An unmarked one is adopted when name, network and subnet fit; a near miss is not.
pub fn our_share_network(
    target: &Target,
    state: &State,
    seen: &Observed,
) -> Result<Option<Owned<fabric_openstack_types::share::ShareNetwork>>, Error> {
    let project = project(seen)?;
    let wanted = wanted(target, state, Key::ShareNetwork, &project, target.name());
    let networks = need(&seen.share_networks, "the list of share networks")?;
    let place = node_place(target, state, seen)?;
    let fits = |share: &fabric_openstack_types::share::ShareNetwork| {
        place.as_ref().is_some_and(|(network, subnet)| share.is_on(network, subnet))
    };
    find(&networks, &wanted, |_| true, fits)
}

/// The node network and the IPv4 node subnet, if both are there.
pub(crate) fn node_place(
    target: &Target,
    state: &State,
    seen: &Observed,
) -> Result<Option<(NetworkId, SubnetId)>, Error> {
    let Some(network) = observe::network_id(target, state, seen) else { return Ok(None) };
    let subnet = match target.subnet.given() {
        Some(id) => Some(id.clone()),
        None => our_subnet(target, state, seen, Role::Nodes)?.map(|found| found.get().id.clone()),
    };
    Ok(subnet.map(|subnet| (network, subnet)))
}

/// Who owns what is immutable, and so is the id of what is given: the user's never becomes ours by editing a file, and
/// what is ours is not forgotten for another's.
pub(crate) fn immutable(target: &Target, state: &State) -> Vec<Error> {
    let share_network = match &target.share_network {
        ShareNetwork::Given(id) => Some(id.as_str()),
        ShareNetwork::Own | ShareNetwork::None => None,
    };
    let ipv6 = target.ipv6.as_ref().and_then(Ipv6::given);
    let kinds: [(Key, &'static str, Option<&str>); 6] = [
        (Key::Network, "networks.id", target.network.given().map(NetworkId::as_str)),
        (Key::Router, "networks.router", target.router.given().map(RouterId::as_str)),
        (Key::Subnet, "networks.subnetId", target.subnet.given().map(SubnetId::as_str)),
        (Key::SubnetIpv6, "networks.ipv6.nodeSubnetId", ipv6.map(SubnetId::as_str)),
        (Key::SecurityGroup, "networks.securityGroupId", target.security_group.given().map(SecurityGroupId::as_str)),
        (Key::ShareNetwork, "networks.shareNetworkId", share_network),
    ];
    kinds.into_iter().filter_map(|(key, field, now)| changed(state, key, field, now)).collect()
}

fn changed(state: &State, key: Key, field: &'static str, now: Option<&str>) -> Option<Error> {
    let before = state.get(key)?;
    let was = match (state.is_given(key), now) {
        // Upstream's state does not tell what was given: the same id is the same resource.
        (_, Some(id)) if id == before => return None,
        (false, None) => return None,
        (true, _) => format!("{before} was applied before as the user's own"),
        (false, Some(_)) => format!("{before} is in the state and would be forgotten"),
    };
    let problem = format!("field is immutable: {was}; put it back, or delete and start anew");
    Some(Error::Configuration { field, problem })
}

/// Whether a found resource was known before: by the state, or by our marker with our uid. Anything else is adopted.
pub(crate) fn is_adopted<T: crate::find::Identified>(
    target: &Target,
    state: &State,
    key: Key,
    found: &Owned<T>,
) -> bool {
    let resource = found.get();
    let known = state.get(key) == Some(resource.id()) && !state.is_given(key);
    let ours = target.marker.judge(resource.description(), resource.tags()) == Mark::Ours;
    !known && !ours && found.evidence() != Evidence::Created
}

/// The description to put back: one of ours that our tags still prove, but whose description lost our marker. What was
/// made before us carries neither and stays as it is.
pub(crate) fn lost_description<T: crate::find::Identified>(
    target: &Target,
    found: &T,
    wanted: String,
) -> Option<String> {
    let by_tags = target.marker.judge("", found.tags()) == Mark::Ours;
    let described = target.marker.judge(found.description(), &[]) == Mark::Ours;
    (by_tags && !described).then_some(wanted)
}
