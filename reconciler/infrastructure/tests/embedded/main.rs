//! Whole reconciles and deletions against the embedded cloud: every pattern, cut runs, lost states, flaky services.
//!
//! One rule stands above all cases: what was there before is there afterwards, with the same content.

#![allow(unreachable_pub, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod bad_input;
mod cut;
mod drift;
mod edited;
mod given;
mod neighbours;
mod patterns;
mod world;
