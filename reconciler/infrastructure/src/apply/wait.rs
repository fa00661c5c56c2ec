//! Waits until a port carries traffic.

use fabric_openstack_types::ids::PortId;
use tokio::time::{Instant, sleep};

use super::Run;
use crate::error::Error;

const WHAT: &str = "router interface port";

/// Polls the port, first quickly, then more slowly, until it is ACTIVE.
pub(super) async fn active(run: &Run<'_>, port: &PortId) -> Result<(), Error> {
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
        pause = (pause * 2).min(run.timing.poll * 8);
    }
}
