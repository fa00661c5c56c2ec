//! Sockets: accepting, TLS, connection limits, and leaving without refusing anybody.

use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::{TlsAcceptor, rustls};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::certificates::Serving;
use crate::pace::{Busy, Pace, Paced};
use crate::{Error, Service};

/// Probes and scrapers at once; there are a handful.
const OPERATORS: usize = 64;
/// The head of a request; an apiserver's has less than 1 KiB.
const HEAD_SIZE: usize = 32 << 10;
/// After a failed accept, which is about file descriptors: some will be free again.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How long leaving takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shutdown {
    /// After readiness turned false, so long new connections are still welcome. Default 15 s: a readiness probe of 5 s
    /// with the time until every apiserver's routes have changed, twice over.
    pub notice: Duration,
    /// Then, so long requests in progress may take before they are cut off. Default 12 s: a webhook's 10 s and a margin.
    /// Both together stay below the 30 s of a pod's `terminationGracePeriodSeconds`.
    pub drain: Duration,
}

impl Default for Shutdown {
    fn default() -> Self {
        Self { notice: Duration::from_secs(15), drain: Duration::from_secs(12) }
    }
}

/// A webhook server on sockets that the caller opened.
pub struct Server {
    service: Arc<Service>,
    tls: TlsAcceptor,
    shutdown: Shutdown,
}

impl Server {
    /// Serves with whatever certificate `certificates` holds when a client connects.
    ///
    /// # Errors
    /// [`Error::Tls`], when the TLS library offers no protocol version.
    pub fn new(service: Arc<Service>, certificates: Arc<Serving>, shutdown: Shutdown) -> Result<Self, Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(certificates);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { service, tls: TlsAcceptor::from(Arc::new(config)), shutdown })
    }

    /// Serves webhooks over TLS on one socket and `/healthz`, `/readyz`, `/metrics` in plain text on the others, until
    /// `stop` is done and the last request is answered. Dropping the future ends everything at once.
    pub async fn run(self, webhooks: TcpListener, operations: Vec<TcpListener>, stop: impl Future<Output = ()> + Send) {
        let limits = self.service.limits();
        let callers = Port::new(&self.service, Some(self.tls.clone()), limits.connections, limits.overflow);
        let probes = Port::new(&self.service, None, OPERATORS, 0);
        let (_cut_callers, _cut_probes) = (callers.cut.clone().drop_guard(), probes.cut.clone().drop_guard());
        callers.tasks.spawn(callers.clone().accept(webhooks));
        for listener in operations {
            probes.tasks.spawn(probes.clone().accept(listener));
        }

        stop.await;
        tracing::info!(notice = ?self.shutdown.notice, "leaving: no longer ready");
        self.service.health().leaving.cancel();
        tokio::time::sleep(self.shutdown.notice).await;
        callers.close(self.shutdown.drain).await;
        // Probes last: until here somebody may want to know how it goes.
        probes.close(Duration::from_secs(1)).await;
        tracing::info!("left");
    }
}

/// A socket, or several alike, and its connections.
#[derive(Clone)]
struct Port {
    service: Arc<Service>,
    /// Webhooks with, operations without.
    tls: Option<TlsAcceptor>,
    places: Arc<Semaphore>,
    overflow: Arc<Semaphore>,
    tasks: TaskTracker,
    /// No new connections, and none longer than its request.
    closing: CancellationToken,
    /// The end.
    cut: CancellationToken,
}

/// What a connection gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Welcome {
    Webhooks,
    Operations,
    /// One answer that says there are too many.
    Elsewhere,
}

impl Port {
    fn new(service: &Arc<Service>, tls: Option<TlsAcceptor>, places: usize, overflow: usize) -> Self {
        Self {
            service: Arc::clone(service),
            tls,
            places: Arc::new(Semaphore::new(places)),
            overflow: Arc::new(Semaphore::new(overflow)),
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
            cut: CancellationToken::new(),
        }
    }

    async fn accept(self, listener: TcpListener) {
        loop {
            let accepted = tokio::select! {
                biased;
                () = self.cut.cancelled() => return,
                () = self.closing.cancelled() => return,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, _)) => self.admit(stream),
                Err(error) => {
                    tracing::warn!(%error, "accepting a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    /// Finds a place for a connection. One without any is closed unheard.
    fn admit(&self, stream: TcpStream) {
        let usual = if self.tls.is_some() { Welcome::Webhooks } else { Welcome::Operations };
        let place = match Arc::clone(&self.places).try_acquire_owned() {
            Ok(place) => Some((usual, place)),
            Err(_) => Arc::clone(&self.overflow).try_acquire_owned().ok().map(|place| (Welcome::Elsewhere, place)),
        };
        let Some((welcome, place)) = place else {
            self.service.metrics().rejected("unheard");
            return;
        };
        let port = self.clone();
        self.tasks.spawn(async move {
            let cut = port.cut.clone();
            tokio::select! {
                biased;
                () = cut.cancelled() => {}
                () = port.connection(stream, welcome, place) => {}
            }
        });
    }

    async fn connection(self, stream: TcpStream, welcome: Welcome, _place: OwnedSemaphorePermit) {
        let _connected = self.service.metrics().connected();
        // Answers are small and someone waits for them.
        let _ = stream.set_nodelay(true);
        let Some(tls) = &self.tls else { return self.speak(stream, welcome).await };
        match tokio::time::timeout(self.service.limits().handshake, tls.accept(stream)).await {
            Ok(Ok(stream)) => self.speak(stream, welcome).await,
            Ok(Err(error)) => {
                tracing::debug!(%error, "TLS handshake");
                self.service.metrics().rejected("handshake");
            }
            Err(_elapsed) => self.service.metrics().rejected("handshake_slow"),
        }
    }

    async fn speak<S: AsyncRead + AsyncWrite + Unpin + Send>(&self, stream: S, welcome: Welcome) {
        let busy = Busy::default();
        let limits = self.service.limits();
        let pace = Pace { idle: limits.idle, head: limits.head, places: Arc::clone(&self.places) };
        let io = TokioIo::new(Paced::new(stream, busy.clone(), pace));
        let service = &self.service;
        let answer = service_fn(move |request| {
            let in_request = busy.begin();
            async move {
                let answer = match welcome {
                    Welcome::Webhooks => service.webhook(request).await,
                    Welcome::Operations => service.operations(request).await,
                    Welcome::Elsewhere => service.turn_away(request).await,
                };
                drop(in_request);
                answer
            }
        });
        let connection = http1::Builder::new()
            // Ours is in `pace`.
            .header_read_timeout(None)
            .max_buf_size(HEAD_SIZE)
            .serve_connection(io, answer);
        let mut connection = std::pin::pin!(connection);
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = self.closing.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "connection");
        }
    }

    /// Stops accepting, lets requests in progress end, then cuts.
    async fn close(&self, drain: Duration) {
        self.closing.cancel();
        self.tasks.close();
        if tokio::time::timeout(drain, self.tasks.wait()).await.is_err() {
            tracing::warn!(connections = self.tasks.len(), "cut off");
            self.cut.cancel();
            self.tasks.wait().await;
        }
    }
}
