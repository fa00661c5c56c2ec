//! What the tests on the lab's Kubernetes stand on: a real kube-apiserver that knows Gardener's kinds.
//!
//! ```text
//!   hack/lab up kube ──► FABRIC_LAB_KUBECONFIG, FABRIC_LAB_KUBE_BIN ──► on_lab(case) ──► Garden: a namespace of the case's own
//!                                                                                          ├─► client, api(): requests
//!                                                                                          └─► kubectl(), helm(): as a user
//! ```
//! Invariants:
//! - A case leaves nothing behind, also when it fails: its namespace goes, and whatever it names to [`Garden::owns`].
//! - Without a lab a case says `SKIPPED`; with one that is named and does not answer it fails.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "this crate is for tests: a failed expectation ends them"
)]

mod garden;
mod run;
mod value;

pub use fabric_test_program::{Output, binary, root};
pub use garden::{Garden, in_garden, on_lab, second};
pub use value::{all_of, documents, filled_in};

use std::future::Future;
use std::time::{Duration, Instant};

/// Asks until there is an answer, for a minute at most.
pub async fn until<T, F: Future<Output = Option<T>>>(what: &str, mut ask: impl FnMut() -> F) -> T {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(Instant::now() < end, "not within a minute: {what}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
