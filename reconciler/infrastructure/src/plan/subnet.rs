//! The node subnets and the IPv6 reservations.

use std::net::IpAddr;

use fabric_openstack_types::{
    Given, Owned,
    ids::SubnetId,
    network::{AllocationPool, IpVersion, NewSubnet, Route, Subnet, SubnetUpdate},
    observed::Observed,
};
use ipnet::IpNet;

use super::{
    items::{Change, Item},
    need,
    own::{has_range, is_adopted, lost_description, our_subnet},
};
use crate::{
    error::Error,
    observe,
    state::{Key, State},
    target::{Ipv6, NodeSubnet, Role, Target},
};

/// What happens to a subnet.
#[derive(Clone, Debug)]
pub enum SubnetStep {
    /// The user's.
    Use {
        /// What it is for.
        role: Role,
        /// The subnet.
        subnet: Given<Subnet>,
    },
    /// Ours, with what differs.
    Have {
        /// What it is for.
        role: Role,
        /// The subnet.
        subnet: Owned<Subnet>,
        /// What is put right; nothing set: it is as it should be.
        update: SubnetUpdate,
        /// It was made by somebody before us.
        adopted: bool,
        /// What differs and cannot be changed in place.
        unrepairable: Vec<Change>,
    },
    /// It has to be made, in the node network.
    Create {
        /// What it is for.
        role: Role,
        /// The subnet; its network is filled in when that is there.
        new: SubnetDraft,
    },
}

/// A subnet to create, before its network is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubnetDraft {
    /// All but the network.
    template: NewSubnet,
}

impl SubnetDraft {
    /// The subnet in this network.
    pub fn in_network(&self, network: fabric_openstack_types::ids::NetworkId) -> NewSubnet {
        NewSubnet { network_id: network, ..self.template.clone() }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.template.name
    }
}

impl SubnetStep {
    /// What it is for.
    pub fn role(&self) -> Role {
        match self {
            Self::Use { role, .. } | Self::Have { role, .. } | Self::Create { role, .. } => *role,
        }
    }

    /// The subnet, if it is there.
    pub fn subnet(&self) -> Option<&Subnet> {
        match self {
            Self::Use { subnet, .. } => Some(subnet.get()),
            Self::Have { subnet, .. } => Some(subnet.get()),
            Self::Create { .. } => None,
        }
    }

    pub(super) fn items(&self, target: &Target) -> Vec<Item> {
        let kind = self.role().noun();
        match self {
            Self::Use { role, subnet } => {
                let field = if *role == Role::Nodes { "networks.subnetId" } else { "networks.ipv6.nodeSubnetId" };
                vec![Item::given(kind, subnet.get().id.as_str(), &subnet.get().name, field)]
            }
            Self::Create { new, .. } => vec![Item::create(kind, new.name())],
            Self::Have { role, subnet, update, adopted, unrepairable } => {
                let (found, name) = (subnet.get(), target.subnet_name(*role));
                let mut items = vec![Item::owned(kind, found.id.as_str(), &name, *adopted, changes(found, update))];
                if !unrepairable.is_empty() {
                    let reason = "cannot be changed in place: delete and create the shoot anew, or change it back";
                    items.push(Item::unrepairable(kind, found.id.as_str(), &name, unrepairable.clone(), reason));
                }
                items
            }
        }
    }
}

fn changes(found: &Subnet, update: &SubnetUpdate) -> Vec<Option<Change>> {
    let list = |addresses: &[IpAddr]| addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let pools =
        |pools: &[AllocationPool]| pools.iter().map(|p| format!("{}-{}", p.start, p.end)).collect::<Vec<_>>().join(",");
    let routes = |routes: &[Route]| {
        routes.iter().map(|r| format!("{} via {}", r.destination, r.nexthop)).collect::<Vec<_>>().join(",")
    };
    let address = |address: Option<IpAddr>| address.map_or_else(|| "none".to_owned(), |address| address.to_string());
    vec![
        update.name.as_ref().map(|name| Change::of("name", &found.name, name)),
        update.description.as_ref().map(|text| Change::of("description", &found.description, text)),
        update
            .dns_nameservers
            .as_ref()
            .map(|dns| Change::of("dns_nameservers", list(&found.dns_nameservers), list(dns))),
        update.gateway_ip.map(|gateway| Change::of("gateway_ip", address(found.gateway_ip), address(gateway))),
        update.enable_dhcp.map(|dhcp| Change::of("enable_dhcp", found.enable_dhcp, dhcp)),
        update
            .allocation_pools
            .as_ref()
            .map(|wanted| Change::of("allocation_pools", pools(&found.allocation_pools), pools(wanted))),
        update.host_routes.as_ref().map(|wanted| Change::of("host_routes", routes(&found.host_routes), routes(wanted))),
    ]
}

/// The range that is kept for IPv6 pods, if its subnet is there.
pub(super) fn pods_range(steps: &[SubnetStep]) -> Option<IpNet> {
    let reservation = steps.iter().find(|step| step.role() == Role::PodsIpv6)?;
    Some(reservation.subnet()?.cidr)
}

pub(super) fn plan(target: &Target, seen: &Observed, state: &State) -> Result<Vec<SubnetStep>, Error> {
    let mut steps = Vec::new();
    if let Some(id) = target.subnet.given() {
        steps.push(given(target, seen, state, Role::Nodes, id, "networks.subnetId")?);
    }
    for role in target.own_subnets() {
        steps.push(own(target, seen, state, role)?);
    }
    if let Some(id) = target.ipv6.as_ref().and_then(Ipv6::given) {
        steps.push(given(target, seen, state, Role::NodesIpv6, id, "networks.ipv6.nodeSubnetId")?);
    }
    Ok(steps)
}

fn given(
    target: &Target,
    seen: &Observed,
    state: &State,
    role: Role,
    id: &SubnetId,
    field: &'static str,
) -> Result<SubnetStep, Error> {
    let network = observe::network_id(target, state, seen);
    let subnets = need(&seen.subnets, "the list of subnets")?;
    let found = subnets.into_iter().find(|subnet| subnet.id == *id && Some(&subnet.network_id) == network.as_ref());
    let subnet = found.ok_or_else(|| Error::MissingGiven { field, what: "subnet", id: id.to_string() })?;
    Ok(SubnetStep::Use { role, subnet: Given::new(subnet) })
}

fn own(target: &Target, seen: &Observed, state: &State, role: Role) -> Result<SubnetStep, Error> {
    let Some(subnet) = our_subnet(target, state, seen, role)? else {
        return Ok(SubnetStep::Create { role, new: SubnetDraft { template: template(target, role) } });
    };
    let found = subnet.get();
    let name = target.subnet_name(role);
    let dns = target.dns_servers(found.ip_version == IpVersion::V6);
    let gateway = default_gateway(found);
    let update = SubnetUpdate {
        name: (found.name != name).then_some(name),
        dns_nameservers: (found.dns_nameservers != dns).then_some(dns),
        gateway_ip: (found.gateway_ip != gateway).then_some(gateway),
        description: lost_description(target, found, target.marker.description()),
        enable_dhcp: (!found.enable_dhcp).then_some(true),
        allocation_pools: default_pool(&found.cidr, gateway).filter(|pools| found.allocation_pools != *pools),
        host_routes: (!found.host_routes.is_empty()).then(Vec::new),
    };
    let unrepairable = unrepairable(target, role, found);
    let adopted = is_adopted(target, state, Key::subnet(role), &subnet);
    Ok(SubnetStep::Have { role, subnet, update, adopted, unrepairable })
}

/// Neutron gives a subnet the first address of its range as gateway. An IPv6 subnet with an explicit range gets the
/// range's own address (the anycast address of its routers, RFC 4291 section 2.6.1) from recent releases, the next
/// one from older releases and when the range is from a pool: either is as it should be.
fn default_gateway(subnet: &Subnet) -> Option<IpAddr> {
    match &subnet.cidr {
        IpNet::V4(net) => net.hosts().next().map(IpAddr::V4),
        IpNet::V6(net) => {
            let anycast = Some(IpAddr::V6(net.network()));
            let first = u128::from(net.network()).checked_add(1).map(|first| IpAddr::V6(first.into()));
            if subnet.gateway_ip == anycast { anycast } else { first }
        }
    }
}

/// Neutron hands out all but the first address, the gateway's and, for IPv4, the last one. `None`: too small to tell.
fn default_pool(cidr: &IpNet, gateway: Option<IpAddr>) -> Option<Vec<AllocationPool>> {
    let (start, end) = match cidr {
        IpNet::V4(net) => {
            let (first, last) = (u32::from(net.network()).checked_add(2)?, u32::from(net.broadcast()).checked_sub(1)?);
            (first <= last).then_some((IpAddr::V4(first.into()), IpAddr::V4(last.into())))?
        }
        IpNet::V6(net) => {
            let skipped = if gateway == Some(IpAddr::V6(net.network())) { 1 } else { 2 };
            let (first, last) = (u128::from(net.network()).checked_add(skipped)?, u128::from(net.broadcast()));
            (first <= last).then_some((IpAddr::V6(first.into()), IpAddr::V6(last.into())))?
        }
    };
    Some(vec![AllocationPool { start, end }])
}

/// A subnet's range, origin and IPv6 modes are fixed when it is made.
fn unrepairable(target: &Target, role: Role, found: &Subnet) -> Vec<Change> {
    let wanted = template(target, role);
    let text = |mode: &Option<String>| mode.clone().unwrap_or_else(|| "none".to_owned());
    let mut all = Vec::new();
    if !has_range(target, role, found) {
        let should = match (&wanted.cidr, &wanted.subnetpool_id, wanted.prefixlen) {
            (Some(cidr), _, _) => cidr.to_string(),
            (None, Some(pool), Some(length)) => format!("/{length} of pool {pool}"),
            (None, Some(pool), None) => format!("of pool {pool}"),
            (None, None, _) => "unset".to_owned(),
        };
        all.push(Change::of("cidr", found.cidr, should));
    }
    if found.ipv6_address_mode != wanted.ipv6_address_mode {
        all.push(Change::of("ipv6_address_mode", text(&found.ipv6_address_mode), text(&wanted.ipv6_address_mode)));
    }
    if found.ipv6_ra_mode != wanted.ipv6_ra_mode {
        all.push(Change::of("ipv6_ra_mode", text(&found.ipv6_ra_mode), text(&wanted.ipv6_ra_mode)));
    }
    all
}

fn template(target: &Target, role: Role) -> NewSubnet {
    let ipv6 = role != Role::Nodes;
    let (cidr, pool, prefixlen) = match (role, &target.subnet, &target.ipv6) {
        (Role::Nodes, NodeSubnet::Cidr(cidr), _) => (Some(*cidr), None, None),
        (Role::Nodes, NodeSubnet::Pool { id, prefix_length }, _) => (None, Some(id.clone()), Some(*prefix_length)),
        (Role::NodesIpv6, _, Some(Ipv6::Cidrs { nodes, .. })) => (Some(IpNet::V6(*nodes)), None, None),
        (Role::PodsIpv6, _, Some(Ipv6::Cidrs { pods, .. })) => (Some(IpNet::V6(*pods)), None, None),
        (Role::ServicesIpv6, _, Some(Ipv6::Cidrs { services, .. })) => (Some(IpNet::V6(*services)), None, None),
        (_, _, Some(Ipv6::Pool(id))) => (None, Some(id.clone()), None),
        _ => (None, None, None),
    };
    // Only nodes configure themselves; the reservations exist to keep their ranges from others.
    let slaac = (role == Role::NodesIpv6).then(|| "slaac".to_owned());
    NewSubnet {
        name: target.subnet_name(role),
        description: target.marker.description(),
        network_id: fabric_openstack_types::ids::NetworkId::new(""),
        ip_version: if ipv6 { IpVersion::V6 } else { IpVersion::V4 },
        cidr,
        subnetpool_id: pool,
        prefixlen,
        dns_nameservers: target.dns_servers(ipv6),
        ipv6_address_mode: slaac.clone(),
        ipv6_ra_mode: slaac,
    }
}
