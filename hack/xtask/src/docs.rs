//! Documents say what is there: their links resolve, the files they name exist, and no file of the repository names
//! a folder of somebody's machine.

use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};

use crate::workspace::files;

/// Heads of paths that only exist on somebody's machine.
const MACHINE: &[&str] = &[concat!("/", "work/"), concat!("/", "root/"), concat!("/", "home/")];

/// Broken links, files that are named and missing, and paths of a machine.
pub(crate) fn check(root: &Path) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for file in files(root)? {
        let Ok(text) = fs::read_to_string(&file) else {
            continue; // not text
        };
        let below = file.strip_prefix(root).unwrap_or(&file);
        for (number, line) in text.lines().enumerate() {
            let place = format!("{}:{}", below.display(), number + 1);
            findings.extend(
                machine_path(line)
                    .map(|path| format!("{place}: {path} is a path of a machine; name it relative to the repository")),
            );
        }
        if file.extension().is_some_and(|extension| extension == "md") {
            document(root, below, &text, &mut findings)?;
        }
    }
    Ok(findings)
}

/// Checks one document; code blocks are left alone.
fn document(root: &Path, below: &Path, text: &str, findings: &mut Vec<String>) -> Result<()> {
    let mut fenced = false;
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        let place = format!("{}:{}", below.display(), number + 1);
        for target in links(line) {
            if let Some(wrong) = broken(root, below, target)? {
                findings.push(format!("{place}: {wrong}"));
            }
        }
        for name in named_files(line) {
            if let Some(wrong) = absent(root, name)? {
                findings.push(format!("{place}: {wrong}"));
            }
        }
    }
    Ok(())
}

/// The path of a machine in this line, if there is one.
fn machine_path(line: &str) -> Option<&str> {
    MACHINE.iter().find_map(|head| {
        line.match_indices(head).find_map(|(at, _)| {
            let inside = |c: char| c.is_alphanumeric() || "._-}/$~".contains(c);
            let starts = !line.get(..at)?.ends_with(inside);
            let rest = line.get(at..)?;
            let end = rest.find(|c: char| !(c.is_alphanumeric() || "._-/".contains(c))).unwrap_or(rest.len());
            rest.get(..end).filter(|path| starts && path.len() > head.len())
        })
    })
}

/// Targets of inline links and pictures, without those to other hosts.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', ' ']).next())
        .filter(|target| !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:"))
}

/// What is wrong with a link, if something is.
fn broken(root: &Path, below: &Path, target: &str) -> Result<Option<String>> {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let file =
        if path.is_empty() { below.to_path_buf() } else { normal(&below.parent().unwrap_or(Path::new("")).join(path)) };
    let place = root.join(&file);
    if file.starts_with("..") || !place.exists() {
        return Ok(Some(format!("the link to {target} leads nowhere")));
    }
    if anchor.is_empty() || file.extension().is_none_or(|extension| extension != "md") {
        return Ok(None);
    }
    let text = fs::read_to_string(&place).with_context(|| format!("reading {}", file.display()))?;
    let found = text.lines().any(|line| {
        line.starts_with('#') && slug(line.trim_start_matches('#')) == anchor
            || line.contains(&format!("id=\"{anchor}\""))
    });
    Ok((!found).then(|| format!("{} has no heading #{anchor}", file.display())))
}

/// The anchor of a heading, as code hosts make it.
fn slug(heading: &str) -> String {
    heading
        .trim()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c.to_ascii_lowercase()),
            _ => None,
        })
        .collect()
}

/// Files named between backticks: below one of our folders, with an ending, without blanks or patterns.
fn named_files(line: &str) -> impl Iterator<Item = &str> {
    const OURS: &[&str] =
        &["apis/", "charts/", "cmd/", "docs/", "examples/", "hack/", "pkg/", "reconciler/", "test/", "validation/"];
    line.split('`')
        .skip(1)
        .step_by(2)
        .filter(|name| OURS.iter().any(|folder| name.starts_with(folder)))
        .filter(|name| !name.contains([' ', '*', '{', '<', '…', '$', '|']))
        .filter(|name| Path::new(name).extension().is_some())
}

/// What is wrong with the name of a file, with or without a line: `pkg/flow/src/lib.rs:12`.
fn absent(root: &Path, name: &str) -> Result<Option<String>> {
    let (path, line) = match name.rsplit_once(':') {
        Some((path, line)) => (path, line.parse::<usize>().ok()),
        None => (name, None),
    };
    let place = root.join(path);
    if !place.exists() {
        return Ok(Some(format!("{path} does not exist")));
    }
    let Some(line) = line else { return Ok(None) };
    let text = fs::read_to_string(&place).with_context(|| format!("reading {path}"))?;
    Ok((line > text.lines().count()).then(|| format!("{path} has no line {line}")))
}

/// A path without `.` and `..` where they can be resolved.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if out.file_name().is_some() => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let place = folder.path().join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, text).unwrap();
        }
        folder
    }

    #[test]
    fn links_and_names_that_resolve_are_no_findings() {
        let repository = repository(&[
            (
                "README.md",
                "# Hello\n[usage](docs/usage.md#two-words) and [here](#hello), `docs/usage.md:2`, ![x](docs/x.svg)\n",
            ),
            (
                "docs/usage.md",
                "[up](../README.md) [site](https://example.org/x)\n## Two words!\n```\n[free](nowhere.md)\n```\n",
            ),
            ("docs/x.svg", "<svg/>"),
        ]);
        assert_eq!(check(repository.path()).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn what_leads_nowhere_is_found_with_its_line() {
        let repository = repository(&[
            (
                "docs/a.md",
                "\n[x](missing.md) [y](b.md#none) [z](../../out.md)\n`pkg/flow/src/gone.rs` `docs/b.md:9` `pkg/*/x.rs`\n",
            ),
            ("docs/b.md", "# B\n"),
        ]);
        assert_eq!(
            check(repository.path()).unwrap(),
            [
                "docs/a.md:2: the link to missing.md leads nowhere",
                "docs/a.md:2: docs/b.md has no heading #none",
                "docs/a.md:2: the link to ../../out.md leads nowhere",
                "docs/a.md:3: pkg/flow/src/gone.rs does not exist",
                "docs/a.md:3: docs/b.md has no line 9",
            ]
        );
    }

    #[test]
    fn a_path_of_a_machine_is_found_in_any_file() {
        let home = concat!("/", "home/someone/x");
        assert_eq!(machine_path(&format!("see {home}, please")), Some(home));
        assert_eq!(machine_path(&format!("\"{home}\"")), Some(home));
        for fine in [
            concat!("https://example.org/", "home/someone"),
            concat!("$ROOT/", "work/x"),
            concat!("docs/", "root/x"),
            concat!("/", "home/<you>"),
        ] {
            assert_eq!(machine_path(fine), None, "{fine}");
        }
    }
}
