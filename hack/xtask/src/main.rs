//! The repository's own tasks: what keeps its layers, its layout, its documents and its generated files right.
//!
//! ```text
//!  cargo metadata ─► workspace ─► layers    dependencies point one way
//!                        │      ─► crates    what we were asked to use is in use
//!  the file system ──────┼─────► layout    every entry has its place
//!                        │      ─► docs      links and named files exist, no path of a machine
//!                        ├─────► generate  files that are made, and whether they are fresh
//!                        └─────► package   charts as archives, the same bytes on every machine
//! ```
//! Invariant: a check changes nothing; only `generate` without `--check` writes into the repository.

mod crates;
mod docs;
mod generate;
mod layers;
mod layout;
mod package;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use workspace::Workspace;

#[derive(Parser)]
#[command(about = "Holds the repository's own rules, and writes its generated files")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Check that our crates depend on each other in one direction only
    Layers,
    /// Check that the folders of the architecture are there, and no others
    Layout,
    /// Check that the crates we were asked for are in use
    Crates,
    /// Check the links and file names in documents, and that no path of a machine stands in a file
    Docs,
    /// Write the generated files
    Generate {
        /// Write nothing; fail when one of them is stale
        #[arg(long)]
        check: bool,
    },
    /// Pack the charts, and print the digest and the place of each archive
    PackageChart(package::Args),
}

fn main() -> ExitCode {
    match run(&Arguments::parse().task) {
        Ok(findings) if findings.is_empty() => ExitCode::SUCCESS,
        Ok(findings) => {
            for finding in findings {
                eprintln!("error: {finding}");
            }
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a task; what it returns are its findings, one line each.
fn run(task: &Task) -> Result<Vec<String>> {
    let workspace = Workspace::load()?;
    match task {
        Task::Layers => Ok(layers::check(&workspace)),
        Task::Layout => layout::check(&workspace),
        Task::Crates => crates::check(&workspace),
        Task::Docs => docs::check(&workspace.root),
        Task::Generate { check } => generate::run(&workspace, *check),
        Task::PackageChart(arguments) => package::run(&workspace, arguments),
    }
}
