//! Rules for an `InfrastructureConfig` that need nothing but the config and a few facts about its shoot.
//!
//! The paths are relative to the config; the caller says with `path` where it stands (a Shoot:
//! `spec.provider.infrastructureConfig`). The rule numbers in the comments are those of the tests.

pub(crate) mod admission;
mod ipv6;
mod networks;
mod update;

use fabric_apis::field::{Error, Findings, Path};
use fabric_apis::gardener::{IpFamily, Shoot};
use fabric_apis::openstack::v1alpha1::InfrastructureConfig;

use crate::text::validate_resource_name;

pub use update::validate_update;

/// What the rules need to know about the shoot around the config. A bare config knows nothing: [`Default`].
#[derive(Clone, Copy, Debug, Default)]
pub struct StaticContext<'a> {
    /// `spec.networking.nodes`, when known.
    pub nodes: Option<&'a str>,
    /// `spec.networking.ipFamilies`, when known; known and empty means IPv4.
    pub ip_families: Option<&'a [IpFamily]>,
}

impl<'a> StaticContext<'a> {
    /// What `shoot` says about it.
    pub fn of(shoot: &'a Shoot) -> Self {
        let networking = shoot.spec.networking.as_ref();
        Self {
            nodes: networking.and_then(|networking| networking.nodes.as_deref()),
            ip_families: Some(networking.map_or(&[], |networking| networking.ip_families.as_slice())),
        }
    }
}

impl StaticContext<'_> {
    /// Whether the shoot is known to have no IPv6.
    fn lacks_ipv6(&self) -> bool {
        self.ip_families.is_some_and(|families| !families.contains(&IpFamily::Ipv6))
    }
}

/// Everything that is wrong or odd about a new config.
pub fn validate(config: &InfrastructureConfig, context: &StaticContext<'_>, path: &Path<'_>) -> Findings {
    let mut findings = Findings::default();
    // Rule 1.
    validate_resource_name(&config.floating_pool_name, &path.child("floatingPoolName"), &mut findings.errors);
    // Rules 2 to 15.
    networks::validate(&config.networks, context, &path.child("networks"), &mut findings);
    // Rules 16 and 17.
    if let Some(subnet_name) = &config.floating_pool_subnet_name {
        validate_resource_name(subnet_name, &path.child("floatingPoolSubnetName"), &mut findings.errors);
        if config.networks.router.is_some() {
            // The path is upstream's; scripts match it.
            let detail = "router cannot be set when floatingPoolSubnetName is given: an existing router has its external address already";
            findings.error(Error::forbidden(&path.child("router"), detail));
        }
    }
    // Rules 18 to 27.
    if let Some(ipv6) = &config.networks.ipv6 {
        ipv6::validate(ipv6, &config.networks, context, &path.child("networks").child("ipv6"), &mut findings);
    }
    findings
}

/// The texts that several rules share.
fn requires(what: &str, field: &str) -> String {
    format!("{what} must be provided when {field} is set")
}

fn excludes(field: &str, other: &str) -> String {
    format!("{field} is mutually exclusive with {other}")
}

#[cfg(test)]
mod tests;
