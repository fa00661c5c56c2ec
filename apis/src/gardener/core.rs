//! `core.gardener.cloud/v1beta1`: what shoot owners and operators write. Read only.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CredentialsReference, RawExtension};
use crate::decode::Kinded;
use crate::wire::null_default;

/// A cluster as its owner describes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Shoot {
    /// Name, namespace (`garden-<project>`), annotations.
    pub metadata: ObjectMeta,
    /// What is asked for.
    #[serde(deserialize_with = "null_default")]
    pub spec: ShootSpec,
    /// What Gardener made of it; empty in a manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<ShootStatus>,
}

impl Kinded for Shoot {
    const API_VERSION: &'static str = "core.gardener.cloud/v1beta1";
    const KIND: &'static str = "Shoot";
}

/// The parts of a Shoot's spec that say something about its infrastructure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ShootSpec {
    /// The profile, by kind and name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cloud_profile: Option<CloudProfileReference>,
    /// The profile, in the deprecated form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cloud_profile_name: Option<String>,
    /// OpenStack region.
    #[serde(deserialize_with = "null_default")]
    pub region: String,
    /// Credentials by SecretBinding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_binding_name: Option<String>,
    /// Credentials by CredentialsBinding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials_binding_name: Option<String>,
    /// Cloud settings.
    #[serde(deserialize_with = "null_default")]
    pub provider: ShootProvider,
    /// Address ranges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub networking: Option<ShootNetworking>,
    /// Where the names of the cluster are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dns: Option<ShootDns>,
}

/// Where the names of a Shoot are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShootDns {
    /// DNS services, each with credentials of its own.
    #[serde(deserialize_with = "null_default", skip_serializing_if = "Vec::is_empty")]
    pub providers: Vec<DnsProvider>,
}

/// A DNS service of a Shoot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct DnsProvider {
    /// `openstack-designate` for the ones we look at.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<String>,
    /// Whether it keeps the names of the cluster itself; the others are for workloads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary: Option<bool>,
    /// The credentials, in the deprecated form: a Secret in the Shoot's namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_name: Option<String>,
    /// The credentials, in the Shoot's namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials_ref: Option<CredentialsReference>,
}

/// Which profile a Shoot uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CloudProfileReference {
    /// `CloudProfile` or `NamespacedCloudProfile`.
    #[serde(deserialize_with = "null_default")]
    pub kind: String,
    /// Its name.
    #[serde(deserialize_with = "null_default")]
    pub name: String,
}

/// Cloud settings of a Shoot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ShootProvider {
    /// `openstack` for the shoots we serve.
    #[serde(rename = "type", deserialize_with = "null_default")]
    pub type_: String,
    /// An `InfrastructureConfig`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub infrastructure_config: Option<RawExtension>,
    /// A `ControlPlaneConfig`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane_config: Option<RawExtension>,
    /// Worker pools; none = a workerless shoot, which has no infrastructure.
    #[serde(deserialize_with = "null_default")]
    pub workers: Vec<Worker>,
    /// SSH access to the workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers_settings: Option<WorkersSettings>,
}

/// A worker pool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Worker {
    /// Its name.
    #[serde(deserialize_with = "null_default")]
    pub name: String,
    /// Availability zones.
    #[serde(deserialize_with = "null_default", skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<String>,
    /// Labels of its nodes.
    #[serde(deserialize_with = "null_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// The root disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume: Option<Volume>,
    /// More disks, as written: none of ours to read, only to compare.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<RawExtension>>")]
    pub data_volumes: Option<RawExtension>,
    /// A `WorkerConfig`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_config: Option<RawExtension>,
    /// How its machines are changed: `AutoRollingUpdate` (also when absent), `AutoInPlaceUpdate`,
    /// `ManualInPlaceUpdate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_strategy: Option<String>,
}

impl Worker {
    /// Whether its machines stay when they are changed.
    pub fn is_updated_in_place(&self) -> bool {
        matches!(self.update_strategy.as_deref(), Some("AutoInPlaceUpdate" | "ManualInPlaceUpdate"))
    }
}

/// A disk of a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Volume {
    /// Its kind.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<String>,
    /// Its size, such as `50Gi`.
    #[serde(deserialize_with = "null_default", skip_serializing_if = "String::is_empty")]
    pub size: String,
}

/// Settings of all workers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WorkersSettings {
    /// SSH access.
    #[serde(rename = "sshAccess", skip_serializing_if = "Option::is_none")]
    pub ssh_access: Option<SshAccess>,
}

/// SSH access to workers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SshAccess {
    /// Off = the Infrastructure carries no public key.
    #[serde(deserialize_with = "null_default")]
    pub enabled: bool,
}

/// Address ranges of a Shoot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ShootNetworking {
    /// The CNI: `calico`, `cilium`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<String>,
    /// Settings of the CNI; `overlay.enabled` matters here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_config: Option<RawExtension>,
    /// CIDR of the pods (IPv4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pods: Option<String>,
    /// CIDR of the nodes (IPv4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<String>,
    /// CIDR of the services (IPv4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub services: Option<String>,
    /// `IPv4`, `IPv6` or both; empty = IPv4.
    #[serde(deserialize_with = "null_default", skip_serializing_if = "Vec::is_empty")]
    pub ip_families: Vec<IpFamily>,
}

/// An address family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum IpFamily {
    /// IP version 4.
    #[serde(rename = "IPv4")]
    Ipv4,
    /// IP version 6.
    #[serde(rename = "IPv6")]
    Ipv6,
}

/// What Gardener made of a Shoot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShootStatus {
    /// The name of its namespace on the seed, and of everything we create.
    #[serde(rename = "technicalID", deserialize_with = "null_default")]
    pub technical_id: String,
    /// Identity of the shoot, the same for its whole life.
    #[serde(deserialize_with = "null_default")]
    pub uid: String,
}

impl Shoot {
    /// `shoot.status.technicalID`; for a manifest without status the name Gardener will give it:
    /// `shoot--<project>--<name>`, the project being the namespace without `garden-`.
    pub fn technical_id(&self) -> String {
        match &self.status {
            Some(status) if !status.technical_id.is_empty() => status.technical_id.clone(),
            _ => {
                let name = self.metadata.name.as_deref().unwrap_or_default();
                let namespace = self.metadata.namespace.as_deref().unwrap_or_default();
                let project = namespace.strip_prefix("garden-").unwrap_or(namespace);
                format!("shoot--{project}--{name}")
            }
        }
    }

    /// Whether the shoot has no workers, hence no infrastructure.
    pub fn is_workerless(&self) -> bool {
        self.spec.provider.workers.is_empty()
    }
}

/// An offer of the operator for all projects.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CloudProfile {
    /// Its name.
    pub metadata: ObjectMeta,
    /// The offer.
    #[serde(deserialize_with = "null_default")]
    pub spec: CloudProfileSpec,
}

impl Kinded for CloudProfile {
    const API_VERSION: &'static str = "core.gardener.cloud/v1beta1";
    const KIND: &'static str = "CloudProfile";
}

/// The offer of a [`CloudProfile`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CloudProfileSpec {
    /// `openstack` for the profiles we read.
    #[serde(rename = "type", deserialize_with = "null_default")]
    pub type_: String,
    /// The machine images on offer.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub machine_images: Vec<MachineImageOffer>,
    /// A `CloudProfileConfig`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_config: Option<RawExtension>,
}

/// A machine image on offer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MachineImageOffer {
    /// Its name.
    #[serde(deserialize_with = "null_default")]
    pub name: String,
    /// Its versions.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub versions: Vec<MachineImageOfferVersion>,
}

/// A version of a machine image on offer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MachineImageOfferVersion {
    /// The version.
    #[serde(deserialize_with = "null_default")]
    pub version: String,
}

impl MachineImageOffer {
    /// Whether this version is on offer.
    pub fn has(&self, version: &str) -> bool {
        self.versions.iter().any(|offered| offered.version == version)
    }
}

/// An offer derived from a [`CloudProfile`] inside a project.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NamespacedCloudProfile {
    /// Its name and namespace.
    pub metadata: ObjectMeta,
    /// What it changes.
    #[serde(deserialize_with = "null_default")]
    pub spec: NamespacedCloudProfileSpec,
    /// The merged profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<NamespacedCloudProfileStatus>,
}

impl Kinded for NamespacedCloudProfile {
    const API_VERSION: &'static str = "core.gardener.cloud/v1beta1";
    const KIND: &'static str = "NamespacedCloudProfile";
}

impl NamespacedCloudProfile {
    /// The provider config in force: the merged one, else (in a manifest) the profile's own.
    pub fn provider_config(&self) -> Option<&RawExtension> {
        let merged = self.status.as_ref().and_then(|status| status.cloud_profile_spec.provider_config.as_ref());
        merged.or(self.spec.provider_config.as_ref())
    }
}

/// What a [`NamespacedCloudProfile`] changes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct NamespacedCloudProfileSpec {
    /// The profile it derives from.
    #[serde(deserialize_with = "null_default")]
    pub parent: CloudProfileReference,
    /// Machine images on offer in addition to the parent's.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_default")]
    pub machine_images: Vec<MachineImageOffer>,
    /// A partial `CloudProfileConfig`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_config: Option<RawExtension>,
}

/// The merged profile of a [`NamespacedCloudProfile`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct NamespacedCloudProfileStatus {
    /// As if it were a [`CloudProfile`].
    #[serde(deserialize_with = "null_default")]
    pub cloud_profile_spec: CloudProfileSpec,
}
