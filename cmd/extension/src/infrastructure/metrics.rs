//! What the controller counts.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use super::queue::Key;

/// The label of an operation.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(crate) struct OperationLabels {
    pub(crate) operation: &'static str,
    pub(crate) result: &'static str,
}

/// The label of a drift round: `clean`, `drifted`, `pending` (the specification is newer than the last reconcile), or
/// `error`.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(crate) struct RoundLabels {
    pub(crate) result: &'static str,
}

/// The label of a step: its name, without a shoot's.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(crate) struct TaskLabels {
    pub(crate) task: String,
    pub(crate) result: &'static str,
}

type Durations<L> = Family<L, Histogram, fn() -> Histogram>;

/// The controller's metrics. Clones count into the same.
#[derive(Clone)]
pub(crate) struct Metrics {
    pub(crate) objects: Gauge,
    pub(crate) concurrency: Gauge,
    pub(crate) running: Gauge,
    pub(crate) reconciles: Family<OperationLabels, Counter>,
    pub(crate) durations: Durations<OperationLabels>,
    pub(crate) tasks: Durations<TaskLabels>,
    pub(crate) rounds: Family<RoundLabels, Counter>,
    pub(crate) watch_errors: Counter,
    /// Whether all objects have been listed once.
    pub(crate) synced: Arc<AtomicBool>,
    drifted: Gauge,
    drifters: Arc<Mutex<HashSet<Key>>>,
}

/// 10 ms … 20 min: the longest that a reconcile may take.
fn durations() -> Histogram {
    Histogram::new(exponential_buckets(0.01, 2.5, 14))
}

impl Metrics {
    /// Registers them.
    pub(crate) fn register(registry: &mut Registry) -> Self {
        let made = Self {
            objects: Gauge::default(),
            concurrency: Gauge::default(),
            running: Gauge::default(),
            reconciles: Family::default(),
            durations: Family::new_with_constructor(durations),
            tasks: Family::new_with_constructor(durations),
            rounds: Family::default(),
            watch_errors: Counter::default(),
            synced: Arc::default(),
            drifted: Gauge::default(),
            drifters: Arc::default(),
        };
        let registry = registry.sub_registry_with_prefix("fabric_infrastructure");
        registry.register("objects", "Infrastructures that are watched", made.objects.clone());
        registry.register("max_concurrent_reconciles", "How many may run at a time", made.concurrency.clone());
        registry.register("running_reconciles", "How many run now", made.running.clone());
        registry.register("reconciles", "Operations that ended", made.reconciles.clone());
        registry.register_with_unit("reconcile_duration", "Time of operations", Unit::Seconds, made.durations.clone());
        registry.register_with_unit("task_duration", "Time of an operation's steps", Unit::Seconds, made.tasks.clone());
        registry.register("drift_rounds", "Looks at the cloud of objects that nobody changed", made.rounds.clone());
        registry.register("drifted", "Objects whose cloud is not as it was left", made.drifted.clone());
        registry.register("watch_errors", "Watches that broke", made.watch_errors.clone());
        made
    }

    /// Remembers whether an object has drifted.
    pub(crate) fn tell_drift(&self, key: &Key, has_drifted: bool) {
        let mut drifters = self.drifters.lock().unwrap_or_else(PoisonError::into_inner);
        if has_drifted {
            drifters.insert(key.clone());
        } else {
            drifters.remove(key);
        }
        self.drifted.set(i64::try_from(drifters.len()).unwrap_or(i64::MAX));
    }
}
