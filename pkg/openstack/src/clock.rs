//! Time as the client sees it, so that tests move it instead of waiting.

use std::{fmt, time::Duration};

use futures::future::BoxFuture;
use tokio::time::Instant;

/// Tells the time and waits.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Now, on a clock that never goes back.
    fn now(&self) -> Instant;
    /// Ends after this long.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}
