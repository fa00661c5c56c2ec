//! `infra delete`: takes away exactly what was made, and says what stays.

use std::io::{IsTerminal, Write};

use fabric_infrastructure::{
    Timing, apply_delete,
    observe::{Purpose, observe},
    plan::{Item, Verb},
    plan_delete,
    validate::validate,
};

use crate::{
    apply::Store,
    exit::{Exit, Result, Stop},
    failure::Faults,
    output::{self, Output, Paint, count},
    plan::Shown,
    progress::Progress,
    state_file::StateFile,
    work::{ShootArgs, Work},
};

/// The arguments.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct DeleteArgs {
    #[command(flatten)]
    shoot: ShootArgs,
    /// Don't ask
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    output: Output,
}

/// Runs the command.
///
/// # Errors
/// It was not confirmed; what failed, with what was done recorded in the state.
pub(crate) async fn run(args: &DeleteArgs, paint: Paint) -> Result<Exit> {
    let somebody = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if !args.yes && !somebody {
        return Err(Stop::usage("nobody can be asked whether to delete").next("add --yes to delete without asking"));
    }
    let mut work = Work::begin(&args.shoot, Some("delete"), args.output, paint).await?;
    let file = StateFile::lock(&work.state_path, "delete")?;
    delete(&mut work, &file, args.yes, args.output, paint).await
}

/// The part after the choice of the shoot.
///
/// # Errors
/// As [`run`].
pub(crate) async fn delete(work: &mut Work, file: &StateFile, yes: bool, output: Output, paint: Paint) -> Result<Exit> {
    let (state, _) = work.recall()?;
    let client = &work.session.client;
    let (target, _) = validate(&work.subject.input)
        .or_else(|findings| Faults::fields(&findings.errors, &[]).stop("delete", None, output, paint))?;
    let seen = observe(client, &target, &state, Purpose::Delete).await;
    let plan = plan_delete(&target, &seen, &state)
        .or_else(|errors| Faults::errors(&errors).stop("delete", None, output, paint))?;
    let items = plan.items(&target);
    let goes = items.iter().filter(|item| item.verb == Verb::Delete).count();
    let problems = Faults::errors(plan.problems());
    let shown = Shown::new(work, items, goes == 0 && problems.errors.is_empty(), Vec::new());
    if output.is_table() {
        output::print(&shown.table(&format!("{}: deletion", work.title()), paint))?;
    }
    if goes > 0 && !yes && !confirmed(&work.title(), goes)? {
        return Err(Stop::error("nothing was deleted").next("answer y, or add --yes"));
    }
    let progress = Progress::new(paint);
    let store = Store { file, session: &work.session };
    let options = progress.options();
    let done = apply_delete(plan, &target, client, state, &store, Timing::default(), options).await;
    progress.end();
    let closed = work.session.close();
    let left = done.or_else(|error| Faults::flow(&error).stop("delete", Some(file.path()), output, paint))?;
    closed?;
    if left.is_empty() {
        file.remove().map_err(|error| Stop::error(format!("state {}: {error}", file.path().display())))?;
    }
    if output.is_table() {
        let calls = paint.dim(format!("({})", work.calls()));
        output::print(&format!("{} {calls}\n", closing(&shown.items, goes, paint)))?;
    } else {
        output::structured(output.format, &shown)?;
    }
    Ok(Exit::Ok)
}

/// What went, and what stays.
fn closing(items: &[Item], goes: usize, paint: Paint) -> String {
    let went = if goes == 0 {
        "There was nothing to delete.".to_owned()
    } else {
        format!("Deleted: {}.", count(goes, "resource"))
    };
    let stays: Vec<String> = items
        .iter()
        .filter(|item| item.verb == Verb::Use)
        .map(|item| {
            let name = if item.name.is_empty() { item.id.as_deref().unwrap_or_default() } else { &item.name };
            format!("{} {}", item.kind, output::clean(name))
        })
        .collect();
    let stays =
        if stays.is_empty() { String::new() } else { format!(" Given, and left as it was: {}.", stays.join(", ")) };
    format!("{}{stays}", paint.green(went))
}

fn confirmed(title: &str, goes: usize) -> Result<bool> {
    let question = format!("Delete {} of {title}? What is given stays. [y/N] ", count(goes, "resource"));
    let mut terminal = std::io::stderr();
    let asked = terminal.write_all(question.as_bytes()).and_then(|()| terminal.flush());
    let mut answer = String::new();
    let read = asked.and_then(|()| std::io::stdin().read_line(&mut answer));
    read.map_err(|error| Stop::error(format!("cannot ask: {error}")).next("add --yes to delete without asking"))?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
