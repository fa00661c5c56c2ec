//! The server side of admission webhooks: reviews over TLS, certificates that renew themselves, health and metrics.
//!
//! ```text
//!            TLS                 limits, reading               table                   rules of the caller
//!  client ─► server ─► http body ─► service ─► review::decode ─► Routes (path, kind) ─► Handler ─► Verdict
//!               ▲                      │  ▲                                                          │
//!               │ newest pair          │  └───────────── AdmissionReview, or a Status ◄──────────────┘
//!  certificates::Serving               └─► metrics
//!      ▲ files, polled
//!      └ Keeper: secrets ─► rotation (pure) ─► issue ─► secrets, caBundle
//! ```
//!
//! What is checked is data: a [`Route`] ties a path and the kinds and operations below it to a [`Handler`]; a new kind
//! is one more entry. Nothing here knows a rule, an object of Gardener's, or how to reach a cluster.
//!
//! Invariants:
//! - Every request that was read gets an answer: an `AdmissionReview` where the review could be told apart, a Kubernetes
//!   `Status` where not. A handler that panics or runs out of time refuses; nothing hangs or answers 500.
//! - Memory is bounded whatever is sent: one body, all bodies together, connections, label values of metrics.
//! - A certificate is swapped without closing a connection. A CA leaves the bundle only after the last certificate it
//!   signed is out of use, and a certificate moves to a new CA only after the bundle with it was published.
//! - Shutting down refuses nobody: first not ready, then every answer closes its connection, then no new connections.
//! - Objects and keys never appear in logs, `Debug` or errors of ours.

pub mod certificates;
mod error;
mod health;
mod limits;
mod metrics;
mod pace;
mod review;
mod route;
mod server;
mod service;
mod verdict;

pub use error::Error;
pub use health::{Check, Health};
pub use limits::Limits;
pub use metrics::Metrics;
pub use review::{Kind, Object, Operation, Request, Resource, UserInfo};
pub use route::{Handler, Route, Routes, Rule};
pub use server::{Server, Shutdown};
pub use service::Service;
pub use verdict::{PatchOperation, Verdict};
