//! Runs a plan: a task each step, as parallel as their needs allow, the state saved after each.

use std::{
    net::IpAddr,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use fabric_flow::{FlowError, Graph, Options, Outcome, Task};
use fabric_openstack::Cloud;
use fabric_openstack_types::ids::PortId;

use crate::{
    error::Error,
    plan::Plan,
    state::{Key, State, StateStore},
    target::{Role, Target},
};

mod ids;
mod key;
mod network;
mod router;
mod security_group;
mod share_network;
mod subnet;
mod tags;
mod wait;

/// How long things may take.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// A task's limit.
    pub task: Duration,
    /// How long a port may take to become ACTIVE; below the task's limit, so that the error can say what was waited for.
    pub ready: Duration,
    /// First pause between two looks; it grows by half up to twelve times itself.
    pub poll: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self { task: Duration::from_secs(90), ready: Duration::from_secs(80), poll: Duration::from_millis(150) }
    }
}

/// What a run left.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The state, as saved.
    pub state: State,
    /// The router's external addresses.
    pub router_ips: Vec<IpAddr>,
}

/// A run that did not come to its end. What it did is in the state.
#[derive(Debug)]
pub struct ApplyError {
    /// What failed.
    pub failure: FlowError<Error>,
    /// The state, as saved.
    pub state: State,
}

impl std::fmt::Display for ApplyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.failure.fmt(f)
    }
}

impl std::error::Error for ApplyError {}

/// What the tasks of a run share.
pub(crate) struct Run<'a> {
    pub(crate) cloud: &'a dyn Cloud,
    pub(crate) target: &'a Target,
    pub(crate) timing: Timing,
    state: Mutex<State>,
    saved: tokio::sync::Mutex<State>,
    store: &'a dyn StateStore,
    router_ips: Mutex<Vec<IpAddr>>,
    tags: Mutex<Vec<fabric_openstack_types::Owned<fabric_openstack::Taggable>>>,
    /// Those whose ACTIVE is waited for.
    ports: Mutex<Vec<PortId>>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(
        cloud: &'a dyn Cloud,
        target: &'a Target,
        timing: Timing,
        state: State,
        store: &'a dyn StateStore,
    ) -> Self {
        Self {
            cloud,
            target,
            timing,
            saved: tokio::sync::Mutex::new(state.clone()),
            state: Mutex::new(state),
            store,
            router_ips: Mutex::default(),
            tags: Mutex::default(),
            ports: Mutex::default(),
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    pub(crate) fn set(&self, key: Key, value: impl Into<String>) {
        self.state().set(key, value);
    }

    /// Saves the state if it changed since it was saved last.
    pub(crate) async fn save(&self) -> Result<(), Error> {
        let mut saved = self.saved.lock().await;
        let now = self.state().clone();
        if *saved != now {
            self.store.save(&now).await?;
            *saved = now;
        }
        Ok(())
    }

    /// The state as it was saved. What was only remembered, by a plan without a task that ran, is saved too.
    pub(crate) async fn end(&self, outcome: Result<Outcome, FlowError<Error>>) -> Result<State, ApplyError> {
        let saved = self.save().await.map_err(FlowError::Persist);
        let state = self.state().clone();
        match outcome.and(saved) {
            Ok(()) => Ok(state),
            Err(failure) => Err(ApplyError { failure, state }),
        }
    }

    fn task<F>(&self, name: &'static str, run: F) -> Task<'a, Error>
    where
        F: Future<Output = Result<(), Error>> + Send + 'a,
    {
        Task::new(name, self.timing.task, run)
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `plan`. A settled one makes no call and saves nothing new.
///
/// # Errors
/// The tasks that failed, with the state that the others left.
pub async fn apply(
    plan: Plan,
    target: &Target,
    cloud: &dyn Cloud,
    state: State,
    store: &dyn StateStore,
    timing: Timing,
    options: Options,
) -> Result<Applied, ApplyError> {
    let run = Run::new(cloud, target, timing, state, store);
    *lock(&run.router_ips) = plan.router_ips();
    ids::remember(&plan, &run);
    let outcome = graph(plan, &run).run(options, || run.save()).await;
    let state = run.end(outcome).await?;
    let router_ips = lock(&run.router_ips).clone();
    Ok(Applied { state, router_ips })
}

fn graph<'a>(plan: Plan, run: &'a Run<'a>) -> Graph<'a, Error> {
    let mut graph = Graph::new();
    graph.add(run.task("ensure network", network::ensure(run, plan.network)));
    let gateway = plan.router.new_gateway();
    graph.add(run.task("ensure router", router::ensure(run, plan.router)));
    if let Some((gateway, subnets)) = gateway {
        let set = router::ensure_gateway(run, gateway, subnets);
        graph.add(run.task("ensure router gateway", set).after(&["ensure router"]));
    }
    for step in plan.subnets {
        let name = subnet::task(step.role());
        graph.add(run.task(name, subnet::ensure(run, step)).after(&["ensure network"]));
    }
    let mut interfaces = Vec::new();
    for step in plan.interfaces {
        let role = step.role();
        let (name, needs) = (router::interface_task(role), ["ensure router", subnet::task(role)]);
        graph.add(run.task(name, router::ensure_interface(run, step)).after(&needs));
        interfaces.push(name);
    }
    if !interfaces.is_empty() {
        graph.add(run.task("wait for router interface", wait::ports(run)).after(&interfaces));
    }
    // Its rules name the range that IPv6 pods get from a pool.
    let pods = subnet::task(Role::PodsIpv6);
    let ranges: &[&str] = if run.target.overlay_off && graph.has(pods) { &[pods] } else { &[] };
    graph.add(run.task("ensure security group", security_group::ensure(run, plan.security_group)).after(ranges));
    graph.add(run.task("ensure ssh key pair", key::ensure(run, plan.key_pair)));
    if let Some(step) = plan.share_network {
        graph.add(run.task("ensure share network", share_network::ensure(run, step)).after(&["ensure subnet"]));
    }
    lock(&run.tags).extend(plan.tags);
    let marked: Vec<String> = ["ensure network", "ensure router", "ensure security group"]
        .into_iter()
        .map(str::to_owned)
        .chain(Role::ALL.map(|role| subnet::task(role).to_owned()))
        .filter(|name| graph.has(name))
        .collect();
    // The way to a working interface is the longest; nobody waits for the tags (the descriptions have marked everything
    // already), so they fill the time in which it comes up.
    let before: Vec<&str> = marked.iter().map(String::as_str).chain(interfaces).collect();
    graph.add(run.task("ensure tags", tags::ensure(run)).after(&before));
    graph
}
