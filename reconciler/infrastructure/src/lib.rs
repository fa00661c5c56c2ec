//! Reconciles one shoot's infrastructure on OpenStack.
//!
//! ```text
//!  dereference ─► validate ─► observe ─► check ─► plan ─► apply ─► status
//!   Input          Target      Observed   rules    Plan    graph    providerStatus, state, networking, egressCIDRs
//!                  └────────── no IO ──────────┘  (pure)
//! ```
//!
//! Invariants:
//! * What the user gave is read, never written: a change or a deletion is built from an `Owned` alone (decision D6).
//! * One observation serves the dynamic rules and the plan (decision D9); a settled infrastructure is not written at all.
//! * State is saved after every step, so a run that is cut continues; a wiped state is found again by marker and shape.
//! * An error keeps its class from the call to the Gardener code (decision D8).

pub mod apply;
pub mod codes;
pub mod delete;
pub mod dereference;
pub mod error;
pub mod find;
pub mod gardener;
pub mod observe;
pub mod pattern;
pub mod plan;
pub mod reconcile;
pub mod state;
pub mod status;
pub mod target;
pub mod validate;

#[cfg(test)]
mod testing;

pub use apply::Timing;
pub use delete::{DeletePlan, apply_delete, plan_delete};
pub use dereference::{Input, Shoot};
pub use error::Error;
pub use plan::{Plan, plan};
pub use reconcile::{Failure, Prepared, Reconciled, prepare, reconcile};
pub use state::{Key, State, StateStore};
pub use target::Target;
