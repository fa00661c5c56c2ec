//! What the client did: a histogram for operators, two counters for tests and the command line.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use fabric_openstack_types::Service;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{
        family::Family,
        histogram::{Histogram, exponential_buckets},
    },
    registry::{Registry, Unit},
};

/// How many requests went out, retries included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Requests to services, without logins.
    pub calls: u64,
    /// Tokens asked for.
    pub tokens: u64,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Labels {
    service: &'static str,
    method: &'static str,
    outcome: &'static str,
}

/// The histogram `openstack_request_duration_seconds{service, method, outcome}`; `outcome` is `ok` or an error class.
/// Cheap to clone; all clones count into the same one.
#[derive(Clone, Debug)]
pub struct Metrics {
    duration: Family<Labels, Histogram>,
}

impl Metrics {
    /// Registers the histogram.
    pub fn register(registry: &mut Registry) -> Self {
        // 5 ms … 82 s: from a cached list to beyond the longest time-out.
        let duration =
            Family::<Labels, Histogram>::new_with_constructor(|| Histogram::new(exponential_buckets(0.005, 2.0, 15)));
        registry.register_with_unit(
            "openstack_request_duration",
            "Duration of requests to OpenStack services",
            Unit::Seconds,
            duration.clone(),
        );
        Self { duration }
    }
}

/// Where one client counts.
#[derive(Debug, Default)]
pub(crate) struct Telemetry {
    calls: AtomicU64,
    tokens: AtomicU64,
    metrics: Option<Metrics>,
}

impl Telemetry {
    pub(crate) fn new(metrics: Option<Metrics>) -> Arc<Self> {
        Arc::new(Self { metrics, ..Self::default() })
    }

    pub(crate) fn record(&self, service: Service, method: &http::Method, outcome: &'static str, took: Duration) {
        let counter = match service {
            Service::Identity => &self.tokens,
            _ => &self.calls,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        if let Some(metrics) = &self.metrics {
            let labels = Labels { service: service.as_str(), method: label(method), outcome };
            let histogram = metrics.duration.get_or_create(&labels);
            histogram.observe(took.as_secs_f64());
        }
    }

    pub(crate) fn stats(&self) -> Stats {
        Stats { calls: self.calls.load(Ordering::Relaxed), tokens: self.tokens.load(Ordering::Relaxed) }
    }
}

fn label(method: &http::Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "POST" => "POST",
        "PUT" => "PUT",
        "DELETE" => "DELETE",
        _ => "other",
    }
}
