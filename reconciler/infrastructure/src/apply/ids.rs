//! Remembers what the plan found, before anything is changed.

use crate::{
    plan::{KeyPairStep, NetworkStep, Plan, RouterStep, SecurityGroupStep, ShareNetworkStep, SubnetStep},
    state::Key,
    target::{Ipv6, NodeSubnet, Role},
};

use super::Run;

pub(super) fn remember(plan: &Plan, run: &Run<'_>) {
    let mut state = run.state();
    state.set(Key::FloatingNetwork, plan.floating_pool.id.as_str());
    state.set(Key::FloatingNetworkName, plan.floating_pool.name.as_str());
    if let (RouterStep::Create { .. }, Some(pattern)) = (&plan.router, &run.target.floating_subnet) {
        state.set(Key::FloatingPoolSubnetName, pattern.as_str());
    }
    if let Some(network) = plan.network.network() {
        state.set(Key::Network, network.id.as_str());
        state.set(Key::NetworkName, network.name.as_str());
    }
    if let Some(router) = plan.router.router() {
        state.set(Key::Router, router.id.as_str());
    }
    for step in &plan.subnets {
        if let Some(subnet) = step.subnet() {
            state.set(Key::subnet(step.role()), subnet.id.as_str());
            remember_range(run, &mut state, step.role(), &subnet.cidr.to_string(), subnet.cidr);
        }
    }
    if let Some(group) = plan.security_group.group() {
        state.set(Key::SecurityGroup, group.id.as_str());
        state.set(Key::SecurityGroupName, group.name.as_str());
    }
    if let KeyPairStep::Have { key_pair, .. } = &plan.key_pair {
        state.set(Key::KeyPair, key_pair.get().name.as_str());
        state.set(Key::KeyPairFingerprint, key_pair.get().fingerprint.as_str());
    }
    if let Some(share) = plan.share_network.as_ref().and_then(ShareNetworkStep::share_network) {
        state.set(Key::ShareNetwork, share.id.as_str());
        state.set(Key::ShareNetworkName, share.name.as_str());
    }
    let given = [
        (Key::Network, matches!(plan.network, NetworkStep::Use(_))),
        (Key::Router, matches!(plan.router, RouterStep::Use(_))),
        (Key::SecurityGroup, matches!(plan.security_group, SecurityGroupStep::Use(_))),
        (Key::ShareNetwork, matches!(plan.share_network, Some(ShareNetworkStep::Use(_)))),
    ];
    let subnets = plan.subnets.iter().map(|s| (Key::subnet(s.role()), matches!(s, SubnetStep::Use { .. })));
    for (key, is_given) in given.into_iter().chain(subnets) {
        if is_given {
            state.mark_given(key);
        }
    }
    if let Some(Ipv6::Given { pods, services, .. }) = &run.target.ipv6 {
        state.set(Key::PodSubnetIpv6Cidr, pods.to_string());
        state.set(Key::ServiceSubnetIpv6Cidr, services.to_string());
    }
}

/// Remembers a subnet's range under upstream's rules: the workers' only when a pool or the user chose it, the
/// services' always as /112 of a subnet of ours (the API server takes no more).
pub(super) fn remember_range(
    run: &Run<'_>,
    state: &mut crate::state::State,
    role: Role,
    text: &str,
    range: ipnet::IpNet,
) {
    match role {
        Role::Nodes if matches!(run.target.subnet, NodeSubnet::Cidr(_)) => {}
        Role::ServicesIpv6 => state.set(Key::range(role), format!("{}/112", range.network())),
        Role::Nodes | Role::NodesIpv6 | Role::PodsIpv6 => state.set(Key::range(role), text),
    }
}
