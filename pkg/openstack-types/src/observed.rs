//! What one observation saw: each query's result with its own failure beside it (decision D9).
//!
//! `check` (dynamic rules) and `plan` both read this and nothing else, so they can never disagree about
//! what the cloud looked like.

use crate::{
    compute::{KeyPair, Server},
    error::ApiError,
    ids::ProjectId,
    load_balancer::LoadBalancer,
    network::{Network, Port, Router, SecurityGroup, Subnet, SubnetPool},
    share::ShareNetwork,
};

/// A query's result. `None` in [`Observed`]: the query was not needed and not made.
pub type Queried<T> = Result<T, ApiError>;

/// One look at the cloud.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// The project that the token is scoped to.
    pub project: Option<Queried<ProjectId>>,
    /// Every external network that we see.
    pub external_networks: Option<Queried<Vec<Network>>>,
    /// Our project's networks, and the given one wherever it lives.
    pub networks: Option<Queried<Vec<Network>>>,
    /// Subnets of the node network (given or found), or of our project.
    pub subnets: Option<Queried<Vec<Subnet>>>,
    /// Subnets of the floating pool's network; asked only when a floating subnet pattern matters.
    pub external_subnets: Option<Queried<Vec<Subnet>>>,
    /// Our project's routers, and the given one wherever it lives.
    pub routers: Option<Queried<Vec<Router>>>,
    /// The ports of the node router (given or found).
    pub router_ports: Option<Queried<Vec<Port>>>,
    /// Every port on the node network; asked only before a deletion.
    pub network_ports: Option<Queried<Vec<Port>>>,
    /// Our project's security groups, and the given one wherever it lives.
    pub security_groups: Option<Queried<Vec<SecurityGroup>>>,
    /// The subnet pools that the specification names.
    pub subnet_pools: Option<Queried<Vec<SubnetPool>>>,
    /// Our key pair; the inner `None`: there is none.
    pub key_pair: Option<Queried<Option<KeyPair>>>,
    /// Our project's share networks, with their subnets.
    pub share_networks: Option<Queried<Vec<ShareNetwork>>>,
    /// Load balancers on the node subnets; asked only before a deletion.
    pub load_balancers: Option<Queried<Vec<LoadBalancer>>>,
    /// Servers named `<technicalID>-…`; asked only before routes are removed.
    pub servers: Option<Queried<Vec<Server>>>,
}

impl Observed {
    /// The result of a query that was made and succeeded.
    pub fn ok<T>(query: &Option<Queried<T>>) -> Option<&T> {
        query.as_ref().and_then(|result| result.as_ref().ok())
    }

    /// Every query that failed, in the order of the fields.
    pub fn failures(&self) -> Vec<&ApiError> {
        fn failed<T>(query: &Option<Queried<T>>) -> Option<&ApiError> {
            query.as_ref().and_then(|result| result.as_ref().err())
        }
        [
            failed(&self.project),
            failed(&self.external_networks),
            failed(&self.networks),
            failed(&self.subnets),
            failed(&self.external_subnets),
            failed(&self.routers),
            failed(&self.router_ports),
            failed(&self.network_ports),
            failed(&self.security_groups),
            failed(&self.subnet_pools),
            failed(&self.key_pair),
            failed(&self.share_networks),
            failed(&self.load_balancers),
            failed(&self.servers),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
