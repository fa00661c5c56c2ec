//! The status of one Infrastructure while an operation runs: written only where it changed, one write at a time.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use fabric_infrastructure::{Error, State, StateStore, Target, status::networking};
use fabric_runtime::cluster::chain;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use tokio::time::sleep;

use super::contract::{self, Operation};
use super::objects::Objects;
use super::patch::difference;
use super::queue::Key;

/// A write that fails is tried again after these pauses; together less than a lease lasts.
const PAUSES: [Duration; 4] =
    [Duration::from_millis(200), Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2)];

/// Writes a status.
pub(crate) struct Status {
    objects: Objects,
    key: Key,
    /// As the API server told it last.
    known: tokio::sync::Mutex<Map<String, Value>>,
}

impl Status {
    /// The status of an object that was just read.
    pub(crate) fn of(objects: Objects, key: Key, object: &Value) -> Self {
        Self { objects, key, known: tokio::sync::Mutex::new(status_of(object)) }
    }

    /// Changes it and writes what differs; nothing is sent when nothing does.
    ///
    /// # Errors
    /// The last of several attempts.
    pub(crate) async fn write<T>(&self, change: impl FnOnce(&mut Map<String, Value>) -> T) -> kube::Result<T> {
        let mut known = self.known.lock().await;
        let mut wanted = known.clone();
        let told = change(&mut wanted);
        let Some(patch) = difference(&Value::Object(known.clone()), &Value::Object(wanted)) else { return Ok(told) };
        let written = self.send(&patch).await?;
        *known = status_of(&written);
        Ok(told)
    }

    async fn send(&self, patch: &Value) -> kube::Result<Value> {
        for pause in PAUSES {
            match self.objects.patch_status(&self.key, patch).await {
                Err(error) if is_passing(&error) => {
                    tracing::warn!(error = chain(&error), "writing the status; trying again");
                    sleep(pause).await;
                }
                done => return done,
            }
        }
        self.objects.patch_status(&self.key, patch).await
    }
}

/// Whether another attempt may do better: the API server was away, or busy.
fn is_passing(error: &kube::Error) -> bool {
    match error {
        kube::Error::Api(status) => status.code == 429 || status.code >= 500,
        kube::Error::HyperError(_) | kube::Error::Service(_) => true,
        _ => false,
    }
}

fn status_of(object: &Value) -> Map<String, Value> {
    object.get("status").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// How far an operation is; written along with a state, and from time to time.
pub(crate) struct Progress {
    operation: Operation,
    latest: Mutex<Option<(u8, String)>>,
}

impl Progress {
    pub(crate) fn new(operation: Operation) -> Self {
        Self { operation, latest: Mutex::default() }
    }

    /// A step has begun.
    pub(crate) fn tell(&self, percent: u8, step: &str) {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some((percent.clamp(1, 99), step.to_owned()));
    }

    /// Puts it into a status, if there is anything new to tell.
    fn put(&self, status: &mut Map<String, Value>) {
        let latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((percent, step)) = latest {
            let last = contract::processing(self.operation, percent, Some(&step), Timestamp::now());
            status.insert("lastOperation".to_owned(), json!(last));
        }
    }

    /// Writes it, until the surrounding work ends. A write that has begun is finished: it must not overtake the last.
    pub(crate) async fn keep(&self, status: &Status, pause: Duration, end: &tokio_util::sync::CancellationToken) {
        loop {
            tokio::select! {
                () = end.cancelled() => return,
                () = sleep(pause) => {}
            }
            // It is for people who look; the next one will do.
            if let Err(error) = status.write(|status| self.put(status)).await {
                tracing::debug!(error = chain(&error), "progress not written");
            }
        }
    }
}

/// Keeps the flow's state in the status, with what follows from it.
pub(crate) struct Store<'a> {
    pub(crate) status: &'a Status,
    pub(crate) target: &'a Target,
    pub(crate) progress: &'a Progress,
}

#[async_trait]
impl StateStore for Store<'_> {
    async fn save(&self, state: &State) -> Result<(), Error> {
        let written = self.status.write(|status| {
            put_state(status, state);
            status.insert("networking".to_owned(), json!(networking(self.target, state)));
            self.progress.put(status);
        });
        written.await.map_err(|error| Error::State(chain(&error)))
    }
}

/// Puts a state into a status.
pub(crate) fn put_state(status: &mut Map<String, Value>, state: &State) {
    status.insert("state".to_owned(), json!(state.to_object()));
}
