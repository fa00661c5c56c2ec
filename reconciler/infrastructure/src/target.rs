//! What the infrastructure shall be: the validated specification as types. Later stages never see the raw one.

use std::net::IpAddr;

use fabric_openstack_types::{
    Marker,
    ids::{NetworkId, RouterId, SecurityGroupId, ShareNetworkId, SubnetId, SubnetPoolId},
};
use ipnet::{IpNet, Ipv6Net};

/// Handed over by the user, or made by us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source<Id> {
    /// The user's, by id.
    Given(Id),
    /// Ours.
    Own,
}

impl<Id> Source<Id> {
    /// The given id.
    pub fn given(&self) -> Option<&Id> {
        match self {
            Self::Given(id) => Some(id),
            Self::Own => None,
        }
    }

    /// Whether we make it.
    pub fn is_own(&self) -> bool {
        self.given().is_none()
    }
}

/// Where the IPv4 node subnet comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeSubnet {
    /// The user's, by id (`networks.subnetId`).
    Given(SubnetId),
    /// Ours, with this range (`networks.workers`).
    Cidr(IpNet),
    /// Ours, with a range from a pool (`networks.subnetPool`).
    Pool {
        /// The pool.
        id: SubnetPoolId,
        /// The length asked for.
        prefix_length: u8,
    },
}

impl NodeSubnet {
    /// The given id.
    pub fn given(&self) -> Option<&SubnetId> {
        match self {
            Self::Given(id) => Some(id),
            Self::Cidr(_) | Self::Pool { .. } => None,
        }
    }
}

/// Where the IPv6 side comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ipv6 {
    /// The user's node subnet (`ipv6.nodeSubnetId`); pod and service ranges are only propagated.
    Given {
        /// The node subnet.
        nodes: SubnetId,
        /// Pod range.
        pods: Ipv6Net,
        /// Service range.
        services: Ipv6Net,
    },
    /// Ours: three subnets with these ranges.
    Cidrs {
        /// Node range.
        nodes: Ipv6Net,
        /// Pod range.
        pods: Ipv6Net,
        /// Service range.
        services: Ipv6Net,
    },
    /// Ours: three subnets from this pool.
    Pool(SubnetPoolId),
}

impl Ipv6 {
    /// The given node subnet.
    pub fn given(&self) -> Option<&SubnetId> {
        match self {
            Self::Given { nodes, .. } => Some(nodes),
            Self::Cidrs { .. } | Self::Pool(_) => None,
        }
    }
}

/// Where the Manila share network comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShareNetwork {
    /// None is wanted.
    None,
    /// The user's (`networks.shareNetworkId`).
    Given(ShareNetworkId),
    /// Ours: found by name, network and subnet, or made (`networks.shareNetwork.enabled`).
    Own,
}

/// The subnets that a shoot may have, by what they are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// IPv4 nodes.
    Nodes,
    /// IPv6 nodes.
    NodesIpv6,
    /// A reservation for IPv6 pods.
    PodsIpv6,
    /// A reservation for IPv6 services.
    ServicesIpv6,
}

impl Role {
    /// All of them, in the order of the status.
    pub const ALL: [Role; 4] = [Role::Nodes, Role::NodesIpv6, Role::PodsIpv6, Role::ServicesIpv6];

    /// What the technical ID gets appended.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Nodes => "",
            Self::NodesIpv6 => "-ipv6",
            Self::PodsIpv6 => "-ipv6-pod",
            Self::ServicesIpv6 => "-ipv6-svc",
        }
    }

    /// As in "ensure <noun>".
    pub fn noun(self) -> &'static str {
        match self {
            Self::Nodes => "subnet",
            Self::NodesIpv6 => "IPv6 subnet",
            Self::PodsIpv6 => "IPv6 pod subnet",
            Self::ServicesIpv6 => "IPv6 service subnet",
        }
    }
}

/// The validated specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Whose it is; its technical ID names everything we make.
    pub marker: Marker,
    /// The region, as Gardener names it.
    pub region: Option<String>,
    /// The external network's name.
    pub floating_pool: String,
    /// Which of its subnets our router takes addresses from: a pattern, from the config or the profile's default.
    pub floating_subnet: Option<String>,
    /// Whether our router hides inner addresses; `None` leaves it to the cloud.
    pub use_snat: Option<bool>,
    /// The node network.
    pub network: Source<NetworkId>,
    /// The node router.
    pub router: Source<RouterId>,
    /// The IPv4 node subnet.
    pub subnet: NodeSubnet,
    /// The IPv6 side of a dual-stack shoot.
    pub ipv6: Option<Ipv6>,
    /// The nodes' security group.
    pub security_group: Source<SecurityGroupId>,
    /// The share network.
    pub share_network: ShareNetwork,
    /// Resolvers for our subnets, both families.
    pub dns_servers: Vec<IpAddr>,
    /// `spec.networking.nodes`.
    pub nodes: Option<IpNet>,
    /// `spec.networking.pods`.
    pub pods: Option<IpNet>,
    /// `spec.networking.services`.
    pub services: Option<IpNet>,
    /// The pod network runs without an overlay: pod addresses show on the wire.
    pub overlay_off: bool,
    /// The nodes' SSH key; `None`: SSH access is disabled.
    pub ssh_public_key: Option<String>,
}

impl Target {
    /// The name of everything that is one a shoot.
    pub fn name(&self) -> &str {
        self.marker.technical_id()
    }

    /// The name of a subnet of ours.
    pub fn subnet_name(&self, role: Role) -> String {
        format!("{}{}", self.name(), role.suffix())
    }

    /// Whether there is an IPv6 side.
    pub fn is_dual_stack(&self) -> bool {
        self.ipv6.is_some()
    }

    /// Whether the user gives the subnet of this role.
    pub fn gives_subnet(&self, role: Role) -> bool {
        match role {
            Role::Nodes => self.subnet.given().is_some(),
            Role::NodesIpv6 => self.ipv6.as_ref().and_then(Ipv6::given).is_some(),
            Role::PodsIpv6 | Role::ServicesIpv6 => false,
        }
    }

    /// The subnets that are ours, in the order of [`Role::ALL`].
    pub fn own_subnets(&self) -> Vec<Role> {
        let mut roles = Vec::new();
        if self.subnet.given().is_none() {
            roles.push(Role::Nodes);
        }
        if self.ipv6.as_ref().is_some_and(|ipv6| ipv6.given().is_none()) {
            roles.extend([Role::NodesIpv6, Role::PodsIpv6, Role::ServicesIpv6]);
        }
        roles
    }

    /// The pod ranges, both families.
    pub fn pod_ranges(&self) -> Vec<IpNet> {
        let v6 = match &self.ipv6 {
            Some(Ipv6::Given { pods, .. } | Ipv6::Cidrs { pods, .. }) => Some(IpNet::V6(*pods)),
            Some(Ipv6::Pool(_)) | None => None,
        };
        self.pods.into_iter().chain(v6).collect()
    }

    /// Our subnets' resolvers of one family.
    pub fn dns_servers(&self, ipv6: bool) -> Vec<IpAddr> {
        self.dns_servers.iter().filter(|address| address.is_ipv6() == ipv6).copied().collect()
    }
}
