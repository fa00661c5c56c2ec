//! What the tests of examples and documents stand on: they do what a reader does, with the command that he builds.
//!
//! ```text
//!   embedded cloud, given things made in it ─┐
//!                                            ├─► Place: a home of its own, clouds.yaml (mycloud), examples/, hack/lab
//!   lab: clouds.yaml, hack/lab render ───────┘      │    and on a lab with Kubernetes: kubectl, the admission program
//!        console blocks of a document ──────────────┴─► bash ─► output ─► compared line by line
//! ```
//!
//! Invariants:
//! * A document's commands run as they stand, in order, in one shell, on either cloud.
//! * A reader's home is never touched: home, state and configuration are a temporary folder.
//! * What a failed test made on the lab is deleted all the same.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "part of the tests: what goes wrong here ends the test"
)]

pub mod console;
mod given;
mod place;

pub use fabric_test_program::{Output, root};
pub use given::Values;
pub use place::Place;

/// The examples, by name, sorted. Not the definitions of kinds: those are for an API server, and tried on one.
pub fn examples() -> Vec<String> {
    let entries = std::fs::read_dir(root().join("examples")).expect("examples");
    let names = entries.map(|entry| entry.expect("an example").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".yaml") && !name.starts_with("20-crd-")).collect();
    names.sort();
    names
}
