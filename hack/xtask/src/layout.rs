//! Every entry of the repository has its place: the folders that the architecture names, and no others.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::layers::{RULES, fits};
use crate::workspace::{IGNORED, Workspace};

/// Entries of the top level that are always there.
const TOP: &[&str] = &[
    ".ci",
    ".gitignore",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "Makefile",
    "README.md",
    "apis",
    "clippy.toml",
    "cmd",
    "deny.toml",
    "docs",
    "examples",
    "hack",
    "pkg",
    "reconciler",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "test",
    "validation",
];

/// An entry that is due as soon as one of some folders exists.
struct Later {
    entry: &'static str,
    with: &'static [&'static str],
}

const LATER: &[Later] =
    &[Later { entry: "charts", with: &["cmd/extension", "cmd/admission", "cmd/manager", "cmd/agent"] }];

/// The suites; `bench` and `fuzz` too, whether or not they are crates.
const SUITES: &[&str] = &[
    "bench",
    "contract",
    "datapath",
    "docs",
    "e2e",
    "fidelity",
    "fuzz",
    "interop",
    "kube",
    "model",
    "openstack",
    "program",
];

/// The programs.
const PROGRAMS: &[&str] = &["admission", "agent", "cni", "extension", "kubectl-fabric", "manager"];

/// What is missing from the layout, and what has no place in it.
pub(crate) fn check(workspace: &Workspace) -> Result<Vec<String>> {
    let there = entries(&workspace.root)?;
    let mut findings = top_level(&there, |path| workspace.root.join(path).exists());
    for parent in ["cmd", "pkg", "reconciler", "test"] {
        let path = workspace.root.join(parent);
        if path.is_dir() {
            findings.extend(below(parent, &entries(&path)?));
        }
    }
    Ok(findings)
}

fn top_level(there: &BTreeSet<String>, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let mut findings = Vec::new();
    for entry in TOP {
        if !there.contains(*entry) {
            findings.push(format!("{entry} is missing from the top level"));
        }
    }
    for later in LATER {
        let due = later.with.iter().find(|path| exists(path));
        match (there.contains(later.entry), due) {
            (false, Some(path)) => {
                findings.push(format!("{} is due, since {path} exists", later.entry));
            }
            (false, None) => println!("NOT DUE YET: {} comes with the first of {}", later.entry, later.with.join(", ")),
            (true, _) => {}
        }
    }
    let known = |entry: &str| TOP.contains(&entry) || LATER.iter().any(|later| later.entry == entry);
    for entry in there.iter().filter(|entry| !known(entry)) {
        findings.push(format!(
            "{entry} has no place on the top level; move it, or name it in hack/xtask/src/layout.rs and in the architecture"
        ));
    }
    findings
}

fn below(parent: &str, there: &BTreeSet<String>) -> Vec<String> {
    let known = |name: &str| match parent {
        "cmd" => PROGRAMS.contains(&name),
        "test" => SUITES.contains(&name),
        // Folders of crates: the layers name each of them.
        _ => RULES.iter().any(|rule| !rule.from.ends_with("/*") && fits(rule.from, &format!("{parent}/{name}"))),
    };
    there
        .iter()
        .filter(|name| !known(name))
        .map(|name| format!("{parent}/{name} is no part of the architecture"))
        .collect()
}

fn entries(folder: &Path) -> Result<BTreeSet<String>> {
    fs::read_dir(folder)
        .with_context(|| format!("reading {}", folder.display()))?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .filter(|name: &Result<String>| !name.as_ref().is_ok_and(|name| IGNORED.contains(&name.as_str())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn the_whole_top_level_is_right_with_and_without_charts() {
        let mut there = set(TOP);
        assert_eq!(top_level(&there, |_| false), Vec::<String>::new());
        there.insert("charts".to_owned());
        assert_eq!(top_level(&there, |_| false), Vec::<String>::new());
    }

    #[test]
    fn what_is_missing_and_what_is_surplus_is_found() {
        let mut there = set(TOP);
        there.remove("README.md");
        there.insert("notes.txt".to_owned());
        let findings = top_level(&there, |_| false);
        assert_eq!(findings.len(), 2, "{findings:?}");
        assert_eq!(findings[0], "README.md is missing from the top level");
        assert!(findings[1].starts_with("notes.txt has no place on the top level"));
    }

    #[test]
    fn charts_are_due_with_the_first_program_that_is_deployed() {
        let findings = top_level(&set(TOP), |path| path == "cmd/manager");
        assert_eq!(findings, ["charts is due, since cmd/manager exists"]);
    }

    #[test]
    fn only_known_crates_programs_and_suites_have_a_place() {
        assert_eq!(below("pkg", &set(&["flow", "openstack-sim"])), Vec::<String>::new());
        assert_eq!(below("pkg", &set(&["util"])), ["pkg/util is no part of the architecture"]);
        assert_eq!(below("cmd", &set(&["cni", "kubectl-fabric"])), Vec::<String>::new());
        assert_eq!(below("cmd", &set(&["server"])), ["cmd/server is no part of the architecture"]);
        assert_eq!(below("test", &set(&["bench", "misc"])), ["test/misc is no part of the architecture"]);
        assert_eq!(below("reconciler", &set(&["tenant"])), Vec::<String>::new());
    }
}
