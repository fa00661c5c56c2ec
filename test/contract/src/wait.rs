//! Waiting for a cloud: polls to a deadline.

use std::time::Duration;

/// The longest that a status of the lab takes under load.
const DEADLINE: Duration = Duration::from_secs(30);

/// Polls until there is something.
pub async fn until<T, F>(what: &str, mut probe: impl FnMut() -> F) -> T
where
    F: Future<Output = Option<T>>,
{
    let poll = async {
        loop {
            if let Some(found) = probe().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    match tokio::time::timeout(DEADLINE, poll).await {
        Ok(found) => found,
        Err(_) => panic!("{what}: not within {DEADLINE:?}"),
    }
}
