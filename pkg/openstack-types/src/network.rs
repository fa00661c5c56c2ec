//! Neutron's resources, as far as we read or write them.
//!
//! Fields that an answer may lack have defaults, so that a vendor's Neutron without an extension still decodes.

use std::net::IpAddr;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use crate::ids::{
    NetworkId, PortId, ProjectId, RouterId, SecurityGroupId, SecurityGroupRuleId, SubnetId, SubnetPoolId,
};

/// Device owners of a router's interface ports (legacy, DVR, HA).
pub const ROUTER_INTERFACE_OWNERS: [&str; 3] =
    ["network:router_interface", "network:router_interface_distributed", "network:ha_router_replicated_interface"];

/// 4 or 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub enum IpVersion {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

impl IpVersion {
    /// The family of an address.
    pub fn of(address: &IpAddr) -> Self {
        if address.is_ipv4() { Self::V4 } else { Self::V6 }
    }
}

impl From<IpVersion> for u8 {
    fn from(version: IpVersion) -> u8 {
        match version {
            IpVersion::V4 => 4,
            IpVersion::V6 => 6,
        }
    }
}

impl TryFrom<u8> for IpVersion {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        match number {
            4 => Ok(Self::V4),
            6 => Ok(Self::V6),
            other => Err(format!("IP version {other}: must be 4 or 6")),
        }
    }
}

/// A network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// Its id.
    pub id: NetworkId,
    /// Its name; need not be unique.
    #[serde(default, deserialize_with = "null_as_default")]
    pub name: String,
    /// The project that owns it.
    #[serde(default = "no_project")]
    pub project_id: ProjectId,
    /// Free text; holds our marker if we made it.
    #[serde(default, deserialize_with = "null_as_default")]
    pub description: String,
    /// Its tags.
    #[serde(default, deserialize_with = "null_as_default")]
    pub tags: Vec<String>,
    /// Whether it carries traffic at all.
    #[serde(default = "yes")]
    pub admin_state_up: bool,
    /// `ACTIVE`, `DOWN`, `BUILD`, `ERROR`.
    #[serde(default, deserialize_with = "null_as_default")]
    pub status: String,
    /// Whether its ports are filtered by security groups; absent without the extension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port_security_enabled: Option<bool>,
    /// Whether routers may use it as gateway network.
    #[serde(default, rename = "router:external")]
    pub external: bool,
    /// Whether other projects see it.
    #[serde(default)]
    pub shared: bool,
    /// The ids of its subnets (only those visible to us).
    #[serde(default, deserialize_with = "null_as_default")]
    pub subnets: Vec<SubnetId>,
}

/// A subnet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subnet {
    /// Its id.
    pub id: SubnetId,
    /// Its name.
    #[serde(default, deserialize_with = "null_as_default")]
    pub name: String,
    /// The project that owns it.
    #[serde(default = "no_project")]
    pub project_id: ProjectId,
    /// The network that it lies in.
    pub network_id: NetworkId,
    /// Free text; holds our marker if we made it.
    #[serde(default, deserialize_with = "null_as_default")]
    pub description: String,
    /// Its tags.
    #[serde(default, deserialize_with = "null_as_default")]
    pub tags: Vec<String>,
    /// Its family.
    pub ip_version: IpVersion,
    /// Its range.
    pub cidr: IpNet,
    /// The router's address on it.
    #[serde(default)]
    pub gateway_ip: Option<IpAddr>,
    /// Whether Neutron answers DHCP.
    #[serde(default)]
    pub enable_dhcp: bool,
    /// Resolvers that DHCP hands out.
    #[serde(default, deserialize_with = "null_as_default")]
    pub dns_nameservers: Vec<IpAddr>,
    /// The addresses that Neutron hands out.
    #[serde(default, deserialize_with = "null_as_default")]
    pub allocation_pools: Vec<AllocationPool>,
    /// Routes that DHCP hands out.
    #[serde(default, deserialize_with = "null_as_default")]
    pub host_routes: Vec<Route>,
    /// The pool that its range came from.
    #[serde(default)]
    pub subnetpool_id: Option<SubnetPoolId>,
    /// `slaac`, `dhcpv6-stateful`, `dhcpv6-stateless`.
    #[serde(default)]
    pub ipv6_address_mode: Option<String>,
    /// Likewise, for router advertisements.
    #[serde(default)]
    pub ipv6_ra_mode: Option<String>,
}

/// A run of addresses, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllocationPool {
    /// The first.
    pub start: IpAddr,
    /// The last.
    pub end: IpAddr,
}

/// An address on a subnet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixedIp {
    /// The subnet.
    pub subnet_id: SubnetId,
    /// The address; absent in a request that leaves the choice to Neutron.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_address: Option<IpAddr>,
}

/// A router's way out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalGateway {
    /// The external network.
    pub network_id: NetworkId,
    /// Whether Neutron hides inner addresses; absent in a request that leaves it to the cloud's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enable_snat: Option<bool>,
    /// The router's addresses on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub external_fixed_ips: Vec<FixedIp>,
}

/// A static route of a router.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Route {
    /// Where to.
    pub destination: IpNet,
    /// Through whom.
    pub nexthop: IpAddr,
}

/// A router.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Router {
    /// Its id.
    pub id: RouterId,
    /// Its name.
    #[serde(default, deserialize_with = "null_as_default")]
    pub name: String,
    /// The project that owns it.
    #[serde(default = "no_project")]
    pub project_id: ProjectId,
    /// Free text; holds our marker if we made it.
    #[serde(default, deserialize_with = "null_as_default")]
    pub description: String,
    /// Its tags.
    #[serde(default, deserialize_with = "null_as_default")]
    pub tags: Vec<String>,
    /// Whether it forwards at all.
    #[serde(default = "yes")]
    pub admin_state_up: bool,
    /// `ACTIVE`, `DOWN`, `ERROR`.
    #[serde(default, deserialize_with = "null_as_default")]
    pub status: String,
    /// Its way out, if it has one.
    #[serde(default)]
    pub external_gateway_info: Option<ExternalGateway>,
    /// Its static routes.
    #[serde(default, deserialize_with = "null_as_default")]
    pub routes: Vec<Route>,
}

impl Router {
    /// The router's addresses on its external network, in Neutron's order.
    pub fn external_ips(&self) -> Vec<IpAddr> {
        let fixed = self.external_gateway_info.iter().flat_map(|gateway| &gateway.external_fixed_ips);
        fixed.filter_map(|ip| ip.ip_address).collect()
    }
}

/// A port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Port {
    /// Its id.
    pub id: PortId,
    /// Its name.
    #[serde(default, deserialize_with = "null_as_default")]
    pub name: String,
    /// The project that owns it; empty for a router's own ports.
    #[serde(default = "no_project")]
    pub project_id: ProjectId,
    /// The network that it is on.
    pub network_id: NetworkId,
    /// What uses it: a server, a router, a load balancer.
    #[serde(default, deserialize_with = "null_as_default")]
    pub device_id: String,
    /// The kind of user (`network:router_interface`, `compute:nova`, `Octavia`).
    #[serde(default, deserialize_with = "null_as_default")]
    pub device_owner: String,
    /// Whether it carries traffic at all.
    #[serde(default = "yes")]
    pub admin_state_up: bool,
    /// `ACTIVE`, `DOWN`, `BUILD`, `ERROR`.
    #[serde(default, deserialize_with = "null_as_default")]
    pub status: String,
    /// Its addresses.
    #[serde(default, deserialize_with = "null_as_default")]
    pub fixed_ips: Vec<FixedIp>,
    /// The security groups that filter it.
    #[serde(default)]
    pub security_groups: Vec<SecurityGroupId>,
}

impl Port {
    /// Whether it is a router's interface (not its gateway).
    pub fn is_router_interface(&self) -> bool {
        ROUTER_INTERFACE_OWNERS.contains(&self.device_owner.as_str())
    }

    /// Whether it has an address on the subnet.
    pub fn is_on(&self, subnet: &SubnetId) -> bool {
        self.fixed_ips.iter().any(|ip| &ip.subnet_id == subnet)
    }
}

/// A security group, with its rules as Neutron embeds them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecurityGroup {
    /// Its id.
    pub id: SecurityGroupId,
    /// Its name; need not be unique.
    #[serde(default, deserialize_with = "null_as_default")]
    pub name: String,
    /// The project that owns it.
    #[serde(default = "no_project")]
    pub project_id: ProjectId,
    /// Free text; holds our marker if we made it.
    #[serde(default, deserialize_with = "null_as_default")]
    pub description: String,
    /// Its tags.
    #[serde(default, deserialize_with = "null_as_default")]
    pub tags: Vec<String>,
    /// Whether answers to what a port sent come back in; absent without the extension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stateful: Option<bool>,
    /// Its rules.
    #[serde(default, rename = "security_group_rules")]
    pub rules: Vec<SecurityGroupRule>,
}

/// Into or out of the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Into the port.
    Ingress,
    /// Out of the port.
    Egress,
}

/// A rule's address family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum EtherType {
    /// IPv4.
    IPv4,
    /// IPv6.
    IPv6,
}

/// What a rule lets pass, in Neutron's normalised form: the part of a rule that makes it equal to another.
///
/// `any` protocol is absent; `0.0.0.0/0` and `::/0` stay as they are, Neutron keeps them apart from an absent prefix.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RuleShape {
    /// Into or out of the port.
    pub direction: Direction,
    /// The family.
    pub ethertype: EtherType,
    /// `tcp`, `udp`, `icmp`, a number as text; absent: any.
    #[serde(default)]
    pub protocol: Option<String>,
    /// First port.
    #[serde(default)]
    pub port_range_min: Option<u16>,
    /// Last port.
    #[serde(default)]
    pub port_range_max: Option<u16>,
    /// The peer's range.
    #[serde(default)]
    pub remote_ip_prefix: Option<IpNet>,
    /// The peer's group.
    #[serde(default)]
    pub remote_group_id: Option<SecurityGroupId>,
    /// The peer's address group. We never set one: a rule with one is never equal to ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_address_group_id: Option<String>,
}

impl RuleShape {
    /// Everything of this direction and family, from or to anywhere.
    pub fn any(direction: Direction, ethertype: EtherType) -> Self {
        Self {
            direction,
            ethertype,
            protocol: None,
            port_range_min: None,
            port_range_max: None,
            remote_ip_prefix: None,
            remote_group_id: None,
            remote_address_group_id: None,
        }
    }
}

/// A rule of a security group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecurityGroupRule {
    /// Its id.
    pub id: SecurityGroupRuleId,
    /// The group that it belongs to.
    pub security_group_id: SecurityGroupId,
    /// Free text; our rules carry their purpose and our marker.
    #[serde(default, deserialize_with = "null_as_default")]
    pub description: String,
    /// What it lets pass.
    #[serde(flatten)]
    pub shape: RuleShape,
}

/// A subnet pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubnetPool {
    /// Its id.
    pub id: SubnetPoolId,
    /// Its name.
    #[serde(default, deserialize_with = "null_as_default")]
    pub name: String,
    /// Its family.
    pub ip_version: IpVersion,
    /// Its ranges.
    #[serde(default)]
    pub prefixes: Vec<IpNet>,
    /// The shortest prefix it gives (Neutron sends numbers or text).
    #[serde(default, deserialize_with = "number_or_text")]
    pub min_prefixlen: u8,
    /// The longest prefix it gives.
    #[serde(default, deserialize_with = "number_or_text")]
    pub max_prefixlen: u8,
}

fn no_project() -> ProjectId {
    ProjectId::new("")
}

fn yes() -> bool {
    true
}

fn null_as_default<'de, D: serde::Deserializer<'de>, T: Deserialize<'de> + Default>(from: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

fn number_or_text<'de, D: serde::Deserializer<'de>>(from: D) -> Result<u8, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Number(u8),
        Text(String),
    }
    match Either::deserialize(from)? {
        Either::Number(number) => Ok(number),
        Either::Text(text) => text.parse().map_err(serde::de::Error::custom),
    }
}

// What we send ---------------------------------------------------------------------------------------

/// A network to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewNetwork {
    /// Its name.
    pub name: String,
    /// Our marker.
    pub description: String,
    /// Always true.
    pub admin_state_up: bool,
}

/// A subnet to create. Gateway, DHCP and allocation pools stay Neutron's defaults.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewSubnet {
    /// Its name.
    pub name: String,
    /// Our marker.
    pub description: String,
    /// The network that it lies in.
    pub network_id: NetworkId,
    /// Its family.
    pub ip_version: IpVersion,
    /// Its range, unless a pool gives one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cidr: Option<IpNet>,
    /// The pool that gives a range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subnetpool_id: Option<SubnetPoolId>,
    /// The length asked of the pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefixlen: Option<u8>,
    /// Resolvers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dns_nameservers: Vec<IpAddr>,
    /// `slaac` for the dual-stack node subnet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv6_address_mode: Option<String>,
    /// `slaac` for the dual-stack node subnet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv6_ra_mode: Option<String>,
}

/// A router to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewRouter {
    /// Its name.
    pub name: String,
    /// Our marker.
    pub description: String,
    /// Always true.
    pub admin_state_up: bool,
    /// Its way out, unless that is set afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_gateway_info: Option<ExternalGateway>,
}

/// A security group to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewSecurityGroup {
    /// Its name.
    pub name: String,
    /// "Cluster Nodes" and our marker.
    pub description: String,
}

/// A rule to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewSecurityGroupRule {
    /// The group that it belongs to.
    pub security_group_id: SecurityGroupId,
    /// Its purpose.
    pub description: String,
    /// What it lets pass.
    #[serde(flatten)]
    pub shape: RuleShape,
}

/// What of a network changes; absent fields stay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NetworkUpdate {
    /// A new name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Our marker, put back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Switch it on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admin_state_up: Option<bool>,
    /// Switch the filter on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port_security_enabled: Option<bool>,
}

/// What of a subnet changes; absent fields stay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SubnetUpdate {
    /// A new name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Our marker, put back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// New resolvers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dns_nameservers: Option<Vec<IpAddr>>,
    /// A new gateway; `Some(None)` removes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway_ip: Option<Option<IpAddr>>,
    /// Switch DHCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enable_dhcp: Option<bool>,
    /// New runs of addresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocation_pools: Option<Vec<AllocationPool>>,
    /// New routes for DHCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_routes: Option<Vec<Route>>,
}

/// What of a router changes; absent fields stay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RouterUpdate {
    /// A new name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Our marker, put back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Switch it on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admin_state_up: Option<bool>,
    /// A new way out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_gateway_info: Option<ExternalGateway>,
}

/// What of a security group changes; absent fields stay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SecurityGroupUpdate {
    /// A new name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Our marker, put back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Let answers in again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stateful: Option<bool>,
}
