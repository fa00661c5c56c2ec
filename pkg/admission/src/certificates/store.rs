//! Where certificates are kept and told; the implementation for a cluster lives with its client.

use std::collections::BTreeMap;
use std::fmt;

use async_trait::async_trait;

/// The two secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Secret {
    /// `ca.crt` (the bundle, newest CA first) and `ca.key` (the newest one's).
    Authority,
    /// `tls.crt` and `tls.key`.
    Server,
}

/// A secret as it is stored.
#[derive(Clone, PartialEq, Eq)]
pub struct Stored {
    /// The resource version, for the next write.
    pub version: String,
    /// The content.
    pub data: BTreeMap<String, Vec<u8>>,
}

impl fmt::Debug for Stored {
    /// Without the values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stored").field("version", &self.version).field("keys", &self.data.keys()).finish()
    }
}

/// Why a secret or a bundle could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Somebody else wrote since it was read.
    #[error("changed meanwhile")]
    Conflict,
    /// Anything else, in words without secrets.
    #[error("{0}")]
    Unavailable(String),
}

/// Keeps the two secrets, so that all replicas agree.
#[async_trait]
pub trait SecretStore: Send + Sync + 'static {
    /// The secret, `None` when there is none.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]
    async fn read(&self, secret: Secret) -> Result<Option<Stored>, StoreError>;

    /// Replaces the content if the stored version still is `expected` (`None`: if there is no such secret).
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when it is not, [`StoreError::Unavailable`]
    async fn write(
        &self,
        secret: Secret,
        expected: Option<&str>,
        data: BTreeMap<String, Vec<u8>>,
    ) -> Result<Stored, StoreError>;
}

/// Tells the callers which CAs to trust: the `caBundle` of each webhook configuration.
#[async_trait]
pub trait BundleSink: Send + Sync + 'static {
    /// Makes every configuration hold exactly this bundle (PEM); does nothing where it does already. `Ok` means that it
    /// has been seen in all of them.
    ///
    /// # Errors
    /// [`StoreError::Conflict`], [`StoreError::Unavailable`]
    async fn publish(&self, bundle: &str) -> Result<(), StoreError>;
}
