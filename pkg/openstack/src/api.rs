//! The calls we make: one trait a service.
//!
//! Reads take a [`Query`]; they follow the service's pages and return everything. A call that changes or
//! deletes something takes an [`Owned`], so that nothing given can be handed to it (decision D6):
//!
//! ```
//! # use fabric_openstack::{Cloud, Result};
//! # use fabric_openstack_types::{Owned, ids::NetworkId};
//! async fn delete(cloud: &dyn Cloud, network: Owned<NetworkId>) -> Result<()> {
//!     cloud.delete_network(&network).await
//! }
//! ```
//!
//! The same with what a user gave does not compile:
//!
//! ```compile_fail,E0308
//! # use fabric_openstack::{Cloud, Result};
//! # use fabric_openstack_types::{Given, ids::NetworkId};
//! async fn delete(cloud: &dyn Cloud, network: Given<NetworkId>) -> Result<()> {
//!     cloud.delete_network(&network).await
//! }
//! ```
//!
//! Creating calls are safe to repeat: when a `POST` may have arrived (connection lost, time-out), the client looks
//! for its result by the marker in the description before it sends it again (decision D5).

use async_trait::async_trait;
use fabric_openstack_types::{
    ApiError, Owned,
    compute::{KeyPair, Server},
    ids::{
        LoadBalancerId, NetworkId, PortId, ProjectId, RouterId, SecurityGroupId, SecurityGroupRuleId, ShareNetworkId,
        SubnetId, SubnetPoolId,
    },
    load_balancer::LoadBalancer,
    network::{
        Network as NetworkResource, NetworkUpdate, NewNetwork, NewRouter, NewSecurityGroup, NewSecurityGroupRule,
        NewSubnet, Port, Route, Router, RouterUpdate, SecurityGroup, SecurityGroupRule, SecurityGroupUpdate, Subnet,
        SubnetPool, SubnetUpdate,
    },
    share::{NewShareNetwork, ShareNetwork, ShareNetworkUpdate},
};

/// A call's result.
pub type Result<T, E = ApiError> = std::result::Result<T, E>;

/// Filters of a list call, as `key=value` pairs. The same key twice means "either" (Neutron).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query(Vec<(&'static str, String)>);

impl Query {
    /// Everything that we see.
    pub fn all() -> Self {
        Self::default()
    }

    /// Only what this project owns.
    pub fn project(id: &ProjectId) -> Self {
        Self::default().and("project_id", id.as_str())
    }

    /// Only this id.
    pub fn id(id: impl AsRef<str>) -> Self {
        Self::default().and("id", id.as_ref())
    }

    /// Only external networks.
    pub fn external() -> Self {
        Self::default().and("router:external", "true")
    }

    /// Only what lies in this network.
    pub fn network(id: &NetworkId) -> Self {
        Self::default().and("network_id", id.as_str())
    }

    /// Only what this device uses (a router's or a server's ports).
    pub fn device(id: impl AsRef<str>) -> Self {
        Self::default().and("device_id", id.as_ref())
    }

    /// One more filter.
    pub fn and(mut self, key: &'static str, value: impl Into<String>) -> Self {
        self.0.push((key, value.into()));
        self
    }

    /// The pairs, in the order given.
    pub fn pairs(&self) -> &[(&'static str, String)] {
        &self.0
    }
}

/// The interface of a router on a subnet: a resource of its own, owned by whoever owns the subnet (decision D4).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RouterInterface {
    /// The router.
    pub router: RouterId,
    /// The subnet.
    pub subnet: SubnetId,
}

/// Resources of Neutron that carry tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taggable {
    /// A network.
    Network(NetworkId),
    /// A subnet.
    Subnet(SubnetId),
    /// A router.
    Router(RouterId),
    /// A security group.
    SecurityGroup(SecurityGroupId),
}

/// Keystone, as far as a session does not hide it.
#[async_trait]
pub trait Identity: Send + Sync {
    /// The project that the token is scoped to. Logs in when there is no token yet.
    async fn project_id(&self) -> Result<ProjectId>;
    /// Whether the catalog has the service in our region: an absence is an error only when something needs it.
    async fn has(&self, service: fabric_openstack_types::Service) -> Result<bool>;
}

/// Neutron.
#[async_trait]
pub trait Network: Send + Sync {
    /// Lists networks.
    async fn networks(&self, query: &Query) -> Result<Vec<NetworkResource>>;
    /// Lists subnets.
    async fn subnets(&self, query: &Query) -> Result<Vec<Subnet>>;
    /// Lists routers.
    async fn routers(&self, query: &Query) -> Result<Vec<Router>>;
    /// Lists ports.
    async fn ports(&self, query: &Query) -> Result<Vec<Port>>;
    /// Lists security groups with their rules.
    async fn security_groups(&self, query: &Query) -> Result<Vec<SecurityGroup>>;
    /// Lists subnet pools.
    async fn subnet_pools(&self, query: &Query) -> Result<Vec<SubnetPool>>;

    /// Reads one subnet (waiting for a pool's range).
    async fn subnet(&self, id: &SubnetId) -> Result<Subnet>;
    /// Reads one router.
    async fn router(&self, id: &RouterId) -> Result<Router>;
    /// Reads one port (waiting for ACTIVE).
    async fn port(&self, id: &PortId) -> Result<Port>;
    /// Reads one subnet pool.
    async fn subnet_pool(&self, id: &SubnetPoolId) -> Result<SubnetPool>;

    /// Creates a network.
    async fn create_network(&self, new: &NewNetwork) -> Result<NetworkResource>;
    /// Changes a network of ours.
    async fn update_network(&self, id: &Owned<NetworkId>, change: &NetworkUpdate) -> Result<NetworkResource>;
    /// Deletes a network of ours, its subnets with it. Gone already is success.
    async fn delete_network(&self, id: &Owned<NetworkId>) -> Result<()>;

    /// Creates a subnet.
    async fn create_subnet(&self, new: &NewSubnet) -> Result<Subnet>;
    /// Changes a subnet of ours.
    async fn update_subnet(&self, id: &Owned<SubnetId>, change: &SubnetUpdate) -> Result<Subnet>;
    /// Deletes a subnet of ours. Gone already is success.
    async fn delete_subnet(&self, id: &Owned<SubnetId>) -> Result<()>;

    /// Creates a router.
    async fn create_router(&self, new: &NewRouter) -> Result<Router>;
    /// Changes a router of ours.
    async fn update_router(&self, id: &Owned<RouterId>, change: &RouterUpdate) -> Result<Router>;
    /// Deletes a router of ours. Gone already is success.
    async fn delete_router(&self, id: &Owned<RouterId>) -> Result<()>;
    /// Puts a router, also a given one, on a subnet of ours. Returns the port.
    async fn add_router_interface(&self, interface: &Owned<RouterInterface>) -> Result<PortId>;
    /// Switches the port of such an interface on again.
    async fn enable_router_interface(&self, port: &Owned<PortId>) -> Result<Port>;
    /// Takes a router, also a given one, off a subnet of ours. Gone already is success.
    async fn remove_router_interface(&self, interface: &Owned<RouterInterface>) -> Result<()>;
    /// Removes exactly these routes, atomically (`remove_extraroutes`). Gone already is success.
    async fn remove_routes(&self, router: &RouterId, routes: &[Owned<Route>]) -> Result<()>;

    /// Creates a security group; Neutron adds its two egress rules.
    async fn create_security_group(&self, new: &NewSecurityGroup) -> Result<SecurityGroup>;
    /// Changes a security group of ours.
    async fn update_security_group(
        &self,
        id: &Owned<SecurityGroupId>,
        change: &SecurityGroupUpdate,
    ) -> Result<SecurityGroup>;
    /// Deletes a security group of ours. Gone already is success.
    async fn delete_security_group(&self, id: &Owned<SecurityGroupId>) -> Result<()>;
    /// Creates rules in a group of ours, all in one bulk call; one that exists already is not an error.
    async fn create_security_group_rules(
        &self,
        group: &Owned<SecurityGroupId>,
        rules: &[NewSecurityGroupRule],
    ) -> Result<Vec<SecurityGroupRule>>;
    /// Deletes a rule that we made. Gone already is success.
    async fn delete_security_group_rule(&self, id: &Owned<SecurityGroupRuleId>) -> Result<()>;

    /// Adds tags; those that are there stay.
    async fn add_tags(&self, resource: &Owned<Taggable>, tags: &[String]) -> Result<()>;
}

/// Nova's part.
#[async_trait]
pub trait Compute: Send + Sync {
    /// Our user's key pair of this name.
    async fn key_pair(&self, name: &str) -> Result<Option<KeyPair>>;
    /// Imports a public key (OpenSSH form).
    async fn create_key_pair(&self, name: &str, public_key: &str) -> Result<KeyPair>;
    /// Deletes a key pair of ours. Gone already is success.
    async fn delete_key_pair(&self, name: &Owned<String>) -> Result<()>;
    /// Servers whose name begins with `prefix`.
    async fn servers(&self, prefix: &str) -> Result<Vec<Server>>;
}

/// Manila's part.
#[async_trait]
pub trait SharedFileSystem: Send + Sync {
    /// Lists our project's share networks with their subnets.
    async fn share_networks(&self) -> Result<Vec<ShareNetwork>>;
    /// Creates a share network.
    async fn create_share_network(&self, new: &NewShareNetwork) -> Result<ShareNetwork>;
    /// Changes a share network of ours.
    async fn update_share_network(
        &self,
        id: &Owned<ShareNetworkId>,
        change: &ShareNetworkUpdate,
    ) -> Result<ShareNetwork>;
    /// Deletes a share network of ours. Gone already is success.
    async fn delete_share_network(&self, id: &Owned<ShareNetworkId>) -> Result<()>;
}

/// Octavia's part.
#[async_trait]
pub trait LoadBalancers: Send + Sync {
    /// Lists load balancers.
    async fn load_balancers(&self, query: &Query) -> Result<Vec<LoadBalancer>>;
    /// Deletes a load balancer of this shoot with all that hangs on it. Gone already is success.
    async fn delete_load_balancer(&self, id: &Owned<LoadBalancerId>) -> Result<()>;
}

/// All services behind one credential.
pub trait Cloud: Identity + Network + Compute + SharedFileSystem + LoadBalancers {}

impl<T: Identity + Network + Compute + SharedFileSystem + LoadBalancers> Cloud for T {}
