//! What the tests of the reconcile on a real cloud stand on.
//!
//! ```text
//!   lab: clouds.yaml, facts.json ─┐       ┌─► World: a project of its own, an owner who hands things over
//!   a fresh embedded cloud ───────┴─ case ┤        │ raw HTTP (never our client)       ▲
//!                                         │        ▼                                   │ snapshot, before and after
//!                                         │     networks, routers, … given ────────────┘
//!                                         └─► Shoot: the reconcile as its user runs it, calls counted, saves kept
//! ```
//!
//! Invariants:
//! * What is given is made and looked at by a client of its own: a mistake of ours cannot hide itself.
//! * Each test has its own project and users, so tests run side by side, and leaves nothing, whatever happens in it.
//! * A case knows no cloud: the same one runs on the lab and on the embedded cloud. Without a lab it says SKIPPED.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "part of the tests: what goes wrong here ends the test"
)]

mod lab;
mod raw;
mod shoot;
mod snapshot;
mod status;
mod stores;
mod upstream;
mod user;

mod world;

pub use lab::{Facts, Lab};
pub use raw::{Raw, Service, text as raw_text};
pub use shoot::{Calls, Run, SSH_KEY, Shoot, unsettled};
pub use snapshot::Snapshot;
pub use stores::{Saves, StopAt};
pub use user::{Given, NODES};
pub use world::{Hold, World, on_embedded, on_lab};
