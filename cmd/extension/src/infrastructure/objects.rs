//! The few reads and writes of objects in the seed. Objects travel as JSON, so that a field of one that we can't read
//! costs nothing but what needs that field.

use std::collections::BTreeMap;

use fabric_apis::gardener::{Cluster, Infrastructure, Secret, secret_data};
use fabric_runtime::Leadership;
use kube::api::{GetParams, Patch, PatchParams};
use kube::core::Request;
use kube::{Client, Resource};
use serde_json::{Value, json};

use super::queue::Key;

/// A client for them.
#[derive(Clone)]
pub(crate) struct Objects {
    client: Client,
    leadership: Leadership,
}

type Result<T> = std::result::Result<T, kube::Error>;

impl Objects {
    /// Writes as long as this replica leads.
    pub(crate) fn new(client: Client, leadership: Leadership) -> Self {
        Self { client, leadership }
    }

    fn may_write(&self) -> Result<()> {
        if self.leadership.is_held() { Ok(()) } else { Err(kube::Error::Service("another replica leads".into())) }
    }

    /// An Infrastructure as it is now; `None`: it is gone.
    pub(crate) async fn infrastructure(&self, key: &Key) -> Result<Option<Value>> {
        self.get(&Infrastructure::url_path(&(), key.namespace.as_deref()), &key.name).await
    }

    /// The Cluster of a shoot's namespace; `None`: there is none.
    pub(crate) async fn cluster(&self, namespace: &str) -> Result<Option<Value>> {
        self.get(&Cluster::url_path(&(), None), namespace).await
    }

    /// A Secret's data; `None`: there is no such secret.
    pub(crate) async fn secret(&self, namespace: &str, name: &str) -> Result<Option<BTreeMap<String, Vec<u8>>>> {
        let api: kube::Api<Secret> = kube::Api::namespaced(self.client.clone(), namespace);
        Ok(api.get_opt(name).await?.map(|secret| secret_data(&secret)))
    }

    /// Changes an Infrastructure but its status, if it is still the version that was read, and returns it.
    pub(crate) async fn patch(&self, key: &Key, version: &str, patch: Value) -> Result<Value> {
        self.may_write()?;
        let mut patch = patch;
        if let Some(metadata) = patch.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.insert("resourceVersion".to_owned(), json!(version));
        }
        let request = Request::new(Infrastructure::url_path(&(), key.namespace.as_deref()));
        let request = request.patch(&key.name, &PatchParams::default(), &Patch::Merge(&patch));
        self.client.request(request.map_err(kube::Error::BuildRequest)?).await
    }

    /// Changes its status, and returns it.
    pub(crate) async fn patch_status(&self, key: &Key, status: &Value) -> Result<Value> {
        self.may_write()?;
        let patch = json!({ "status": status });
        let request = Request::new(Infrastructure::url_path(&(), key.namespace.as_deref()));
        let request = request.patch_subresource("status", &key.name, &PatchParams::default(), &Patch::Merge(&patch));
        self.client.request(request.map_err(kube::Error::BuildRequest)?).await
    }

    async fn get(&self, path: &str, name: &str) -> Result<Option<Value>> {
        let request = Request::new(path).get(name, &GetParams::default()).map_err(kube::Error::BuildRequest)?;
        match self.client.request(request).await {
            Ok(value) => Ok(Some(value)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Whether the API server says that there is no such object.
pub(crate) fn is_missing(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 404)
}
