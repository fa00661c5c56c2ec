//! `gardener-extension-admission-openstack-fabric`: the webhooks in the garden.
//!
//! ```text
//!  gardener-apiserver ─► /webhooks/validate          Shoot, profiles, bindings     (static, then the cloud on request)
//!                     ─► /webhooks/validate/secrets  Secret
//!                     ─► /webhooks/mutate            Shoot
//! ```
//!
//! Everything else is in `fabric_webhooks`; the seed's program shares it.

use std::process::ExitCode;

use clap::Parser;
use fabric_validation::openstack::admission::{Defaults, Webhook};
use fabric_webhooks::program::{Args, Program};
use mimalloc::MiMalloc;

/// A review is read, judged and dropped again: a third of that is memory.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Checks Shoots, CloudProfiles, bindings and Secrets of OpenStack before they are stored.
#[derive(Parser)]
#[command(name = "gardener-extension-admission-openstack-fabric", version)]
struct Cli {
    #[command(flatten)]
    args: Args,
    /// Whether objects are judged
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, value_name = "BOOL")]
    validating_webhooks: bool,
    /// Whether new Shoots get what they leave open
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, value_name = "BOOL")]
    mutating_webhook: bool,
    /// Whether the pod network of a new Shoot is an overlay when its owner doesn't say
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, value_name = "BOOL")]
    overlay_by_default: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    let validating = [Webhook::Validate, Webhook::Secrets].into_iter().filter(|_| cli.validating_webhooks);
    let mutating = [Webhook::Mutate].into_iter().filter(|_| cli.mutating_webhook);
    let program = Program {
        component: "admission-openstack-fabric",
        webhooks: validating.chain(mutating).collect(),
        defaults: Defaults { overlay: cli.overlay_by_default },
    };
    program.main(cli.args, Vec::new()).await
}
