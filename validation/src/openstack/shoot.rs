//! A Shoot as far as its infrastructure goes: takes the parts out and judges them together.

use fabric_apis::decode::{self, Document};
use fabric_apis::field::{Error, ErrorList, Findings, Path};
use fabric_apis::gardener::{IpFamily, Shoot};
use fabric_apis::openstack::v1alpha1::InfrastructureConfig;
use serde_json::json;

use super::infrastructure::{self, StaticContext};

pub(crate) mod admission;
pub(crate) mod mutate;

/// Where the `InfrastructureConfig` stands in a Shoot.
pub const CONFIG_PATH: &str = "spec.provider.infrastructureConfig";

/// A Shoot with workers and its decoded config.
#[derive(Clone, Debug, PartialEq)]
pub struct ShootInput {
    /// The surrounding object; its raw config is taken out into `config`.
    pub shoot: Shoot,
    /// What `spec.provider.infrastructureConfig` says.
    pub config: InfrastructureConfig,
}

/// How to read a Shoot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// A new object: unknown fields of the config and duplicate keys anywhere are errors.
    Strict,
    /// An old one, which some version has accepted.
    Lenient,
}

impl ShootInput {
    /// Takes a Shoot apart. `None` for a workerless shoot, which has no infrastructure.
    ///
    /// # Errors
    /// What could not be read, under its path in the Shoot; a missing config.
    pub fn read(document: Document, reading: Reading) -> Result<Option<Self>, ErrorList> {
        let root = Path::nil();
        let base = Path::new(CONFIG_PATH);
        let mut errors = ErrorList::new();
        let mut config = None;
        if reading == Reading::Strict {
            for path in document.duplicates_outside(CONFIG_PATH) {
                let problem = decode::Problem::Duplicate(path.to_owned());
                errors.extend(decode::Error::Fields { strict: true, problems: vec![problem] }.to_field_errors(&root));
            }
            match document.strict_at::<InfrastructureConfig>(CONFIG_PATH) {
                Ok(found) => config = found,
                Err(error) => errors.extend(error.to_field_errors(&base)),
            }
        }
        let mut shoot: Shoot = match document.lenient() {
            Ok(shoot) => shoot,
            Err(error) => {
                errors.extend(error.to_field_errors(&root));
                return Err(errors);
            }
        };
        if shoot.is_workerless() {
            return errors.into_result().map(|()| None);
        }
        let raw = shoot.spec.provider.infrastructure_config.take();
        if reading == Reading::Lenient
            && let Some(raw) = raw
        {
            match decode::lenient(raw) {
                Ok(found) => config = Some(found),
                Err(error) => errors.extend(error.to_field_errors(&base)),
            }
        }
        errors.into_result()?;
        match config {
            Some(config) => Ok(Some(Self { shoot, config })),
            None => Err(Error::required(&base, "infrastructureConfig must be set for OpenStack shoots").into()),
        }
    }

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

    /// What the static rules need to know.
    pub fn context(&self) -> StaticContext<'_> {
        StaticContext { nodes: self.nodes(), ip_families: Some(self.ip_families()) }
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

/// Everything that is wrong or odd about a Shoot's infrastructure, with paths in the Shoot.
pub fn validate(input: &ShootInput) -> Findings {
    let base = Path::new(CONFIG_PATH);
    let mut findings = Findings::default();
    let spec = Path::new("spec");
    let networking = spec.child("networking");
    if input.nodes().is_none() {
        findings
            .error(Error::required(&networking.child("nodes"), "a nodes CIDR must be provided for Openstack shoots"));
    }
    let families = input.ip_families();
    let (ipv4, ipv6) = (families.contains(&IpFamily::Ipv4), families.contains(&IpFamily::Ipv6));
    if ipv6 && !ipv4 {
        let detail = "IPv6-only shoots are not supported; use IPv4 or both families";
        findings.error(Error::invalid(&networking.child("ipFamilies"), json!(families), detail));
    }
    findings.merge(infrastructure::validate(&input.config, &input.context(), &base));
    if ipv4 && ipv6 && !has_ipv6_source(&input.config) {
        let detail = "a dual-stack shoot needs networks.ipv6 with subnetPoolID, nodeCIDR or nodeSubnetId";
        findings.error(Error::required(&base, detail));
    }
    if let Err(errors) = input.overlay() {
        findings.errors.extend(errors);
    }
    findings
}

/// What changing a Shoot from `old` to `new` may not touch, with paths in the Shoot.
pub fn validate_update(new: &ShootInput, old: &ShootInput) -> ErrorList {
    infrastructure::validate_update(&new.config, &old.config, &Path::new(CONFIG_PATH))
}

fn has_ipv6_source(config: &InfrastructureConfig) -> bool {
    config.networks.ipv6.as_ref().is_some_and(|ipv6| {
        ipv6.subnet_pool_id.is_some() || !ipv6.node_cidr.is_empty() || ipv6.node_subnet_id.is_some()
    })
}

#[cfg(test)]
mod tests;
