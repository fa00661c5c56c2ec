//! What of somebody else is in the way.

use std::{collections::BTreeSet, fmt};

use fabric_openstack_types::{
    ApiError, Owned,
    ids::{NetworkId, SubnetId},
    load_balancer::LoadBalancer,
    marker::Mark,
    network::{Network, Port, Router, Subnet},
    observed::Observed,
    share::ShareNetwork,
};
use serde::Serialize;

use super::plan::{Planned, Removal, SubnetRemoval, gives, node_router};
use crate::{
    state::{Key, State},
    target::{Role, Target},
};

/// Neutron's own ports: it deletes them with the network.
const AUTOMATIC: [&str; 3] = ["network:dhcp", "network:distributed", "network:floatingip_agent_gateway"];

/// A foreign port or subnet where ours is to go.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Blocker {
    /// "port", "subnet" or "route".
    pub kind: &'static str,
    /// Its name; may be empty.
    pub name: String,
    /// Its id.
    pub id: String,
    /// The kind of user (`compute:nova`), the user's id and the addresses, as far as there are any.
    pub details: Vec<String>,
}

impl Blocker {
    pub(super) fn port(port: &Port) -> Self {
        let named = |what: &str, text: &str| (!text.is_empty()).then(|| format!("{what} {text}"));
        let mut details: Vec<String> =
            [named("owner", &port.device_owner), named("device", &port.device_id)].into_iter().flatten().collect();
        details.extend(port.fixed_ips.iter().filter_map(|ip| ip.ip_address).map(|ip| ip.to_string()));
        Self { kind: "port", name: port.name.clone(), id: port.id.to_string(), details }
    }

    fn subnet(subnet: &Subnet) -> Self {
        let details = vec![subnet.cidr.to_string()];
        Self { kind: "subnet", name: subnet.name.clone(), id: subnet.id.to_string(), details }
    }

    pub(super) fn route(route: &fabric_openstack_types::network::Route) -> Self {
        let id = format!("{} via {}", route.destination, route.nexthop);
        Self { kind: "route", name: String::new(), id, details: Vec::new() }
    }
}

impl fmt::Display for Blocker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind)?;
        if !self.name.is_empty() {
            write!(f, " {}", self.name)?;
        }
        write!(f, " {}", self.id)?;
        if !self.details.is_empty() {
            write!(f, " ({})", self.details.join(", "))?;
        }
        Ok(())
    }
}

/// Tells this shoot's ports from others'.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ours {
    /// Servers and load balancers of this shoot, as `device_id` names them.
    devices: BTreeSet<String>,
    /// Addresses of this shoot's load balancers.
    vips: BTreeSet<String>,
    /// The node router and the subnets that its interfaces leave.
    router: Option<String>,
    leaves: BTreeSet<SubnetId>,
    /// The share network goes, and Manila's ports with it.
    shares: bool,
    /// Why a server's port may be ours without being known.
    servers_unknown: Option<ApiError>,
}

impl Ours {
    pub(super) fn of(
        target: &Target,
        seen: &Observed,
        router: &Planned<Removal<Router>>,
        subnets: &[SubnetRemoval],
        balancers: &Planned<Vec<Owned<LoadBalancer>>>,
        share: &Planned<Removal<ShareNetwork>>,
    ) -> Self {
        let prefix = format!("{}-", target.name());
        let servers = Observed::ok(&seen.servers).into_iter().flatten();
        let servers = servers.filter(|it| it.name.starts_with(&prefix)).map(|it| it.id.to_string());
        let balancers: Vec<&LoadBalancer> = balancers.iter().flatten().map(Owned::get).collect();
        let left = subnets.iter().filter_map(|it| it.interface.as_ref().ok()?.as_ref());
        Self {
            devices: servers.chain(balancers.iter().map(|it| format!("lb-{}", it.id))).collect(),
            vips: balancers.iter().filter_map(|it| it.vip_port_id.as_ref()).map(ToString::to_string).collect(),
            router: node_router(target, router).ok().flatten().map(|id| id.to_string()),
            leaves: left.map(|it| it.get().subnet.clone()).collect(),
            shares: share.as_ref().is_ok_and(|it| it.owned().is_some()),
            servers_unknown: seen.servers.as_ref().and_then(|listed| listed.as_ref().err()).cloned(),
        }
    }

    /// Whether a port is somebody else's, so that waiting for it is in vain.
    fn is_foreign(&self, port: &Port) -> bool {
        let owner = port.device_owner.as_str();
        let of_router = owner.starts_with("network:") && Some(&port.device_id) == self.router.as_ref();
        let ours = AUTOMATIC.contains(&owner)
            || self.devices.contains(&port.device_id)
            || self.vips.contains(port.id.as_str())
            // Interfaces, and what a distributed router has beside them.
            || of_router && port.fixed_ips.iter().any(|ip| self.leaves.contains(&ip.subnet_id))
            // Octavia's own servers go with the load balancer; a stranger's shows by its address too.
            || !self.vips.is_empty() && port.name.starts_with("octavia-lb-vrrp-")
            || self.shares && owner.starts_with("manila:");
        !ours
    }

    /// Names the foreign ones.
    ///
    /// # Errors
    /// It cannot be told, since the servers could not be listed.
    pub(super) fn foreign(&self, ports: &[Port]) -> Result<Vec<Blocker>, ApiError> {
        let foreign: Vec<Blocker> = ports.iter().filter(|port| self.is_foreign(port)).map(Blocker::port).collect();
        match &self.servers_unknown {
            Some(error) if !foreign.is_empty() => Err(error.clone()),
            Some(_) | None => Ok(foreign),
        }
    }
}

/// Ports of others on what goes: anywhere in our network, or on our subnets in a given one.
pub(super) fn foreign_ports(
    seen: &Observed,
    ours: &Ours,
    network: &Planned<Removal<Network>>,
    subnets: &[SubnetRemoval],
) -> Vec<Blocker> {
    let network = network.as_ref().ok().and_then(Removal::owned).map(|it| &it.get().id);
    let going: Vec<&Subnet> =
        subnets.iter().filter_map(|it| it.subnet.as_ref().ok()?.owned()).map(Owned::get).collect();
    let ports = Observed::ok(&seen.network_ports).into_iter().flatten();
    let holding =
        ports.filter(|port| Some(&port.network_id) == network || going.iter().any(|subnet| holds(port, subnet)));
    ours.foreign(&holding.cloned().collect::<Vec<_>>()).unwrap_or_default()
}

/// Whether the port keeps the subnet. Addresses that ports made themselves on an IPv6 subnet go with it, except a
/// router's.
pub(super) fn holds(port: &Port, subnet: &Subnet) -> bool {
    let automatic = matches!(subnet.ipv6_address_mode.as_deref(), Some("slaac" | "dhcpv6-stateless"));
    port.is_on(&subnet.id) && (!automatic || port.is_router_interface())
}

/// Those that the observation saw.
pub(super) fn known_foreign_subnets(
    target: &Target,
    seen: &Observed,
    state: &State,
    network: &Planned<Removal<Network>>,
) -> Vec<Blocker> {
    let network = network.as_ref().ok().and_then(Removal::owned);
    let subnets = Observed::ok(&seen.subnets).map(Vec::as_slice).unwrap_or_default();
    network.map(|network| foreign_subnets(target, state, &network.get().id, subnets)).unwrap_or_default()
}

/// Subnets that others put into our network: the cloud would delete them along with it.
pub(super) fn foreign_subnets(target: &Target, state: &State, network: &NetworkId, subnets: &[Subnet]) -> Vec<Blocker> {
    let inside = subnets.iter().filter(|subnet| subnet.network_id == *network);
    inside.filter(|subnet| !is_our_subnet(target, state, subnet)).map(Blocker::subnet).collect()
}

fn is_our_subnet(target: &Target, state: &State, subnet: &Subnet) -> bool {
    if gives(target, subnet.id.as_str()) {
        return false;
    }
    match target.marker.judge(&subnet.description, &subnet.tags) {
        Mark::Ours | Mark::OtherUid => true,
        Mark::Foreign => false,
        Mark::None => Role::ALL.into_iter().any(|role| {
            let known = state.get(Key::subnet(role)) == Some(subnet.id.as_str()) && !state.is_given(Key::subnet(role));
            known || subnet.name == target.subnet_name(role)
        }),
    }
}
