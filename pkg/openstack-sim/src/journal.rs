//! What was asked of the cloud, in order.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::Service;

/// How many calls are remembered; the counters go on when the oldest are forgotten.
const REMEMBERED: usize = 50_000;

/// One call over HTTP.
#[derive(Debug, Clone)]
pub struct Call {
    /// Counted from 1, in the order in which the calls were answered.
    pub number: u64,
    /// The service.
    pub service: Service,
    /// The method, in upper case.
    pub method: String,
    /// The path without the query.
    pub path: String,
    /// The query as it came, without `?`.
    pub query: String,
    /// The status of the answer; 0 when there was none, by a fault.
    pub status: u16,
    /// The body, but never of a call to Keystone, which may carry secrets.
    pub body: Option<Value>,
}

impl Call {
    /// Does the call change something? A login does not count.
    pub fn mutates(&self) -> bool {
        !matches!(self.method.as_str(), "GET" | "HEAD" | "OPTIONS") && self.service != Service::Identity
    }
}

#[derive(Debug, Default)]
struct Inner {
    calls: VecDeque<Call>,
    total: u64,
    mutations: u64,
}

/// The calls that a running cloud has answered.
#[derive(Debug, Default)]
pub struct Journal(Mutex<Inner>);

impl Journal {
    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn note(&self, mut call: Call) {
        let mut inner = self.lock();
        inner.total += 1;
        inner.mutations += u64::from(call.mutates());
        call.number = inner.total;
        if inner.calls.len() >= REMEMBERED {
            inner.calls.pop_front();
        }
        inner.calls.push_back(call);
    }

    /// All calls that are remembered.
    pub fn all(&self) -> Vec<Call> {
        self.lock().calls.iter().cloned().collect()
    }

    /// Those that changed something, or tried to.
    pub fn mutations(&self) -> Vec<Call> {
        self.lock().calls.iter().filter(|c| c.mutates()).cloned().collect()
    }

    /// Those behind a number: what came after an earlier [`Journal::total`].
    pub fn since(&self, number: u64) -> Vec<Call> {
        self.lock().calls.iter().filter(|c| c.number > number).cloned().collect()
    }

    /// How many calls there were.
    pub fn total(&self) -> u64 {
        self.lock().total
    }

    /// How many of them changed something, or tried to.
    pub fn mutation_count(&self) -> u64 {
        self.lock().mutations
    }

    /// Forgets all calls and starts counting anew.
    pub fn clear(&self) {
        *self.lock() = Inner::default();
    }
}
