//! The OpenStack client: session, retries and typed calls, one trait a service.
//!
//! ```text
//!  clouds.yaml, OS_*, Secret ──► config ──► Credentials
//!                                               │
//!   Cloud traits (api) ◄── Client ──► repeat ──► send ──► openstack::session::Session ──► reqwest
//!                            │      (retry)   (gate of 8,      with KeystoneAuth
//!                            │                 401 renewal)    (one token, one flight)
//!                            └── metrics, Stats, spans
//! ```
//!
//! Invariants:
//! * A secret (password, application credential, token) is in no log, error, span or `Debug`.
//! * A `POST` whose answer was lost is sent again only after its result was looked for (decision D5).
//! * An error is classified by status and type, never by its text (decision D8).
//! * A token goes to the hosts of the catalog only: redirections and the hosts of page links are not followed.
//! * One credential has at most [`Options::parallel`] calls on the wire and at most one login.

pub mod api;
mod call;
mod catalog;
mod classify;
mod client;
mod clock;
mod compute;
pub mod config;
mod endpoint;
mod error;
mod identity;
mod keystone;
mod load_balancer;
mod metrics;
mod network;
mod neutron;
mod page;
mod retry;
mod router;
mod security;
mod sessions;
mod share;
mod transport;

#[cfg(test)]
mod tests;

pub use api::{Cloud, Query, Result, RouterInterface, Taggable};
pub use client::{Client, Options, Permit};
pub use clock::{Clock, SystemClock};
pub use error::Error;
pub use keystone::KeystoneAuth;
pub use metrics::{Metrics, Stats};
pub use retry::RetryPolicy;
pub use sessions::{Sessions, fingerprint};
