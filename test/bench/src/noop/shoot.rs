//! The cloud as it told itself, and what is reconciled on it.

use std::collections::BTreeMap;

use anyhow::Context;
use fabric_apis::openstack::v1alpha1::{CloudProfileConfig, InfrastructureConfig};
use fabric_infrastructure::{Input, Shoot};
use fabric_openstack_types::credentials::{AuthMethod, Credentials, Interface};
use serde::Deserialize;
use serde_json::{Value, json};

/// Where the external network leads.
pub(super) const POOL: &str = "public";
const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl";

/// What `fabric-bench cloud` prints.
#[derive(Deserialize)]
pub(super) struct Told {
    pub(super) auth_url: String,
    pub(super) region: String,
    network: String,
    subnet: String,
    router: String,
    tenants: Vec<Tenant>,
}

/// An application credential.
#[derive(Deserialize)]
pub(super) struct Tenant {
    #[serde(rename = "applicationCredentialID")]
    pub(super) id: String,
    #[serde(rename = "applicationCredentialSecret")]
    pub(super) secret: String,
}

/// What a shoot is given, and what is made for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Pattern {
    /// Everything is made; the profile names DNS servers.
    Managed,
    /// Everything is made; the profile names no DNS servers, so that upstream writes the subnet each time.
    NoDns,
    /// Network, router and subnet are the user's.
    Given,
    /// Everything is made, with an IPv6 side of three subnets; the profile names DNS servers.
    Dual,
}

impl Pattern {
    fn name(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::NoDns => "no-dns",
            Self::Given => "given",
            Self::Dual => "dual",
        }
    }
}

impl Told {
    pub(super) fn tenant(&self) -> anyhow::Result<&Tenant> {
        self.tenants.first().context("the cloud has no application credential: start it with --tenants 1")
    }

    pub(super) fn credentials(&self) -> anyhow::Result<Credentials> {
        let Tenant { id, secret } = self.tenant()?;
        Ok(Credentials {
            auth_url: self.auth_url.clone(),
            method: AuthMethod::AppCredentialId { id: id.clone(), secret: secret.as_str().into() },
            region: Some(self.region.clone()),
            interface: Interface::Public,
            ca_cert: None,
            insecure: false,
            endpoint_overrides: BTreeMap::new(),
        })
    }

    pub(super) fn input(&self, pattern: Pattern) -> anyhow::Result<Input> {
        let networks = match pattern {
            Pattern::Given => json!({"id": self.network, "subnetId": self.subnet, "router": {"id": self.router}}),
            Pattern::Dual => json!({"workers": "10.250.0.0/24", "ipv6": {"nodeCIDR": "2001:db8:1::/64",
                "podCIDR": "2001:db8:2::/56", "serviceCIDR": "2001:db8:3::/112"}}),
            Pattern::Managed | Pattern::NoDns => json!({"workers": "10.250.0.0/24"}),
        };
        let config: InfrastructureConfig = serde_json::from_value(object(
            "InfrastructureConfig",
            json!({
                "floatingPoolName": POOL, "networks": networks,
            }),
        ))?;
        let servers = if pattern == Pattern::NoDns { json!([]) } else { json!(["192.0.2.53"]) };
        let profile: CloudProfileConfig = serde_json::from_value(object(
            "CloudProfileConfig",
            json!({
                "keystoneURL": self.auth_url, "dnsServers": servers,
            }),
        ))?;
        let shoot = Shoot {
            technical_id: format!("shoot--bench--{}", pattern.name()),
            uid: format!("00000000-0000-4000-8000-{:012}", pattern as u8),
            region: Some(self.region.clone()),
            nodes: Some("10.250.0.0/24".to_owned()),
            pods: Some("100.96.0.0/11".to_owned()),
            services: Some("100.64.0.0/13".to_owned()),
            ssh_public_key: Some(KEY.to_owned()),
            ..Shoot::default()
        };
        Ok(Input { config, profile: Some(profile), shoot, path: "" })
    }
}

fn object(kind: &str, mut fields: Value) -> Value {
    if let Some(fields) = fields.as_object_mut() {
        fields.insert("apiVersion".to_owned(), json!("openstack.provider.extensions.gardener.cloud/v1alpha1"));
        fields.insert("kind".to_owned(), json!(kind));
    }
    fields
}
