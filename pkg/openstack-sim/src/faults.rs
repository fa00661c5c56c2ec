//! Faults on purpose: by service, method and path, at the n-th call or by chance.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use regex::Regex;
use serde_json::Value;

use crate::rng::Rng;
use crate::{Service, SimError};

/// What a fault does to a request.
#[derive(Debug, Clone)]
pub enum Action {
    /// Answers with this status and body; the request is not carried out.
    Answer {
        /// HTTP status.
        status: u16,
        /// The body; `None` sends none.
        body: Option<Value>,
        /// More headers, such as `Retry-After`.
        headers: Vec<(String, String)>,
    },
    /// Carries the request out, and answers with this status all the same.
    DoneButAnswer {
        /// HTTP status.
        status: u16,
        /// The body; `None` sends none.
        body: Option<Value>,
    },
    /// Waits, then goes on as usual.
    Latency(Duration),
    /// Never answers.
    Stall,
    /// Carries the request out and never answers.
    DoneButStall,
    /// Resets the connection without carrying the request out.
    Reset,
    /// Carries the request out, then resets the connection.
    DoneButReset,
    /// Carries the request out, sends half of the body, and ends the connection.
    CutBody,
}

/// Which of the matching calls a fault hits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum When {
    /// Every one.
    Always,
    /// Only the n-th, counted from 1.
    Nth(u64),
    /// The first n.
    First(u64),
    /// All from the n-th on, counted from 1.
    From(u64),
    /// Each with this probability, between 0 and 1.
    Chance(f64),
}

impl When {
    fn hits(self, count: u64, rng: &mut Rng) -> bool {
        match self {
            Self::Always => true,
            Self::Nth(n) => count == n,
            Self::First(n) => count <= n,
            Self::From(n) => count >= n,
            Self::Chance(p) => rng.fraction() < p,
        }
    }
}

/// A fault to be added with [`Faults::add`].
#[derive(Debug, Clone)]
pub struct Fault {
    /// Only calls to this service; all when `None`.
    pub service: Option<Service>,
    /// Only this method, in upper case; all when empty.
    pub method: String,
    /// A regular expression, found anywhere in path and query.
    pub path: String,
    /// Which of the matching calls.
    pub when: When,
    /// What happens to them.
    pub action: Action,
}

impl Fault {
    /// A fault that hits every call of a method to a path.
    pub fn on(method: &str, path: &str, action: Action) -> Self {
        Self { service: None, method: method.to_owned(), path: path.to_owned(), when: When::Always, action }
    }

    /// The same for some of the calls.
    #[must_use]
    pub fn when(mut self, when: When) -> Self {
        self.when = when;
        self
    }

    /// The same for one service.
    #[must_use]
    pub fn service(mut self, service: Service) -> Self {
        self.service = Some(service);
        self
    }
}

/// Names a fault that was added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultId(u64);

#[derive(Debug)]
struct Rule {
    id: u64,
    fault: Fault,
    path: Regex,
    matched: u64,
    hits: u64,
}

#[derive(Debug)]
struct Rules {
    next: u64,
    rules: Vec<Rule>,
    rng: Rng,
}

/// The faults of a running cloud. The first rule that hits decides; a latency lets later rules hit as well.
#[derive(Debug)]
pub struct Faults(Mutex<Rules>);

impl Faults {
    pub(crate) fn new(seed: Option<u64>) -> Self {
        Self(Mutex::new(Rules { next: 0, rules: Vec::new(), rng: Rng::new(seed) }))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Rules> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a fault.
    ///
    /// # Errors
    /// [`SimError::Pattern`] when the path is no regular expression.
    pub fn add(&self, fault: Fault) -> Result<FaultId, SimError> {
        let path = Regex::new(&fault.path)?;
        let mut rules = self.lock();
        rules.next += 1;
        let id = rules.next;
        rules.rules.push(Rule { id, fault, path, matched: 0, hits: 0 });
        Ok(FaultId(id))
    }

    /// Takes a fault away; nothing happens when it is gone already.
    pub fn remove(&self, id: FaultId) {
        self.lock().rules.retain(|r| r.id != id.0);
    }

    /// Takes all faults away.
    pub fn clear(&self) {
        self.lock().rules.clear();
    }

    /// How many calls a fault has hit.
    pub fn hits(&self, id: FaultId) -> u64 {
        self.lock().rules.iter().find(|r| r.id == id.0).map(|r| r.hits).unwrap_or_default()
    }

    /// What happens to this call, in order: latencies, and at most one other action at the end.
    pub(crate) fn plan(&self, service: Service, method: &str, path_and_query: &str) -> Vec<Action> {
        let mut guard = self.lock();
        let Rules { rules, rng, .. } = &mut *guard;
        let mut out = Vec::new();
        for rule in rules {
            let fits = rule.fault.service.is_none_or(|s| s == service)
                && (rule.fault.method.is_empty() || rule.fault.method == method)
                && rule.path.is_match(path_and_query);
            if !fits {
                continue;
            }
            rule.matched += 1;
            if !rule.fault.when.hits(rule.matched, rng) {
                continue;
            }
            rule.hits += 1;
            out.push(rule.fault.action.clone());
            if !matches!(rule.fault.action, Action::Latency(_)) {
                break;
            }
        }
        out
    }
}
