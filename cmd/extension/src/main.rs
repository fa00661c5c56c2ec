//! `gardener-extension-openstack-fabric`: the extension in a seed.
//!
//! ```text
//!  seed's kube-apiserver ─► /webhooks/validate-infrastructure   Infrastructure (failure policy Ignore: the controller
//!                                                               checks again)
//! ```
//!
//! Everything else is in `fabric_webhooks`; the garden's program shares it.

use std::process::ExitCode;

use clap::Parser;
use fabric_validation::openstack::admission::{Defaults, Webhook};
use fabric_webhooks::program::{Args, Program};

/// Checks Infrastructures of OpenStack before they are stored.
#[derive(Parser)]
#[command(name = "gardener-extension-openstack-fabric", version)]
struct Cli {
    #[command(flatten)]
    args: Args,
}

#[tokio::main]
async fn main() -> ExitCode {
    let program = Program {
        component: "openstack-fabric",
        webhooks: vec![Webhook::Infrastructure],
        defaults: Defaults::default(),
    };
    program.main(Cli::parse().args).await
}
