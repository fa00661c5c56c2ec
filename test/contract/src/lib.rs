//! What we rely on an OpenStack cloud to do, as cases that run on the real services and on the embedded cloud alike.
//!
//! ```text
//!  lab's clouds.yaml, facts.json ─┐
//!                                 ├─► Stage (clients of five users, facts) ─► case ─► sweep by prefix
//!  embedded cloud ────────────────┘
//! ```
//!
//! Invariants:
//! * A case knows no cloud: only the clients and the facts of its [`Stage`].
//! * Everything that a case makes bears the stage's prefix, and is swept away also when the case fails.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "cases are tests: a failed expectation ends them"
)]

pub mod cases;
pub mod raw;
mod stage;
mod sweep;
pub mod wait;

pub use stage::{Facts, Held, Hold, Stage};
