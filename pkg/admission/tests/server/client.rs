//! A caller as strict as an apiserver: it keeps its connections, trusts one bundle, and never tries twice.

use std::net::SocketAddr;
use std::sync::Arc;

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, header};
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::time_provider::TimeProvider;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

pub(crate) const NAME: &str = "admission.garden.svc";
pub(crate) const PATH: &str = "/webhooks/validate";

/// Seconds since the epoch.
pub(crate) type Now = Arc<dyn Fn() -> u64 + Send + Sync>;

struct Time(Now);

impl std::fmt::Debug for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Time")
    }
}

impl TimeProvider for Time {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(std::time::Duration::from_secs((self.0)())))
    }
}

/// Opens a TLS connection, trusting exactly the certificates of a PEM bundle.
pub(crate) async fn connect(address: SocketAddr, bundle: &str, now: Now) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = rustls::RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(bundle.as_bytes()) {
        roots.add(certificate.unwrap()).unwrap();
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_details(provider, Arc::new(Time(now)))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(address).await?;
    TlsConnector::from(Arc::new(config)).connect(ServerName::try_from(NAME).unwrap(), stream).await
}

/// Sends reviews over a connection that it keeps.
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    pub(crate) bundle: Arc<dyn Fn() -> String + Send + Sync>,
    pub(crate) now: Now,
    sender: Option<SendRequest<Full<Bytes>>>,
}

pub(crate) fn review(rule: &str) -> Bytes {
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "u-1", "kind": {"group": "g", "version": "v1", "kind": "Thing"}, "operation": "CREATE",
        "object": {"rule": rule}}})
    .to_string()
    .into()
}

impl Client {
    pub(crate) fn new(address: SocketAddr, bundle: Arc<dyn Fn() -> String + Send + Sync>, now: Now) -> Self {
        Self { address, bundle, now, sender: None }
    }

    /// Whether the next request goes over a connection that is there.
    pub(crate) fn is_connected(&self) -> bool {
        self.sender.as_ref().is_some_and(|sender| !sender.is_closed())
    }

    pub(crate) fn disconnect(&mut self) {
        self.sender = None;
    }

    async fn open(&mut self) -> Result<SendRequest<Full<Bytes>>, String> {
        let bundle = (self.bundle)();
        let stream =
            connect(self.address, &bundle, Arc::clone(&self.now)).await.map_err(|error| format!("connect: {error}"))?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(|error| format!("open: {error}"))?;
        tokio::spawn(connection);
        Ok(sender)
    }

    /// One request, one attempt.
    pub(crate) async fn send(&mut self, body: Bytes) -> Result<(u16, Value), String> {
        let kept = match self.sender.take() {
            Some(mut sender) => sender.ready().await.is_ok().then_some(sender),
            None => None,
        };
        let mut sender = match kept {
            Some(sender) => sender,
            None => self.open().await?,
        };
        let request = Request::post(PATH)
            .header(header::HOST, NAME)
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(body))
            .unwrap();
        let answer = sender.send_request(request).await.map_err(|error| format!("send: {error}"))?;
        let code = answer.status().as_u16();
        let last = answer.headers().get(header::CONNECTION).is_some_and(|value| value == "close");
        let body = answer.into_body().collect().await.map_err(|error| format!("answer: {error}"))?.to_bytes();
        if !last {
            self.sender = Some(sender);
        }
        Ok((code, serde_json::from_slice(&body).map_err(|error| format!("answer: {error}"))?))
    }

    /// One request that must be answered as its rule says.
    pub(crate) async fn ask(&mut self, allowed: bool) -> Result<(), String> {
        match self.send(review(if allowed { "none" } else { "error" })).await? {
            (200, answer) if answer["response"]["allowed"] == allowed && answer["response"]["uid"] == "u-1" => Ok(()),
            (code, answer) => Err(format!("{code}: {answer}")),
        }
    }
}

/// A plain GET, for probes.
pub(crate) async fn get(address: SocketAddr, path: &str) -> Result<(u16, String), String> {
    let stream = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
    tokio::spawn(connection);
    let request = Request::get(path).header(header::HOST, "probe").body(Full::<Bytes>::default()).unwrap();
    let answer = sender.send_request(request).await.map_err(|error| error.to_string())?;
    let code = answer.status().as_u16();
    let body = answer.into_body().collect().await.map_err(|error| error.to_string())?.to_bytes();
    Ok((code, String::from_utf8_lossy(&body).into_owned()))
}
