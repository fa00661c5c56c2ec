//! A program with webhooks: its flags, and how its parts are started and stopped.
//!
//! ```text
//!  start  logs, signals ─► clusters ─► lease ─► certificates ─► sockets ─► server
//!  stop   server drains (certificates still renewed) ─► certificates ─► lease is given back
//! ```

mod args;
mod certificates;
mod registration;

use std::future::pending;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use fabric_admission::certificates::{Leader, Serving};
use fabric_admission::{Health, Limits, Metrics, Server, Service, Shutdown};
use fabric_runtime::lease::{ClusterLease, Timing};
use fabric_runtime::{Elector, Leadership, cluster, logging, stopped};
use fabric_validation::openstack::admission::{Defaults, Webhook};
use futures::future::BoxFuture;
use kube::Client;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::dynamic::Dynamic;
use crate::fetch::ClusterFetch;
use crate::{Error, Rules, routes};

pub use args::{Args, Mode, Seconds};

/// What work beside the webhooks finds when it begins.
pub struct Surroundings<'a> {
    /// The cluster whose objects are checked.
    pub client: Client,
    /// The same for watches.
    pub watches: Client,
    /// The cluster that the program lives in.
    pub home: Client,
    /// The namespace that it lives in, if it was told.
    pub namespace: Option<String>,
    /// Whether this replica may write.
    pub leadership: Leadership,
    /// Asks to stop: nothing new is begun, what runs comes to a good place.
    pub stop: CancellationToken,
    /// Where it counts.
    pub registry: &'a mut Registry,
    /// Where every client of an OpenStack counts.
    pub openstack: fabric_openstack::Metrics,
    /// What `/readyz` asks.
    pub health: &'a mut Health,
}

/// Work beside the webhooks, which may need the lease. It ends soon after it is asked to stop; then the lease is given
/// back.
pub trait Work: Send {
    /// Registers metrics; the future does the work.
    fn begin(self: Box<Self>, surroundings: Surroundings<'_>) -> BoxFuture<'static, ()>;
}

/// What makes one program another than the next.
#[derive(Clone, Debug)]
pub struct Program {
    /// Gardener's name for it, without the prefix `gardener-extension-`: `admission-openstack-fabric`. Secrets, Service,
    /// lease and webhook configurations are named after it.
    pub component: &'static str,
    /// What it serves.
    pub webhooks: Vec<Webhook>,
    /// What new shoots get.
    pub defaults: Defaults,
}

impl Program {
    /// The name with Gardener's prefix.
    pub fn full_name(&self) -> String {
        format!("gardener-extension-{}", self.component)
    }

    /// As [`Program::run`], for `main`: what keeps it from starting is told on standard error, logs or not.
    pub async fn main(self, args: Args, work: Vec<Box<dyn Work>>) -> ExitCode {
        match self.run(args, work).await {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
        }
    }

    /// Runs until a signal says to stop and the last request is answered.
    ///
    /// # Errors
    /// What keeps it from starting: a flag, a cluster that is not named, a socket, certificate files.
    pub async fn run(self, args: Args, work: Vec<Box<dyn Work>>) -> Result<(), Error> {
        logging::init(args.logging)?;
        let stop = stopped()?;
        args.check()?;
        // Where the webhooks are registered and objects are read, and where this program itself lives.
        let garden = cluster::connect(args.kubeconfig.as_deref()).await?;
        let home = args.home(&garden).await?;
        let lease = self.lease(&args, &home)?;
        let leadership = lease.as_ref().map_or_else(Leadership::alone, Elector::leadership);
        let is_held = leadership.clone();
        let leader: Leader = Arc::new(move || is_held.is_held());

        let mut registry = Registry::default();
        let metrics = Metrics::register(&mut registry);
        let serving = Serving::new();
        let renewing = certificates::keep(&self, &args, (&garden, &home), &serving, &metrics, leader)?;
        let halt = CancellationToken::new();
        let mut works = JoinSet::new();
        let certificate = Arc::clone(&serving);
        let mut health = Health::new().with("certificate", Arc::new(move || certificate.check(jiff::Timestamp::now())));
        let openstack = fabric_openstack::Metrics::register(&mut registry);
        let watches = cluster::connect_for_watches(args.kubeconfig.as_deref()).await?;
        let work: Vec<_> = work
            .into_iter()
            .map(|work| {
                work.begin(Surroundings {
                    client: garden.clone(),
                    watches: watches.clone(),
                    home: home.clone(),
                    namespace: args.namespace.clone().filter(|name| !name.is_empty()),
                    leadership: leadership.clone(),
                    stop: halt.clone(),
                    registry: &mut registry,
                    openstack: openstack.clone(),
                    health: &mut health,
                })
            })
            .collect();
        let server = self.server(&args, garden, (Arc::clone(&serving), health), (metrics, registry, openstack))?;

        let webhooks = listen((args.host, args.port).into()).await?;
        let mut operations = Vec::new();
        for address in args.operations() {
            operations.push(listen(address).await?);
        }
        tracing::info!(
            component = self.component,
            version = env!("CARGO_PKG_VERSION"),
            webhooks = %shown(&webhooks),
            operations = ?operations.iter().map(shown).collect::<Vec<_>>(),
            dynamic_validation = ?args.dynamic_validation,
            "serving"
        );
        let (resign, resigned) = oneshot::channel::<()>();
        let holding = tokio::spawn(async move {
            match lease {
                Some(lease) => {
                    lease.run(async { drop(resigned.await) }).await;
                }
                None => drop(resigned.await),
            }
        });
        let renewing = tokio::spawn(renewing);
        work.into_iter().for_each(|work| drop(works.spawn(work)));
        // Webhooks are answered for a while longer; work begins to end at once.
        let stop = async {
            stop.await;
            halt.cancel();
        };
        server.run(webhooks, operations, stop).await;
        works.join_all().await;
        // In this order: whoever takes the lease finds nobody writing.
        renewing.abort();
        // It was aborted, or it panicked: both are its end.
        let _ = renewing.await;
        let _ = resign.send(());
        let _ = holding.await;
        Ok(())
    }

    fn lease(&self, args: &Args, home: &Client) -> Result<Option<Elector>, Error> {
        if !args.leader_election {
            return Ok(None);
        }
        let namespace = args.lease_namespace()?;
        let name = args.leader_election_id.clone().unwrap_or_else(|| self.full_name());
        let store = ClusterLease::new(home.clone(), namespace, name);
        Ok(Some(Elector::new(Arc::new(store), cluster::identity(), Timing::default())))
    }

    fn server(
        &self,
        args: &Args,
        garden: Client,
        (serving, health): (Arc<Serving>, Health),
        (metrics, mut registry, openstack): (Metrics, Registry, fabric_openstack::Metrics),
    ) -> Result<Server, Error> {
        let dynamic = Dynamic::new(args.dynamic_validation, args.dynamic_time(), openstack, &mut registry);
        let rules = Rules { fetch: Arc::new(ClusterFetch::new(garden)), dynamic, defaults: self.defaults };
        let routes = routes(&self.webhooks, &Arc::new(rules))?;
        let service = Service::new(routes, health, Limits::default(), metrics, registry);
        let shutdown = Shutdown { notice: args.shutdown_notice.into(), ..Shutdown::default() };
        Ok(Server::new(Arc::new(service), serving, shutdown)?)
    }
}

async fn listen(address: SocketAddr) -> Result<TcpListener, Error> {
    TcpListener::bind(address).await.map_err(|source| Error::Listen { address, source })
}

/// Where a socket listens: with port 0 the system chose.
fn shown(listener: &TcpListener) -> String {
    listener.local_addr().map_or_else(|error| error.to_string(), |address| address.to_string())
}

/// Nothing to do, for ever.
async fn idle() {
    pending().await
}
