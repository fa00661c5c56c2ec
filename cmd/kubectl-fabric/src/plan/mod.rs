//! `infra plan`: what `apply` would do, and nothing done.

pub(crate) mod show;

use std::collections::BTreeMap;

use fabric_apis::field::Warning;
use fabric_infrastructure::{Failure, Plan, Prepared, State, Target, plan::Item, prepare};
use serde::Serialize;

use crate::{
    exit::{Exit, Result},
    failure::Faults,
    output::{self, Output, Paint},
    work::{ShootArgs, Work},
};

/// The arguments.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    shoot: ShootArgs,
    #[command(flatten)]
    output: Output,
}

/// A plan that may be run, and what is shown of it.
pub(crate) struct Drawn {
    pub(crate) target: Target,
    pub(crate) plan: Plan,
    pub(crate) shown: Shown,
}

/// What is shown of a plan.
#[derive(Debug, Serialize)]
pub(crate) struct Shown {
    pub(crate) shoot: String,
    pub(crate) cloud: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) region: Option<String>,
    /// Nothing to do.
    pub(crate) settled: bool,
    /// How many of each verb.
    pub(crate) summary: BTreeMap<&'static str, usize>,
    pub(crate) items: Vec<Item>,
    pub(crate) warnings: Vec<Warning>,
}

impl Shown {
    pub(crate) fn new(work: &Work, items: Vec<Item>, settled: bool, warnings: Vec<Warning>) -> Self {
        Self {
            shoot: work.subject.input.shoot.technical_id.clone(),
            cloud: work.session.label.clone(),
            region: work.session.region.clone(),
            settled,
            summary: show::counts(&items),
            items,
            warnings,
        }
    }

    /// The lines and the warnings, without a closing sentence.
    pub(crate) fn table(&self, title: &str, paint: Paint) -> String {
        let warnings = show::warnings(&self.warnings, paint);
        format!("{}\n{}{warnings}", paint.bold(title), show::items(&self.items, paint))
    }
}

/// Looks at the cloud and decides. What keeps it from a plan is shown, and stops `verb`.
///
/// # Errors
/// Findings of the dynamic rules, failed calls.
pub(crate) async fn draw(work: &Work, state: &State, verb: &str, output: Output, paint: Paint) -> Result<Drawn> {
    let prepared: Result<Prepared, Failure> = prepare(&work.session.client, &work.subject.input, state).await;
    let prepared = prepared.or_else(|failure| Faults::of(&failure).stop(verb, None, output, paint))?;
    // Those of the rules without a cloud stand first, each once.
    let mut warnings = work.warnings.clone();
    for warning in prepared.warnings.iter().chain(&prepared.checked.findings.warnings) {
        if !warnings.contains(warning) {
            warnings.push(warning.clone());
        }
    }
    let ready = prepared.ready();
    let (target, plan) = ready.or_else(|failure| Faults::of(&failure).stop(verb, None, output, paint))?;
    let items = plan.items(&target);
    let settled = plan.is_settled(&target);
    let shown = Shown::new(work, items, settled, warnings);
    Ok(Drawn { target, plan, shown })
}

/// Runs the command.
///
/// # Errors
/// What keeps it from a plan.
pub(crate) async fn run(args: &PlanArgs, paint: Paint) -> Result<Exit> {
    let mut work = Work::begin(&args.shoot, None, args.output, paint).await?;
    let (state, _) = work.recall()?;
    let drawn = draw(&work, &state, "plan", args.output, paint).await?;
    let shown = &drawn.shown;
    if args.output.is_table() {
        let sentence = if shown.settled {
            paint.green(format!("Nothing to do: {}.", show::sentence(&shown.items)))
        } else {
            format!("Plan: {}. Run `apply` with the same arguments to do it.", show::sentence(&shown.items))
        };
        let calls = paint.dim(format!("({})", work.calls()));
        output::print(&format!("{}{sentence} {calls}\n", shown.table(&work.title(), paint)))?;
    } else {
        output::structured(args.output.format, shown)?;
    }
    Ok(if shown.settled { Exit::Ok } else { Exit::Something })
}
