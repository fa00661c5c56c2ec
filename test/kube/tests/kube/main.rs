//! What a real kube-apiserver does with Gardener's kinds and with ours.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "cases are tests: a failed expectation ends them"
)]

mod admission;
mod charts;
mod cluster;
mod dynamic;
mod examples;
mod infrastructure;
mod kinds;
mod objects;
mod program;
mod relay;
mod seed;
