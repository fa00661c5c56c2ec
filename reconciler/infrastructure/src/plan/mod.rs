//! From the specification and one observation to what is to be done. Pure: no IO, no clock, no chance.
//!
//! A step says what is there and what has to happen; a file each. [`Plan::items`] shows them to people,
//! `apply` runs them, and a plan that is not empty on an unchanged specification *is* drift.

use std::net::IpAddr;

use fabric_openstack::Taggable;
use fabric_openstack_types::{
    ApiError, ErrorClass, Owned, Service,
    ids::{NetworkId, ProjectId},
    observed::{Observed, Queried},
};
use serde::Serialize;

use crate::{error::Error, state::State, target::Target};

mod interface;
mod items;
mod key_pair;
mod network;
pub mod own;
pub(crate) mod router;
pub mod rules;
mod security_group;
mod share_network;
mod subnet;
mod tags;
#[cfg(test)]
mod tests;

pub use interface::{InterfaceStep, interface_task};
pub use items::{Change, Item, Verb};
pub use key_pair::KeyPairStep;
pub use network::NetworkStep;
pub use router::RouterStep;
pub use rules::{OurRule, RulesStep};
pub use security_group::SecurityGroupStep;
pub use share_network::ShareNetworkStep;
pub use subnet::SubnetStep;

/// The external network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FloatingPool {
    /// Its id.
    pub id: NetworkId,
    /// Its name.
    pub name: String,
}

/// What is to be done, a step each kind.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The external network.
    pub floating_pool: FloatingPool,
    /// The node network.
    pub network: NetworkStep,
    /// The node router.
    pub router: RouterStep,
    /// The subnets: given and ours, in the order of the status.
    pub subnets: Vec<SubnetStep>,
    /// The router's interfaces on the node subnets.
    pub interfaces: Vec<InterfaceStep>,
    /// The nodes' security group.
    pub security_group: SecurityGroupStep,
    /// Its rules; `None` for a given group.
    pub rules: Option<RulesStep>,
    /// The nodes' key pair.
    pub key_pair: KeyPairStep,
    /// The share network; `None`: none is wanted.
    pub share_network: Option<ShareNetworkStep>,
    /// Resources of ours that lack a tag.
    pub tags: Vec<Owned<Taggable>>,
}

/// Decides what is to be done.
///
/// # Errors
/// A query that failed, a given resource that is missing, a specification that contradicts what is there, or
/// two resources that could both be ours. All of them, since a person wants to mend them in one go.
pub fn plan(target: &Target, seen: &Observed, state: &State) -> Result<Plan, Vec<Error>> {
    let mut errors = Errors(own::immutable(target, state));
    let floating_pool = errors.keep(router::floating_pool(target, seen));
    let network = errors.keep(network::plan(target, seen, state));
    let router = errors.keep(router::plan(target, seen, state, floating_pool.as_ref()));
    let subnets = errors.keep(subnet::plan(target, seen, state));
    let interfaces = errors.keep(interface::plan(target, seen, state));
    let security_group = errors.keep(security_group::plan(target, seen, state));
    let key_pair = errors.keep(key_pair::plan(target, seen, state));
    let share_network = errors.keep(share_network::plan(target, seen, state));
    let reserved = subnets.as_deref().and_then(subnet::pods_range);
    let rules = security_group.as_ref().map(|group| rules::plan(target, state, group, reserved));
    match (floating_pool, network, router, subnets, interfaces, security_group, key_pair, share_network, rules) {
        (
            Some(floating_pool),
            Some(network),
            Some(router),
            Some(subnets),
            Some(interfaces),
            Some(security_group),
            Some(key_pair),
            Some(share_network),
            Some(rules),
        ) if errors.0.is_empty() => Ok(Plan {
            tags: tags::plan(target, &network, &router, &subnets, &security_group),
            floating_pool,
            network,
            router,
            subnets,
            interfaces,
            security_group,
            rules,
            key_pair,
            share_network,
        }),
        _ => Err(errors.distinct()),
    }
}

impl Plan {
    /// The router's external addresses, as far as they are known before the plan is run.
    pub fn router_ips(&self) -> Vec<IpAddr> {
        self.router.external_ips()
    }
}

struct Errors(Vec<Error>);

impl Errors {
    fn keep<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        result.map_err(|error| self.0.push(error)).ok()
    }

    /// One failed query stops several steps; it is told once.
    fn distinct(self) -> Vec<Error> {
        let mut told = std::collections::BTreeSet::new();
        self.0.into_iter().filter(|error| told.insert(error.to_string())).collect()
    }
}

/// The result of a query that a step needs.
pub(crate) fn need<T: Clone>(query: &Option<Queried<T>>, what: &'static str) -> Result<T, Error> {
    match query {
        Some(Ok(result)) => Ok(result.clone()),
        Some(Err(error)) => Err(Error::Api(error.clone())),
        None => Err(Error::Unknown(what)),
    }
}

/// The project of the token.
pub(crate) fn project(seen: &Observed) -> Result<ProjectId, Error> {
    match &seen.project {
        Some(result) => Ok(result.clone()?),
        None => Err(Error::Api(ApiError::local(
            Service::Identity,
            "POST",
            "/v3/auth/tokens",
            ErrorClass::Malformed,
            "the token carries no project: use credentials that are scoped to one",
        ))),
    }
}
