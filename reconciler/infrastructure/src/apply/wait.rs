//! Waits until the ports of router interfaces carry traffic.

use fabric_openstack_types::ids::PortId;
use futures::future::try_join_all;
use tokio::time::{Instant, sleep};

use super::{Run, lock};
use crate::error::Error;

const WHAT: &str = "router interface port";

/// Waits for every port that a task has put on the list.
pub(super) async fn ports(run: &Run<'_>) -> Result<(), Error> {
    let ports = std::mem::take(&mut *lock(&run.ports));
    try_join_all(ports.iter().map(|port| active(run, port))).await?;
    Ok(())
}

/// Polls the port, first quickly, then more slowly, until it is ACTIVE. With pauses that grow by half we are late by
/// no more than half of what the cloud took.
async fn active(run: &Run<'_>, port: &PortId) -> Result<(), Error> {
    let started = Instant::now();
    let mut pause = run.timing.poll;
    loop {
        let status = run.cloud.port(port).await?.status;
        match status.as_str() {
            "ACTIVE" => return Ok(()),
            "BUILD" | "DOWN" => {}
            pending if pending.starts_with("PENDING_") => {}
            _ => return Err(Error::BadStatus { what: WHAT, id: port.to_string(), status, wanted: "ACTIVE" }),
        }
        if started.elapsed() + pause > run.timing.ready {
            let seconds = run.timing.ready.as_secs();
            return Err(Error::NotReady { what: WHAT, id: port.to_string(), wanted: "ACTIVE", seconds });
        }
        sleep(pause).await;
        pause = (pause * 3 / 2).min(run.timing.poll * 12);
    }
}
