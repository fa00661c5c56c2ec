//! The command line.

use std::path::PathBuf;

use clap::{CommandFactory, Parser, Subcommand};

use crate::{
    apply, delete, demo, drift,
    exit::{Exit, Result},
    output::{Color, Paint},
    pages, plan, status, topology, validate,
    work::block_on,
};

/// Bring your own OpenStack network to Gardener shoots: validate, plan, apply, watch and delete.
#[derive(Debug, Parser)]
#[command(name = "kubectl-fabric", version, max_term_width = 100, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    /// When to use colours; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: Color,
    /// Tell more on standard error: what is decided (-v), every call (-vv). RUST_LOG chooses in detail
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// A shoot's infrastructure on OpenStack
    #[command(subcommand, visible_alias = "infrastructure", arg_required_else_help = true, after_help = INFRA_EXAMPLES)]
    Infra(Box<Infra>),
    /// Play a story on a cloud embedded in this program
    #[command(after_help = "Example:\n  kubectl fabric demo")]
    Demo(demo::DemoArgs),
    /// Print completions for a shell
    #[command(after_help = COMPLETIONS_EXAMPLE)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the man page, or write all of them into a folder
    #[command(after_help = "Example:\n  kubectl fabric man ~/.local/share/man/man1")]
    Man {
        /// The folder; it is made if it is not there
        folder: Option<PathBuf>,
    },
    /// Print the page of the documents
    #[command(hide = true)]
    Reference,
}

const EXAMPLES: &str = "\
Examples:
  kubectl fabric demo
  kubectl fabric infra plan -f shoot.yaml --cloud mycloud";

const INFRA_EXAMPLES: &str = "\
Examples:
  kubectl fabric infra validate -f shoot.yaml
  kubectl fabric infra plan -f shoot.yaml --cloud mycloud
  kubectl fabric infra apply -f shoot.yaml --cloud mycloud
  kubectl fabric infra plan -f config.yaml --name shoot--dev--web --cloud demo";

const COMPLETIONS_EXAMPLE: &str = "\
Examples:
  kubectl-fabric completions bash > ~/.local/share/bash-completion/completions/kubectl-fabric
  kubectl-fabric completions zsh > ~/.zfunc/_kubectl-fabric
  kubectl-fabric completions fish > ~/.config/fish/completions/kubectl-fabric.fish";

#[derive(Debug, Subcommand)]
enum Infra {
    /// Tell everything that is wrong with objects, without a cloud
    #[command(after_help = VALIDATE_EXAMPLES)]
    Validate(validate::ValidateArgs),
    /// Show what apply would do
    #[command(after_help = PLAN_EXAMPLES)]
    Plan(plan::PlanArgs),
    /// Make the infrastructure, or put it right
    #[command(after_help = APPLY_EXAMPLES)]
    Apply(apply::ApplyArgs),
    /// Show what was changed behind our back
    #[command(after_help = DRIFT_EXAMPLES)]
    Drift(drift::DriftArgs),
    /// Show what Gardener would read about the infrastructure
    #[command(after_help = STATUS_EXAMPLES)]
    Status(status::StatusArgs),
    /// Take away what was made; what was given stays
    #[command(after_help = DELETE_EXAMPLES)]
    Delete(delete::DeleteArgs),
    /// Draw networks, subnets, router and ports, given and owned told apart
    #[command(after_help = TOPOLOGY_EXAMPLES)]
    Topology(topology::TopologyArgs),
}

const VALIDATE_EXAMPLES: &str = "\
Examples:
  kubectl fabric infra validate -f shoot.yaml
  kubectl fabric infra validate -f new.yaml --old old.yaml --rules update
  kubectl get shoots -A -o yaml | kubectl fabric infra validate -f - -o json

Exit code: 0 valid, 1 findings or an error, 64 a wrong command line";

const PLAN_EXAMPLES: &str = "\
Examples:
  kubectl fabric infra plan -f shoot.yaml --cloud mycloud
  kubectl fabric infra plan -f config.yaml --name shoot--dev--web --cloud demo -o json

Exit code: 0 nothing to do, 2 something, 1 an error, 64 a wrong command line";

const APPLY_EXAMPLES: &str = "\
Examples:
  kubectl fabric infra apply -f shoot.yaml --cloud mycloud
  kubectl fabric infra apply -f infrastructure.yaml -f cluster.yaml --secret cloudprovider.yaml -o json

Ctrl-C stops cleanly; the same command continues.

Exit code: 0 done, 1 an error, 2 something cannot be repaired, 64 a wrong command line, 130 stopped";

const DRIFT_EXAMPLES: &str = "\
Examples:
  kubectl fabric infra drift -f shoot.yaml --cloud mycloud
  kubectl fabric infra drift -f shoot.yaml --cloud mycloud --repair

Exit code: 0 none, 2 some, 1 an error, 64 a wrong command line. With --repair as `apply`";

const STATUS_EXAMPLES: &str = "\
Example:
  kubectl fabric infra status -f shoot.yaml --cloud mycloud -o yaml";

const TOPOLOGY_EXAMPLES: &str = "\
Examples:
  kubectl fabric infra topology -f shoot.yaml --cloud mycloud
  kubectl fabric infra topology -f shoot.yaml --cloud mycloud --svg shoot.svg
  kubectl fabric infra topology -f shoot.yaml --cloud mycloud --mermaid >> README.md";

const DELETE_EXAMPLES: &str = "\
Examples:
  kubectl fabric infra delete -f shoot.yaml --cloud mycloud
  kubectl fabric infra delete -f config.yaml --name shoot--dev--web --cloud demo --yes";

impl Cli {
    /// Runs what the user asked for.
    ///
    /// # Errors
    /// Why it stopped.
    pub(crate) fn run(&self) -> Result<Exit> {
        self.listen();
        let paint = Paint::stdout(self.color);
        match &self.command {
            Command::Infra(infra) => match infra.as_ref() {
                Infra::Validate(args) => validate::run(args, paint),
                Infra::Plan(args) => block_on(plan::run(args, paint)),
                Infra::Apply(args) => block_on(apply::run(args, paint)),
                Infra::Drift(args) => block_on(drift::run(args, paint)),
                Infra::Status(args) => block_on(status::run(args, paint)),
                Infra::Delete(args) => block_on(delete::run(args, paint)),
                Infra::Topology(args) => block_on(topology::run(args, paint)),
            },
            Command::Demo(args) => demo::run(args, paint),
            Command::Completions { shell } => pages::completions(*shell, Self::command()),
            Command::Man { folder } => pages::man(folder.as_deref(), Self::command()),
            Command::Reference => pages::reference(Self::command()),
        }
    }

    /// Logs to standard error, if the user wants any.
    fn listen(&self) {
        let level = match self.verbose {
            0 => "off",
            1 => "info",
            _ => "fabric_infrastructure=debug,fabric_openstack=debug,fabric_flow=debug,info",
        };
        let filter = tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| level.into());
        let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).without_time();
        // A log that nobody reads any more is no reason to stop.
        let logs = logs.log_internal_errors(false);
        // Only a second logger would make this fail, and there is none.
        let _ = logs.with_ansi(self.errors().is_on()).try_init();
    }

    /// Colours for errors.
    pub(crate) fn errors(&self) -> Paint {
        Paint::stdout(self.color).errors()
    }
}
