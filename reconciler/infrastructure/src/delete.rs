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

use fabric_flow::{FlowError, Graph, Options, Task};
use fabric_openstack::Cloud;

use crate::{
    apply::{ApplyError, Run, Timing},
    error::Error,
    state::{Key, State, StateStore},
    target::{Role, Target},
};

mod balancers;
mod blockers;
mod items;
mod plan;
mod release;
mod routes;
mod tasks;

#[cfg(test)]
mod tests;

pub use blockers::Blocker;
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
    let blockers = plan.ours.clone();
    let outcome = graph(plan, &run, &blockers).run(options, || run.save()).await;
    if outcome.is_ok() {
        forget_all(&run);
    }
    let saved = run.save().await;
    let state = run.state().clone();
    match (outcome, saved) {
        (Ok(_), Ok(())) => Ok(state),
        (Ok(_), Err(error)) => Err(ApplyError { failure: FlowError::Persist(error), state }),
        (Err(failure), _) => Err(ApplyError { failure, state }),
    }
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
fn graph<'a>(plan: DeletePlan, run: &'a Run<'a>, ours: &'a blockers::Ours) -> Graph<'a, Error> {
    let mut graph = Graph::new();
    let own_network = run.target.network.is_own();
    step(&mut graph, run, KEY_PAIR, &[], plan.key_pair, |pair| tasks::key_pair(run, pair));
    let group = owned(plan.security_group);
    step(&mut graph, run, SECURITY_GROUP, &[], group, |group| tasks::security_group(run, ours, group));
    step(&mut graph, run, ROUTES, &[], plan.routes, |routes| tasks::routes(run, routes));
    let balancers = plan.load_balancers.map(|all| (!all.is_empty()).then_some(all));
    step(&mut graph, run, LOAD_BALANCERS, &[], balancers, |all| balancers::delete(run, all));
    step(&mut graph, run, SHARE_NETWORK, &[], owned(plan.share_network), |share| tasks::share_network(run, share));
    let (nodes, reservations): (Vec<_>, Vec<_>) = plan.subnets.into_iter().partition(|it| it.role == Role::Nodes);
    for (name_of, after, subnets) in [
        ([INTERFACE, SUBNET], [INTERFACE, LOAD_BALANCERS, SHARE_NETWORK], nodes),
        ([INTERFACE_V6, SUBNETS_V6], [INTERFACE_V6, LOAD_BALANCERS, SHARE_NETWORK], reservations),
    ] {
        let [interface, subnet] = name_of;
        let (interfaces, subnets) = halves(subnets);
        // A floating IP of a load balancer holds the interface as well as a route does.
        let frees = [ROUTES, LOAD_BALANCERS];
        step(&mut graph, run, interface, &frees, interfaces, |all| tasks::interfaces(run, all));
        if !own_network {
            step(&mut graph, run, subnet, &after, subnets, |all| tasks::subnets(run, ours, all));
        }
    }
    let emptied = [INTERFACE, INTERFACE_V6, LOAD_BALANCERS, SHARE_NETWORK];
    let foreign = plan.foreign_subnets;
    step(&mut graph, run, NETWORK, &emptied, owned(plan.network), |it| tasks::network(run, ours, it, foreign));
    step(&mut graph, run, ROUTER, &[ROUTES, INTERFACE, INTERFACE_V6], owned(plan.router), |it| tasks::router(run, it));
    graph.drop_absent_dependencies();
    graph
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

fn owned<T>(removal: Planned<Removal<T>>) -> Planned<Option<fabric_openstack_types::Owned<T>>> {
    removal.map(Removal::into_owned)
}

type Interface = (fabric_openstack_types::Owned<fabric_openstack::RouterInterface>, ipnet::IpNet);
type Subnet = (Role, fabric_openstack_types::Owned<fabric_openstack_types::network::Subnet>);

/// The interfaces and the subnets of one family that go; the first error if one could not be looked up.
fn halves(subnets: Vec<SubnetRemoval>) -> (Planned<Option<Vec<Interface>>>, Planned<Option<Vec<Subnet>>>) {
    let mut interfaces: Planned<Vec<Interface>> = Ok(Vec::new());
    let mut gone: Planned<Vec<Subnet>> = Ok(Vec::new());
    for SubnetRemoval { role, subnet, interface } in subnets {
        interfaces = interfaces.and_then(|mut all| {
            if let (Some(interface), Some(subnet)) = (interface?, subnet.as_ref().ok().and_then(Removal::get)) {
                all.push((interface, subnet.cidr));
            }
            Ok(all)
        });
        gone = gone.and_then(|mut all| {
            all.extend(owned(subnet)?.map(|subnet| (role, subnet)));
            Ok(all)
        });
    }
    let some = |all: Vec<Interface>| (!all.is_empty()).then_some(all);
    (interfaces.map(some), gone.map(|all| (!all.is_empty()).then_some(all)))
}
