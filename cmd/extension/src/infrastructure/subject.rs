//! What an operation is about: the objects around an Infrastructure, fetched when they are needed, and what they mean.

use fabric_apis::decode;
use fabric_apis::gardener::{Cluster, Infrastructure};
use fabric_apis::openstack::v1alpha1::InfrastructureState;
use fabric_infrastructure::codes::Code;
use fabric_infrastructure::gardener::{self, Reading, Unusable};
use fabric_infrastructure::{Input, State};
use fabric_openstack::{Client, Sessions};
use fabric_runtime::cluster::chain;
use serde_json::Value;

use super::contract::{Stage, Told};
use super::objects::Objects;
use super::queue::Key;

/// An Infrastructure and the Cluster around it, as they were read.
pub(crate) struct Subject {
    pub(crate) key: Key,
    /// The Infrastructure.
    pub(crate) object: Value,
    /// The Cluster; `None`: there is none.
    pub(crate) cluster: Option<Value>,
}

/// What a look at the cloud, or work in it, needs.
pub(crate) struct Prepared {
    pub(crate) input: Input,
    pub(crate) state: State,
    pub(crate) client: Client,
}

impl Subject {
    /// `metadata.resourceVersion`.
    pub(crate) fn version(&self) -> &str {
        self.object.pointer("/metadata/resourceVersion").and_then(Value::as_str).unwrap_or_default()
    }

    /// The shoot in the Cluster, as it is.
    pub(crate) fn shoot(&self) -> &Value {
        self.cluster.as_ref().and_then(|cluster| cluster.pointer("/spec/shoot")).unwrap_or(&Value::Null)
    }

    /// The state that was saved.
    ///
    /// # Errors
    /// When there is one that can't be read: to go on without it would be to forget what was made.
    pub(crate) fn state(&self) -> Result<State, Told> {
        let Some(raw) = self.object.pointer("/status/state").filter(|raw| !raw.is_null()) else {
            return Ok(State::default());
        };
        let read: InfrastructureState = decode::lenient(raw).map_err(|error| Told {
            stage: Stage::Work,
            text: format!("status.state can't be read: {error}; without it nobody knows what was made"),
            codes: Vec::new(),
            task: None,
        })?;
        Ok(State::from_data(read.data))
    }

    /// Reads everything and finds the client for it. Nothing is sent to the cloud yet.
    ///
    /// # Errors
    /// What is missing or does not read, for the object's status.
    pub(crate) async fn prepare(
        &self,
        reading: Reading,
        objects: &Objects,
        sessions: &Sessions,
    ) -> Result<Prepared, Told> {
        let object: Infrastructure = decode::lenient(&self.object)
            .map_err(|error| configuration(format!("the object can't be read: {error}")))?;
        let config = gardener::config(&object, reading).map_err(|found| configuration(found.errors.to_string()))?;
        let namespace = self.key.namespace.as_deref().unwrap_or_default();
        let cluster = self.cluster.as_ref().ok_or_else(|| other(format!("there is no Cluster {namespace}")))?;
        let cluster: Cluster = decode::lenient(cluster)
            .map_err(|error| configuration(format!("Cluster {namespace} can't be read: {error}")))?;
        let unusable = |error: Unusable| configuration(error.to_string());
        let profile = gardener::profile(&cluster).map_err(unusable)?;
        let reference = &object.spec.secret_ref;
        let place = format!("Secret {}/{} (spec.secretRef)", reference.namespace, reference.name);
        let data = objects.secret(&reference.namespace, &reference.name).await;
        let data = data.map_err(|error| other(format!("{place}: {}", chain(&error))))?;
        let data = data.ok_or_else(|| other(format!("there is no {place}")))?;
        let input = gardener::input(&object, config, &cluster, profile.clone()).map_err(unusable)?;
        let credentials = gardener::log_in(&place, data, &profile, input.shoot.region.as_deref()).map_err(unusable)?;
        let client = sessions.client(&credentials).await;
        let client = client.map_err(|error| configuration(format!("{place}: {error}")))?;
        Ok(Prepared { input, state: self.state()?, client })
    }
}

/// A person has to mend it.
fn configuration(text: String) -> Told {
    Told { codes: vec![Code::ConfigurationProblem], ..other(text) }
}

/// Nobody has to mend it by hand, as far as we know.
fn other(text: String) -> Told {
    Told { stage: Stage::Check, text, codes: Vec::new(), task: None }
}
