//! A certificate that somebody else puts into files.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::{Pair, Serving};
use crate::{Error, Metrics};

/// Watches a certificate and a key file and takes each new pair into use.
pub struct Files {
    certificate: PathBuf,
    key: PathBuf,
    serving: Arc<Serving>,
    metrics: Option<Metrics>,
    seen: Option<Stamp>,
}

/// What changes when a file does, also when a volume swaps the link to its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp([(u64, u64, Option<SystemTime>); 2]);

impl Files {
    /// Reads the files for the first time.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Certificate`]: without a first certificate there is nothing to serve.
    pub fn open(
        certificate: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
        serving: Arc<Serving>,
        metrics: Option<Metrics>,
    ) -> Result<Self, Error> {
        let mut files = Self { certificate: certificate.into(), key: key.into(), serving, metrics, seen: None };
        files.refresh()?;
        Ok(files)
    }

    /// Reads the files if they changed; `true` when another certificate is in use now.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Certificate`]: half-written, or not a pair. The one in use stays, and the next call
    /// tries again.
    pub fn refresh(&mut self) -> Result<bool, Error> {
        // Before reading: a change meanwhile is then seen next time.
        let stamp = Stamp([stamp(&self.certificate)?, stamp(&self.key)?]);
        if self.seen.as_ref() == Some(&stamp) {
            return Ok(false);
        }
        let pair = Pair::read(&read(&self.certificate)?, &read(&self.key)?).map_err(|problem| Error::Certificate {
            origin: format!("{} with {}", self.certificate.display(), self.key.display()),
            problem,
        })?;
        self.seen = Some(stamp);
        if let Some(metrics) = &self.metrics {
            metrics.certificate_ends(pair.validity.until);
        }
        Ok(self.serving.set(&pair))
    }

    /// Refreshes again and again, for ever. Problems are logged, not returned: there is a certificate in use. A poll
    /// sees what file notifications miss on volumes; every 10 s costs two `stat` calls.
    pub async fn watch(mut self, every: Duration) {
        loop {
            tokio::time::sleep(every).await;
            // Two small files of a memory volume: not worth a thread.
            match self.refresh() {
                Ok(true) => tracing::info!(until = ?self.serving.until(), "new certificate"),
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, "the certificate files can't be used; the one before stays"),
            }
        }
    }
}

fn stamp(path: &Path) -> Result<(u64, u64, Option<SystemTime>), Error> {
    use std::os::unix::fs::MetadataExt;
    let of = |metadata: Metadata| (metadata.ino(), metadata.len(), metadata.modified().ok());
    fs::metadata(path).map(of).map_err(|source| Error::Read { path: path.into(), source })
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|source| Error::Read { path: path.into(), source })
}
