//! The webhooks of our programs: which rule answers for which kind, what it must read for it, and what the cloud says.
//!
//! ```text
//!  Request ─► read ─► fetch: bindings, secrets, profiles ─► judge (pure) ─► nothing wrong? ─► dynamic ─► Verdict
//!                       ▲ the garden or the seed              ▲ validation                      │ observe + check,
//!                       └── asked for by the rules ───────────┘                                 ▼ in a time box
//!                                                                                     Listings ─► one client a login
//!  program: flags ─► cluster, lease, certificates, registration, server
//! ```
//!
//! What is checked is the table of `fabric_validation::openstack::admission`: a kind is one line there, and nothing
//! here. The dynamic rules are the ones of the controller and of the command line, read-only by type.
//!
//! Invariants:
//! - A review ends before its caller stops waiting: fetching and the cloud have shares of the time of their own.
//! - An object that could not be judged, because another one could not be read, is refused and says which. A cloud that
//!   could not be asked never refuses anything: it is told as a warning.
//! - Credentials go from the fetched secret to the cloud that the operator's profile names, to no other host, and into
//!   no message, log or `Debug`.
//! - Nothing here can change a cloud: [`dynamic::Listings`] refuses every call that would.

pub mod dynamic;
mod error;
pub mod fetch;
mod handler;
pub mod program;
mod routes;

pub use error::Error;
pub use fetch::{ClusterFetch, Fetch};
pub use routes::{Rules, routes};
