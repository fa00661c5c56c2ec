//! What the benches need beside the programs: a load, a server without rules, a cloud, a no-op reconcile and its peer.
//!
//! ```text
//!  load  ─── AdmissionReviews over TLS, by a timetable or as fast as they are answered ──► admission program
//!  serve ─── the same server from the same library, with all rules or with none, and a garden in memory
//!  cloud ─── the embedded OpenStack, with a network that a user could hand over
//!  noop  ─── reconciles a shoot that needs nothing on that cloud: ours, or the calls of upstream's flow
//! ```
//!
//! Each prints one JSON line on standard output: what it measured, or where it listens.

mod cloud;
mod load;
mod noop;
mod report;
mod serve;

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use mimalloc::MiMalloc;

/// As the programs have it.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

#[derive(Parser)]
enum Command {
    /// Send reviews, and tell how long the answers took
    Load(load::Args),
    /// Serve webhooks from files of certificates, for objects in memory
    Serve(serve::Args),
    /// Reconcile one shoot that needs nothing, as standard input says, by ours or by upstream's calls
    Noop(noop::Args),
    /// Be an OpenStack until killed
    Cloud {
        /// What every call takes at least, in milliseconds
        #[arg(long, default_value_t = 20)]
        latency: u64,
        /// Application credentials to make, each a login of its own
        #[arg(long, default_value_t = 0)]
        tenants: usize,
    },
}

fn main() -> anyhow::Result<()> {
    // One core each: what a bench pins needs no second thread.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match Command::parse() {
        Command::Load(args) => {
            println!("{}", serde_json::to_string(&runtime.block_on(load::run(args))?)?);
            Ok(())
        }
        // As the program that it stands beside.
        Command::Serve(args) => {
            tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(serve::run(args))
        }
        Command::Noop(args) => runtime.block_on(noop::run(args)),
        Command::Cloud { latency, tenants } => runtime.block_on(cloud::run(Duration::from_millis(latency), tenants)),
    }
}

/// The lines of a file, each read as JSON.
fn json_lines<T: serde::de::DeserializeOwned>(path: &PathBuf) -> anyhow::Result<Vec<T>> {
    let text = std::fs::read_to_string(path)?;
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}
