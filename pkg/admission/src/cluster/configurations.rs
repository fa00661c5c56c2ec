//! Registration: the webhook configurations, made from data, with the CAs that callers shall trust.

use std::collections::BTreeMap;

use async_trait::async_trait;
use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    MatchCondition, MutatingWebhook, MutatingWebhookConfiguration, RuleWithOperations, ServiceReference,
    ValidatingWebhook, ValidatingWebhookConfiguration, WebhookClientConfig,
};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{
    LabelSelector, LabelSelectorRequirement, ObjectMeta, OwnerReference,
};
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use kube::{Client, Resource, ResourceExt};
use serde::{Serialize, de::DeserializeOwned};

use super::{may_write, store_error};
use crate::certificates::{BundleSink, Leader, StoreError};
use crate::{Kind, Operation};

/// How an apiserver finds us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// By a Service of its own cluster.
    Service {
        /// The Service's namespace.
        namespace: String,
        /// The Service's name.
        name: String,
        /// The Service's port.
        port: u16,
    },
    /// By a URL, `https://host:port`; the webhook's path is added.
    Url(String),
}

/// What happens to requests while nobody answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailurePolicy {
    /// They are refused.
    Fail,
    /// They pass.
    Ignore,
}

/// What a webhook may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookKind {
    /// Judge.
    Validating,
    /// Change.
    Mutating,
}

/// One webhook, as an apiserver is told about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// Its full name, with dots.
    pub name: String,
    /// What it may do.
    pub kind: WebhookKind,
    /// Where it is served.
    pub path: &'static str,
    /// What is sent: kind, resource (plural), operations.
    pub rules: Vec<(Kind, String, Vec<Operation>)>,
    /// Only objects with these labels; empty: all.
    pub labels: BTreeMap<String, String>,
    /// Only objects in these namespaces, and objects outside of namespaces; empty: all.
    pub namespaces: Vec<String>,
    /// Only objects in namespaces with these labels; empty: all.
    pub namespace_labels: BTreeMap<String, String>,
    /// Only objects for which this CEL expression is true: its name, and the expression.
    pub condition: Option<(String, String)>,
    /// What happens while nobody answers.
    pub failure: FailurePolicy,
    /// How long an apiserver waits, in seconds.
    pub timeout: u8,
}

/// Keeps one ValidatingWebhookConfiguration and one MutatingWebhookConfiguration of the same name as they should be,
/// and takes away the one that has no webhooks (any more). Needs `get`, `create`, `patch` and `delete` on them, and `get` on
/// the owner's namespace.
pub struct Configurations {
    client: Client,
    name: String,
    reach: Reach,
    webhooks: Vec<Webhook>,
    /// The namespace whose deletion takes the configurations along.
    owner: Option<String>,
    leader: Leader,
}

impl Configurations {
    /// Registers `webhooks` under `name`.
    pub fn new(
        client: Client,
        name: impl Into<String>,
        reach: Reach,
        webhooks: Vec<Webhook>,
        owner: Option<String>,
        leader: Leader,
    ) -> Self {
        Self { client, name: name.into(), reach, webhooks, owner, leader }
    }

    async fn owners(&self) -> Result<Option<Vec<OwnerReference>>, StoreError> {
        let Some(name) = &self.owner else { return Ok(None) };
        let namespace = Api::<Namespace>::all(self.client.clone()).get(name).await.map_err(|error| {
            let why = store_error(error);
            StoreError::Unavailable(format!("namespace {name}, the owner of the webhook configurations: {why}"))
        })?;
        let reference = OwnerReference {
            api_version: "v1".into(),
            kind: "Namespace".into(),
            name: name.clone(),
            uid: namespace.uid().unwrap_or_default(),
            ..OwnerReference::default()
        };
        Ok(Some(vec![reference]))
    }

    fn metadata(&self, owners: Option<Vec<OwnerReference>>) -> ObjectMeta {
        ObjectMeta { name: Some(self.name.clone()), owner_references: owners, ..ObjectMeta::default() }
    }

    fn of(&self, kind: WebhookKind) -> impl Iterator<Item = &Webhook> {
        self.webhooks.iter().filter(move |webhook| webhook.kind == kind)
    }

    fn validating(&self, bundle: &str, owners: Option<Vec<OwnerReference>>) -> Option<ValidatingWebhookConfiguration> {
        let webhooks: Vec<_> =
            self.of(WebhookKind::Validating).map(|webhook| self.validator(webhook, bundle)).collect();
        (!webhooks.is_empty())
            .then(|| ValidatingWebhookConfiguration { metadata: self.metadata(owners), webhooks: Some(webhooks) })
    }

    fn mutating(&self, bundle: &str, owners: Option<Vec<OwnerReference>>) -> Option<MutatingWebhookConfiguration> {
        let webhooks: Vec<_> = self.of(WebhookKind::Mutating).map(|webhook| self.mutator(webhook, bundle)).collect();
        (!webhooks.is_empty())
            .then(|| MutatingWebhookConfiguration { metadata: self.metadata(owners), webhooks: Some(webhooks) })
    }

    fn validator(&self, webhook: &Webhook, bundle: &str) -> ValidatingWebhook {
        ValidatingWebhook {
            name: webhook.name.clone(),
            admission_review_versions: vec!["v1".into()],
            client_config: self.client_config(webhook, bundle),
            failure_policy: Some(webhook.failure.as_str().into()),
            match_conditions: webhook.conditions(),
            match_policy: Some("Exact".into()),
            namespace_selector: webhook.namespace_selector(),
            object_selector: webhook.selector(),
            rules: Some(webhook.rules()),
            side_effects: "None".into(),
            timeout_seconds: Some(webhook.timeout.into()),
        }
    }

    fn mutator(&self, webhook: &Webhook, bundle: &str) -> MutatingWebhook {
        MutatingWebhook {
            name: webhook.name.clone(),
            admission_review_versions: vec!["v1".into()],
            client_config: self.client_config(webhook, bundle),
            failure_policy: Some(webhook.failure.as_str().into()),
            match_conditions: webhook.conditions(),
            match_policy: Some("Exact".into()),
            namespace_selector: webhook.namespace_selector(),
            object_selector: webhook.selector(),
            rules: Some(webhook.rules()),
            side_effects: "None".into(),
            timeout_seconds: Some(webhook.timeout.into()),
            ..MutatingWebhook::default()
        }
    }

    fn client_config(&self, webhook: &Webhook, bundle: &str) -> WebhookClientConfig {
        let ca_bundle = (!bundle.is_empty()).then(|| ByteString(bundle.as_bytes().to_vec()));
        match &self.reach {
            Reach::Service { namespace, name, port } => WebhookClientConfig {
                ca_bundle,
                service: Some(ServiceReference {
                    namespace: namespace.clone(),
                    name: name.clone(),
                    path: Some(webhook.path.into()),
                    port: Some((*port).into()),
                }),
                url: None,
            },
            Reach::Url(base) => WebhookClientConfig {
                ca_bundle,
                service: None,
                url: Some(format!("{}{}", base.trim_end_matches('/'), webhook.path)),
            },
        }
    }

    /// Makes the object so, or takes it away. An apiserver stores nothing when it is so already.
    async fn keep<K>(&self, wanted: Option<K>) -> Result<(), StoreError>
    where
        K: Resource<DynamicType = ()> + Serialize + DeserializeOwned + Clone + std::fmt::Debug,
    {
        may_write(&self.leader)?;
        let api = Api::<K>::all(self.client.clone());
        match wanted {
            Some(object) => {
                // What is in there belongs to us alone: a bundle of somebody else's would cut us off.
                let params = PatchParams::apply(&self.name).force();
                api.patch(&self.name, &params, &Patch::Apply(&object)).await.map(drop).map_err(store_error)
            }
            None => {
                if api.get_metadata_opt(&self.name).await.map_err(store_error)?.is_none() {
                    return Ok(());
                }
                tracing::info!(kind = %K::kind(&()), name = self.name, "a configuration without webhooks goes");
                match api.delete(&self.name, &DeleteParams::default()).await {
                    Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
                    other => other.map(drop).map_err(store_error),
                }
            }
        }
    }
}

#[async_trait]
impl BundleSink for Configurations {
    /// Registers the webhooks with this bundle; with an empty one, callers go by their own roots.
    async fn publish(&self, bundle: &str) -> Result<(), StoreError> {
        may_write(&self.leader)?;
        let owners = self.owners().await?;
        self.keep(self.validating(bundle, owners.clone())).await?;
        self.keep(self.mutating(bundle, owners)).await
    }
}

impl FailurePolicy {
    fn as_str(self) -> &'static str {
        match self {
            Self::Fail => "Fail",
            Self::Ignore => "Ignore",
        }
    }
}

impl Webhook {
    /// One rule for each group, version and set of operations.
    fn rules(&self) -> Vec<RuleWithOperations> {
        let mut rules: Vec<RuleWithOperations> = Vec::new();
        for (kind, plural, operations) in &self.rules {
            let operations: Vec<String> = operations.iter().map(ToString::to_string).collect();
            let same = rules.iter_mut().find(|rule| {
                rule.api_groups.as_deref() == Some(std::slice::from_ref(&kind.group))
                    && rule.api_versions.as_deref() == Some(std::slice::from_ref(&kind.version))
                    && rule.operations.as_deref() == Some(&operations[..])
            });
            match same {
                Some(rule) => rule.resources.get_or_insert_default().push(plural.clone()),
                None => rules.push(RuleWithOperations {
                    api_groups: Some(vec![kind.group.clone()]),
                    api_versions: Some(vec![kind.version.clone()]),
                    operations: Some(operations),
                    resources: Some(vec![plural.clone()]),
                    scope: None,
                }),
            }
        }
        rules
    }

    fn selector(&self) -> Option<LabelSelector> {
        select(&self.labels, None)
    }

    fn namespace_selector(&self) -> Option<LabelSelector> {
        let one_of = (!self.namespaces.is_empty()).then(|| LabelSelectorRequirement {
            // The API server puts this label on each namespace.
            key: "kubernetes.io/metadata.name".to_owned(),
            operator: "In".into(),
            values: Some(self.namespaces.clone()),
        });
        select(&self.namespace_labels, one_of)
    }

    fn conditions(&self) -> Option<Vec<MatchCondition>> {
        self.condition.clone().map(|(name, expression)| vec![MatchCondition { name, expression }])
    }
}

/// All of these; `None` without any, which selects everything.
fn select(labels: &BTreeMap<String, String>, also: Option<LabelSelectorRequirement>) -> Option<LabelSelector> {
    let match_labels = (!labels.is_empty()).then(|| labels.clone());
    let match_expressions = also.map(|requirement| vec![requirement]);
    (match_labels.is_some() || match_expressions.is_some()).then_some(LabelSelector { match_labels, match_expressions })
}

#[cfg(test)]
mod tests;
