//! A Shoot as far as OpenStack goes: takes the parts out and judges them together.
//!
//! ```text
//!   Document ─► read ─► Parts { shoot, infrastructure, control_plane }
//!                          ├─► validate              networking, infrastructure
//!                          ├─► control_plane         (beside this module)
//!                          ├─► workers               pools and their machines
//!                          ├─► dns ◄──────────┐      Designate's credentials
//!                          └─► garden ◄─ Resolved    floating pool, load balancers, server groups
//!   admission asks them in this order;  mutate presets what is left open
//! ```

use fabric_apis::field::{Error, ErrorList, Findings, Path};
use fabric_apis::gardener::{IpFamily, Shoot};
use fabric_apis::openstack::v1alpha1::InfrastructureConfig;
use serde_json::json;

use super::infrastructure::{self, StaticContext};

pub(crate) mod admission;
mod dns;
pub mod garden;
pub(crate) mod mutate;
mod read;
mod workers;

pub use admission::{Examined, examine, is_workerless};

/// Where the `InfrastructureConfig` stands in a Shoot.
pub const CONFIG_PATH: &str = "spec.provider.infrastructureConfig";
/// Where the `ControlPlaneConfig` stands in a Shoot.
pub const CONTROL_PLANE_PATH: &str = "spec.provider.controlPlaneConfig";

/// A Shoot with workers and its decoded config.
#[derive(Clone, Debug, PartialEq)]
pub struct ShootInput {
    /// The surrounding object; its raw config is taken out into `config`.
    pub shoot: Shoot,
    /// What `spec.provider.infrastructureConfig` says.
    pub config: InfrastructureConfig,
}

impl ShootInput {
    /// The nodes CIDR.
    pub fn nodes(&self) -> Option<&str> {
        self.shoot.spec.networking.as_ref()?.nodes.as_deref()
    }

    /// The pods CIDR (IPv4).
    pub fn pods(&self) -> Option<&str> {
        self.shoot.spec.networking.as_ref()?.pods.as_deref()
    }

    /// The services CIDR (IPv4).
    pub fn services(&self) -> Option<&str> {
        self.shoot.spec.networking.as_ref()?.services.as_deref()
    }

    /// The address families as written; empty means IPv4.
    pub fn ip_families(&self) -> &[IpFamily] {
        self.shoot.spec.networking.as_ref().map_or(&[], |networking| networking.ip_families.as_slice())
    }

    /// What the CNI's config says about an overlay network; `None` when it says nothing.
    ///
    /// # Errors
    /// When the setting is there and no boolean: guessing would open or close the workers to pod traffic.
    pub fn overlay(&self) -> Result<Option<bool>, ErrorList> {
        let config = self.shoot.spec.networking.as_ref().and_then(|networking| networking.provider_config.as_ref());
        overlay_enabled(config, &Path::new("spec.networking.providerConfig"))
    }
}

/// `overlay.enabled` of a calico or cilium network config; `path` is the config's.
///
/// # Errors
/// When the setting is there and has another type.
pub fn overlay_enabled(config: Option<&serde_json::Value>, path: &Path<'_>) -> Result<Option<bool>, ErrorList> {
    let Some(enabled) = config.and_then(|config| config.get("overlay")?.get("enabled")) else {
        return Ok(None);
    };
    match enabled {
        serde_json::Value::Null => Ok(None),
        serde_json::Value::Bool(enabled) => Ok(Some(*enabled)),
        other => Err(Error::type_invalid(
            &path.child("overlay").child("enabled"),
            other.clone(),
            "must be true or false, without quotes",
        )
        .into()),
    }
}

/// Everything that is wrong or odd about a Shoot's network, with paths in the Shoot. `config` is what could be read of
/// its infrastructure's.
fn validate(shoot: &Shoot, config: Option<&InfrastructureConfig>) -> Findings {
    let mut findings = Findings::default();
    let base = Path::new(CONFIG_PATH);
    let networking = Path::new("spec.networking");
    let context = StaticContext::of(shoot);
    if context.nodes.is_none() {
        findings
            .error(Error::required(&networking.child("nodes"), "a nodes CIDR must be provided for Openstack shoots"));
    }
    let families = context.ip_families.unwrap_or_default();
    let (ipv4, ipv6) = (families.contains(&IpFamily::Ipv4), families.contains(&IpFamily::Ipv6));
    if ipv6 && !ipv4 {
        let detail = "IPv6-only shoots are not supported; use IPv4 or both families";
        findings.error(Error::invalid(&networking.child("ipFamilies"), json!(families), detail));
    }
    if let Some(config) = config {
        findings.merge(infrastructure::validate(config, &context, &base));
        if ipv4 && ipv6 && !has_ipv6_source(config) {
            let detail = "a dual-stack shoot needs networks.ipv6 with subnetPoolID, nodeCIDR or nodeSubnetId";
            findings.error(Error::required(&base, detail));
        }
    }
    let network = shoot.spec.networking.as_ref().and_then(|networking| networking.provider_config.as_ref());
    if let Err(errors) = overlay_enabled(network, &networking.child("providerConfig")) {
        findings.errors.extend(errors);
    }
    findings
}

fn has_ipv6_source(config: &InfrastructureConfig) -> bool {
    config.networks.ipv6.as_ref().is_some_and(|ipv6| {
        ipv6.subnet_pool_id.is_some() || !ipv6.node_cidr.is_empty() || ipv6.node_subnet_id.is_some()
    })
}

#[cfg(test)]
mod tests;
