//! What Gardener and its other controllers read: providerStatus, networking, egressCIDRs (contract §1.2, §3.6).

use std::net::IpAddr;

use fabric_apis::openstack::v1alpha1 as api;

use crate::{
    apply::Applied,
    state::{Key, State},
    target::{Ipv6, NodeSubnet, Role, Target},
};

/// `status.networking`: lists of ranges, IPv4 first.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Networking {
    /// Node ranges.
    pub nodes: Vec<String>,
    /// Pod ranges.
    pub pods: Vec<String>,
    /// Service ranges.
    pub services: Vec<String>,
}

/// `status.egressCIDRs`: the router's external addresses as host ranges.
pub fn egress_cidrs(router_ips: &[IpAddr]) -> Vec<String> {
    router_ips.iter().map(|ip| format!("{ip}/{}", if ip.is_ipv4() { 32 } else { 128 })).collect()
}

/// `status.networking`. A range that is there already is not told twice.
pub fn networking(target: &Target, state: &State) -> Networking {
    let text = |net: &Option<ipnet::IpNet>| net.map(|net| net.to_string());
    let kept = |key: Key| state.get(key).map(str::to_owned);
    let dual = |key: Key| if target.is_dual_stack() { kept(key) } else { None };
    let list = |parts: Vec<Option<String>>| {
        let mut all: Vec<String> = Vec::new();
        for part in parts.into_iter().flatten() {
            if !all.contains(&part) {
                all.push(part);
            }
        }
        all
    };
    Networking {
        nodes: list(vec![text(&target.nodes), kept(Key::WorkersCidr), dual(Key::NodeSubnetIpv6Cidr)]),
        pods: list(vec![text(&target.pods), dual(Key::PodSubnetIpv6Cidr)]),
        services: list(vec![text(&target.services), dual(Key::ServiceSubnetIpv6Cidr)]),
    }
}

/// `status.providerStatus`: exactly upstream's keys and order, since its other controllers decode it strictly.
pub fn provider_status(target: &Target, applied: &Applied) -> api::InfrastructureStatus {
    let state = &applied.state;
    let text = |key: Key| state.get(key).unwrap_or_default().to_owned();
    let ips: Vec<String> = applied.router_ips.iter().map(ToString::to_string).collect();
    let mut status = api::InfrastructureStatus::default();
    status.networks.id = text(Key::Network);
    status.networks.name = text(Key::NetworkName);
    status.networks.floating_pool.id = text(Key::FloatingNetwork);
    status.networks.floating_pool.name = text(Key::FloatingNetworkName);
    status.networks.router.id = text(Key::Router);
    status.networks.router.ip = ips.first().cloned().unwrap_or_default();
    status.networks.router.external_fixed_ips = ips;
    status.networks.subnets = subnets(target, state);
    status.networks.share_network = state
        .get(Key::ShareNetwork)
        .map(|id| api::ShareNetworkStatus { id: id.to_owned(), name: text(Key::ShareNetworkName) });
    status.node.key_name = text(Key::KeyPair);
    status.security_groups = vec![api::SecurityGroup {
        purpose: api::Purpose::Nodes,
        id: text(Key::SecurityGroup),
        name: text(Key::SecurityGroupName),
    }];
    status
}

/// In upstream's order; only the IPv4 one tells its range.
fn subnets(target: &Target, state: &State) -> Vec<api::Subnet> {
    let purposes = [
        (Role::Nodes, api::Purpose::Nodes),
        (Role::NodesIpv6, api::Purpose::NodesIpv6),
        (Role::PodsIpv6, api::Purpose::Pods),
        (Role::ServicesIpv6, api::Purpose::Services),
    ];
    let wanted = |role: Role| match role {
        Role::Nodes => true,
        Role::NodesIpv6 => target.is_dual_stack(),
        Role::PodsIpv6 | Role::ServicesIpv6 => !matches!(target.ipv6, None | Some(Ipv6::Given { .. })),
    };
    let known = purposes.into_iter().filter(|(role, _)| wanted(*role));
    known
        .filter_map(|(role, purpose)| {
            let id = state.get(Key::subnet(role))?.to_owned();
            let cidr = if role == Role::Nodes { workers_cidr(target, state) } else { String::new() };
            Some(api::Subnet { purpose, id, cidr })
        })
        .collect()
}

fn workers_cidr(target: &Target, state: &State) -> String {
    match (&target.subnet, state.get(Key::WorkersCidr)) {
        (_, Some(known)) => known.to_owned(),
        (NodeSubnet::Cidr(cidr), None) => cidr.to_string(),
        (NodeSubnet::Given(_) | NodeSubnet::Pool { .. }, None) => String::new(),
    }
}
