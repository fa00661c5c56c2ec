//! Whether the process lives and whether requests should come here.

use std::fmt::Write;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

/// Says `Ok` or what is missing, in a few words without secrets.
pub type Check = Arc<dyn Fn() -> Result<(), String> + Send + Sync>;

/// The checks behind `/readyz`. `/healthz` answers as long as the process can answer.
#[derive(Clone, Default)]
pub struct Health {
    checks: Vec<(&'static str, Check)>,
    /// Cancelled as soon as no new requests are wanted.
    pub(crate) leaving: CancellationToken,
}

impl Health {
    /// Ready as soon as the server is.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ready only while `check` says so, too. A check is asked at every probe and must not wait.
    #[must_use]
    pub fn with(mut self, name: &'static str, check: Check) -> Self {
        self.checks.push((name, check));
        self
    }

    /// Whether requests should come here.
    pub fn is_ready(&self) -> bool {
        self.report().0
    }

    /// Readiness, and a line for each check as the programs of Kubernetes print them.
    pub(crate) fn report(&self) -> (bool, String) {
        let leaving = if self.leaving.is_cancelled() { Err("shutting down".to_owned()) } else { Ok(()) };
        let results = self.checks.iter().map(|(name, check)| (*name, check()));
        let mut ready = true;
        let mut text = String::new();
        for (name, result) in std::iter::once(("server", leaving)).chain(results) {
            // Writing to a String can't fail.
            let _ = match result {
                Ok(()) => writeln!(text, "[+]{name} ok"),
                Err(problem) => {
                    ready = false;
                    writeln!(text, "[-]{name} failed: {problem}")
                }
            };
        }
        (ready, text)
    }
}
