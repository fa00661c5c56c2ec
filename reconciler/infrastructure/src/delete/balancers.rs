//! Which load balancers are this shoot's, and away with them.

use std::collections::BTreeSet;

use fabric_openstack::Query;
use fabric_openstack_types::{
    ErrorClass, Evidence, Owned, ids::SubnetId, load_balancer::LoadBalancer, observed::Observed,
};
use tokio::time::{Instant, sleep};

use super::plan::{Planned, SubnetRemoval, node_subnet_ids};
use crate::{apply::Run, error::Error, plan::project, target::Target};

/// By the full name that the cloud controller gives, up to the `_` after the cluster: `shoot--dev--a` is no part of
/// `shoot--dev--ab` (decision D7).
fn prefix(target: &Target) -> String {
    format!("kube_service_{}_", target.name())
}

pub(super) fn plan(target: &Target, seen: &Observed, subnets: &[SubnetRemoval]) -> Planned<Vec<Owned<LoadBalancer>>> {
    let on = node_subnet_ids(target, subnets)?;
    let listed = match &seen.load_balancers {
        // No Octavia, or no subnet that one could stand on.
        None => return Ok(Vec::new()),
        Some(Err(error)) if error.class == ErrorClass::NoEndpoint => return Ok(Vec::new()),
        Some(Err(error)) => return Err(error.clone().into()),
        Some(Ok(listed)) => listed,
    };
    let (project, prefix) = (project(seen)?, prefix(target));
    let ours = listed.iter().filter(|it| {
        it.project_id == project
            && it.name.starts_with(&prefix)
            && it.vip_subnet_id.as_ref().is_some_and(|subnet| on.contains(subnet))
            && it.provisioning_status != "DELETED"
    });
    Ok(ours.map(|it| Owned::by(Evidence::Shape, it.clone())).collect())
}

/// Deletes them with all that hangs on them and waits until they are gone. One that is being changed cannot be
/// deleted yet: it is waited for.
pub(super) async fn delete(run: &Run<'_>, mut left: Vec<Owned<LoadBalancer>>) -> Result<(), Error> {
    let subnets: BTreeSet<SubnetId> = left.iter().filter_map(|it| it.get().vip_subnet_id.clone()).collect();
    let started = Instant::now();
    let mut pause = run.timing.poll;
    loop {
        for balancer in left.iter().filter(|it| !is_pending(it.get())) {
            match run.cloud.delete_load_balancer(&balancer.clone().map(|it| it.id)).await {
                Ok(()) => {}
                // Somebody changes it: it can be deleted later.
                Err(error) if matches!(error.class, ErrorClass::Conflict | ErrorClass::InUse) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let now = listed(run, &subnets).await?;
        left = left.into_iter().filter_map(|it| still_there(&now, it)).collect();
        if left.is_empty() {
            return Ok(());
        }
        if started.elapsed() + pause > run.timing.ready {
            return Err(too_slow(&left, run.timing.ready.as_secs()));
        }
        sleep(pause).await;
        pause = (pause * 2).min(run.timing.poll * 8);
    }
}

fn is_pending(balancer: &LoadBalancer) -> bool {
    balancer.provisioning_status.starts_with("PENDING_")
}

/// One list a subnet, however many load balancers stand on it.
async fn listed(run: &Run<'_>, subnets: &BTreeSet<SubnetId>) -> Result<Vec<LoadBalancer>, Error> {
    let mut all = Vec::new();
    for subnet in subnets {
        let query = Query::all().and("vip_subnet_id", subnet.as_str());
        all.extend(run.cloud.load_balancers(&query).await?);
    }
    Ok(all)
}

fn still_there(now: &[LoadBalancer], known: Owned<LoadBalancer>) -> Option<Owned<LoadBalancer>> {
    let found = now.iter().find(|it| it.id == known.get().id && it.provisioning_status != "DELETED")?;
    Some(known.map(|_| found.clone()))
}

fn too_slow(left: &[Owned<LoadBalancer>], seconds: u64) -> Error {
    let name = |it: &Owned<LoadBalancer>| {
        let it = it.get();
        format!("{} ({}, {})", it.name, it.id, it.provisioning_status)
    };
    let names: Vec<String> = left.iter().map(name).collect();
    Error::NotReady { what: "load balancer", id: names.join(", "), wanted: "deleted", seconds }
}
