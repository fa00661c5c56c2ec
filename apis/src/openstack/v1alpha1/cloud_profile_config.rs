//! What the operator offers: `CloudProfile.spec.providerConfig`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ApiVersion, kinded};
use crate::wire::{constant_text, is_false, null_default};

constant_text! {
    /// The `kind` of [`CloudProfileConfig`].
    CloudProfileConfigKind = "CloudProfileConfig"
}
kinded!(CloudProfileConfig, CloudProfileConfigKind);

/// The cloud's endpoints, floating pools and defaults. Parts that only the machine and storage controllers read are
/// kept as plain values, so that a complete profile decodes strictly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CloudProfileConfig {
    /// Always the same.
    pub api_version: ApiVersion,
    /// Always the same.
    pub kind: CloudProfileConfigKind,
    /// What shoots may choose from.
    #[serde(deserialize_with = "null_default")]
    pub constraints: Constraints,
    /// DNS servers of the worker subnets, IPv4 and IPv6 mixed.
    #[serde(rename = "dnsServers", skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub dns_servers: Vec<String>,
    /// DNS domain of the workers (not used by the infrastructure).
    #[serde(rename = "dhcpDomain", skip_serializing_if = "Option::is_none")]
    pub dhcp_domain: Option<String>,
    /// Keystone of all regions without an entry in `keystone_urls`.
    #[serde(rename = "keystoneURL", skip_serializing_if = "String::is_empty", deserialize_with = "null_default")]
    pub keystone_url: String,
    /// Keystone by region.
    #[serde(rename = "keystoneURLs", skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub keystone_urls: Vec<KeystoneUrl>,
    /// CA bundle of `keystone_url`, PEM.
    #[serde(rename = "keystoneCACert", skip_serializing_if = "Option::is_none")]
    pub keystone_ca_cert: Option<String>,
    /// Don't verify Keystone's certificate.
    #[serde(skip_serializing_if = "is_false", deserialize_with = "null_default")]
    pub keystone_force_insecure: bool,
    /// Whether a router of ours translates source addresses; absent = Neutron's default.
    #[serde(rename = "useSNAT", skip_serializing_if = "Option::is_none")]
    pub use_snat: Option<bool>,
    /// Time limit of one request, as a Go duration (`60s`, `1m30s`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_timeout: Option<String>,
    /// Not read by us.
    #[serde(rename = "ignoreVolumeAZ", skip_serializing_if = "Option::is_none")]
    pub ignore_volume_az: Option<Value>,
    /// Not read by us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rescan_block_storage_on_resize: Option<Value>,
    /// Not read by us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_volume_attach_limit: Option<Value>,
    /// Not read by us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolv_conf_options: Option<Value>,
    /// Not read by us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_classes: Option<Value>,
    /// Policies that worker pools may choose for their server groups (`soft-anti-affinity`, …).
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub server_group_policies: Vec<String>,
    /// The cloud's images behind the machine images of the profile around this config.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub machine_images: Vec<MachineImage>,
}

/// A machine image and its versions in the cloud.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineImage {
    /// Its name in the profile.
    #[serde(deserialize_with = "null_default")]
    pub name: String,
    /// Its versions.
    #[serde(deserialize_with = "null_default")]
    pub versions: Vec<MachineImageVersion>,
}

/// One version of a machine image: one image by name everywhere, or one by id for each region.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MachineImageVersion {
    /// The version in the profile.
    #[serde(deserialize_with = "null_default")]
    pub version: String,
    /// The image's name, for regions that are not listed.
    #[serde(skip_serializing_if = "String::is_empty", deserialize_with = "null_default")]
    pub image: String,
    /// The images by region.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub regions: Vec<RegionImage>,
    /// The images by what a machine has to be capable of.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub capability_flavors: Vec<CapabilityFlavor>,
}

/// The images of a version for machines of the same capabilities.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CapabilityFlavor {
    /// Not read by us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Value>,
    /// The image's name, for regions that are not listed.
    #[serde(skip_serializing_if = "String::is_empty", deserialize_with = "null_default")]
    pub image: String,
    /// The images by region.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub regions: Vec<RegionImage>,
}

/// The image of one region.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RegionImage {
    /// The region.
    #[serde(deserialize_with = "null_default")]
    pub name: String,
    /// The image's id.
    #[serde(deserialize_with = "null_default")]
    pub id: String,
    /// The processor's architecture; absent = `amd64`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
}

/// What shoots may choose from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Constraints {
    /// External networks, also by wildcard.
    #[serde(deserialize_with = "null_default")]
    pub floating_pools: Vec<FloatingPool>,
    /// Load balancer drivers.
    #[serde(deserialize_with = "null_default")]
    pub load_balancer_providers: Vec<LoadBalancerProvider>,
}

/// An external network that shoots may name, for a region, a domain, both or everywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FloatingPool {
    /// Its name, or `*`, `prefix*`, `*suffix`.
    #[serde(deserialize_with = "null_default")]
    pub name: String,
    /// Only in this region.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Only for this domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// External subnet a router of ours takes its address from when the shoot says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_floating_subnet: Option<String>,
    /// The pool is offered in addition and hides no other pools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub non_constraining: Option<bool>,
    /// Load balancer classes of this pool.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub load_balancer_classes: Vec<LoadBalancerClass>,
}

impl FloatingPool {
    /// Whether the pool hides others for its place.
    pub fn is_constraining(&self) -> bool {
        self.non_constraining != Some(true)
    }
}

/// A load balancer driver, everywhere or in one region.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadBalancerProvider {
    /// Its name (`amphora`, `ovn`, …).
    #[serde(deserialize_with = "null_default")]
    pub name: String,
    /// Only in this region.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
}

/// A named set of load balancer settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadBalancerClass {
    /// Its name.
    #[serde(deserialize_with = "null_default")]
    pub name: String,
    /// `default`, `private` or `vpn`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// External subnet by ID.
    #[serde(rename = "floatingSubnetID", skip_serializing_if = "Option::is_none")]
    pub floating_subnet_id: Option<String>,
    /// External subnet by tags.
    #[serde(rename = "floatingSubnetTags", skip_serializing_if = "Option::is_none")]
    pub floating_subnet_tags: Option<String>,
    /// External subnet by name.
    #[serde(rename = "floatingSubnetName", skip_serializing_if = "Option::is_none")]
    pub floating_subnet_name: Option<String>,
    /// External network by ID.
    #[serde(rename = "floatingNetworkID", skip_serializing_if = "Option::is_none")]
    pub floating_network_id: Option<String>,
    /// Inner subnet by ID.
    #[serde(rename = "subnetID", skip_serializing_if = "Option::is_none")]
    pub subnet_id: Option<String>,
}

/// Keystone of one region.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeystoneUrl {
    /// The region.
    #[serde(deserialize_with = "null_default")]
    pub region: String,
    /// Its URL.
    #[serde(deserialize_with = "null_default")]
    pub url: String,
    /// Its CA bundle, PEM.
    #[serde(rename = "caCert", skip_serializing_if = "Option::is_none")]
    pub ca_cert: Option<String>,
}

impl CloudProfileConfig {
    /// Keystone for `region`: the region's own URL and CA bundle, else the general ones. `None` when there is neither.
    pub fn keystone(&self, region: &str) -> Option<(&str, Option<&str>)> {
        let regional = self.keystone_urls.iter().find(|entry| entry.region == region);
        match regional {
            Some(entry) => Some((entry.url.as_str(), entry.ca_cert.as_deref())),
            None if self.keystone_url.is_empty() => None,
            None => Some((self.keystone_url.as_str(), self.keystone_ca_cert.as_deref())),
        }
    }
}
