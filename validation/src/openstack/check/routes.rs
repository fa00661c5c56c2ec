//! Static routes on a given router that lead our pods' addresses elsewhere.
//!
//! Without an overlay the cloud controller keeps one route a node: a part of the pod range, through the node's address.
//! Another cluster does the same on the same router; where the pod ranges overlap, one gets the other's packets.

use fabric_apis::openstack::v1alpha1::InfrastructureConfig;
use fabric_openstack_types::{
    network::{Route, Router},
    observed::Observed,
};
use ipnet::IpNet;

use super::{present, same_id};

/// The routes that overlap a pod range and are not this shoot's: an own one leads a part of the pod range into a node
/// subnet. A default route overlaps everything by its nature and doesn't count.
pub(super) fn foreign<'a>(router: &'a Router, pods: &[IpNet], nodes: &[IpNet]) -> Vec<&'a Route> {
    let overlaps = |route: &&Route| {
        let to = &route.destination;
        to.prefix_len() > 0 && pods.iter().any(|pods| pods.contains(to) || to.contains(pods))
    };
    let ours = |route: &&Route| {
        nodes.iter().any(|nodes| nodes.contains(&route.nexthop))
            && pods.iter().any(|pods| pods.contains(&route.destination))
    };
    router.routes.iter().filter(overlaps).filter(|route| !ours(route)).collect()
}

/// The ranges of the node subnets, both families: of the given subnets, from the config, or of our own subnets if they
/// stand already. `None`: they exist, but we can't know them.
pub(super) fn node_ranges(
    config: &InfrastructureConfig,
    technical_id: &str,
    observed: &Observed,
) -> Option<Vec<IpNet>> {
    let networks = &config.networks;
    let subnets = Observed::ok(&observed.subnets);
    let by_id = |id: &str| Some(subnets?.iter().find(|subnet| same_id(subnet.id.as_str(), id))?.cidr);
    let by_name = |name: &str| -> Option<Vec<IpNet>> {
        Some(subnets?.iter().filter(|subnet| subnet.name == name).map(|subnet| subnet.cidr).collect())
    };

    let mut ranges = match present(networks.subnet_id.as_deref()) {
        Some(id) => vec![by_id(id)?],
        None => match networks.workers_cidr().parse() {
            Ok(range) => vec![range],
            Err(_) => by_name(technical_id)?,
        },
    };
    if let Some(ipv6) = &networks.ipv6 {
        match present(ipv6.node_subnet_id.as_deref()) {
            Some(id) => ranges.push(by_id(id)?),
            None => match ipv6.node_cidr.parse() {
                Ok(range) => ranges.push(range),
                Err(_) => ranges.extend(by_name(&format!("{technical_id}-ipv6"))?),
            },
        }
    }
    Some(ranges)
}
