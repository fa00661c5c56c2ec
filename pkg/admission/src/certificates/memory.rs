//! A cluster of two secrets and a bundle, in memory: for tests and for a server that runs alone.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use super::{BundleSink, Secret, SecretStore, StoreError, Stored};

/// Secrets with versions as an apiserver has them, and the last published bundle.
#[derive(Debug, Default)]
pub struct MemoryCluster(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    secrets: HashMap<Secret, Stored>,
    writes: u64,
    bundle: Option<String>,
    publishes: u64,
    out_of_order: bool,
}

impl MemoryCluster {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bundle that callers trust, PEM.
    pub fn bundle(&self) -> Option<String> {
        self.state().bundle.clone()
    }

    /// How many secrets were written so far.
    pub fn writes(&self) -> u64 {
        self.state().writes
    }

    /// How often a bundle other than the one before was published.
    pub fn publishes(&self) -> u64 {
        self.state().publishes
    }

    /// Replaces a secret behind everybody's back; `None` deletes it.
    pub fn put(&self, secret: Secret, data: Option<BTreeMap<String, Vec<u8>>>) {
        let mut state = self.state();
        match data {
            Some(data) => {
                state.store(secret, data);
            }
            None => {
                state.secrets.remove(&secret);
            }
        }
    }

    /// From now on nothing can be published, or it can again.
    pub fn refuse_bundles(&self, refuse: bool) {
        self.state().out_of_order = refuse;
    }
}

impl State {
    fn store(&mut self, secret: Secret, data: BTreeMap<String, Vec<u8>>) -> Stored {
        self.writes += 1;
        let stored = Stored { version: self.writes.to_string(), data };
        self.secrets.insert(secret, stored.clone());
        stored
    }
}

#[async_trait]
impl SecretStore for MemoryCluster {
    async fn read(&self, secret: Secret) -> Result<Option<Stored>, StoreError> {
        Ok(self.state().secrets.get(&secret).cloned())
    }

    async fn write(
        &self,
        secret: Secret,
        expected: Option<&str>,
        data: BTreeMap<String, Vec<u8>>,
    ) -> Result<Stored, StoreError> {
        let mut state = self.state();
        if state.secrets.get(&secret).map(|stored| stored.version.as_str()) != expected {
            return Err(StoreError::Conflict);
        }
        Ok(state.store(secret, data))
    }
}

#[async_trait]
impl BundleSink for MemoryCluster {
    async fn publish(&self, bundle: &str) -> Result<(), StoreError> {
        let mut state = self.state();
        if state.out_of_order {
            return Err(StoreError::Unavailable("bundles are refused".into()));
        }
        if state.bundle.as_deref() != Some(bundle) {
            state.bundle = Some(bundle.into());
            state.publishes += 1;
        }
        Ok(())
    }
}
