//! The drivers: each reads like the line that it implements.

use fabric_apis::{
    field::{Findings, Warning},
    openstack::v1alpha1::InfrastructureStatus,
};
use fabric_flow::{FlowError, Options};
use fabric_openstack::Cloud;
use fabric_openstack_types::observed::Observed;
use fabric_validation::openstack::check::{self, Checked};
use ipnet::IpNet;

use crate::{
    apply::{ApplyError, Timing, apply},
    codes::Code,
    delete::{DeletePlan, apply_delete, plan_delete},
    dereference::Input,
    error::Error,
    observe::{Purpose, observe},
    plan::{Plan, plan},
    state::{State, StateStore},
    status::{Networking, egress_cidrs, networking, provider_status},
    target::Target,
    validate::{read, root, validate},
};

/// The specification beside what the cloud holds: enough to show, to judge and to act.
pub struct Prepared {
    /// The typed specification.
    pub target: Target,
    /// What was seen.
    pub observed: Observed,
    /// The dynamic rules' findings, and the failed calls behind them.
    pub checked: Checked,
    /// Warnings of the static rules.
    pub warnings: Vec<Warning>,
    /// What is to be done, or why that cannot be told.
    pub plan: Result<Plan, Vec<Error>>,
}

impl Prepared {
    /// Whether there is a plan that may be run.
    ///
    /// # Errors
    /// The findings, or what stops the plan.
    pub fn ready(self) -> Result<(Target, Plan), Failure> {
        if !self.checked.findings.errors.is_empty() {
            return Err(Failure::Checks(self.checked));
        }
        self.plan.map(|plan| (self.target, plan)).map_err(Failure::Plan)
    }
}

/// What stopped a reconcile, by stage.
#[derive(Debug)]
pub enum Failure {
    /// The static rules.
    Invalid(Findings),
    /// The dynamic rules.
    Checks(Checked),
    /// No plan could be made.
    Plan(Vec<Error>),
    /// Running the plan. Boxed: it carries the state.
    Apply(Box<ApplyError>),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Invalid(findings) => findings.errors.fmt(f),
            Self::Checks(checked) => checked.findings.errors.fmt(f),
            Self::Plan(errors) => {
                let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
                f.write_str(&texts.join("; "))
            }
            Self::Apply(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Failure {}

impl Failure {
    /// The Gardener codes, each once.
    pub fn codes(&self) -> Vec<Code> {
        let mut codes: Vec<Code> = match self {
            Self::Invalid(_) => vec![Code::ConfigurationProblem],
            // No failed call behind it: the specification itself is the problem.
            Self::Checks(checked) if checked.failures.is_empty() => vec![Code::ConfigurationProblem],
            Self::Checks(checked) => checked.failures.iter().map(Code::from).collect(),
            Self::Plan(errors) => errors.iter().filter_map(Error::code).collect(),
            Self::Apply(error) => flow_codes(&error.failure),
        };
        codes.sort();
        codes.dedup();
        codes
    }
}

/// The codes of a flow's failed tasks.
pub fn flow_codes(failure: &FlowError<Error>) -> Vec<Code> {
    match failure {
        FlowError::Tasks(errors) => errors
            .iter()
            .filter_map(|task| match &task.failure {
                fabric_flow::TaskFailure::Failed(error) => error.code(),
                fabric_flow::TaskFailure::TimedOut(_) => Some(Code::RetryableDependencies),
            })
            .collect(),
        FlowError::Persist(error) => error.code().into_iter().collect(),
        FlowError::Graph(_) | FlowError::Cancelled => Vec::new(),
    }
}

/// What a reconcile leaves for Gardener.
#[derive(Clone, Debug)]
pub struct Reconciled {
    /// `status.providerStatus`.
    pub provider_status: InfrastructureStatus,
    /// `status.networking`.
    pub networking: Networking,
    /// `status.egressCIDRs`.
    pub egress_cidrs: Vec<String>,
    /// `status.state`.
    pub state: State,
}

/// validate ─► observe ─► check ─► plan. Changes nothing.
///
/// # Errors
/// The static findings; everything later is inside [`Prepared`].
pub async fn prepare(cloud: &dyn Cloud, input: &Input, state: &State) -> Result<Prepared, Failure> {
    let (target, warnings) = validate(input).map_err(Failure::Invalid)?;
    let observed = observe(cloud, &target, state, Purpose::Reconcile).await;
    let pods: Vec<IpNet> = target.pod_ranges();
    let context = check::Context {
        path: root(input.path),
        technical_id: target.name(),
        nodes: target.nodes,
        pods: &pods,
        dual_stack: target.is_dual_stack(),
        overlay_off: target.overlay_off,
    };
    let checked = check::check(&input.config, &context, &observed);
    let plan = plan(&target, &observed, state);
    Ok(Prepared { target, observed, checked, warnings, plan })
}

/// prepare ─► apply ─► status.
///
/// # Errors
/// By stage; what was done before a failure is saved.
pub async fn reconcile(
    cloud: &dyn Cloud,
    input: &Input,
    state: State,
    store: &dyn StateStore,
    timing: Timing,
    options: Options,
) -> Result<Reconciled, Failure> {
    let (target, plan) = prepare(cloud, input, &state).await?.ready()?;
    finish(cloud, &target, plan, state, store, timing, options).await
}

/// apply ─► status, for a plan that was shown before.
///
/// # Errors
/// The tasks that failed; what the others did is saved.
pub async fn finish(
    cloud: &dyn Cloud,
    target: &Target,
    plan: Plan,
    state: State,
    store: &dyn StateStore,
    timing: Timing,
    options: Options,
) -> Result<Reconciled, Failure> {
    let applied = apply(plan, target, cloud, state, store, timing, options).await;
    let applied = applied.map_err(|error| Failure::Apply(Box::new(error)))?;
    Ok(Reconciled {
        provider_status: provider_status(target, &applied),
        networking: networking(target, &applied.state),
        egress_cidrs: egress_cidrs(&applied.router_ips),
        state: applied.state,
    })
}

/// What a deletion would do. Changes nothing.
///
/// # Errors
/// The specification does not read, or two resources could both be ours.
pub async fn prepare_delete(cloud: &dyn Cloud, input: &Input, state: &State) -> Result<(Target, DeletePlan), Failure> {
    let target = read(input).map_err(Failure::Invalid)?;
    let observed = observe(cloud, &target, state, Purpose::Delete).await;
    let plan = plan_delete(&target, &observed, state).map_err(Failure::Plan)?;
    Ok((target, plan))
}

/// observe ─► plan ─► apply, backwards: takes away what was made.
///
/// # Errors
/// By stage; what was taken away before a failure is saved as gone.
pub async fn delete(
    cloud: &dyn Cloud,
    input: &Input,
    state: State,
    store: &dyn StateStore,
    timing: Timing,
    options: Options,
) -> Result<State, Failure> {
    let (target, plan) = prepare_delete(cloud, input, &state).await?;
    let left = apply_delete(plan, &target, cloud, state, store, timing, options).await;
    left.map_err(|error| Failure::Apply(Box::new(error)))
}
