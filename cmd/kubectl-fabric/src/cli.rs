//! The command line.

use clap::{CommandFactory, Parser, Subcommand};

use crate::{
    exit::{Exit, Result},
    output::{Color, Paint},
    validate,
};

/// Bring your own OpenStack network to Gardener shoots: validate, plan, apply, watch and delete.
#[derive(Debug, Parser)]
#[command(name = "kubectl-fabric", version, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// When to use colours; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: Color,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// A shoot's infrastructure on OpenStack
    #[command(subcommand, visible_alias = "infrastructure", arg_required_else_help = true)]
    Infra(Infra),
}

#[derive(Debug, Subcommand)]
enum Infra {
    /// Tell everything that is wrong with objects, without a cloud
    #[command(after_help = VALIDATE_EXAMPLES)]
    Validate(validate::Args),
}

const VALIDATE_EXAMPLES: &str = "\
Examples:
  kubectl fabric infra validate -f shoot.yaml
  kubectl fabric infra validate -f new.yaml --old old.yaml --rules update
  kubectl get shoots -A -o yaml | kubectl fabric infra validate -f - -o json

Exit code: 0 valid, 1 findings or an error, 64 a wrong command line";

impl Cli {
    /// The command, for completions and pages.
    pub(crate) fn definition() -> clap::Command {
        Self::command()
    }

    /// Runs what the user asked for.
    ///
    /// # Errors
    /// Why it stopped.
    pub(crate) fn run(&self) -> Result<Exit> {
        let paint = Paint::stdout(self.color);
        match &self.command {
            Command::Infra(Infra::Validate(args)) => validate::run(args, paint),
        }
    }

    /// Colours for errors.
    pub(crate) fn errors(&self) -> Paint {
        Paint::stderr(self.color)
    }
}
