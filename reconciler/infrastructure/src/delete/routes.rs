//! Which routes of the node router are this shoot's (decision D7).

use std::collections::BTreeSet;

use fabric_openstack_types::{
    Evidence, Owned,
    ids::{RouterId, SubnetId},
    network::{Port, Route, Router, Subnet},
    observed::Observed,
};
use ipnet::IpNet;

use super::plan::{Planned, Removal, SubnetRemoval};
use crate::{
    plan::need,
    state::{Key, State},
    target::{Role, Target},
};

/// Routes that go, in one atomic call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutesRemoval {
    /// The router, given or ours.
    pub router: RouterId,
    /// This shoot's routes on it.
    pub routes: Vec<Owned<Route>>,
}

/// The lists are asked for only when a route makes them matter.
pub(super) fn plan(
    target: &Target,
    seen: &Observed,
    state: &State,
    router: &Planned<Removal<Router>>,
    subnets: &[SubnetRemoval],
) -> Planned<Option<RoutesRemoval>> {
    if !target.router.is_own() {
        need(&seen.routers, "the list of routers")?;
    }
    let Some(router) = router.as_ref().map_err(Clone::clone)?.get() else { return Ok(None) };
    let pods = pod_ranges(target, state, subnets);
    let to_pods: Vec<&Route> = router.routes.iter().filter(|route| lies_in(&pods, &route.destination)).collect();
    if to_pods.is_empty() {
        return Ok(None);
    }
    let nodes = attached(seen, router, subnets)?;
    let through_nodes: Vec<&Route> =
        to_pods.into_iter().filter(|route| nodes.iter().any(|subnet| subnet.cidr.contains(&route.nexthop))).collect();
    if through_nodes.is_empty() {
        return Ok(None);
    }
    let ports = need(&seen.network_ports, "the list of the network's ports")?;
    let mut routes = Vec::new();
    for route in through_nodes {
        let holders: Vec<&Port> = ports.iter().filter(|port| holds(port, route, &nodes)).collect();
        if holders.is_empty() || all_ours(target, seen, &holders)? {
            routes.push(Owned::by(Evidence::Shape, route.clone()));
        }
    }
    Ok((!routes.is_empty()).then(|| RoutesRemoval { router: router.id.clone(), routes }))
}

fn lies_in(ranges: &[IpNet], destination: &IpNet) -> bool {
    ranges.iter().any(|range| range.contains(destination))
}

/// Configured, remembered, and what our reservation for pods got from its pool.
fn pod_ranges(target: &Target, state: &State, subnets: &[SubnetRemoval]) -> Vec<IpNet> {
    let mut ranges = target.pod_ranges();
    ranges.extend(state.get(Key::PodSubnetIpv6Cidr).and_then(|text| text.parse::<IpNet>().ok()));
    let reserved = subnets.iter().filter(|it| it.role == Role::PodsIpv6);
    ranges.extend(reserved.filter_map(|it| it.subnet.as_ref().ok()?.get()).map(|subnet| subnet.cidr));
    ranges
}

/// The node subnets that this router has an interface on. The addresses of any other could be somebody else's: one
/// range may be used in many networks, but only once on a router.
fn attached(seen: &Observed, router: &Router, subnets: &[SubnetRemoval]) -> Planned<Vec<Subnet>> {
    need(&seen.subnets, "the list of subnets")?;
    let ports = need(&seen.router_ports, "the router's ports")?;
    let on = |subnet: &Subnet| {
        let mut interfaces = ports.iter().filter(|port| port.is_router_interface());
        interfaces.any(|port| port.device_id == router.id.as_str() && port.is_on(&subnet.id))
    };
    let mut nodes = Vec::new();
    for it in subnets.iter().filter(|it| matches!(it.role, Role::Nodes | Role::NodesIpv6)) {
        let subnet = it.subnet.as_ref().map_err(Clone::clone)?.get();
        nodes.extend(subnet.filter(|subnet| on(subnet)).cloned());
    }
    Ok(nodes)
}

fn holds(port: &Port, route: &Route, nodes: &[Subnet]) -> bool {
    let here = |id: &SubnetId| nodes.iter().any(|subnet| subnet.id == *id);
    port.fixed_ips.iter().any(|ip| ip.ip_address == Some(route.nexthop) && here(&ip.subnet_id))
}

fn all_ours(target: &Target, seen: &Observed, holders: &[&Port]) -> Planned<bool> {
    let servers = need(&seen.servers, "the list of servers")?;
    let prefix = format!("{}-", target.name());
    let ours: BTreeSet<&str> =
        servers.iter().filter(|it| it.name.starts_with(&prefix)).map(|it| it.id.as_str()).collect();
    Ok(holders.iter().all(|port| ours.contains(port.device_id.as_str())))
}
