//! The command as people call it: the built program, real files, real exit codes; the embedded cloud where one is needed.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that meets the unexpected fails"
)]

mod cloud;
mod demo;
mod pages;
mod story;
mod validate;

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value;

/// A place of its own for one test: working folder, home, states.
pub(crate) struct Desk {
    folder: tempfile::TempDir,
}

/// What a command left.
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file; folders are made.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The program, with nothing of the tester's environment.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-fabric"));
        command.args(line.split_whitespace()).current_dir(self.folder.path()).env_clear();
        command.env("HOME", self.folder.path()).env("XDG_STATE_HOME", self.path("states"));
        command
    }

    pub(crate) fn run(&self, line: &str) -> Ended {
        self.command(line).stdin(Stdio::null()).output().unwrap().into()
    }

    pub(crate) fn run_with(&self, line: &str, input: &str) -> Ended {
        let mut command = self.command(line);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap().into()
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ended {
    /// The same, if it ended with this code.
    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, code, "out:\n{}\nerr:\n{}", self.out, self.err);
        self
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }
}

/// Compares with a file beside the tests; `UPDATE_GOLDEN=1` writes it anew.
#[track_caller]
pub(crate) fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, text).unwrap();
    }
    let wanted = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, wanted, "{name}: if the change is meant, run the test with UPDATE_GOLDEN=1");
}

/// A config of pattern 1, which needs nothing from anybody.
pub(crate) const OWN: &str = "\
apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
kind: InfrastructureConfig
floatingPoolName: public
networks:
  workers: 10.250.0.0/16
";
