//! A server on loopback with certificates of its own making.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use fabric_admission::certificates::{Keeper, MemoryCluster, Serving};
use fabric_admission::{
    Handler, Health, Kind, Limits, Metrics, Operation, Request, Route, Routes, Rule, Server, Service, Shutdown, Verdict,
};
use fabric_apis::field::{Error, Path};
use jiff::Timestamp;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinHandle;

use crate::client::{Client, NAME, Now, PATH};

/// Refuses by the object's `rule`: none, error, or wait: for some time, until the gate opens, for ever. Counts what it
/// was asked.
struct Rules {
    asked: Arc<AtomicUsize>,
    gate: Arc<Semaphore>,
}

#[async_trait]
impl Handler for Rules {
    async fn review(&self, request: &Request) -> Verdict {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let object: serde_json::Value =
            match request.object.as_ref().map(|object| serde_json::from_slice(object.bytes())) {
                Some(Ok(object)) => object,
                _ => return Verdict::undecodable("no JSON"),
            };
        match object["rule"].as_str() {
            Some("error") => Verdict::of_errors(&Error::invalid(&Path::new("spec"), 1, "no").into()),
            Some("short") => {
                tokio::time::sleep(Duration::from_millis(20)).await;
                Verdict::allowed()
            }
            Some("held") => {
                drop(self.gate.acquire().await.unwrap());
                Verdict::allowed()
            }
            Some("long") => std::future::pending().await,
            _ => Verdict::allowed(),
        }
    }
}

/// A clock that tests move. Starts at a fixed time.
#[derive(Clone)]
pub(crate) struct Clock(Arc<Mutex<Timestamp>>);

impl Clock {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Timestamp::from_second(1_800_000_000).unwrap())))
    }

    pub(crate) fn pass(&self, hours: i64) {
        *self.0.lock().unwrap() += jiff::SignedDuration::from_hours(hours);
    }

    pub(crate) fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }

    pub(crate) fn seconds(&self) -> Now {
        let clock = self.clone();
        Arc::new(move || u64::try_from(clock.now().as_second()).unwrap())
    }
}

pub(crate) struct Running {
    pub(crate) webhooks: SocketAddr,
    pub(crate) operations: SocketAddr,
    pub(crate) stop: oneshot::Sender<()>,
    pub(crate) task: JoinHandle<()>,
    /// How many reviews its handler began.
    pub(crate) asked: Arc<AtomicUsize>,
    /// Closed at first; a permit opens it for those that are held.
    pub(crate) gate: Arc<Semaphore>,
}

/// Starts a server that serves what `serving` holds.
pub(crate) async fn start(limits: Limits, shutdown: Shutdown, serving: &Arc<Serving>, clock: &Clock) -> Running {
    let (asked, gate) = (Arc::default(), Arc::new(Semaphore::new(0)));
    let rules = Rules { asked: Arc::clone(&asked), gate: Arc::clone(&gate) };
    let rule = Rule::new(Kind::new("g", "v1", "Thing"), &[Operation::Create], Arc::new(rules));
    let routes = Routes::new([Route::new(PATH).with(rule)]).unwrap();
    let mut registry = Registry::default();
    let metrics = Metrics::register(&mut registry);
    let (certificate, clock) = (Arc::clone(serving), clock.clone());
    let health = Health::new().with("certificate", Arc::new(move || certificate.check(clock.now())));
    let service = Arc::new(Service::new(routes, health, limits, metrics, registry));
    let server = Server::new(service, Arc::clone(serving), shutdown).unwrap();
    let webhooks = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let operations = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addresses = (webhooks.local_addr().unwrap(), operations.local_addr().unwrap());
    let (stop, stopped) = oneshot::channel();
    let task = tokio::spawn(server.run(webhooks, vec![operations], async {
        // Also when the test is over.
        let _ = stopped.await;
    }));
    Running { webhooks: addresses.0, operations: addresses.1, stop, task, asked, gate }
}

/// The certificates of one cluster.
pub(crate) struct World {
    pub(crate) clock: Clock,
    pub(crate) cluster: Arc<MemoryCluster>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self { clock: Clock::new(), cluster: Arc::default() }
    }

    pub(crate) fn keeper(&self, leads: bool) -> (Keeper, Arc<Serving>) {
        let serving = Serving::new();
        let clock = self.clock.clone();
        let store = (self.cluster.clone() as Arc<_>, self.cluster.clone() as Arc<_>);
        let keeper = Keeper::new("admission", vec![NAME.into()], store, Arc::clone(&serving), Arc::new(move || leads))
            .with_clock(Arc::new(move || clock.now()));
        (keeper, serving)
    }

    pub(crate) fn client(&self, address: SocketAddr) -> Client {
        let cluster = Arc::clone(&self.cluster);
        Client::new(address, Arc::new(move || cluster.bundle().unwrap()), self.clock.seconds())
    }

    /// A server with a first certificate.
    pub(crate) async fn server(&self, limits: Limits, shutdown: Shutdown) -> Running {
        let (mut keeper, serving) = self.keeper(true);
        keeper.round().await.unwrap();
        start(limits, shutdown, &serving, &self.clock).await
    }
}

/// Times that tests wait for without being slow, and machines keep without being fast.
pub(crate) fn quick() -> Limits {
    Limits {
        body: 64 << 10,
        handshake: Duration::from_millis(400),
        head: Duration::from_millis(400),
        body_time: Duration::from_millis(400),
        ..Limits::default()
    }
}

/// Tries again until it is so, or the deadline of ten seconds has passed.
pub(crate) async fn eventually<F: Future<Output = bool>>(what: &str, mut is_so: impl FnMut() -> F) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !is_so().await {
        assert!(Instant::now() < deadline, "not within ten seconds: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
