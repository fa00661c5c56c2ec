//! The programs under test, and what they did.
//!
//! ```text
//!   sources ──► cargo build (hack/test does it before) ──► binary(package) ──► a test starts it ──► Output
//! ```
//! Invariant: a test runs a program of its own checkout, never an older one than the sources.

#![allow(clippy::expect_used, clippy::panic, reason = "this crate is for tests: a failed expectation ends them")]

mod property;

pub use property::{Property, cases, is_soaked};

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// Whatever the programs are made of.
const SOURCES: [&str; 6] = ["apis", "cmd", "pkg", "reconciler", "validation", "Cargo.toml"];

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// The program of a package; built anew when a source is younger.
pub fn binary(package: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this test's own path");
    // …/debug/deps/docs-0123 lies one below …/debug.
    let profile = test.parent().and_then(Path::parent).expect("the profile's folder");
    // What lies between may be kept elsewhere (`build.build-dir`) and be shared; programs are in the target folder.
    let target = std::env::var_os("CARGO_TARGET_DIR").map(|folder| root().join(folder));
    let target = target.as_deref().or(profile.parent()).expect("the target folder");
    let program = target.join(profile.file_name().expect("the profile's name")).join(package);
    let built = program.metadata().and_then(|about| about.modified()).ok();
    if built.is_none() || built < SOURCES.iter().filter_map(|source| newest(&root().join(source))).max() {
        build(package, target, profile.ends_with("release"));
    }
    program
}

fn build(package: &str, target: &Path, release: bool) {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root()).args(["build", "-q", "--locked", "-p", package]).env("CARGO_TARGET_DIR", target);
    if release {
        cargo.arg("--release");
    }
    // What cargo told this test about its own package would make build scripts run anew, and all that follows.
    let own = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(own)) {
        cargo.env_remove(name);
    }
    assert!(cargo.status().expect("cargo").success(), "{package} does not build");
}

fn newest(path: &Path) -> Option<SystemTime> {
    if path.is_dir() {
        return std::fs::read_dir(path).ok()?.filter_map(|entry| newest(&entry.ok()?.path())).max();
    }
    let source = path.extension().is_some_and(|extension| extension == "rs" || extension == "toml");
    if source { path.metadata().ok()?.modified().ok() } else { None }
}

/// What a program did.
#[derive(Clone, Debug)]
pub struct Output {
    /// Its exit code; -1 when a signal ended it.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Output {
    /// The same, after a look at the exit code.
    pub fn ends_with(self, code: i32) -> Self {
        assert_eq!(self.code, code, "standard output:\n{}\nstandard error:\n{}", self.stdout, self.stderr);
        self
    }

    /// Standard output as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}:\n{}", self.stdout))
    }
}

impl From<std::process::Output> for Output {
    fn from(ended: std::process::Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        Self { code: ended.status.code().unwrap_or(-1), stdout: text(ended.stdout), stderr: text(ended.stderr) }
    }
}
