//! How an extension is made known: `core.gardener.cloud` ControllerRegistration (v1beta1) and ControllerDeployment (v1),
//! and the operator's Extension (`operator.gardener.cloud/v1alpha1`), which makes both of the others.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Condition, Other, RawExtension};
use crate::decode::Kinded;
use crate::wire::null_default;

/// Which kinds and types an extension serves, and how it is deployed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ControllerRegistration {
    /// Its name; cluster-scoped.
    pub metadata: ObjectMeta,
    /// What it serves.
    #[serde(deserialize_with = "null_default")]
    pub spec: ControllerRegistrationSpec,
}

impl Kinded for ControllerRegistration {
    const API_VERSION: &'static str = "core.gardener.cloud/v1beta1";
    const KIND: &'static str = "ControllerRegistration";
}

/// What a [`ControllerRegistration`] says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ControllerRegistrationSpec {
    /// The kinds and types it serves.
    #[serde(deserialize_with = "null_default", skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ControllerResource>,
    /// How it is deployed to the seeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deployment: Option<ControllerRegistrationDeployment>,
}

/// One kind and type that an extension serves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ControllerResource {
    /// `Infrastructure`, `Worker`, ….
    pub kind: String,
    /// `openstack`, ….
    #[serde(rename = "type")]
    pub type_: String,
    /// Whether this extension is the one that acts; absent = yes. Exactly one may be, for a kind and type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary: Option<bool>,
    /// Fields we don't know.
    #[serde(flatten)]
    pub other: Other,
}

/// How an extension is deployed to the seeds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ControllerRegistrationDeployment {
    /// `OnDemand` (when absent), `Always` or `AlwaysExceptNoShoots`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// A label selector; absent = all seeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed_selector: Option<RawExtension>,
    /// The [`ControllerDeployment`]; Gardener takes one.
    #[serde(deserialize_with = "null_default", skip_serializing_if = "Vec::is_empty")]
    pub deployment_refs: Vec<DeploymentReference>,
}

/// A [`ControllerDeployment`] by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DeploymentReference {
    /// Its name.
    pub name: String,
}

/// The chart of an extension.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ControllerDeployment {
    /// Its name; cluster-scoped.
    #[schemars(skip)]
    pub metadata: ObjectMeta,
    /// The chart and its values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub helm: Option<HelmDeployment>,
    /// Whether the pods get access to the garden.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inject_garden_kubeconfig: Option<bool>,
}

impl Kinded for ControllerDeployment {
    const API_VERSION: &'static str = "core.gardener.cloud/v1";
    const KIND: &'static str = "ControllerDeployment";
}

/// A chart and its values. One of `raw_chart` and `oci_repository` is given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct HelmDeployment {
    /// A packaged chart (tar, gzip), in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_chart: Option<String>,
    /// A chart in a registry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oci_repository: Option<OciRepository>,
    /// Values for the chart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<RawExtension>,
}

/// A chart in a registry: by `reference`, else by `repository` with `tag` or `digest`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OciRepository {
    /// The whole reference.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Host and path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// The tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// The digest; it wins over the tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Fields we don't know.
    #[serde(flatten)]
    pub other: Other,
}

/// What the operator's Extension (`operator.gardener.cloud/v1alpha1`, cluster-scoped) asks for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OperatorExtension {
    /// Its name.
    pub metadata: ObjectMeta,
    /// What is asked for.
    #[serde(deserialize_with = "null_default")]
    pub spec: OperatorExtensionSpec,
    /// What the operator made of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<OperatorExtensionStatus>,
}

impl Kinded for OperatorExtension {
    const API_VERSION: &'static str = "operator.gardener.cloud/v1alpha1";
    const KIND: &'static str = "Extension";
}

/// What an [`OperatorExtension`] asks for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OperatorExtensionSpec {
    /// The kinds and types it serves.
    #[serde(deserialize_with = "null_default", skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ControllerResource>,
    /// What is deployed, and where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deployment: Option<OperatorDeployment>,
}

/// What is deployed for an extension, and where.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OperatorDeployment {
    /// The controllers, on the seeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extension: Option<OperatorExtensionDeployment>,
    /// The admission, in the garden.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admission: Option<OperatorAdmissionDeployment>,
    /// Fields we don't know.
    #[serde(flatten)]
    pub other: Other,
}

/// The controllers of an extension.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct OperatorExtensionDeployment {
    /// The chart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub helm: Option<HelmDeployment>,
    /// Values everywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<RawExtension>,
    /// Values in the garden's runtime cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_cluster_values: Option<RawExtension>,
    /// As in [`ControllerRegistrationDeployment`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// As in [`ControllerRegistrationDeployment`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed_selector: Option<RawExtension>,
    /// Whether the pods get access to the garden.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inject_garden_kubeconfig: Option<bool>,
}

/// The admission of an extension: one chart with its pods, one with what the garden's API server has to know.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct OperatorAdmissionDeployment {
    /// For the runtime cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_cluster: Option<ChartPlace>,
    /// For the virtual garden.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtual_cluster: Option<ChartPlace>,
    /// Values of both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<RawExtension>,
}

/// A chart for one place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ChartPlace {
    /// The chart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub helm: Option<HelmDeployment>,
}

/// What the operator says about an [`OperatorExtension`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct OperatorExtensionStatus {
    /// `Installed`, `RequiredRuntime`, `RequiredVirtual`, `RuntimeHealthy`, `AdmissionHealthy`.
    #[serde(deserialize_with = "null_default", skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// The generation this is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}
