//! The programs under test: built beside the tests, and built anew when a source is younger.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::SystemTime,
};

use crate::root;

/// Whatever the programs are made of.
const SOURCES: [&str; 6] = ["apis", "cmd", "pkg", "reconciler", "validation", "Cargo.toml"];

/// The path of a package's program.
pub(crate) fn path(package: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this test's own path");
    // …/debug/deps/docs-0123 lies one below …/debug/PACKAGE.
    let profile = test.parent().and_then(Path::parent).expect("the profile's folder").to_owned();
    let program = profile.join(package);
    let built = program.metadata().and_then(|about| about.modified()).ok();
    let newest = SOURCES.iter().filter_map(|source| newest(&root().join(source))).max();
    if built.is_none() || built < newest {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.current_dir(root()).args(["build", "-q", "--locked", "-p", package]);
        // What cargo told this test about its own package would make build scripts run anew, and all that follows.
        let own = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(own)) {
            cargo.env_remove(name);
        }
        cargo.env("CARGO_TARGET_DIR", profile.parent().expect("the target folder"));
        if profile.ends_with("release") {
            cargo.arg("--release");
        }
        assert!(cargo.status().expect("cargo").success(), "{package} does not build");
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
