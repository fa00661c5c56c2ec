//! A program of ours, as it runs in a pod: the real binary, on loopback.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fabric_test_kube::{Garden, binary};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};

/// A running program. It is killed when this goes.
pub(crate) struct Program {
    child: Child,
    log: Arc<Mutex<Vec<String>>>,
    pub(crate) webhooks: SocketAddr,
    pub(crate) operations: SocketAddr,
}

/// Stands for a Service: takes connections on one port and hands each to a replica that listens.
pub(crate) struct Front {
    pub(crate) port: u16,
    replicas: Arc<Mutex<Vec<SocketAddr>>>,
}

impl Front {
    pub(crate) async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let replicas: Arc<Mutex<Vec<SocketAddr>>> = Arc::default();
        let known = Arc::clone(&replicas);
        tokio::spawn(async move {
            while let Ok((mut caller, _)) = listener.accept().await {
                let ends = known.lock().unwrap().clone();
                tokio::spawn(async move {
                    for end in ends {
                        if let Ok(mut replica) = TcpStream::connect(end).await {
                            // However it ends, both sides are closed.
                            let _ = tokio::io::copy_bidirectional(&mut caller, &mut replica).await;
                            return;
                        }
                    }
                });
            }
        });
        Self { port, replicas }
    }

    /// The replicas in the order in which they are tried: an endpoint that is leaving is taken out as a Service does.
    pub(crate) fn leads_to(&self, replicas: &[&Program]) {
        *self.replicas.lock().unwrap() = replicas.iter().map(|program| program.webhooks).collect();
    }
}

impl Program {
    /// Starts the garden's program in mode `url`, reached by `front`, for objects of this garden, and waits until it
    /// listens.
    pub(crate) async fn admission(garden: &Garden, front: &Front, more: &[&str]) -> Self {
        Self::start("gardener-extension-admission-openstack-fabric", garden, front, more).await
    }

    /// The same with another program.
    pub(crate) async fn start(package: &str, garden: &Garden, front: &Front, more: &[&str]) -> Self {
        let (namespace, config) = (&garden.namespace, garden.cluster_name("webhooks"));
        for kind in ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"] {
            garden.owns(format!("{kind}.admissionregistration.k8s.io/{config}"));
        }
        let url = format!("127.0.0.1:{}", front.port);
        let arguments = [
            ["--webhook-config-mode", "url"],
            ["--webhook-config-url", &url],
            ["--webhook-config-server-host", "127.0.0.1"],
            ["--webhook-config-server-port", "0"],
            ["--webhook-config-namespace", namespace],
            ["--webhook-config-owner-namespace", namespace],
            ["--webhook-config-namespaces", namespace],
            ["--webhook-config-name", &config],
            ["--webhook-config-cert-round", "1s"],
            ["--metrics-bind-address", "0"],
            ["--health-bind-address", "127.0.0.1:0"],
            ["--shutdown-notice", "0.2s"],
        ];
        let arguments: Vec<&str> = arguments.as_flattened().iter().chain(more).copied().collect();
        Self::spawn(package, &arguments, Some(&garden.kubeconfig)).await
    }

    /// Starts a program with these arguments alone, and waits until it listens.
    pub(crate) async fn spawn(package: &str, arguments: &[&str], kubeconfig: Option<&Path>) -> Self {
        let path = tokio::task::spawn_blocking({
            let package = package.to_owned();
            move || binary(&package)
        });
        let mut command = Command::new(path.await.unwrap());
        command.args(arguments).env_clear().envs(kubeconfig.map(|path| ("KUBECONFIG", path)));
        command.stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (keep, told) = (Arc::clone(&log), Instant::now());
        let (send, mut receive) = tokio::sync::mpsc::channel(1);
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                let event: Value = serde_json::from_str(&line).unwrap_or_default();
                keep.lock().unwrap().push(line);
                if event["message"] == "serving" {
                    let _ = send.send(event).await;
                }
            }
        });
        let event = tokio::time::timeout(Duration::from_secs(30), receive.recv()).await.ok().flatten();
        let event =
            event.unwrap_or_else(|| panic!("not serving after {:?}: {:?}", told.elapsed(), log.lock().unwrap()));
        let operations = event["operations"].as_str().unwrap().trim_matches(['[', ']', '"']).parse().unwrap();
        Self { child, log, webhooks: event["webhooks"].as_str().unwrap().parse().unwrap(), operations }
    }

    /// What it logged.
    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap().join("\n")
    }

    /// `GET path` of the operations port: status and body.
    pub(crate) async fn get(&self, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.operations).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let code = answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap();
        (code, answer)
    }

    /// Sends a body to a webhook past every apiserver: status and body.
    pub(crate) async fn post(&self, path: &str, header: &str, body: &str) -> (String, String) {
        let url = format!("https://{}{path}", self.webhooks);
        let mut command = Command::new("curl");
        command.args([
            "-sk",
            "-m",
            "20",
            "-w",
            "\n%{http_code}",
            "-H",
            header,
            "-H",
            "expect:",
            "--data-binary",
            "@-",
            &url,
        ]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().expect("curl");
        let mut pipe = child.stdin.take().unwrap();
        let write = async {
            // curl stops reading when the answer comes first.
            let _ = pipe.write_all(body.as_bytes()).await;
            drop(pipe);
        };
        let (output, ()) = tokio::join!(child.wait_with_output(), write);
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        let (answer, code) = text.rsplit_once('\n').unwrap();
        (code.to_owned(), answer.to_owned())
    }

    /// Waits until it has a certificate.
    pub(crate) async fn ready(&self) {
        fabric_test_kube::until("ready", async || (self.get("/readyz").await.0 == 200).then_some(())).await;
    }

    /// Asks it to stop as a kubelet does, and waits for its end.
    pub(crate) async fn stop(mut self) -> String {
        self.signal("TERM").await;
        let status = tokio::time::timeout(Duration::from_secs(30), self.child.wait()).await.expect("it ends").unwrap();
        assert!(status.success(), "{status}: {}", self.log());
        self.log()
    }

    /// Sends it a signal by its short name.
    pub(crate) async fn signal(&self, name: &str) {
        let pid = self.child.id().expect("it runs").to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().await.unwrap().success());
    }

    /// Kills it, as a node that dies.
    pub(crate) async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }
}
