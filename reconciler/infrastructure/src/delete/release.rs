//! Deleting what something still uses: tried again while only ours is in the way.

use std::{future::Future, time::Duration};

use fabric_openstack_types::{ApiError, ErrorClass};
use tokio::time::{Instant, sleep};

use super::blockers::Blocker;
use crate::{apply::Run, error::Error};

/// Neutron lets go of what it deletes within seconds; a minute later it is stuck (decision D8).
const LETS_GO: Duration = Duration::from_secs(60);

/// Calls `delete` until nothing holds the thing any longer. After a refusal `foreign` names who else uses it: then
/// waiting is in vain.
pub(super) async fn release<D, F>(
    run: &Run<'_>,
    what: &'static str,
    id: &str,
    delete: impl Fn() -> D + Send,
    foreign: impl Fn() -> F + Send,
) -> Result<(), Error>
where
    D: Future<Output = Result<(), ApiError>> + Send,
    F: Future<Output = Result<Vec<Blocker>, ApiError>> + Send,
{
    let limit = LETS_GO.min(run.timing.ready);
    let started = Instant::now();
    let mut pause = run.timing.poll;
    loop {
        let refusal = match delete().await {
            Ok(()) => return Ok(()),
            Err(error) if error.class == ErrorClass::InUse => error,
            Err(error) => return Err(error.into()),
        };
        blocked(what, id, &foreign().await?)?;
        if started.elapsed() + pause > limit {
            return Err(refusal.into());
        }
        sleep(pause).await;
        pause = (pause * 2).min(run.timing.poll * 8);
    }
}

/// An error that names them, if there are any.
pub(super) fn blocked(what: &'static str, id: &str, blockers: &[Blocker]) -> Result<(), Error> {
    if blockers.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = blockers.iter().map(ToString::to_string).collect();
    Err(Error::Blocked { what, id: id.to_owned(), blockers: names.join("; ") })
}
