//! The crates that the product was asked to be built with are in use: declared by a crate of ours, and named in
//! its sources.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::workspace::{Workspace, files};

/// Names as sources see them; `serde_yaml` is the name of its maintained continuation in our workspace.
const WANTED: &[&str] = &[
    "kube",
    "k8s-openapi",
    "openstack",
    "reqwest",
    "tokio",
    "serde",
    "serde_yaml",
    "uuid",
    "ipnet",
    "validator",
    "tracing",
];

/// Wanted as soon as the folder exists.
const WANTED_WITH: &[(&str, &str)] = &[("aya", "pkg/datapath")];

/// The crates that nobody uses.
pub(crate) fn check(workspace: &Workspace) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for wanted in WANTED {
        findings.extend(missing(workspace, wanted)?);
    }
    for (wanted, folder) in WANTED_WITH {
        if workspace.root.join(folder).exists() {
            findings.extend(missing(workspace, wanted)?);
        } else {
            println!("NOT DUE YET: {wanted} comes with {folder}");
        }
    }
    Ok(findings)
}

/// What is wrong with the use of a crate, if no crate of ours both declares and names it.
fn missing(workspace: &Workspace, wanted: &str) -> Result<Option<String>> {
    let mut declared = Vec::new();
    for ours in &workspace.crates {
        if ours.uses.iter().any(|name| name == wanted) {
            if named_below(&workspace.root.join(&ours.path).join("src"), wanted)? {
                return Ok(None);
            }
            declared.push(ours.path.as_str());
        }
    }
    Ok(Some(if declared.is_empty() {
        format!("no crate of ours depends on {wanted}")
    } else {
        format!("{wanted} is declared by {} and named in none of their sources", declared.join(", "))
    }))
}

fn named_below(folder: &Path, wanted: &str) -> Result<bool> {
    let name = wanted.replace('-', "_");
    for file in files(folder)? {
        if file.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
            if text.lines().any(|line| names(line, &name)) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether a line of code (not of comment) names this crate: as the head of a path, or in a `use`.
fn names(line: &str, name: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    code.match_indices(name).any(|(at, _)| {
        let before = code.get(..at).unwrap_or_default();
        let after = code.get(at + name.len()..).unwrap_or_default();
        let inside = |c: char| c.is_alphanumeric() || c == '_';
        // `crate::openstack::…` is a module of ours; `::openstack::…` is the crate.
        let head = !before.ends_with(inside) && before.strip_suffix("::").is_none_or(|rest| !rest.ends_with(inside));
        let used = before.trim() == "use" || before.trim() == "pub use";
        head && (after.starts_with("::") || used && (after.starts_with(';') || after.starts_with(" as ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_or_a_use_names_a_crate_and_a_comment_or_module_does_not() {
        let table = [
            ("use openstack::Cloud;", true),
            ("    let id = openstack::session::Session::new();", true),
            ("use ::openstack::Cloud;", true),
            ("use openstack as stack;", true),
            ("#[openstack::main]", true),
            ("// openstack::Cloud would do", false),
            ("use crate::openstack::Cloud;", false),
            ("use fabric_openstack::Cloud;", false),
            ("mod openstack;", false),
            ("let openstack = 1;", false),
        ];
        for (line, expected) in table {
            assert_eq!(names(line, "openstack"), expected, "{line}");
        }
    }
}
