//! P8's worker: one shoot that needs nothing, reconciled on request by ours and by upstream's plan of calls.
//!
//! ```text
//!  stdin: "kept 5" ──► ours, the session of the run before      (the controller in service)   ┐
//!         "new 5"      ours, a session of its own each time     (the controller just started) ├─► the same cloud
//!         "whole 5"    upstream's check and flow, replayed      (§3.1)                        │
//!         "flow 5"     upstream's flow alone, replayed          (§3.2, §3.3)                  ┘
//!  stdout: a JSON line for each request: how long each run took, and what the contestant counted
//! ```
//!
//! All of them run in this process, so that language, runtime and pinning are the same for everybody.

mod ours;
mod plan;
mod replay;
mod shoot;

use std::io::BufRead;
use std::time::Instant;

use anyhow::{Context, bail};
use serde_json::json;

use ours::Ours;
use replay::Replay;
use shoot::{Pattern, Told};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The line that the cloud printed when it started
    #[arg(long)]
    cloud: String,
    /// What the shoot is like
    #[arg(long, value_enum)]
    pattern: Pattern,
    /// Tell on standard error what upstream's plan sends
    #[arg(long)]
    show: bool,
}

/// What a contestant sent in one run, by its own count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sent {
    /// Requests, logins apart.
    calls: u64,
    /// Logins.
    tokens: u64,
}

/// Makes the shoot's infrastructure, then does what standard input says until it ends.
pub(crate) async fn run(args: Args) -> anyhow::Result<()> {
    let cloud: Told = serde_json::from_str(&args.cloud).context("--cloud")?;
    let ours = Ours::create(&cloud, args.pattern).await?;
    let whole = Replay::new(&cloud, args.pattern, ours.state(), &plan::WHOLE)?;
    let flow = Replay::new(&cloud, args.pattern, ours.state(), &plan::FLOW)?;
    if args.show {
        eprint!("{whole}");
    }
    println!("{}", json!({"ready": true, "mutations": [whole.mutations(), flow.mutations()]}));
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (who, times) = line.split_once(' ').context("wants a contestant and a number")?;
        let (mut seconds, mut sent) = (Vec::new(), None);
        for _ in 0..times.parse()? {
            let begun = Instant::now();
            let one = match who {
                "kept" => ours.kept().await?,
                "new" => ours.new_session().await?,
                "whole" => whole.run().await?,
                "flow" => flow.run().await?,
                _ => bail!("nobody is called {who}"),
            };
            seconds.push(begun.elapsed().as_secs_f64());
            if sent.is_some_and(|before| before != one) {
                bail!("{who} sent {one:?}, and another time {sent:?}");
            }
            sent = Some(one);
        }
        let sent = sent.unwrap_or_default();
        println!("{}", json!({"seconds": seconds, "calls": sent.calls, "tokens": sent.tokens}));
    }
    Ok(())
}
