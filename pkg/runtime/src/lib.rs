//! What every program of ours needs around its work: a cluster's client, a lease, logs, a signal to stop.
//!
//! ```text
//!  flags ─► logging          SIGTERM, SIGINT ─► stop ─► server drains ─► work ends ─► lease is given back
//!        ─► cluster ─► Client ─► lease::ClusterLease ─► Elector ─► Leadership::is_held ─► the one who writes
//! ```
//!
//! Invariants:
//! - At most one holder believes in its lease at any time, whatever the cluster's clock says: a holder counts from the
//!   moment *before* it asked, others from the moment *after* they saw, and both use a clock that never jumps.
//! - Every request to a cluster ends within a time that is shorter than what is left between those two moments.
//! - Tokens, keys and the content of kubeconfigs are in no log, error or `Debug`.

pub mod cluster;
mod error;
pub mod heartbeat;
pub mod lease;

pub mod logging;
mod stop;

pub use error::Error;
pub use lease::{Elector, Leadership};
pub use stop::stopped;
