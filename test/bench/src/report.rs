//! What a load told.

use std::time::Duration;

use serde::Serialize;

/// The outcome of a load, as its JSON line has it.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// Reviews that were sent.
    count: usize,
    /// Reviews without an answer, or with another one than expected.
    failed: usize,
    /// What was wrong, a few of them.
    problems: Vec<String>,
    /// Reviews that were refused, as they should be.
    refused: usize,
    /// Reviews that were answered with a warning.
    warned: usize,
    /// Answers a second.
    rate: f64,
    p50_ms: f64,
    p99_ms: f64,
    max_ms: f64,
    /// Different certificates that the server showed.
    certificates: usize,
}

/// An answer that came.
pub(crate) struct Answer {
    pub(crate) allowed: bool,
    pub(crate) warned: bool,
    pub(crate) message: String,
}

/// What was seen so far.
#[derive(Default)]
pub(crate) struct Seen {
    times: Vec<Duration>,
    problems: Vec<String>,
    failed: usize,
    refused: usize,
    warned: usize,
}

impl Seen {
    /// Counts a review: how long it took since its time had come, what came back and what had to come.
    pub(crate) fn add(&mut self, took: Duration, answer: anyhow::Result<Answer>, expected: bool) {
        self.times.push(took);
        let problem = match answer {
            Ok(answer) if answer.allowed == expected => {
                self.refused += usize::from(!answer.allowed);
                self.warned += usize::from(answer.warned);
                return;
            }
            Ok(answer) => format!("allowed: {} ({}), expected: {expected}", answer.allowed, answer.message),
            Err(error) => format!("{error:#}"),
        };
        self.failed += 1;
        if self.problems.len() < 5 {
            self.problems.push(problem);
        }
    }

    pub(crate) fn report(mut self, over: Duration, certificates: usize) -> Report {
        self.times.sort_unstable();
        let count = self.times.len();
        let at = |share: f64| {
            // The smallest time that this share of the reviews did not exceed.
            #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let rank = (count as f64 * share).ceil() as usize;
            self.times.get(rank.saturating_sub(1)).map_or(0.0, |time| time.as_secs_f64() * 1e3)
        };
        #[allow(clippy::cast_precision_loss)]
        let rate = count as f64 / over.as_secs_f64();
        Report {
            count,
            rate,
            p50_ms: at(0.5),
            p99_ms: at(0.99),
            max_ms: at(1.0),
            failed: self.failed,
            problems: self.problems,
            refused: self.refused,
            warned: self.warned,
            certificates,
        }
    }
}
