//! What is drawn: one observation, arranged from the outside in.

use std::net::IpAddr;

use fabric_infrastructure::{
    Key, State, Target,
    plan::own,
    target::{NodeSubnet, Role, ShareNetwork},
};
use fabric_openstack_types::{
    Owned,
    network::{Network, Port, Router, Subnet},
    observed::{Observed, Queried},
};
use serde::Serialize;

/// Whose a thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Owner {
    /// The user's.
    Given,
    /// Ours.
    Owned,
    /// Ours, but not there yet.
    Planned,
    /// Named by the user, but not there.
    Missing,
    /// Somebody else's.
    Other,
}

impl Owner {
    pub(crate) const ALL: [Self; 5] = [Self::Given, Self::Owned, Self::Planned, Self::Missing, Self::Other];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Owned => "owned",
            Self::Planned => "planned",
            Self::Missing => "missing",
            Self::Other => "of others",
        }
    }
}

/// A named thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Thing {
    pub(crate) name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) id: String,
    pub(crate) owner: Owner,
}

/// The router.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RouterNode {
    #[serde(flatten)]
    pub(crate) thing: Thing,
    #[serde(rename = "externalIPs")]
    pub(crate) external_ips: Vec<IpAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) snat: Option<bool>,
}

/// The router's port on a subnet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Interface {
    pub(crate) ip: String,
    pub(crate) status: String,
    pub(crate) owner: Owner,
}

/// A port that is no router interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct PortNode {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) ip: String,
}

/// A subnet of the node network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct SubnetNode {
    #[serde(flatten)]
    pub(crate) thing: Thing,
    /// What it is for; empty for one that is none of this shoot's.
    pub(crate) role: &'static str,
    pub(crate) cidr: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) interface: Option<Interface>,
    pub(crate) ports: Vec<PortNode>,
}

/// The drawing's content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Topology {
    #[serde(skip)]
    pub(crate) title: String,
    pub(crate) external_network: Thing,
    pub(crate) router: RouterNode,
    pub(crate) network: Thing,
    pub(crate) subnets: Vec<SubnetNode>,
    pub(crate) security_group: Thing,
    pub(crate) security_group_rules: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) share_network: Option<Thing>,
    pub(crate) key_pair: Thing,
}

/// Arranges what was observed for a deletion, which also saw the ports.
pub(crate) fn of(title: &str, target: &Target, state: &State, seen: &Observed) -> Topology {
    let router = find(
        &seen.routers,
        target.router.given().map(|id| id.as_str()),
        |it: &Router| it.id.as_str(),
        || own::our_router(target, state, seen),
    );
    let network = find(
        &seen.networks,
        target.network.given().map(|id| id.as_str()),
        |it: &Network| it.id.as_str(),
        || own::our_network(target, state, seen),
    );
    let group = find(
        &seen.security_groups,
        target.security_group.given().map(|id| id.as_str()),
        |it| it.id.as_str(),
        || own::our_security_group(target, state, seen),
    );
    let external = Observed::ok(&seen.external_networks).into_iter().flatten();
    let external = external.into_iter().find(|it| it.name == target.floating_pool);
    let external_network = Thing {
        name: target.floating_pool.clone(),
        id: external.map(|it| it.id.to_string()).unwrap_or_default(),
        owner: if external.is_some() { Owner::Other } else { Owner::Missing },
    };
    let gateway = router.found.as_ref().and_then(|it| it.external_gateway_info.as_ref());
    let router = RouterNode {
        external_ips: router.found.as_ref().map(Router::external_ips).unwrap_or_default(),
        snat: gateway.and_then(|gateway| gateway.enable_snat),
        thing: router.thing(target.name(), |it| (&it.name, it.id.as_str())),
    };
    let rules = group.found.as_ref().map_or(0, |group| group.rules.len());
    Topology {
        title: title.to_owned(),
        external_network,
        subnets: subnets(target, state, seen, &router.thing),
        router,
        network: network.thing(target.name(), |it| (&it.name, it.id.as_str())),
        security_group: group.thing(target.name(), |it| (&it.name, it.id.as_str())),
        security_group_rules: rules,
        share_network: share_network(target, state, seen),
        key_pair: key_pair(target, seen),
    }
}

/// A resource that the shoot needs: found or not, given or ours.
struct Lookup<T> {
    found: Option<T>,
    given: Option<String>,
}

fn find<T: Clone, E>(
    seen: &Option<Queried<Vec<T>>>,
    given: Option<&str>,
    id: impl Fn(&T) -> &str,
    ours: impl FnOnce() -> Result<Option<Owned<T>>, E>,
) -> Lookup<T> {
    let found = match given {
        Some(wanted) => Observed::ok(seen).into_iter().flatten().find(|it| id(it) == wanted).cloned(),
        // Two that could be ours: the plan tells so; a drawing shows none.
        None => ours().ok().flatten().map(|owned| owned.get().clone()),
    };
    Lookup { found, given: given.map(str::to_owned) }
}

impl<T> Lookup<T> {
    fn owner(&self) -> Owner {
        match (&self.found, &self.given) {
            (Some(_), Some(_)) => Owner::Given,
            (Some(_), None) => Owner::Owned,
            (None, Some(_)) => Owner::Missing,
            (None, None) => Owner::Planned,
        }
    }

    fn thing(&self, name: &str, about: impl Fn(&T) -> (&str, &str)) -> Thing {
        let (name, id) = match (&self.found, &self.given) {
            (Some(found), _) => about(found),
            (None, Some(given)) => ("", given.as_str()),
            (None, None) => (name, ""),
        };
        Thing { name: name.to_owned(), id: id.to_owned(), owner: self.owner() }
    }
}

/// This shoot's subnets first, in the order of the status, then those of others in the same network.
fn subnets(target: &Target, state: &State, seen: &Observed, router: &Thing) -> Vec<SubnetNode> {
    let ipv6 = target.ipv6.as_ref().and_then(|ipv6| ipv6.given());
    let mut nodes = Vec::new();
    let mut known: Vec<String> = Vec::new();
    let own = target.own_subnets();
    for role in Role::ALL {
        let given = match role {
            Role::Nodes => target.subnet.given(),
            Role::NodesIpv6 => ipv6,
            Role::PodsIpv6 | Role::ServicesIpv6 => None,
        };
        if given.is_none() && !own.contains(&role) {
            continue;
        }
        let lookup = find(
            &seen.subnets,
            given.map(|id| id.as_str()),
            |it: &Subnet| it.id.as_str(),
            || own::our_subnet(target, state, seen, role),
        );
        let thing = lookup.thing(&target.subnet_name(role), |it| (&it.name, it.id.as_str()));
        known.push(thing.id.clone());
        let cidr = lookup.found.as_ref().map(|it| it.cidr.to_string());
        let planned = match &target.subnet {
            NodeSubnet::Cidr(cidr) if role == Role::Nodes => Some(cidr.to_string()),
            _ => None,
        };
        let cidr =
            cidr.or(planned).or_else(|| state.get(Key::WorkersCidr).filter(|_| role == Role::Nodes).map(str::to_owned));
        let found = lookup.found.as_ref();
        nodes.push(SubnetNode {
            role: role_word(role),
            cidr: cidr.unwrap_or_default(),
            interface: found.and_then(|it| interface(it, thing.owner, router, seen)),
            ports: found.map(|it| ports(it, seen)).unwrap_or_default(),
            thing,
        });
    }
    let others = Observed::ok(&seen.subnets).into_iter().flatten();
    let network = target.network.given().map(|id| id.as_str()).or_else(|| state.get(Key::Network));
    for other in
        others.filter(|it| Some(it.network_id.as_str()) == network && !known.iter().any(|id| id == it.id.as_str()))
    {
        nodes.push(SubnetNode {
            role: "",
            cidr: other.cidr.to_string(),
            interface: interface(other, Owner::Other, router, seen),
            ports: ports(other, seen),
            thing: Thing { name: other.name.clone(), id: other.id.to_string(), owner: Owner::Other },
        });
    }
    nodes
}

fn role_word(role: Role) -> &'static str {
    match role {
        Role::Nodes => "nodes",
        Role::NodesIpv6 => "nodes (IPv6)",
        Role::PodsIpv6 => "pods (IPv6)",
        Role::ServicesIpv6 => "services (IPv6)",
    }
}

fn all_ports(seen: &Observed) -> impl Iterator<Item = &Port> {
    Observed::ok(&seen.network_ports).into_iter().flatten()
}

/// The node router's interface; it belongs to whoever owns the subnet.
fn interface(subnet: &Subnet, owner: Owner, router: &Thing, seen: &Observed) -> Option<Interface> {
    let here = all_ports(seen).chain(Observed::ok(&seen.router_ports).into_iter().flatten());
    let port = here
        .into_iter()
        .find(|port| port.is_router_interface() && port.device_id == router.id && port.is_on(&subnet.id))?;
    Some(Interface { ip: address(port, subnet), status: port.status.clone(), owner })
}

fn ports(subnet: &Subnet, seen: &Observed) -> Vec<PortNode> {
    let here = all_ports(seen).filter(|port| port.is_on(&subnet.id) && !port.is_router_interface());
    let server = |port: &Port| {
        let servers = Observed::ok(&seen.servers).into_iter().flatten();
        servers.into_iter().find(|server| server.id.as_str() == port.device_id).map(|server| server.name.clone())
    };
    let mut ports: Vec<PortNode> = here
        .map(|port| PortNode {
            name: server(port)
                .unwrap_or_else(|| if port.name.is_empty() { port.id.to_string() } else { port.name.clone() }),
            kind: if port.device_owner.is_empty() { "unbound".to_owned() } else { port.device_owner.clone() },
            ip: address(port, subnet),
        })
        .collect();
    ports.sort_by(|a, b| (&a.kind, &a.name).cmp(&(&b.kind, &b.name)));
    ports
}

fn address(port: &Port, subnet: &Subnet) -> String {
    let on = port.fixed_ips.iter().find(|ip| ip.subnet_id == subnet.id);
    on.and_then(|ip| ip.ip_address).map(|ip| ip.to_string()).unwrap_or_default()
}

fn share_network(target: &Target, state: &State, seen: &Observed) -> Option<Thing> {
    let given = match &target.share_network {
        ShareNetwork::None => return None,
        ShareNetwork::Given(id) => Some(id.as_str()),
        ShareNetwork::Own => None,
    };
    let found = find(
        &seen.share_networks,
        given,
        |it| it.id.as_str(),
        || {
            // Ours by the state; the plan also looks by name and place.
            let id = state.get(Key::ShareNetwork);
            let all = Observed::ok(&seen.share_networks).into_iter().flatten();
            let found = all.into_iter().find(|it| Some(it.id.as_str()) == id).cloned();
            Ok::<_, std::convert::Infallible>(found.map(|it| Owned::by(fabric_openstack_types::Evidence::State, it)))
        },
    );
    Some(found.thing(target.name(), |it| (&it.name, it.id.as_str())))
}

fn key_pair(target: &Target, seen: &Observed) -> Thing {
    let there = Observed::ok(&seen.key_pair).is_some_and(Option::is_some);
    Thing {
        name: target.name().to_owned(),
        id: String::new(),
        owner: if there { Owner::Owned } else { Owner::Planned },
    }
}
