//! The reconcile on real services.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests"
)]

mod bad_input;
mod deletion;
mod drift;
mod dual_stack;
mod floating;
mod held;
mod patterns;
mod resume;
mod shares;
mod upstream;
