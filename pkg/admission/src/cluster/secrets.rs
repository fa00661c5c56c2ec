//! The two secrets, named as Gardener's extensions name theirs.

use std::collections::BTreeMap;

use async_trait::async_trait;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1 as core;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt};

use super::{may_write, store_error};
use crate::certificates::{Leader, Secret, SecretStore, StoreError, Stored};

/// The secrets `ca-<component>-webhook` and `<component>-webhook-server` of a namespace. Needs `get`, `create` and
/// `patch` on them.
pub struct ClusterSecrets {
    api: Api<core::Secret>,
    component: String,
    leader: Leader,
}

impl ClusterSecrets {
    /// The secrets of `component` in `namespace`.
    pub fn new(client: Client, namespace: &str, component: impl Into<String>, leader: Leader) -> Self {
        Self { api: Api::namespaced(client, namespace), component: component.into(), leader }
    }

    fn name(&self, secret: Secret) -> String {
        match secret {
            Secret::Authority => format!("ca-{}-webhook", self.component),
            Secret::Server => format!("{}-webhook-server", self.component),
        }
    }
}

#[async_trait]
impl SecretStore for ClusterSecrets {
    async fn read(&self, secret: Secret) -> Result<Option<Stored>, StoreError> {
        Ok(self.api.get_opt(&self.name(secret)).await.map_err(store_error)?.map(stored))
    }

    async fn write(
        &self,
        secret: Secret,
        expected: Option<&str>,
        data: BTreeMap<String, Vec<u8>>,
    ) -> Result<Stored, StoreError> {
        may_write(&self.leader)?;
        let name = self.name(secret);
        let data = data.into_iter().map(|(key, value)| (key, ByteString(value))).collect();
        let written = match expected {
            None => self.api.create(&PostParams::default(), &self.new_secret(&name, data)).await,
            Some(version) => {
                // A patch with a version inside is refused when somebody else wrote, and leaves the type and others'
                // labels alone. The keys are always the same two.
                let metadata = ObjectMeta { resource_version: Some(version.to_owned()), ..ObjectMeta::default() };
                let change = core::Secret { metadata, data: Some(data), ..core::Secret::default() };
                self.api.patch(&name, &PatchParams::default(), &Patch::Merge(&change)).await
            }
        };
        written.map(stored).map_err(store_error)
    }
}

impl ClusterSecrets {
    fn new_secret(&self, name: &str, data: BTreeMap<String, ByteString>) -> core::Secret {
        let labels = [("app.kubernetes.io/name", self.component.as_str()), ("app.kubernetes.io/component", "webhook")];
        let metadata = ObjectMeta {
            name: Some(name.to_owned()),
            labels: Some(labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into()),
            ..ObjectMeta::default()
        };
        // As the chart has them: another type would be a conflict at its next upgrade.
        core::Secret { metadata, data: Some(data), type_: Some("Opaque".to_owned()), ..core::Secret::default() }
    }
}

fn stored(secret: core::Secret) -> Stored {
    let version = secret.resource_version().unwrap_or_default();
    let data = secret.data.unwrap_or_default().into_iter().map(|(key, value)| (key, value.0)).collect();
    Stored { version, data }
}
