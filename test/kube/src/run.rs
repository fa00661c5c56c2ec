//! Programs, as a user runs them.

use std::path::Path;
use std::process::Stdio;

use fabric_test_program::Output;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

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
    output.expect("the program's end").into()
}
