//! What operators see of the webhooks.

use std::collections::HashSet;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::{
    counter::Counter,
    family::Family,
    gauge::Gauge,
    histogram::{Histogram, exponential_buckets},
};
use prometheus_client::registry::{Registry, Unit};

use crate::Limits;

/// So many different fields are told apart; what comes later counts as `other`. Users can make up field names (an
/// unknown one is refused by its name), and a label value lives as long as the process.
const FIELDS: usize = 256;
/// A longer path is no path of ours.
const FIELD_LENGTH: usize = 128;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Review {
    path: &'static str,
    verdict: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Refusal {
    path: &'static str,
    field: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Rejected {
    reason: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Limit {
    name: &'static str,
}

/// Counters and histograms of the webhook server. Clones count into the same ones.
#[derive(Clone, Debug)]
pub struct Metrics {
    reviews: Family<Review, Histogram>,
    refusals: Family<Refusal, Counter>,
    rejected: Family<Rejected, Counter>,
    connections: Gauge,
    certificate_expiry: Gauge,
    limits: Family<Limit, Gauge<f64, AtomicU64>>,
    fields: Arc<Mutex<HashSet<String>>>,
}

impl Metrics {
    /// Registers all of them:
    /// `admission_review_duration_seconds{path, verdict}` (verdict: allowed, patched, refused, unreadable, unavailable, late, broken),
    /// `admission_refusals_total{path, field}`, `admission_rejected_total{reason}` (requests and connections that never
    /// became a review), `admission_connections`, `admission_certificate_expiry_timestamp_seconds`, and
    /// `admission_limit{name}` (the effective [`Limits`], in bytes, seconds or connections).
    pub fn register(registry: &mut Registry) -> Self {
        // 0.1 ms … 13 s: from a refusal of a small object to past the longest time-out.
        let reviews: Family<Review, Histogram> =
            Family::new_with_constructor(|| Histogram::new(exponential_buckets(0.0001, 2.0, 18)));
        let metrics = Self {
            reviews,
            refusals: Family::default(),
            rejected: Family::default(),
            connections: Gauge::default(),
            certificate_expiry: Gauge::default(),
            limits: Family::default(),
            fields: Arc::default(),
        };
        registry.register_with_unit(
            "admission_review_duration",
            "Time from the last byte of a review to its verdict",
            Unit::Seconds,
            metrics.reviews.clone(),
        );
        registry.register(
            "admission_refusals",
            "Errors in refused objects, by field; list indices and map keys are left out",
            metrics.refusals.clone(),
        );
        registry.register(
            "admission_rejected",
            "Requests and connections that did not become a review",
            metrics.rejected.clone(),
        );
        registry.register("admission_connections", "Open connections", metrics.connections.clone());
        registry.register_with_unit(
            "admission_certificate_expiry_timestamp",
            "When the certificate in use ends",
            Unit::Seconds,
            metrics.certificate_expiry.clone(),
        );
        registry.register(
            "admission_limit",
            "Limits in effect, in bytes, seconds or connections",
            metrics.limits.clone(),
        );
        metrics
    }

    /// Shows the limits that a server keeps.
    pub(crate) fn limits(&self, limits: &Limits) {
        let Limits { body, bodies, connections, overflow, handshake, head, body_time, idle, review } = limits;
        // Sizes are far below the 2^53 that a float tells apart.
        let sizes = [("body", body), ("bodies", bodies), ("connections", connections), ("overflow", overflow)];
        let sizes = sizes.map(|(name, size)| (name, *size as f64));
        let times =
            [("handshake", handshake), ("head", head), ("body_time", body_time), ("idle", idle), ("review", review)];
        let times = times.map(|(name, time)| (name, time.as_secs_f64()));
        for (name, value) in sizes.into_iter().chain(times) {
            self.limits.get_or_create(&Limit { name }).set(value);
        }
    }

    /// Tells when the certificate in use ends.
    pub fn certificate_ends(&self, at: jiff::Timestamp) {
        self.certificate_expiry.set(at.as_second());
    }

    pub(crate) fn reviewed(&self, path: &'static str, verdict: &'static str, took: Duration) {
        self.reviews.get_or_create(&Review { path, verdict }).observe(took.as_secs_f64());
    }

    pub(crate) fn refused(&self, path: &'static str, field: &str) {
        self.refusals.get_or_create(&Refusal { path, field: self.bounded(general(field)) }).inc();
    }

    pub(crate) fn rejected(&self, reason: &'static str) {
        self.rejected.get_or_create(&Rejected { reason }).inc();
    }

    pub(crate) fn connected(&self) -> Connected {
        self.connections.inc();
        Connected(self.connections.clone())
    }

    fn bounded(&self, field: String) -> String {
        // A set of strings is whole even if a holder of the lock panicked.
        let mut known = self.fields.lock().unwrap_or_else(PoisonError::into_inner);
        if known.contains(&field) {
            return field;
        }
        if known.len() >= FIELDS || field.len() > FIELD_LENGTH {
            return "other".into();
        }
        known.insert(field.clone());
        field
    }
}

/// Counts a connection as long as it lives.
pub(crate) struct Connected(Gauge);

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// `workers[3].labels[zone]` is about `workers[].labels[]`.
fn general(field: &str) -> String {
    let mut general = String::with_capacity(field.len());
    let mut depth = 0_usize;
    for character in field.chars() {
        match character {
            '[' => {
                if depth == 0 {
                    general.push_str("[]");
                }
                depth += 1;
            }
            ']' => depth = depth.saturating_sub(1),
            plain if depth == 0 => general.push(plain),
            _ => {}
        }
    }
    general
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_and_keys_are_left_out() {
        for (field, expected) in [
            ("networks.id", "networks.id"),
            ("spec.workers[12].zones[0]", "spec.workers[].zones[]"),
            ("secret.data[a[b].c]", "secret.data[]"),
            ("<nil>", "<nil>"),
            ("odd]", "odd"),
        ] {
            assert_eq!(general(field), expected);
        }
    }

    #[test]
    fn made_up_fields_do_not_grow_the_metrics_without_end() {
        let mut registry = Registry::default();
        let metrics = Metrics::register(&mut registry);
        metrics.refused("/w", "networks.id");
        for number in 0..10_000 {
            metrics.refused("/w", &format!("unknown{number}"));
        }
        metrics.refused("/w", "networks.id");
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        let series = text.lines().filter(|line| line.starts_with("admission_refusals_total")).count();
        assert_eq!(series, FIELDS + 1);
        assert!(text.contains("field=\"networks.id\"} 2"), "a known field stays known");
        assert!(text.contains(&format!("field=\"other\"}} {}", 10_000 - FIELDS + 1)), "{text}");
    }
}
