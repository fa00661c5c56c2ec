//! `infra topology`: the shoot's network as a drawing, with given and owned told apart.

mod mermaid;
pub(crate) mod model;
pub(crate) mod svg;
pub(crate) mod text;

use std::path::{Path, PathBuf};

use fabric_infrastructure::{
    State,
    observe::{Purpose, observe},
    validate::validate,
};
use model::Topology;

use crate::{
    exit::{Exit, Result, Stop},
    failure::Faults,
    output::{self, Output, Paint},
    work::{ShootArgs, Work},
};

/// The arguments.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct TopologyArgs {
    #[command(flatten)]
    shoot: ShootArgs,
    /// Draw into an SVG file; `-` is standard output
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print a Mermaid flow chart instead of text
    #[arg(long)]
    mermaid: bool,
    #[command(flatten)]
    output: Output,
}

/// Runs the command.
///
/// # Errors
/// What keeps it from looking; a drawing that cannot be written.
pub(crate) async fn run(args: &TopologyArgs, paint: Paint) -> Result<Exit> {
    let mut work = Work::begin(&args.shoot, None, paint).await?;
    let (state, _) = work.recall()?;
    let topology = look(&work, &state, args.output, paint).await?;
    if let Some(path) = &args.svg {
        draw(&topology, path)?;
        if path.as_os_str() == "-" {
            return Ok(Exit::Ok);
        }
        eprintln!("drawn into {}", path.display());
    }
    match (args.mermaid, args.output.is_table()) {
        (true, _) => output::print(&mermaid::draw(&topology))?,
        (false, true) => output::print(&text::draw(&topology, paint))?,
        (false, false) => output::structured(args.output.format, &topology)?,
    }
    Ok(Exit::Ok)
}

/// Looks at the cloud.
///
/// # Errors
/// The static rules' findings; calls that failed.
pub(crate) async fn look(work: &Work, state: &State, output: Output, paint: Paint) -> Result<Topology> {
    let (target, _) = validate(&work.subject.input)
        .or_else(|findings| Faults::fields(&findings.errors, &[]).stop("topology", None, output, paint))?;
    let seen = observe(&work.session.client, &target, state, Purpose::Delete).await;
    let failures = seen.failures();
    if !failures.is_empty() {
        let errors: Vec<_> =
            failures.into_iter().map(|error| fabric_infrastructure::Error::Api(error.clone())).collect();
        return Faults::errors(&errors).stop("topology", None, output, paint);
    }
    Ok(model::of(&work.title(), &target, state, &seen))
}

/// Writes the drawing.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn draw(topology: &Topology, path: &Path) -> Result<()> {
    let drawn = svg::draw(topology);
    if path.as_os_str() == "-" {
        return output::print(&drawn);
    }
    std::fs::write(path, drawn)
        .map_err(|error| Stop::error(format!("{}: {}", path.display(), crate::input::plain(&error))))
}
