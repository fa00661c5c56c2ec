//! The garden's program, as a process: raw reviews over TLS, and an API server that hands out the objects around.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use fabric_test_fidelity::{Case, cases};
use fabric_test_program::binary;
use fabric_validation::openstack::admission::{Lookup, Reference};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::SendRequest;
use hyper::{Request, Response, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

use crate::webhook::{is_sent, review, said};
use crate::{assert_alike, kind, of_table};

/// So many go through the process.
const COUNT: usize = 500;
const PACKAGE: &str = "gardener-extension-admission-openstack-fabric";

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself, which the test has seen then.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn path(reference: &Reference) -> String {
    let Reference { kind, namespace, name } = reference;
    let root = if kind.api_version() == "v1" { "/api" } else { "/apis" };
    let space = if kind.is_namespaced() { format!("namespaces/{namespace}/") } else { String::new() };
    format!("{root}/{}/{space}{}/{name}", kind.api_version(), kind.plural())
}

fn answer(lookup: Option<&Lookup>) -> (u16, Value) {
    let status = |code: u16, reason: &str| {
        (
            code,
            json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": reason, "reason": reason, "code": code}),
        )
    };
    match lookup {
        Some(Lookup::Found(object)) => (200, object.clone()),
        Some(Lookup::Unreadable(_)) => status(403, "Forbidden"),
        Some(Lookup::NotFound) | None => status(404, "NotFound"),
    }
}

/// Hands out these objects, as an API server does; tells where.
async fn garden(objects: HashMap<String, Lookup>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let objects = Arc::new(objects);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let objects = Arc::clone(&objects);
            let serve = service_fn(move |request: Request<Incoming>| {
                let (code, body) = answer(objects.get(request.uri().path()));
                let answer = Response::builder().status(code).header("content-type", "application/json");
                let answer = answer.body(Full::new(Bytes::from(body.to_string()))).unwrap();
                async move { Ok::<_, Infallible>(answer) }
            });
            tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), serve));
        }
    });
    url
}

/// Starts the program with a certificate from files, for a cluster that it registers nothing in.
fn start(folder: &std::path::Path, garden: &str) -> (Running, String) {
    let kubeconfig = json!({"apiVersion": "v1", "kind": "Config", "current-context": "a",
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "clusters": [{"name": "a", "cluster": {"server": garden}}], "users": [{"name": "a", "user": {}}]});
    let file = folder.join("kubeconfig");
    std::fs::write(&file, kubeconfig.to_string()).unwrap();
    let mut command = Command::new(binary(PACKAGE));
    command.env_clear().arg("--kubeconfig").arg(&file).arg("--webhook-config-cert-dir").arg(folder).args([
        "--webhook-config-register=false",
        "--leader-election=false",
        "--webhook-config-server-host=127.0.0.1",
        "--webhook-config-server-port=0",
        "--metrics-bind-address=0",
        "--health-bind-address=0",
    ]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let running = Running(child);
    let serving = lines.by_ref().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let serving = serving.into_iter().find(|event| event["message"] == "serving").expect("it serves");
    // A pipe that nobody reads would stop it.
    std::thread::spawn(move || lines.for_each(drop));
    (running, serving["webhooks"].as_str().unwrap().to_owned())
}

async fn connect(address: &str, roots: RootCertStore) -> SendRequest<Full<Bytes>> {
    let config = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    sender
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_says_what_the_table_says() {
    let ours = |case: &Case| is_sent(case) && kind(case) != "Infrastructure"; // which is the seed's
    let cases: Vec<_> = cases().into_iter().filter(ours).take(COUNT).collect();
    let around = cases.iter().flat_map(|case| &case.around);
    let garden = garden(around.map(|(reference, lookup)| (path(reference), lookup.clone())).collect()).await;

    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(folder.path().join("tls.crt"), made.cert.pem()).unwrap();
    std::fs::write(folder.path().join("tls.key"), made.signing_key.serialize_pem()).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();

    let (mut running, address) = start(folder.path(), &garden);
    let mut sender = connect(&address, roots).await;
    let mut judged = Vec::new();
    for case in &cases {
        sender.ready().await.unwrap();
        let answer = sender.send_request(review(case)).await.unwrap();
        assert_eq!(answer.status(), 200, "{case:#?}");
        let said = said(&answer.into_body().collect().await.unwrap().to_bytes());
        judged.push((case, said, of_table(&case.told)));
    }
    assert_eq!(judged.len(), COUNT.min(cases.len()));
    assert_alike("the program", judged.into_iter());
    assert!(running.0.try_wait().unwrap().is_none(), "it still runs");
}
