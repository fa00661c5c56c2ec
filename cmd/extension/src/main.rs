//! `gardener-extension-openstack-fabric`: the extension in a seed.
//!
//! ```text
//!  seed's kube-apiserver ─► /webhooks/validate-infrastructure   Infrastructure (failure policy Ignore: the controller
//!                                                               checks again)
//!                       ─► /webhooks/mutate-cloudprovider       Secret cloudprovider, where upstream's webhook is off
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
    /// Webhooks that are not served: infrastructure, cloudprovider, or none of them. The second completes shoots' secrets
    /// with the CloudProfile's Keystone, and belongs only where upstream's webhook of that name is off
    #[arg(long, value_enum, value_delimiter = ',', default_value = "cloudprovider", value_name = "NAMES")]
    disable_webhooks: Vec<Disabled>,
}

/// A webhook by its short name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Disabled {
    Infrastructure,
    Cloudprovider,
    None,
}

impl Cli {
    fn webhooks(&self) -> Vec<Webhook> {
        let all =
            [(Webhook::Infrastructure, Disabled::Infrastructure), (Webhook::Cloudprovider, Disabled::Cloudprovider)];
        let served = all.into_iter().filter(|(_, name)| !self.disable_webhooks.contains(name));
        served.map(|(webhook, _)| webhook).collect()
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    let program = Program { component: "openstack-fabric", webhooks: cli.webhooks(), defaults: Defaults::default() };
    let Cli { args, infrastructure, heartbeat, .. } = cli;
    let heartbeat = Heartbeat { args: heartbeat, holder: "openstack-fabric" };
    let mut work: Vec<Box<dyn Work>> = vec![Box::new(heartbeat)];
    if let Some(settings) = infrastructure.settings() {
        work.push(Box::new(Infrastructures { settings }));
    }
    program.main(args, work).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_flags_of_all_parts_fit_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn secrets_are_completed_only_where_it_is_asked_for() {
        let served = |flags: &[&str]| Cli::parse_from(std::iter::once(&"x").chain(flags)).webhooks();
        assert_eq!(served(&[]), [Webhook::Infrastructure]);
        assert_eq!(served(&["--disable-webhooks=none"]), [Webhook::Infrastructure, Webhook::Cloudprovider]);
        assert_eq!(served(&["--disable-webhooks", "infrastructure"]), [Webhook::Cloudprovider]);
        assert_eq!(served(&["--disable-webhooks", "infrastructure,cloudprovider"]), []);
    }
}
