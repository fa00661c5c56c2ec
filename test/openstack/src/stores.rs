//! Where states are kept in a test.

use std::sync::Mutex;

use async_trait::async_trait;
use fabric_infrastructure::{Error, State, StateStore};
use tokio::sync::Notify;

/// Keeps every save.
#[derive(Debug, Default)]
pub struct Saves(pub Mutex<Vec<State>>);

impl Saves {
    /// The last save.
    pub fn last(&self) -> Option<State> {
        self.0.lock().unwrap().last().cloned()
    }

    /// How many there were.
    pub fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

#[async_trait]
impl StateStore for Saves {
    async fn save(&self, state: &State) -> Result<(), Error> {
        self.0.lock().unwrap().push(state.clone());
        Ok(())
    }
}

/// Keeps every save, and tells when the `n`-th has come: the process ends there.
#[derive(Debug)]
pub struct StopAt {
    /// What was saved.
    pub saves: Saves,
    n: usize,
    reached: Notify,
}

impl StopAt {
    /// Tells after the `n`-th save.
    pub fn save(n: usize) -> Self {
        Self { saves: Saves::default(), n, reached: Notify::new() }
    }

    /// Returns after the `n`-th save.
    pub async fn reached(&self) {
        self.reached.notified().await;
    }
}

#[async_trait]
impl StateStore for StopAt {
    async fn save(&self, state: &State) -> Result<(), Error> {
        self.saves.save(state).await?;
        if self.saves.count() == self.n {
            self.reached.notify_one();
            // The process is gone: nothing comes after this save.
            std::future::pending::<()>().await;
        }
        Ok(())
    }
}
