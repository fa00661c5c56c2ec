//! `gardener-extension-openstack-fabric`: the extension in a seed.
//!
//! ```text
//!  seed's kube-apiserver ─► /webhooks/validate-infrastructure   Infrastructure (failure policy Ignore: the controller
//!                                                               checks again)
//!  Infrastructures ─────► infrastructure, in the one replica that holds the lease ─► OpenStack
//!                         heartbeat, likewise ─► what gardenlet's health checks look at
//! ```
//!
//! The webhooks are in `fabric_webhooks`; the garden's program shares them.

mod heartbeat;
mod infrastructure;

use std::process::ExitCode;

use clap::Parser;
use fabric_validation::openstack::admission::{Defaults, Webhook};
use fabric_webhooks::program::{Args, Program, Work};

use heartbeat::Heartbeat;
use infrastructure::Infrastructures;

/// Reconciles Infrastructures of OpenStack, and checks them before they are stored.
#[derive(Parser)]
#[command(name = "gardener-extension-openstack-fabric", version)]
struct Cli {
    #[command(flatten)]
    args: Args,
    #[command(flatten)]
    infrastructure: infrastructure::Args,
    #[command(flatten)]
    heartbeat: heartbeat::Args,
    /// Serve no webhooks
    #[arg(long, default_value_t = false, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    disable_webhooks: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let Cli { args, infrastructure, heartbeat, disable_webhooks } = Cli::parse();
    let program = Program {
        component: "openstack-fabric",
        webhooks: if disable_webhooks { Vec::new() } else { vec![Webhook::Infrastructure] },
        defaults: Defaults::default(),
    };
    let heartbeat = Heartbeat { args: heartbeat, holder: "openstack-fabric" };
    let mut work: Vec<Box<dyn Work>> = vec![Box::new(heartbeat)];
    if let Some(settings) = infrastructure.settings() {
        work.push(Box::new(Infrastructures { settings }));
    }
    program.main(args, work).await
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_flags_of_all_parts_fit_together() {
        super::Cli::command().debug_assert();
    }
}
