//! Reliability properties: many cases, of which none may fail. `make test` runs some of them, `make soak R=…` all.

use std::fmt::Display;
use std::future::Future;
use std::io::Write;
use std::panic::AssertUnwindSafe;
use std::time::Instant;

use futures::FutureExt;

/// How many cases a property is tried with: `whole` ones when `FABRIC_SOAK` names it, else `quick` ones.
pub fn cases(id: &str, quick: usize, whole: usize) -> usize {
    if is_soaked(id) { whole } else { quick }
}

/// Whether `make soak` runs this property.
pub fn is_soaked(id: &str) -> bool {
    std::env::var("FABRIC_SOAK").is_ok_and(|wanted| wanted == id)
}

/// What was tried, and what failed.
pub struct Property {
    id: &'static str,
    what: &'static str,
    begun: Instant,
    tried: usize,
    failed: Vec<String>,
}

impl Property {
    /// `id` as the targets number it, `what` as a word.
    pub fn new(id: &'static str, what: &'static str) -> Self {
        Self { id, what, begun: Instant::now(), tried: 0, failed: Vec::new() }
    }

    /// Runs a case; one that panics has failed, and the next one is tried all the same.
    pub async fn case(&mut self, name: impl Display, run: impl Future<Output = ()>) {
        self.tried += 1;
        if let Err(panic) = AssertUnwindSafe(run).catch_unwind().await {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            self.failed.push(format!("{name}: {}", text.unwrap_or_default()));
        }
    }

    /// Tells the result, as a line in the file that `FABRIC_SOAK_RESULTS` names.
    ///
    /// # Panics
    /// When a case failed, or none was tried.
    pub fn end(self) {
        let Self { id, what, begun, tried, failed } = self;
        let line = serde_json::json!({
            "id": id, "what": what, "tried": tried, "failed": failed.len(), "goal": 0,
            "met": failed.is_empty() && tried > 0, "seconds": begun.elapsed().as_secs(),
        });
        println!("{line}");
        if let Some(path) = std::env::var_os("FABRIC_SOAK_RESULTS").filter(|_| is_soaked(id)) {
            let mut file = std::fs::File::options().append(true).create(true).open(path).expect("the results");
            writeln!(file, "{line}").expect("a line");
        }
        assert!(tried > 0, "{id}: nothing was tried");
        assert!(failed.is_empty(), "{id}: {} of {tried} failed:\n{}", failed.len(), failed.join("\n"));
    }
}
