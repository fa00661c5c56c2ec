//! The client: what all calls of one credential share.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU16},
    },
    time::Duration,
};

use fabric_openstack_types::credentials::{Credentials, Interface};
use openstack::{InterfaceType, auth::NoAuth, session::Session};
use tokio::sync::Semaphore;

use crate::{
    clock::{Clock, SystemClock},
    error::Error,
    keystone::KeystoneAuth,
    metrics::{Metrics, Stats, Telemetry},
    retry::RetryPolicy,
    share, transport,
};

/// How a client behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// From the request's first byte to the answer's last. A CloudProfile's `requestTimeout` goes here.
    pub request_timeout: Duration,
    /// Calls on the wire at the same time. Default 8: what a look at one infrastructure asks goes in one round.
    pub parallel: usize,
    /// What is tried again, and how long.
    pub retry: RetryPolicy,
    /// The page size asked of list calls; `None`: whatever the service gives at once.
    pub page_size: Option<u32>,
    /// The histogram to count into.
    pub metrics: Option<Metrics>,
    /// The clock of waits and of tokens.
    pub clock: Arc<dyn Clock>,
    /// Asked right before each request that may change something.
    pub permit: Permit,
}

/// Whether requests that may change something may be sent just now: not by a replica that another one has replaced.
#[derive(Clone)]
pub struct Permit(Arc<dyn Fn() -> bool + Send + Sync>);

impl Permit {
    /// Asks `may` each time.
    pub fn new(may: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(may))
    }

    pub(crate) fn is_given(&self) -> bool {
        (self.0)()
    }
}

impl Default for Permit {
    fn default() -> Self {
        Self::new(|| true)
    }
}

impl std::fmt::Debug for Permit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Permit({})", self.is_given())
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            request_timeout: Duration::from_secs(60),
            parallel: 8,
            retry: RetryPolicy::default(),
            page_size: None,
            metrics: None,
            clock: Arc::new(SystemClock),
            permit: Permit::default(),
        }
    }
}

/// A session with one credential: implements every trait of [`crate::api`]. Cheap to clone; clones share the token,
/// the connections, the gate and the counters.
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) shared: Arc<Shared>,
    pub(crate) retry: RetryPolicy,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) session: Session,
    pub(crate) auth: KeystoneAuth,
    pub(crate) gate: Semaphore,
    pub(crate) telemetry: Arc<Telemetry>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) permit: Permit,
    pub(crate) page_size: Option<u32>,
    /// The minor version of Manila's API that we speak.
    pub(crate) manila_minor: AtomicU16,
    /// Whether Neutron adds several tags in one call (`tag-creation`); true until it says otherwise.
    pub(crate) tags_at_once: AtomicBool,
}

impl Client {
    /// Prepares a session. Nothing is sent before the first call, which logs in.
    ///
    /// # Errors
    /// [`Error::Invalid`]: the authentication URL or the CA certificate cannot be used.
    pub async fn connect(credentials: Credentials, options: Options) -> Result<Self, Error> {
        let http = transport::client(&credentials, options.request_timeout)?;
        let telemetry = Telemetry::new(options.metrics);
        let interface = interface(credentials.interface);
        let region = credentials.region.clone();
        let auth = KeystoneAuth::new(credentials, options.retry, options.clock.clone(), telemetry.clone())?;
        // `Session::new_with_client` would log in at once, with an error that has lost its class.
        let session = Session::new_with_client(http, NoAuth::new_without_endpoint()).await;
        let mut session = session
            .map_err(|error| Error::Invalid {
                place: "HTTP client".to_owned(),
                field: "session".to_owned(),
                problem: error.to_string(),
            })?
            .with_auth_type(auth.clone())
            .with_endpoint_interface(interface);
        if let Some(region) = region {
            session.set_region(region);
        }
        let shared = Shared {
            session,
            auth,
            gate: Semaphore::new(options.parallel.max(1)),
            telemetry,
            clock: options.clock,
            permit: options.permit,
            page_size: options.page_size,
            manila_minor: AtomicU16::new(share::MINOR),
            tags_at_once: AtomicBool::new(true),
        };
        Ok(Self { shared: Arc::new(shared), retry: options.retry })
    }

    /// The same session with another patience, for one task.
    pub fn with_retry(&self, retry: RetryPolicy) -> Self {
        Self { shared: self.shared.clone(), retry }
    }

    /// The patience of this handle, to change a part of it.
    pub fn retry(&self) -> RetryPolicy {
        self.retry
    }

    /// What was sent so far, by all clones.
    pub fn stats(&self) -> Stats {
        self.shared.telemetry.stats()
    }

    /// The session below, for calls that have no trait here. Its errors carry no class.
    pub fn session(&self) -> &Session {
        &self.shared.session
    }
}

fn interface(interface: Interface) -> InterfaceType {
    match interface {
        Interface::Public => InterfaceType::Public,
        Interface::Internal => InterfaceType::Internal,
        Interface::Admin => InterfaceType::Admin,
    }
}
