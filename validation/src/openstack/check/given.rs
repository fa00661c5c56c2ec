//! The rules, one function a given resource: is it there, does it belong together, is it fit for nodes?

use fabric_openstack_types::{
    marker::{Mark, Marker},
    network::{IpVersion, Router, SecurityGroup, Subnet},
    observed::Observed,
    share::ShareNetwork,
};

use ipnet::IpNet;

use super::{Checker, Lookup, look_up, present, quoted, routes, same_id, security_group};

const FLOATING_POOL: &str = "floatingPoolName";
const NETWORK: &str = "networks.id";
const ROUTER: &str = "networks.router";
const ROUTER_ID: &str = "networks.router.id";
const SECURITY_GROUP: &str = "networks.securityGroupId";
const WORKER: &str = "networks.worker";
const WORKERS: &str = "networks.workers";
const SHARE_NETWORK: &str = "networks.shareNetworkId";

/// One of the two subnets that a user may give for nodes.
#[derive(Clone, Copy)]
pub(super) struct NodeSubnet {
    field: &'static str,
    version: IpVersion,
}

/// `networks.subnetId`.
pub(super) const NODES: NodeSubnet = NodeSubnet { field: "networks.subnetId", version: IpVersion::V4 };

/// `networks.ipv6.nodeSubnetId`.
pub(super) const NODES_IPV6: NodeSubnet = NodeSubnet { field: "networks.ipv6.nodeSubnetId", version: IpVersion::V6 };

impl<'a> Checker<'a> {
    fn network_id(&self) -> Option<&'a str> {
        present(self.config.networks.id.as_deref())
    }

    fn subnet_id(&self, subnet: NodeSubnet) -> Option<&'a str> {
        let networks = &self.config.networks;
        present(match subnet.version {
            IpVersion::V4 => networks.subnet_id.as_deref(),
            IpVersion::V6 => networks.node_subnet_id(),
        })
    }

    /// The external network must be there; the reconcile needs exactly one of the name.
    pub(super) fn floating_pool(&mut self) {
        let Some(pool) = present(Some(&self.config.floating_pool_name)) else { return };
        match &self.observed.external_networks {
            Some(Ok(networks)) => match networks.iter().filter(|network| network.name == pool).count() {
                0 => self.not_found(FLOATING_POOL, pool),
                1 => {}
                several => {
                    let pool = quoted(pool);
                    self.warn(
                        FLOATING_POOL,
                        format!("{several} external networks are named {pool}; rename all but one, a floating pool's name must be unique"),
                    );
                }
            },
            Some(Err(error)) => self.failed(FLOATING_POOL, "external network names", error),
            None => self.not_asked(FLOATING_POOL, "external network names"),
        }
    }

    /// The given network must be there.
    pub(super) fn network(&mut self) {
        let Some(id) = self.network_id() else { return };
        let what = format!("network {}", quoted(id));
        let lookup = look_up(&self.observed.networks, id, |it| it.id.as_str());
        if let Some(None) = self.known(NETWORK, &what, lookup) {
            self.not_found(NETWORK, id);
        }
    }

    /// In a given network the range of the subnet that is to be made must be free; Neutron says so only at its creation.
    pub(super) fn workers(&mut self) {
        let networks = &self.config.networks;
        let (Some(network), None) = (self.network_id(), self.subnet_id(NODES)) else { return };
        let Ok(wanted) = networks.workers_cidr().parse::<IpNet>() else { return };
        let Some(subnets) = Observed::ok(&self.observed.subnets) else { return };
        let ours = Marker::new(self.context.technical_id, "");
        let of_others = |subnet: &&Subnet| {
            let mark = ours.judge(&subnet.description, &subnet.tags);
            subnet.name != self.context.technical_id && matches!(mark, Mark::None | Mark::Foreign)
        };
        let here = |subnet: &&Subnet| same_id(subnet.network_id.as_str(), network);
        let meets = |range: &IpNet| range.contains(&wanted) || wanted.contains(range);
        let taken = subnets.iter().filter(here).filter(of_others).find(|subnet| meets(&subnet.cidr));
        if let Some(taken) = taken {
            let (name, range) = (quoted(&taken.name), taken.cidr);
            let fix = "choose a range that is free in this network";
            let field = if networks.workers.is_empty() { WORKER } else { WORKERS };
            self.warn(field, format!("{wanted} overlaps {range} of subnet {name} in the given network; {fix}"));
        }
    }

    /// A given subnet must lie in the given network and have the family of its field.
    pub(super) fn subnet(&mut self, given: NodeSubnet) {
        // A subnet without its network is refused by a static rule.
        let (Some(id), Some(network)) = (self.subnet_id(given), self.network_id()) else { return };
        let what = format!("subnet {}", quoted(id));
        let lookup = look_up(&self.observed.subnets, id, |it| it.id.as_str());
        let Some(found) = self.known(given.field, &what, lookup) else { return };
        let Some(subnet) = found.filter(|subnet| same_id(subnet.network_id.as_str(), network)) else {
            return self.invalid(given.field, id, format!("{what} not found in network {}", quoted(network)));
        };
        if subnet.ip_version != given.version {
            let (is, must) = (u8::from(subnet.ip_version), u8::from(given.version));
            self.invalid(given.field, id, format!("{what} has IP version {is}, must have IP version {must}"));
        }
        self.fitness(given, subnet);
    }

    /// What lets nodes come up in a subnet; all of it may be intended, so it is said and not refused.
    fn fitness(&mut self, given: NodeSubnet, subnet: &Subnet) {
        let what = format!("subnet {}", quoted(subnet.id.as_str()));
        let range = subnet.cidr;
        if let Some(nodes) = self.context.nodes
            && given.version == subnet.ip_version
            && nodes.addr().is_ipv4() == range.addr().is_ipv4()
            && !nodes.contains(&range)
        {
            let fix = "let the nodes range contain it, routes and firewalls of the cluster are made for that range";
            self.warn(given.field, format!("{what} has range {range}, outside spec.networking.nodes {nodes}; {fix}"));
        }
        if !subnet.enable_dhcp {
            let fix = "enable it, or make sure that the machine image configures its addresses otherwise";
            self.warn(given.field, format!("{what} has DHCP disabled; {fix}"));
        }
        if subnet.gateway_ip.is_none() {
            let fix = "set one, nodes learn their default route from it";
            self.warn(given.field, format!("{what} has no gateway; {fix}"));
        }
        // One family's resolvers are enough, and upstream's default is to have them on IPv4.
        if given.version == IpVersion::V4 && subnet.dns_nameservers.is_empty() {
            let fix = "set some, unless the cloud's DHCP offers a resolver that knows the cloud's endpoints";
            self.warn(given.field, format!("{what} has no DNS servers; {fix}"));
        }
    }

    /// The given router must be there and lead outside.
    pub(super) fn router(&mut self) {
        let Some(id) = self.config.networks.router_id() else { return };
        let what = format!("router {}", quoted(id));
        let lookup = look_up(&self.observed.routers, id, |it| it.id.as_str());
        let Some(found) = self.known(ROUTER_ID, &what, lookup) else { return };
        let Some(router) = found else { return self.not_found(ROUTER_ID, id) };
        let pool = quoted(&self.config.floating_pool_name);
        if router.external_ips().is_empty() {
            let fix = format!("set its external gateway to the floating pool {pool}");
            self.invalid(ROUTER_ID, id, format!("{what} has no external fixed IP; {fix}"));
        }
        if let Some(other) = self.other_pool(router) {
            let fix = "name that network as the floating pool, or move the gateway; floating IPs of one don't work through the other";
            self.warn(ROUTER_ID, format!("{what} has its gateway in {other}, not in floating pool {pool}; {fix}"));
        }
        self.foreign_routes(router);
    }

    /// The external network that the router's gateway is in, when that isn't the floating pool.
    fn other_pool(&self, router: &Router) -> Option<String> {
        let gateway = &router.external_gateway_info.as_ref()?.network_id;
        let external = Observed::ok(&self.observed.external_networks)?;
        let mut pool = external.iter().filter(|network| network.name == self.config.floating_pool_name).peekable();
        // A pool that doesn't exist is reported as that.
        pool.peek()?;
        if pool.any(|network| &network.id == gateway) {
            return None;
        }
        let known = external.iter().find(|network| &network.id == gateway);
        Some(format!("external network {}", quoted(known.map_or(gateway.as_str(), |network| &network.name))))
    }

    fn foreign_routes(&mut self, router: &Router) {
        let Some(nodes) = routes::node_ranges(self.config, self.context.technical_id, self.observed) else { return };
        let pods = self.pods();
        let foreign = routes::foreign(router, &pods, &nodes);
        let Some(first) = foreign.first() else { return };
        let more = match foreign.len() {
            1 => String::new(),
            several => format!(" and {} more", several - 1),
        };
        let pods = pods.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let (what, destination, nexthop) = (quoted(router.id.as_str()), first.destination, first.nexthop);
        let fix = "give each cluster on a router pod ranges of its own, or another router";
        self.warn(
            ROUTER_ID,
            format!("router {what} has routes of others that overlap the pod range {pods}: {destination} via {nexthop}{more}; {fix}"),
        );
    }

    /// The given router must have an interface on the given subnet.
    pub(super) fn interface(&mut self, given: NodeSubnet) {
        let (Some(router), Some(subnet)) = (self.config.networks.router_id(), self.subnet_id(given)) else { return };
        let what = format!("ports of router {}", quoted(router));
        let found = look_up(&self.observed.routers, router, |it| it.id.as_str());
        let connected = match (&self.observed.router_ports, found) {
            // A router that isn't there has no interfaces, whatever became of asking for them.
            (_, Lookup::Missing) => false,
            (Some(Ok(ports)), _) => ports.iter().any(|port| {
                port.is_router_interface()
                    && same_id(&port.device_id, router)
                    && port.fixed_ips.iter().any(|ip| same_id(ip.subnet_id.as_str(), subnet))
            }),
            (Some(Err(error)), _) => return self.failed(ROUTER, &what, error),
            // Ports are asked for once the router is found; that it could not be looked for is reported already.
            (None, Lookup::Failed(_)) => return,
            (None, _) => return self.not_asked(ROUTER, &what),
        };
        if !connected {
            let fix = "add one to the router, interfaces on a given subnet are not made for you";
            let (what, on) = (quoted(router), quoted(subnet));
            self.invalid(ROUTER, router, format!("router {what} has no interface on subnet {on}; {fix}"));
        }
    }

    /// The given security group must be there; it should let nodes work and be the only one of its name.
    pub(super) fn security_group(&mut self) {
        let Some(id) = present(self.config.networks.security_group_id.as_deref()) else { return };
        let what = format!("security group {}", quoted(id));
        let groups = &self.observed.security_groups;
        let lookup = look_up(groups, id, |it| it.id.as_str());
        let Some(found) = self.known(SECURITY_GROUP, &what, lookup) else { return };
        let Some(group) = found else { return self.not_found(SECURITY_GROUP, id) };
        self.minimum_rules(group);
        let twins = groups.iter().flatten().flatten().filter(|it| it.name == group.name && it.id != group.id).count();
        if twins > 0 {
            let name = quoted(&group.name);
            let others = if twins == 1 { "another group".to_owned() } else { format!("{twins} other groups") };
            let fix = "rename one, machines refer to their group by its name";
            self.warn(SECURITY_GROUP, format!("{what} shares its name {name} with {others}; {fix}"));
        }
    }

    fn minimum_rules(&mut self, group: &SecurityGroup) {
        let pods = if self.context.overlay_off { self.pods() } else { Vec::new() };
        let nodes = routes::node_ranges(self.config, self.context.technical_id, self.observed);
        let missing =
            security_group::missing(group, self.context.dual_stack, &pods, nodes.as_deref().unwrap_or_default());
        for rule in missing {
            // The node range might stand for the group; while it isn't known, that can't be told.
            if rule.remote_group_id.is_some() && nodes.is_none() {
                continue;
            }
            let (what, lacks) = (quoted(group.id.as_str()), security_group::describe(&rule));
            let fix = "add it, rules of a given group are not changed for you";
            self.warn(SECURITY_GROUP, format!("security group {what} lacks the rule \"{lacks}\"; {fix}"));
        }
    }

    /// The given share network must be there, on the given network.
    pub(super) fn share_network(&mut self) {
        let Some(id) = present(self.config.networks.share_network_id.as_deref()) else { return };
        let what = format!("share network {}", quoted(id));
        let lookup = look_up(&self.observed.share_networks, id, |it| it.id.as_str());
        let Some(found) = self.known(SHARE_NETWORK, &what, lookup) else { return };
        let Some(share_network) = found else { return self.not_found(SHARE_NETWORK, id) };
        let Some(network) = self.network_id() else { return };
        let mut here = share_network.placements();
        here.retain(|(on, _)| on.is_some_and(|on| same_id(on.as_str(), network)));
        if here.is_empty() {
            let on = placement(share_network);
            self.invalid(SHARE_NETWORK, id, format!("{what} is on {on}, must be on network {}", quoted(network)));
        } else if let Some(nodes) = self.subnet_id(NODES)
            && !here.iter().any(|(_, on)| on.is_some_and(|on| same_id(on.as_str(), nodes)))
        {
            let fix = "make sure that nodes reach it through the router, or give one on the node subnet";
            let nodes = quoted(nodes);
            self.warn(SHARE_NETWORK, format!("{what} is on another subnet than the node subnet {nodes}; {fix}"));
        }
    }
}

fn placement(share_network: &ShareNetwork) -> String {
    let networks = share_network.placements();
    let names: Vec<String> = networks.iter().filter_map(|(on, _)| on.map(|id| quoted(id.as_str()))).collect();
    if names.is_empty() { "no Neutron network".to_owned() } else { format!("network {}", names.join(", ")) }
}
