//! When to stop.

use tokio::signal::unix::{SignalKind, signal};

use crate::Error;

/// Ends with the first SIGTERM (a pod is being deleted) or SIGINT (Ctrl-C). Listens from the call on, not only from
/// the first poll, so that a signal during the start is not lost.
///
/// # Errors
/// [`Error::Signal`]
pub fn stopped() -> Result<impl Future<Output = ()> + Send, Error> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        let name = tokio::select! {
            _ = terminate.recv() => "SIGTERM",
            _ = interrupt.recv() => "SIGINT",
        };
        tracing::info!(signal = name, "asked to stop");
    })
}
