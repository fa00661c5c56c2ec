//! The sign of life of an extension: a lease that gardenlet looks at in its health checks (contract §4.1).
//!
//! It says "the one that works is alive", so only the holder of the leader's lease renews it.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::{sleep, timeout};

use crate::Leadership;
use crate::cluster::REQUEST_TIMEOUT;
use crate::lease::{LeaseError, LeaseStore, Record};

/// The name that Gardener gives to the lease, in the extension's namespace.
pub const NAME: &str = "gardener-extension-heartbeat";
/// How long it lasts, as Gardener's own extensions write it, however often it is renewed.
const DURATION: Duration = Duration::from_secs(30);
/// After a failure it is tried again sooner than the next renewal is due.
const RETRY: Duration = Duration::from_secs(5);

/// Renews it in the name of `holder` while this process leads; ends never. A failure is told in the log, and is for
/// nobody else.
pub async fn keep(store: &dyn LeaseStore, holder: &str, every: Duration, leadership: &Leadership) {
    loop {
        leadership.held().await;
        let renewed = timeout(REQUEST_TIMEOUT, renew(store, holder)).await;
        let pause = match renewed.unwrap_or_else(|_elapsed| Err(LeaseError::Unavailable("no answer".to_owned()))) {
            Ok(()) => every,
            Err(error) => {
                tracing::warn!(%error, "the heartbeat");
                RETRY.min(every)
            }
        };
        sleep(pause).await;
    }
}

async fn renew(store: &dyn LeaseStore, holder: &str) -> Result<(), LeaseError> {
    let now = Timestamp::now();
    let before = store.read().await?.unwrap_or_default();
    let acquired = before.acquired.filter(|_| before.holder == holder).or(Some(now));
    let next = Record { holder: holder.to_owned(), duration: DURATION, acquired, renewed: Some(now), ..before };
    store.write(&next).await.map(drop)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use async_trait::async_trait;
    use tokio::time::Instant;

    use super::*;

    #[derive(Default)]
    struct Store {
        record: Mutex<Option<Record>>,
        writes: AtomicUsize,
        is_away: AtomicBool,
    }

    #[async_trait]
    impl LeaseStore for Store {
        async fn read(&self) -> Result<Option<Record>, LeaseError> {
            if self.is_away.load(Ordering::SeqCst) {
                return Err(LeaseError::Unavailable("away".to_owned()));
            }
            Ok(self.record.lock().unwrap().clone())
        }

        async fn write(&self, record: &Record) -> Result<Record, LeaseError> {
            self.writes.fetch_add(1, Ordering::SeqCst);
            *self.record.lock().unwrap() = Some(record.clone());
            Ok(record.clone())
        }
    }

    async fn beat(store: &Store, leadership: &Leadership, time: Duration) {
        let _ = timeout(time, keep(store, "extension", Duration::from_secs(30), leadership)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn it_is_renewed_on_time_in_the_extensions_name() {
        let store = Store::default();
        let begun = Instant::now();
        beat(&store, &Leadership::alone(), Duration::from_secs(100)).await;
        assert_eq!(begun.elapsed().as_secs(), 100);
        assert_eq!(store.writes.load(Ordering::SeqCst), 4, "at 0, 30, 60 and 90 s");
        let record = store.record.lock().unwrap().clone().unwrap();
        assert_eq!((record.holder.as_str(), record.duration), ("extension", DURATION));
        assert!(record.acquired <= record.renewed);
    }

    #[tokio::test(start_paused = true)]
    async fn a_cluster_that_was_away_is_asked_again_before_the_lease_ends() {
        let store = Store::default();
        store.is_away.store(true, Ordering::SeqCst);
        beat(&store, &Leadership::alone(), Duration::from_secs(12)).await;
        assert_eq!(store.writes.load(Ordering::SeqCst), 0);
        store.is_away.store(false, Ordering::SeqCst);
        beat(&store, &Leadership::alone(), Duration::from_secs(6)).await;
        assert_eq!(store.writes.load(Ordering::SeqCst), 1);
    }
}
