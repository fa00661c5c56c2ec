//! The running cloud: how it starts, what it listens on, how it stops.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::faults::Faults;
use crate::journal::Journal;
use crate::json::{owned, set, text};
use crate::request::{Reply, Request};
use crate::rng::Rng;
use crate::seed::{self, Seed};
use crate::state::{Settings, State, table};
use crate::{Service, SimError, dispatch, server, settle};

/// How a cloud is started.
#[derive(Debug, Clone)]
pub struct Config {
    /// The ports in the order of [`Service::ALL`]; 0 takes any that is free.
    pub ports: [u16; 5],
    /// From the end of a change to ACTIVE (ports, load balancers, floating IPs).
    pub delay: Duration,
    /// What every call takes at least.
    pub latency: Duration,
    /// How long a token lives.
    pub token_lifetime: Duration,
    /// Characters a tag may have: 255 here, 60 in clouds that are older.
    pub tag_limit: usize,
    /// Services that the catalog does not list.
    pub hidden: Vec<Service>,
    /// With a number all ids, addresses and chances are the same in every run that makes the same calls in the
    /// same order.
    pub rng_seed: Option<u64>,
    /// The region of the catalog.
    pub region: String,
    /// The secrets of the fresh cloud.
    pub seed: Seed,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            ports: [0; 5],
            delay: Duration::from_millis(50),
            latency: Duration::ZERO,
            token_lifetime: Duration::from_secs(86_400),
            tag_limit: 255,
            hidden: Vec::new(),
            rng_seed: None,
            region: "RegionOne".to_owned(),
            seed: Seed::default(),
        }
    }
}

/// What the connections share.
#[derive(Debug)]
pub(crate) struct Shared {
    state: Mutex<State>,
    pub(crate) faults: Faults,
    pub(crate) journal: Journal,
    pub(crate) latency: Duration,
}

impl Shared {
    /// The state after everything that is due has happened.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        let mut st = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        settle::settle(&mut st);
        st
    }

    pub(crate) fn carry_out(&self, req: &Request) -> Reply {
        dispatch(&mut self.lock(), req)
    }
}

/// A running cloud. It stops when it is dropped, and more gently by [`Cloud::stop`].
#[derive(Debug)]
pub struct Cloud {
    pub(crate) shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    listeners: Vec<JoinHandle<()>>,
}

impl Cloud {
    /// Starts a cloud on 127.0.0.1, inside the calling tokio runtime, and fills it with the seed.
    ///
    /// # Errors
    /// [`SimError::Listen`] when a port is taken.
    pub async fn start(config: Config) -> Result<Self, SimError> {
        let mut hosts = HashMap::new();
        let mut sockets = Vec::new();
        for (service, port) in Service::ALL.into_iter().zip(config.ports) {
            let failed = |source| SimError::Listen { service: service.catalog_name(), port, source };
            let socket = TcpListener::bind(("127.0.0.1", port)).await.map_err(failed)?;
            hosts.insert(service, socket.local_addr().map_err(failed)?.to_string());
            sockets.push((service, socket));
        }
        let settings = Settings {
            region: config.region,
            delay: config.delay,
            token_lifetime: config.token_lifetime,
            tag_limit: config.tag_limit,
            hosts,
            hold: false,
            hidden: config.hidden,
        };
        let mut state = State::new(settings, Rng::new(config.rng_seed));
        seed::fill(&mut state, &config.seed);
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            faults: Faults::new(config.rng_seed),
            journal: Journal::default(),
            latency: config.latency,
        });
        let (stop, stopped) = watch::channel(false);
        let listeners = sockets
            .into_iter()
            .map(|(service, socket)| {
                tokio::spawn(server::accept(socket, service, Arc::clone(&shared), stopped.clone()))
            })
            .collect();
        Ok(Self { shared, stop, listeners })
    }

    /// Accepts no more, lets open requests end for up to two seconds, and closes everything.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        for mut task in std::mem::take(&mut self.listeners) {
            if tokio::time::timeout(server::GRACE, &mut task).await.is_err() {
                task.abort();
            }
        }
    }

    /// Keystone's URL, with `/v3`.
    pub fn auth_url(&self) -> String {
        self.shared.lock().auth_url()
    }

    /// `http://127.0.0.1:<port>` of a service.
    pub fn base_url(&self, service: Service) -> String {
        self.shared.lock().base(service)
    }

    /// The region of the catalog.
    pub fn region(&self) -> String {
        self.shared.lock().settings.region.clone()
    }

    /// The faults that calls over HTTP meet.
    pub fn faults(&self) -> &Faults {
        &self.shared.faults
    }

    /// The calls over HTTP.
    pub fn calls(&self) -> &Journal {
        &self.shared.journal
    }

    /// How many tokens Keystone has issued over HTTP.
    pub fn tokens_issued(&self) -> u64 {
        self.shared.lock().tokens_issued
    }

    /// A `clouds.yaml` with the clouds `admin`, `demo`, `demo-reader`, `netadmin`, `other` and `demo-appcred`.
    pub fn clouds_yaml(&self) -> String {
        let st = self.shared.lock();
        let cloud = |auth: Value| {
            json!({
                "auth": auth, "region_name": st.settings.region, "interface": "public",
                "identity_api_version": 3,
            })
        };
        let person = |name: &str, project: &str, domain: &str| {
            let password = st.find(table::USERS, "name", name).map(|u| owned(u, "_password"));
            cloud(json!({
                "auth_url": st.auth_url(), "username": name, "password": password,
                "project_name": project, "user_domain_name": domain, "project_domain_name": domain,
            }))
        };
        let mut clouds = Map::new();
        clouds.insert("admin".to_owned(), person("admin", "admin", "Default"));
        for (name, project) in [("demo", "demo"), ("demo-reader", "demo"), ("netadmin", "demo"), ("other", "other")] {
            clouds.insert(name.to_owned(), person(name, project, "demo"));
        }
        if let Some(credential) = st.find(table::APP_CREDENTIALS, "name", "ci") {
            let mut program = cloud(json!({
                "auth_url": st.auth_url(), "application_credential_id": text(credential, "id"),
                "application_credential_secret": text(credential, "_secret"),
            }));
            set(&mut program, "auth_type", "v3applicationcredential");
            clouds.insert("demo-appcred".to_owned(), program);
        }
        json!({"clouds": clouds}).to_string()
    }
}

impl Drop for Cloud {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        for task in &self.listeners {
            task.abort();
        }
    }
}
