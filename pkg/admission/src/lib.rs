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
//!
//! ```no_run
//! # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
//! use std::{sync::Arc, time::Duration};
//!
//! use fabric_admission::certificates::{Files, Serving};
//! use fabric_admission::*;
//! use prometheus_client::registry::Registry;
//! use tokio::net::TcpListener;
//!
//! let rule = |request: &Request| match &request.object {
//!     Some(object) if object.bytes().len() > 100 => Verdict::denied("too long: 100 bytes are enough"),
//!     _ => Verdict::allowed(),
//! };
//! let things = Rule::new(Kind::new("example.org", "v1", "Thing"), &[Operation::Create], Arc::new(rule));
//! let routes = Routes::new([Route::new("/webhooks/validate").with(things)])?;
//!
//! let serving = Serving::new();
//! let files = Files::open("/certs/tls.crt", "/certs/tls.key", Arc::clone(&serving), None)?;
//! tokio::spawn(files.watch(Duration::from_secs(10)));
//! let certificate = Arc::clone(&serving);
//! let health = Health::new().with("certificate", Arc::new(move || certificate.check(jiff::Timestamp::now())));
//!
//! let mut registry = Registry::default();
//! let metrics = Metrics::register(&mut registry);
//! let service = Arc::new(Service::new(routes, health, Limits::default(), metrics, registry));
//! let (webhooks, operations) = (TcpListener::bind("[::]:10250").await?, TcpListener::bind("[::]:8081").await?);
//! let stop = async { let _ = tokio::signal::ctrl_c().await; };
//! Server::new(service, serving, Shutdown::default())?.run(webhooks, vec![operations], stop).await;
//! # Ok(())
//! # }
//! ```

pub mod certificates;
pub mod cluster;
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
