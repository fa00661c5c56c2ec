//! `gardener-extension-openstack-fabric`: the extension in a seed.
//!
//! ```text
//!  seed's kube-apiserver ─► /webhooks/validate-infrastructure   Infrastructure (failure policy Ignore: the controller
//!                                                               checks again)
//!  Infrastructures ─────► infrastructure, in the one replica that holds the lease ─► OpenStack
//! ```
//!
//! The webhooks are in `fabric_webhooks`; the garden's program shares them.

mod infrastructure;

use std::process::ExitCode;

use clap::Parser;
use fabric_validation::openstack::admission::{Defaults, Webhook};
use fabric_webhooks::program::{Args, Program, Work};

use infrastructure::Infrastructures;

/// Reconciles Infrastructures of OpenStack, and checks them before they are stored.
#[derive(Parser)]
#[command(name = "gardener-extension-openstack-fabric", version)]
struct Cli {
    #[command(flatten)]
    args: Args,
    #[command(flatten)]
    infrastructure: infrastructure::Args,
    /// Serve no webhooks
    #[arg(long, default_value_t = false, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    disable_webhooks: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let Cli { args, infrastructure, disable_webhooks } = Cli::parse();
    let program = Program {
        component: "openstack-fabric",
        webhooks: if disable_webhooks { Vec::new() } else { vec![Webhook::Infrastructure] },
        defaults: Defaults::default(),
    };
    let controller = infrastructure.settings().map(|settings| Box::new(Infrastructures { settings }) as Box<dyn Work>);
    program.main(args, controller.into_iter().collect()).await
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_flags_of_all_parts_fit_together() {
        super::Cli::command().debug_assert();
    }
}
