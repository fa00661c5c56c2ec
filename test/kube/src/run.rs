//! Programs, as a user runs them.

use std::path::Path;
use std::process::Stdio;

use tokio::io::AsyncWriteExt;
use tokio::process::Command;

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
}

pub(crate) async fn run(program: &Path, arguments: &[&str], kubeconfig: &Path, input: &str) -> Output {
    let folder = kubeconfig.parent().expect("the folder of the kubeconfig");
    let mut command = Command::new(program);
    command.args(arguments).env("KUBECONFIG", kubeconfig).env("KUBECACHEDIR", folder.join("cache"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let mut pipe = child.stdin.take().expect("standard input");
    // A program that does not read ends the pipe, which is its right.
    let write = async {
        let _ = pipe.write_all(input.as_bytes()).await;
        drop(pipe);
    };
    let (output, ()) = tokio::join!(child.wait_with_output(), write);
    let output = output.expect("the program's end");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    Output { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
}
