//! The certificate in use, and where it comes from.
//!
//! ```text
//!   tls.crt, tls.key ──► Files (polls) ───────────────────────────────────────┐
//!                                                                             ▼
//!   secret: CA   ──► pair::authority ─► rotation::authority ─► issue ─► CA    Serving ──► TLS handshakes
//!   secret: server ► pair::server ────► rotation::server ────► issue ─► server ▲
//!                                            ▲                          │      │
//!                         caBundle published since ◄── BundleSink    Keeper ───┘ (every replica; only the leader writes)
//! ```

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use jiff::Timestamp;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

mod files;
mod issue;
mod keeper;
mod memory;
mod pair;
pub mod rotation;
mod store;

pub use files::Files;
pub use keeper::{Clock, Done, Keeper, Leader};
pub use memory::MemoryCluster;
pub use store::{BundleSink, Secret, SecretStore, StoreError, Stored};

pub(crate) use pair::Pair;

/// The certificate that new connections get. Swapping it touches no connection that is already there.
#[derive(Default)]
pub struct Serving {
    current: RwLock<Option<Arc<Current>>>,
}

struct Current {
    key: Arc<CertifiedKey>,
    until: Timestamp,
}

impl Serving {
    /// Without a certificate yet: handshakes fail and [`Serving::check`] says so.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Takes a pair into use; `false` when it is the one in use already.
    pub(crate) fn set(&self, pair: &Pair) -> bool {
        let next = Arc::new(Current { key: Arc::clone(&pair.key), until: pair.validity.until });
        // The pointer is whole even if a holder of the lock panicked.
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if current.as_ref().is_some_and(|current| current.key.cert == next.key.cert) {
            return false;
        }
        *current = Some(next);
        true
    }

    fn current(&self) -> Option<Arc<Current>> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// When the certificate in use ends.
    pub fn until(&self) -> Option<Timestamp> {
        self.current().map(|current| current.until)
    }

    /// For readiness: there is a certificate, and it has not ended.
    ///
    /// # Errors
    /// What is missing.
    pub fn check(&self, now: Timestamp) -> Result<(), String> {
        match self.until() {
            None => Err("no certificate yet".into()),
            Some(until) if until <= now => Err(format!("the certificate ended at {until}")),
            Some(_) => Ok(()),
        }
    }
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving").field("until", &self.until()).finish_non_exhaustive()
    }
}

impl ResolvesServerCert for Serving {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.current().map(|current| Arc::clone(&current.key))
    }
}
