//! `demo`: the embedded cloud to play with, and a story that plays by itself.

mod given;
mod story;

use given::Given;

use crate::{
    cloud::Session,
    embedded::Embedded,
    exit::{Exit, Result, Stop},
    output::{self, Paint},
    state_file,
    work::block_on,
};

/// The arguments.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct DemoArgs {
    #[command(subcommand)]
    command: Option<DemoCommand>,
}

/// What the demo can do beside its story.
#[derive(Clone, Debug, clap::Subcommand)]
enum DemoCommand {
    /// Make a user's network in the cloud `demo`, and print a config that uses it
    #[command(after_help = GIVEN_EXAMPLE)]
    Given {
        /// 1: nothing given, 2: network, 3: and router, 4: and subnet, 5: and security group
        #[arg(long, value_name = "1-5", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=5))]
        pattern: u8,
    },
    /// Forget the cloud `demo` and the states of its shoots
    #[command(after_help = "Example:\n  kubectl fabric demo reset")]
    Reset,
}

const GIVEN_EXAMPLE: &str = "\
Example:
  kubectl fabric demo given --pattern 4 > byo.yaml
  kubectl fabric infra apply --cloud demo --name shoot--demo--byo -f byo.yaml";

/// Runs the command.
///
/// # Errors
/// What goes wrong in the story, or with the embedded cloud's file.
pub(crate) fn run(args: &DemoArgs, paint: Paint) -> Result<Exit> {
    match args.command {
        None => block_on(story::play(paint)),
        Some(DemoCommand::Given { pattern }) => block_on(given(pattern)),
        Some(DemoCommand::Reset) => reset(),
    }
}

async fn given(pattern: u8) -> Result<Exit> {
    let embedded = Embedded::start(&Embedded::default_file()?, Some("demo given")).await?;
    let given = Given::seed(&embedded.cloud)?;
    given.settled(&embedded.cloud).await?;
    embedded.save().map_err(|error| Stop::error(format!("embedded cloud: {error}")))?;
    output::print(&given.config(pattern))?;
    Ok(Exit::Ok)
}

fn reset() -> Result<Exit> {
    let file = Embedded::default_file()?;
    let lock = state_file::Lock::take(&file, "demo reset")?;
    let states = state_file::home()?.join(crate::embedded::NAME);
    let gone = |result: std::io::Result<()>, path: &std::path::Path| match result {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Stop::error(format!("{}: {}", path.display(), crate::input::plain(&error))))
        }
        _ => Ok(()),
    };
    gone(std::fs::remove_dir_all(&states), &states)?;
    gone(std::fs::remove_file(&file), &file)?;
    drop(lock);
    output::print("The cloud demo is fresh again.\n")?;
    Ok(Exit::Ok)
}

/// The embedded cloud of a session that has one.
fn cloud(session: &Session) -> Result<&fabric_openstack_sim::Cloud> {
    session.embedded.as_ref().map(|it| &it.cloud).ok_or_else(|| Stop::error("the session has no embedded cloud"))
}
