//! Takes away exactly what was made for this shoot, and nothing that was given.
//!
//! ```text
//!  key pair   security group   routes ──┬─► router interfaces ─┬─► subnets (in a given network) ─┐
//!                      load balancers ──┘                      ├─► network (takes its subnets) ◄─┤
//!                       share network ─────────────────────────┴─► router         (own each)     │
//! ```
//!
//! [`plan_delete`] is pure; [`apply_delete`] runs it as a flow, with the state saved after every task.
//!
//! Invariants:
//! * Only an `Owned` is deleted; whatever id the specification gives never becomes one (decision D6).
//! * On a shared router or subnet only what is provably this shoot's goes: load balancers by their full name, routes by
//!   destination, next hop and who holds it (decision D7).
//! * A listing that failed stops the tasks that need it, no other; their error is told in the end.
//! * A conflict is repeated only while nothing foreign is in the way; what is foreign is named (decision D8).
//! * An empty state is no proof that nothing is there: ours is looked for by marker, name and shape.
//!
//! Forced deletion and migration of a control plane do nothing here and call no cloud: the first only lets go of the
//! finalizer, the second leaves everything to the next seed, which continues from the state.

use std::future::Future;

use fabric_flow::{Graph, Options, Task};
use fabric_openstack::Cloud;
use fabric_openstack_types::Owned;

use crate::{
    apply::{ApplyError, Run, Timing},
    error::Error,
    state::{Key, State, StateStore},
    target::{Role, Target},
};

mod balancers;
mod blockers;
mod doubles;
mod items;
mod plan;
mod release;
mod routes;
mod tasks;

#[cfg(test)]
mod tests;

use blockers::Ours;

pub use blockers::Blocker;
pub use doubles::Doubles;
pub use plan::{DeletePlan, Planned, Removal, SubnetRemoval, plan_delete};
pub use routes::RoutesRemoval;

const KEY_PAIR: &str = "delete ssh key pair";
const SECURITY_GROUP: &str = "delete security group";
const ROUTES: &str = "delete kubernetes routes";
const LOAD_BALANCERS: &str = "delete kubernetes loadbalancers";
const SHARE_NETWORK: &str = "delete share network";
const INTERFACE: &str = "delete router interface";
const INTERFACE_V6: &str = "delete IPv6 router interface";
const SUBNET: &str = "delete subnet";
const SUBNETS_V6: &str = "delete IPv6 subnets";
const NETWORK: &str = "delete network";
const ROUTER: &str = "delete router";
const DOUBLES: &str = "delete what was made twice";

/// Runs `plan` and returns the state it leaves: nothing but the shoot's uid.
///
/// # Errors
/// The tasks that failed, also those whose listing had failed, with the state that the others left.
pub async fn apply_delete(
    plan: DeletePlan,
    target: &Target,
    cloud: &dyn Cloud,
    state: State,
    store: &dyn StateStore,
    timing: Timing,
    options: Options,
) -> Result<State, ApplyError> {
    let run = Run::new(cloud, target, timing, state, store);
    forget_absent(&plan, &run);
    let ours = plan.ours.clone();
    let outcome = graph(plan, &run, &ours).run(options, || run.save()).await;
    if outcome.is_ok() {
        forget_all(&run);
    }
    run.end(outcome).await
}

/// What is known to be gone is not remembered any longer.
fn forget_absent(plan: &DeletePlan, run: &Run<'_>) {
    let gone = |absent: bool, keys: &[Key]| {
        if absent {
            tasks::forget(run, keys);
        }
    };
    gone(matches!(plan.key_pair, Ok(None)), &tasks::KEY_PAIR_KEYS);
    gone(matches!(plan.security_group, Ok(Removal::Absent)), &tasks::SECURITY_GROUP_KEYS);
    gone(matches!(plan.share_network, Ok(Removal::Absent)), &tasks::SHARE_NETWORK_KEYS);
    gone(matches!(plan.router, Ok(Removal::Absent)), &[Key::Router]);
    gone(matches!(plan.network, Ok(Removal::Absent)), &tasks::NETWORK_KEYS);
    for SubnetRemoval { role, subnet, .. } in &plan.subnets {
        gone(matches!(subnet, Ok(Removal::Absent)), &tasks::subnet_keys(*role));
    }
}

/// Nothing of ours is left: what was given is none of our business any longer.
fn forget_all(run: &Run<'_>) {
    let mut state = run.state();
    let uid = state.get(Key::Uid).map(str::to_owned);
    *state = State::default();
    if let Some(uid) = uid {
        state.set(Key::Uid, uid);
    }
}

/// A task each thing that goes, and each that could not be looked up; what stays, and what is gone, has none.
fn graph<'a>(plan: DeletePlan, run: &'a Run<'a>, ours: &'a Ours) -> Graph<'a, Error> {
    let mut graph = Graph::new();
    step(&mut graph, run, KEY_PAIR, &[], plan.key_pair, |pair| tasks::key_pair(run, pair));
    let group = owned(plan.security_group);
    step(&mut graph, run, SECURITY_GROUP, &[], group, |group| tasks::security_group(run, ours, group));
    step(&mut graph, run, ROUTES, &[], plan.routes, |routes| tasks::routes(run, routes));
    let balancers = plan.load_balancers.map(some);
    step(&mut graph, run, LOAD_BALANCERS, &[], balancers, |all| balancers::delete(run, all));
    step(&mut graph, run, SHARE_NETWORK, &[], owned(plan.share_network), |share| tasks::share_network(run, share));
    let (nodes, ipv6): (Vec<_>, Vec<_>) = plan.subnets.into_iter().partition(|it| it.role == Role::Nodes);
    subnet_steps(&mut graph, run, ours, [INTERFACE, SUBNET], &nodes);
    subnet_steps(&mut graph, run, ours, [INTERFACE_V6, SUBNETS_V6], &ipv6);
    let emptied = [INTERFACE, INTERFACE_V6, LOAD_BALANCERS, SHARE_NETWORK];
    step(&mut graph, run, NETWORK, &emptied, owned(plan.network), |it| tasks::network(run, ours, it));
    step(&mut graph, run, ROUTER, &[ROUTES, INTERFACE, INTERFACE_V6], owned(plan.router), |it| tasks::router(run, it));
    let doubles = (!plan.doubles.is_empty()).then_some(plan.doubles);
    step(&mut graph, run, DOUBLES, &[], Ok(doubles), |doubles| tasks::doubles(run, ours, doubles));
    graph.drop_absent_dependencies();
    graph
}

/// The interfaces on the subnets of one family, then the subnets, unless their network takes them along.
fn subnet_steps<'a>(
    graph: &mut Graph<'a, Error>,
    run: &'a Run<'a>,
    ours: &'a Ours,
    [interface, subnet]: [&'static str; 2],
    removals: &[SubnetRemoval],
) {
    // A floating IP of a load balancer holds the interface as a route does.
    let freed = [ROUTES, LOAD_BALANCERS];
    step(graph, run, interface, &freed, interfaces(removals), |all| tasks::interfaces(run, ours, all));
    if !run.target.network.is_own() {
        let emptied = [interface, LOAD_BALANCERS, SHARE_NETWORK];
        step(graph, run, subnet, &emptied, subnets(removals), |all| tasks::subnets(run, ours, all));
    }
}

fn step<'a, T, F>(
    graph: &mut Graph<'a, Error>,
    run: &Run<'_>,
    name: &'static str,
    after: &[&str],
    planned: Planned<Option<T>>,
    task: impl FnOnce(T) -> F,
) where
    F: Future<Output = Result<(), Error>> + Send + 'a,
{
    match planned {
        Ok(None) => {}
        Ok(Some(thing)) => graph.add(Task::new(name, run.timing.task, task(thing)).after(after)),
        Err(error) => graph.add(Task::new(name, run.timing.task, async { Err(error) }).after(after)),
    }
}

fn owned<T>(removal: Planned<Removal<T>>) -> Planned<Option<Owned<T>>> {
    removal.map(Removal::into_owned)
}

fn some<T>(all: Vec<T>) -> Option<Vec<T>> {
    (!all.is_empty()).then_some(all)
}

/// The interfaces that go, with their subnets' ranges; the first error if one could not be looked up.
fn interfaces(removals: &[SubnetRemoval]) -> Planned<Option<Vec<tasks::Interface>>> {
    let mut all = Vec::new();
    for it in removals {
        let range = it.subnet.as_ref().ok().and_then(Removal::get).map(|subnet| subnet.cidr);
        all.extend(it.interface.clone()?.zip(range));
    }
    Ok(some(all))
}

/// The subnets that go, likewise.
fn subnets(removals: &[SubnetRemoval]) -> Planned<Option<Vec<tasks::Leaving>>> {
    let mut all = Vec::new();
    for it in removals {
        all.extend(owned(it.subnet.clone())?.map(|subnet| (it.role, subnet)));
    }
    Ok(some(all))
}
