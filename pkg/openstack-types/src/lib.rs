//! What OpenStack says and what we may do with it, without any IO.
//!
//! ```text
//!  Credentials ──► (pkg/openstack) ──► models: Network, Subnet, Router, Port, …  ──► Observed
//!                        │                                                            │
//!                        └──► ApiError { class: ErrorClass }        Given<T> / Owned<T> ◄── evidence: Marker, state
//! ```
//!
//! Invariants:
//! * A secret never appears in `Debug`, `Display` or an error.
//! * An [`ownership::Owned`] exists only with evidence; a delete or an update is built from nothing else.
//! * Every failed query keeps its own error beside its result ([`observed::Observed`]).

pub mod compute;
pub mod credentials;
pub mod error;
pub mod ids;
pub mod load_balancer;
pub mod marker;
pub mod network;
pub mod observed;
pub mod ownership;
pub mod secret_key;
pub mod share;

pub use error::{ApiError, ErrorClass, Service};
pub use marker::Marker;
pub use ownership::{Evidence, Given, Owned};
