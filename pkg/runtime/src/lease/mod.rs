//! Who of several replicas may write: a Lease of `coordination.k8s.io`.
//!
//! ```text
//!  holder    ask ──── written ─────────────── stops believing            ask + renew_for (10 s)
//!             │          │                         │
//!  another    │          └── seen ─────────────────┼────────── takes it   seen + duration (15 s)
//! ```
//! The holder's time begins before the other's, and is shorter: whatever the network does in between, the holder has
//! stopped before another begins. Times written into the Lease are for people; no decision reads them.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use rand::Rng;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};

mod store;
#[cfg(test)]
mod tests;

pub use store::ClusterLease;

/// The times, Gardener's and client-go's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How long a lease lasts that nobody renews. Default 15 s.
    pub duration: Duration,
    /// How long a holder believes in it after it last asked to renew. Default 10 s.
    pub renew_for: Duration,
    /// The pause between two attempts; up to twice as long for those who wait, so that they come one by one.
    /// Default 2 s.
    pub retry: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self { duration: Duration::from_secs(15), renew_for: Duration::from_secs(10), retry: Duration::from_secs(2) }
    }
}

/// A lease as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Who holds it; empty: nobody.
    pub holder: String,
    /// How long after a renewal it lasts.
    pub duration: Duration,
    /// Since when it is this holder's.
    pub acquired: Option<Timestamp>,
    /// When it was last renewed.
    pub renewed: Option<Timestamp>,
    /// How often it went to another holder.
    pub transitions: i32,
    /// The resource version, for the next write; `None`: there is no such object yet.
    pub version: Option<String>,
}

/// Why a lease could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LeaseError {
    /// Somebody else wrote since it was read.
    #[error("changed meanwhile")]
    Conflict,
    /// Anything else.
    #[error("{0}")]
    Unavailable(String),
}

/// Where a lease is kept.
#[async_trait]
pub trait LeaseStore: Send + Sync + 'static {
    /// The lease, `None` when there is none.
    ///
    /// # Errors
    /// [`LeaseError::Unavailable`]
    async fn read(&self) -> Result<Option<Record>, LeaseError>;

    /// Writes it if the stored version still is the record's.
    ///
    /// # Errors
    /// [`LeaseError::Conflict`] when it is not, [`LeaseError::Unavailable`]
    async fn write(&self, record: &Record) -> Result<Record, LeaseError>;
}

/// Tells the time that is written into a lease.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Whether this process holds the lease, for everyone who wants to know.
#[derive(Clone, Debug)]
pub struct Leadership(watch::Receiver<Option<Instant>>);

impl Leadership {
    /// Whether it does just now. Ask again before each write.
    pub fn is_held(&self) -> bool {
        self.0.borrow().is_some_and(|until| Instant::now() < until)
    }

    /// Ends when this process holds it.
    pub async fn held(&self) {
        let mut changes = self.0.clone();
        // Without an elector nobody ever holds it.
        if changes.wait_for(|until| until.is_some_and(|until| Instant::now() < until)).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Ends when this process no longer holds it: it went to another, was given back, or could not be renewed in time.
    pub async fn lost(&self) {
        let mut changes = self.0.clone();
        loop {
            let Some(until) = *changes.borrow_and_update() else { return };
            tokio::select! {
                changed = changes.changed() => if changed.is_err() {
                    return sleep_until(until).await;
                },
                () = sleep_until(until) => if changes.borrow().is_none_or(|now| now <= until) {
                    return;
                },
            }
        }
    }

    /// For a process that runs alone and needs no lease.
    pub fn alone() -> Self {
        let far = Instant::now() + Duration::from_secs(60 * 60 * 24 * 365 * 30);
        Self(watch::channel(Some(far)).1)
    }
}

/// Tries to hold a lease.
pub struct Elector {
    store: Arc<dyn LeaseStore>,
    identity: String,
    timing: Timing,
    clock: Clock,
    believed: watch::Sender<Option<Instant>>,
}

/// What another holder was last seen to do.
struct Seen {
    record: Record,
    since: Instant,
}

/// What to do about a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// It is ours: say that we are still there.
    Renew,
    /// Nobody has it, or its holder has been silent for its whole duration.
    Take,
    /// It is another's.
    Wait,
}

/// Pure: `silent` is for how long this very record has been seen.
fn step(identity: &str, record: Option<&Record>, silent: Duration) -> Step {
    match record {
        None => Step::Take,
        Some(record) if record.holder == identity => Step::Renew,
        Some(record) if record.holder.is_empty() || silent >= record.duration => Step::Take,
        Some(_) => Step::Wait,
    }
}

impl Elector {
    /// Tries in the name of `identity`, which no other process may have.
    pub fn new(store: Arc<dyn LeaseStore>, identity: impl Into<String>, timing: Timing) -> Self {
        let clock = Arc::new(Timestamp::now);
        Self { store, identity: identity.into(), timing, clock, believed: watch::Sender::new(None) }
    }

    /// With another clock than the machine's.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Tells who holds it.
    pub fn leadership(&self) -> Leadership {
        Leadership(self.believed.subscribe())
    }

    /// Tries and renews until `stop` is done, then gives the lease back, so that another need not wait for its end.
    /// The work that needs the lease must have ended before `stop`.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        tokio::select! {
            () = stop => {}
            () = self.campaign() => {}
        }
        self.resign().await;
    }

    async fn campaign(&self) {
        let mut seen = None;
        loop {
            self.attempt(&mut seen).await;
            sleep(self.pause(seen.as_ref())).await;
        }
    }

    /// One attempt. A failure changes nothing: what was believed ends by itself.
    async fn attempt(&self, seen: &mut Option<Seen>) {
        let begun = Instant::now();
        let was = self.is_held();
        // Shorter than what a holder has left for further attempts.
        match timeout(self.timing.renew_for / 2, self.write(seen)).await {
            Ok(Ok(true)) => {
                self.believed.send_replace(Some(begun + self.timing.renew_for));
                if !was {
                    tracing::info!(identity = self.identity, "holding the lease");
                }
            }
            Ok(Ok(false)) => {
                self.believed.send_replace(None);
                if was {
                    tracing::warn!(identity = self.identity, "the lease went to another");
                }
            }
            Ok(Err(error)) => tracing::warn!(%error, "the lease"),
            Err(_elapsed) => tracing::warn!("the lease: no answer"),
        }
        if was && !self.is_held() {
            tracing::warn!(identity = self.identity, "no longer holding the lease");
        }
    }

    /// Reads, decides, writes; whether the lease is ours.
    async fn write(&self, seen: &mut Option<Seen>) -> Result<bool, LeaseError> {
        let record = self.store.read().await?;
        let silent = match (&record, &*seen) {
            (Some(now), Some(before)) if same_life(now, &before.record) => before.since.elapsed(),
            _ => {
                *seen = record.clone().map(|record| Seen { record, since: Instant::now() });
                Duration::ZERO
            }
        };
        let now = (self.clock)();
        let next = match (step(&self.identity, record.as_ref(), silent), record) {
            (Step::Wait, _) => return Ok(false),
            (Step::Renew, Some(record)) => Record { duration: self.timing.duration, renewed: Some(now), ..record },
            (_, record) => {
                let (transitions, version) =
                    record.map_or((0, None), |before| (before.transitions.saturating_add(1), before.version));
                Record {
                    holder: self.identity.clone(),
                    duration: self.timing.duration,
                    acquired: Some(now),
                    renewed: Some(now),
                    transitions,
                    version,
                }
            }
        };
        match self.store.write(&next).await {
            Ok(_) => Ok(true),
            // Somebody was faster, or touched the object: look again at the next attempt. What we believe stays,
            // since nobody can have taken it before our own time is over.
            Err(LeaseError::Conflict) if self.is_held() => Err(LeaseError::Conflict),
            Err(LeaseError::Conflict) => Ok(false),
            Err(other) => Err(other),
        }
    }

    async fn resign(&self) {
        // Whether the lease is ours is read from it, not from what we believed: an answer may have been lost.
        self.believed.send_replace(None);
        let give_back = async {
            let Some(record) = self.store.read().await?.filter(|record| record.holder == self.identity) else {
                return Ok(());
            };
            self.store.write(&Record { holder: String::new(), ..record }).await.map(drop)
        };
        match timeout(self.timing.retry, give_back).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "giving the lease back; it will end by itself"),
            Err(_elapsed) => tracing::warn!("giving the lease back: no answer; it will end by itself"),
        }
    }

    fn is_held(&self) -> bool {
        self.believed.borrow().is_some_and(|until| Instant::now() < until)
    }

    /// Until the next attempt. Who waits comes at the latest when the other's time is over, and not all at once.
    fn pause(&self, seen: Option<&Seen>) -> Duration {
        if self.is_held() {
            return self.timing.retry;
        }
        let pause = self.timing.retry.mul_f64(rand::rng().random_range(1.0..2.0));
        let rest = seen.map(|seen| seen.record.duration.saturating_sub(seen.since.elapsed()));
        match rest {
            Some(rest) if !rest.is_zero() && rest < pause => rest + pause / 8,
            _ => pause,
        }
    }
}

/// Whether its holder gave no sign of life in between. Other writers (labels, say) don't count.
fn same_life(now: &Record, before: &Record) -> bool {
    now.holder == before.holder && now.renewed == before.renewed && now.transitions == before.transitions
}
