//! `infra apply`: shows the plan, does it, and reports what Gardener would read.

use async_trait::async_trait;
use fabric_infrastructure::{
    Error, Failure, Key, Reconciled, State, StateStore, Timing, plan::Verb, reconcile::finish,
};
use serde_json::{Value, json};

use crate::{
    cloud::Session,
    exit::{Exit, Result, Stop},
    failure::Faults,
    output::{self, Output, Paint},
    plan::{self, show},
    progress::Progress,
    state_file::StateFile,
    status,
    work::{ShootArgs, Work},
};

/// The arguments.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    shoot: ShootArgs,
    #[command(flatten)]
    output: Output,
}

/// Runs the command.
///
/// # Errors
/// What failed; what was done is in the state.
pub(crate) async fn run(args: &ApplyArgs, paint: Paint) -> Result<Exit> {
    reconcile(&args.shoot, args.output, "apply", paint).await
}

/// The state file, and the content of the embedded cloud: it must never know less than the state does.
pub(crate) struct Store<'a> {
    pub(crate) file: &'a StateFile,
    pub(crate) session: &'a Session,
}

#[async_trait]
impl StateStore for Store<'_> {
    async fn save(&self, state: &State) -> Result<(), Error> {
        if let Some(embedded) = &self.session.embedded {
            embedded.save().map_err(|error| Error::State(format!("embedded cloud: {error}")))?;
        }
        self.file.save(state).await
    }
}

/// plan ─► apply ─► status, with everything shown.
///
/// # Errors
/// As [`run`].
pub(crate) async fn reconcile(args: &ShootArgs, output: Output, verb: &str, paint: Paint) -> Result<Exit> {
    let mut work = Work::begin(args, Some(verb), output, paint).await?;
    let file = StateFile::lock(&work.state_path, verb)?;
    let (state, _) = work.recall()?;
    let (done, exit) = act(&work, &file, state, output, verb, paint).await?;
    if !output.is_table() {
        output::structured(output.format, &result(&done))?;
    } else {
        let sentence = format!("{} is as it should be.", work.subject.input.shoot.technical_id);
        let sentence =
            if exit == Exit::Ok { paint.green(sentence) } else { paint.yellow("Not everything could be put right.") };
        let status = status::table(&done, paint);
        output::print(&format!("{status}{sentence} {}\n", paint.dim(format!("({})", work.calls()))))?;
    }
    Ok(exit)
}

/// The part that changes the cloud; the plan is printed, the result is returned.
///
/// # Errors
/// As [`run`].
pub(crate) async fn act(
    work: &Work,
    file: &StateFile,
    state: State,
    output: Output,
    verb: &str,
    paint: Paint,
) -> Result<(Reconciled, Exit)> {
    let drawn = plan::draw(work, &state, verb, output, paint).await?;
    let broken = drawn.shown.items.iter().any(|item| item.verb == Verb::Unrepairable);
    if output.is_table() {
        let sentence = if drawn.shown.settled { "Nothing to do" } else { "Plan" };
        let closing = format!("{sentence}: {}.\n", show::sentence(&drawn.shown.items));
        output::print(&format!("{}{closing}", drawn.shown.table(&work.title(), paint)))?;
    }
    let store = Store { file, session: &work.session };
    remember_uid(&store, &state).await?;
    let progress = Progress::new(paint);
    let options = progress.options();
    let done = finish(&work.session.client, &drawn.target, drawn.plan, state, &store, Timing::default(), options).await;
    progress.end();
    let closed = work.session.close();
    match done {
        Ok(done) => closed.map(|()| (done, if broken { Exit::Something } else { Exit::Ok })),
        Err(failure) => stop(&failure, verb, file, output, paint),
    }
}

fn stop<T>(failure: &Failure, verb: &str, file: &StateFile, output: Output, paint: Paint) -> Result<T> {
    Faults::of(failure).stop(verb, Some(file.path()), output, paint)
}

/// Before anything is marked with it, the uid is on disk: a run that is cut must find again what it made.
async fn remember_uid(store: &Store<'_>, state: &State) -> Result<()> {
    if state.get(Key::Uid).is_none() || crate::state_file::read(store.file.path())?.as_ref() == Some(state) {
        return Ok(());
    }
    store.save(state).await.map_err(|error| Stop::error(error).next("give another file with --state"))
}

/// What Gardener reads.
pub(crate) fn result(done: &Reconciled) -> Value {
    json!({
        "providerStatus": done.provider_status,
        "networking": done.networking,
        "egressCIDRs": done.egress_cidrs,
        "state": done.state.to_object(),
    })
}
