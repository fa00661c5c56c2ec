//! The command under test: built beside the tests, and built anew when a source is younger.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::SystemTime,
};

use crate::root;

/// Whatever the command is made of.
const SOURCES: [&str; 6] = ["apis", "cmd/kubectl-fabric", "pkg", "reconciler", "validation", "Cargo.toml"];

/// The path of `kubectl-fabric`.
pub(crate) fn path() -> PathBuf {
    let test = std::env::current_exe().expect("this test's own path");
    // …/debug/deps/docs-0123 lies one below …/debug/kubectl-fabric.
    let profile = test.parent().and_then(Path::parent).expect("the profile's folder").to_owned();
    let program = profile.join("kubectl-fabric");
    let built = program.metadata().and_then(|about| about.modified()).ok();
    let newest = SOURCES.iter().filter_map(|source| newest(&root().join(source))).max();
    if built.is_none() || built < newest {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.current_dir(root()).args(["build", "-q", "--locked", "-p", "kubectl-fabric"]);
        cargo.env("CARGO_TARGET_DIR", profile.parent().expect("the target folder"));
        if profile.ends_with("release") {
            cargo.arg("--release");
        }
        assert!(cargo.status().expect("cargo").success(), "kubectl-fabric does not build");
    }
    program
}

fn newest(path: &Path) -> Option<SystemTime> {
    if path.is_dir() {
        let entries = std::fs::read_dir(path).ok()?;
        return entries.filter_map(|entry| newest(&entry.ok()?.path())).max();
    }
    let source = path.extension().is_some_and(|extension| extension == "rs" || extension == "toml");
    if source { path.metadata().ok()?.modified().ok() } else { None }
}
