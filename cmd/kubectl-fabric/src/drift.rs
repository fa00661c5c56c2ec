//! `infra drift`: what changed behind our back. A plan that is not empty on an unchanged specification is drift.

use crate::{
    apply,
    exit::{Exit, Result},
    output::{self, Output, Paint},
    plan::{self, show},
    work::{ShootArgs, Work},
};

/// The arguments.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct DriftArgs {
    #[command(flatten)]
    shoot: ShootArgs,
    /// Put right what is ours; what is given is never touched
    #[arg(long)]
    repair: bool,
    #[command(flatten)]
    output: Output,
}

/// Runs the command.
///
/// # Errors
/// What keeps it from looking, or from repairing.
pub(crate) async fn run(args: &DriftArgs, paint: Paint) -> Result<Exit> {
    if args.repair {
        return apply::reconcile(&args.shoot, args.output, "drift --repair", paint).await;
    }
    let mut work = Work::begin(&args.shoot, None, args.output, paint).await?;
    let (state, known) = work.recall()?;
    let drawn = plan::draw(&work, &state, "drift", args.output, paint).await?;
    let shown = &drawn.shown;
    if args.output.is_table() {
        let mut text = shown.table(&work.title(), paint);
        if !known {
            let path = work.state_path.display();
            text.push_str(&format!("  {} there is no state at {path}: was it applied?\n", paint.yellow("note")));
        }
        let sentence = if shown.settled {
            paint.green(format!("No drift: {}.", show::sentence(&shown.items)))
        } else {
            let sentence = paint.yellow(format!("Drift: {}.", show::sentence(&shown.items)));
            format!("{sentence} Add --repair to put right what is ours.")
        };
        output::print(&format!("{text}{sentence} {}\n", paint.dim(format!("({})", work.calls()))))?;
    } else {
        output::structured(args.output.format, shown)?;
    }
    Ok(if shown.settled { Exit::Ok } else { Exit::Something })
}
