//! `kubectl fabric`: a shoot's network on OpenStack, for people.
//!
//! ```text
//!   -f files ─► objects ─► validate                                (pure)
//!                  └─► subject ─► cloud ─► plan │ apply │ drift │ delete │ status │ topology ─► output
//!                                    └── clouds.yaml, OS_*, Secret, or the embedded cloud
//! ```
//!
//! Invariants:
//! * Exit codes are a contract ([`exit::Exit`]); results go to standard output, everything else to standard error.
//! * One run at a time works on a state ([`state_file`]); what was done is on disk before the next step.
//! * No secret is shown, whatever fails. Colours and bars only where a person looks.

mod apply;
mod cli;
mod cloud;
mod delete;
mod demo;
mod drift;
mod embedded;
mod exit;
mod failure;
mod input;
mod objects;
mod output;
mod pages;
mod plan;
mod progress;
mod state_file;
mod status;
mod topology;
mod validate;
mod work;

use std::process::ExitCode;

use clap::{Parser, error::ErrorKind};
use mimalloc::MiMalloc;

use crate::exit::Exit;

/// Reading YAML makes many small values on all cores.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors.
            let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            // Nothing can be done when even this cannot be printed.
            let _ = error.print();
            return if asked { Exit::Ok } else { Exit::Usage }.into();
        }
    };
    match cli.run() {
        Ok(exit) => exit.into(),
        Err(stop) => {
            let (paint, (what, next)) = (cli.errors(), stop.text());
            output::tell(&format!("{} {}", paint.red("error:"), output::clean(what)));
            if let Some(next) = next {
                output::tell(&format!("{} {}", paint.cyan(" next:"), output::clean(next)));
            }
            stop.exit.into()
        }
    }
}
