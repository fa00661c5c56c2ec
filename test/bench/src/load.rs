//! The load: reviews by a timetable, whatever the server does, or as fast as it answers.
//!
//! By a timetable, a review's time runs from the moment when it was due, not from when a connection was free: a server
//! that stalls is charged for everybody who had to wait.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::Resumption;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

use crate::json_lines;
use crate::report::{Answer, Report, Seen};

/// A connection is used for so many reviews: new ones see the certificate of the day, as those of a restarted
/// apiserver do.
const USES: u32 = 100;
/// As an API server waits.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where the webhooks are
    #[arg(long)]
    address: SocketAddr,
    /// The CA of the server's certificate
    #[arg(long)]
    ca: PathBuf,
    /// Lines with a path, a review and whether it is allowed
    #[arg(long)]
    requests: PathBuf,
    #[arg(long)]
    seconds: f64,
    /// Reviews a second, by a timetable
    #[arg(long, conflicts_with = "parallel")]
    rate: Option<f64>,
    /// Without a timetable: so many at once
    #[arg(long, default_value_t = 16)]
    parallel: usize,
}

/// A line of the file.
#[derive(Deserialize)]
struct Line {
    path: String,
    review: serde_json::Value,
    allowed: bool,
}

/// A line, ready to be sent.
struct Prepared {
    path: String,
    body: Bytes,
    allowed: bool,
}

#[derive(Deserialize)]
struct Review {
    response: Response,
}

#[derive(Deserialize)]
struct Response {
    uid: String,
    allowed: bool,
    #[serde(default)]
    warnings: Vec<String>,
    #[serde(default)]
    status: Status,
}

#[derive(Default, Deserialize)]
struct Status {
    message: String,
}

struct Connection {
    sender: SendRequest<Full<Bytes>>,
    uses: u32,
}

struct Caller {
    address: SocketAddr,
    tls: TlsConnector,
    requests: Vec<Prepared>,
    idle: Mutex<Vec<Connection>>,
    certificates: Mutex<HashSet<Vec<u8>>>,
    seen: Mutex<Seen>,
}

pub(crate) async fn run(args: Args) -> anyhow::Result<Report> {
    let caller = Arc::new(Caller::new(&args)?);
    let over = Duration::from_secs_f64(args.seconds);
    let begun = Instant::now();
    match args.rate {
        Some(rate) => by_timetable(&caller, rate, over).await,
        None => as_answered(&caller, args.parallel, over).await,
    }
    let took = begun.elapsed();
    let seen = std::mem::take(&mut *lock(&caller.seen));
    let certificates = lock(&caller.certificates).len();
    Ok(seen.report(took, certificates))
}

async fn by_timetable(caller: &Arc<Caller>, rate: f64, over: Duration) {
    // The runtime's own timer counts whole milliseconds.
    let (due, mut coming) = tokio::sync::mpsc::unbounded_channel();
    let begun = Instant::now();
    std::thread::spawn(move || {
        for number in 0_u32.. {
            let at = Duration::from_secs_f64(f64::from(number) / rate);
            if at >= over {
                return;
            }
            std::thread::sleep((begun + at).saturating_duration_since(Instant::now()));
            if due.send((number, begun + at)).is_err() {
                return;
            }
        }
    });
    let mut running = tokio::task::JoinSet::new();
    while let Some((number, due)) = coming.recv().await {
        let caller = Arc::clone(caller);
        running.spawn(async move { caller.review(number as usize, due).await });
        while running.try_join_next().is_some() {}
    }
    running.join_all().await;
}

async fn as_answered(caller: &Arc<Caller>, parallel: usize, over: Duration) {
    let end = Instant::now() + over;
    let mut running = tokio::task::JoinSet::new();
    for first in 0..parallel {
        let caller = Arc::clone(caller);
        running.spawn(async move {
            let mut number = first;
            while Instant::now() < end {
                caller.review(number, Instant::now()).await;
                number += parallel;
            }
        });
    }
    running.join_all().await;
}

impl Caller {
    fn new(args: &Args) -> anyhow::Result<Self> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_file_iter(&args.ca).context("the CA")? {
            roots.add(certificate?)?;
        }
        let mut config = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        // As an API server: each connection begins anew, and sees the certificate.
        config.resumption = Resumption::disabled();
        let prepare = |line: Line| Prepared {
            path: format!("{}?timeout=10s", line.path),
            body: line.review.to_string().into(),
            allowed: line.allowed,
        };
        let requests: Vec<_> = json_lines(&args.requests)?.into_iter().map(prepare).collect();
        if requests.is_empty() {
            bail!("no requests");
        }
        Ok(Self {
            address: args.address,
            tls: TlsConnector::from(Arc::new(config)),
            requests,
            idle: Mutex::default(),
            certificates: Mutex::default(),
            seen: Mutex::default(),
        })
    }

    async fn review(&self, number: usize, due: Instant) {
        let Some(request) = self.requests.get(number % self.requests.len()) else { return };
        let answer = tokio::time::timeout(PATIENCE, self.ask(request)).await;
        let answer = answer.unwrap_or_else(|_| Err(anyhow::anyhow!("no answer after {PATIENCE:?}")));
        lock(&self.seen).add(due.elapsed(), answer, request.allowed);
    }

    async fn ask(&self, request: &Prepared) -> anyhow::Result<Answer> {
        let idle = lock(&self.idle).pop();
        let mut connection = match idle {
            Some(connection) => connection,
            None => self.connect().await.context("connecting")?,
        };
        let message = hyper::Request::post(&request.path)
            .header("host", "localhost")
            .header("content-type", "application/json")
            .body(Full::new(request.body.clone()))?;
        let answer = connection.sender.send_request(message).await.context("sending")?;
        let status = answer.status();
        let bytes = answer.into_body().collect().await.context("reading")?.to_bytes();
        connection.uses += 1;
        if connection.uses < USES {
            // Free for the next only when it could take one.
            connection.sender.ready().await.context("after the answer")?;
            lock(&self.idle).push(connection);
        }
        if status != hyper::StatusCode::OK {
            bail!("{status}: {}", String::from_utf8_lossy(&bytes));
        }
        let Response { uid, allowed, warnings, status } = serde_json::from_slice::<Review>(&bytes)?.response;
        if uid.is_empty() {
            bail!("an answer to nobody");
        }
        Ok(Answer { allowed, warned: !warnings.is_empty(), message: status.message })
    }

    async fn connect(&self) -> anyhow::Result<Connection> {
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        let stream = self.tls.connect(ServerName::try_from("localhost")?, stream).await?;
        if let Some(certificate) = stream.get_ref().1.peer_certificates().and_then(<[_]>::first) {
            lock(&self.certificates).insert(certificate.to_vec());
        }
        let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Connection { sender, uses: 0 })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
