//! The running cloud and its backdoor.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::Method;
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::faults::Faults;
use crate::journal::Journal;
use crate::json::{merge_patch, owned, public, set, text};
use crate::request::{Reply, Request};
use crate::rng::Rng;
use crate::seed::{self, Seed};
use crate::state::{Settings, State, Who, table};
use crate::{Service, SimError, dispatch, neutron, persist, server, settle};

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
    /// With a number all ids, addresses and chances are the same in every run.
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
    fn lock(&self) -> MutexGuard<'_, State> {
        let mut st = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        settle::settle(&mut st);
        st
    }

    pub(crate) fn carry_out(&self, req: &Request) -> Reply {
        dispatch(&mut self.lock(), req)
    }

    pub(crate) fn fresh_id(&self) -> String {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).rng.id()
    }
}

/// A running cloud. It stops when it is dropped, and more gently by [`Cloud::stop`].
#[derive(Debug)]
pub struct Cloud {
    shared: Arc<Shared>,
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

    /// Everything there is, by table and sorted by id, without secrets, tokens and our own bookkeeping.
    /// Two snapshots of an unchanged cloud are equal byte by byte.
    pub fn snapshot(&self) -> Value {
        let st = self.shared.lock();
        st.tables
            .iter()
            .filter(|(_, rows)| !rows.is_empty())
            .map(|(name, rows)| (name.clone(), rows.values().map(public).collect::<Value>()))
            .collect::<Map<_, _>>()
            .into()
    }

    /// Saves the cloud, secrets included, readable for its owner only; the file is replaced as a whole.
    ///
    /// # Errors
    /// [`SimError::File`]
    pub fn save(&self, path: &Path) -> Result<(), SimError> {
        let dump = self.shared.lock().dump();
        persist::write(path, &dump)
    }

    /// Takes over a saved cloud in place of what is there. Tokens are void afterwards.
    ///
    /// # Errors
    /// [`SimError::File`], [`SimError::Damaged`], [`SimError::Form`]
    pub fn load(&self, path: &Path) -> Result<(), SimError> {
        let saved = persist::read(path)?;
        self.shared.lock().restore(&saved);
        Ok(())
    }

    /// While held nothing changes its status: what waits goes through when the hold ends.
    pub fn hold(&self, on: bool) {
        self.shared.lock().settings.hold = on;
    }

    /// From now on changes become ACTIVE after this time.
    pub fn set_delay(&self, delay: Duration) {
        self.shared.lock().settings.delay = delay;
    }

    /// From now on tags have at most so many characters.
    pub fn set_tag_limit(&self, characters: usize) {
        self.shared.lock().settings.tag_limit = characters;
    }

    /// From now on new tokens live so long.
    pub fn set_token_lifetime(&self, lifetime: Duration) {
        self.shared.lock().settings.token_lifetime = lifetime;
    }

    /// Hides services from the catalog; tokens that are there already keep theirs.
    pub fn hide(&self, services: &[Service]) {
        self.shared.lock().settings.hidden = services.to_vec();
    }

    /// Revokes all tokens.
    pub fn revoke_tokens(&self) {
        self.shared.lock().tokens.clear();
    }

    /// Sets a limit of a project, named by name or id; -1 is no limit.
    /// Resources are named as in the services' own quota calls, such as `network`, `key_pairs`, `share_networks`.
    ///
    /// # Errors
    /// [`SimError::Absent`] when there is no such project.
    pub fn set_quota(&self, service: Service, project: &str, resource: &str, limit: i64) -> Result<(), SimError> {
        let mut st = self.shared.lock();
        let id = resolve(&st, table::PROJECTS, project)?;
        let name = match service {
            Service::SharedFileSystem => "share",
            other => other.catalog_type(),
        };
        let mut limits = Map::new();
        limits.insert(resource.to_owned(), Value::from(limit));
        neutron::quotas::put(&mut st, name, &id, &limits);
        Ok(())
    }

    /// A document of a table, by id or by name.
    pub fn get(&self, table: &str, id_or_name: &str) -> Option<Value> {
        let st = self.shared.lock();
        let id = resolve(&st, table, id_or_name).ok()?;
        st.get(table, &id).map(public)
    }

    /// All documents of a table.
    pub fn list(&self, table: &str) -> Vec<Value> {
        self.shared.lock().all(table).map(public).collect()
    }

    /// The id of what has this name.
    ///
    /// # Errors
    /// [`SimError::Absent`]
    pub fn id(&self, table: &str, name: &str) -> Result<String, SimError> {
        resolve(&self.shared.lock(), table, name)
    }

    /// Puts a document into a table behind everybody's back, as it is; gives its id, made when it has none.
    pub fn insert(&self, table: &str, mut doc: Value) -> String {
        let mut st = self.shared.lock();
        if text(&doc, "id").is_empty() {
            let id = st.rng.id();
            set(&mut doc, "id", id);
        }
        let id = owned(&doc, "id");
        st.put(table, doc);
        id
    }

    /// Changes a document behind everybody's back, by an RFC 7396 merge patch. Its revision goes up.
    ///
    /// # Errors
    /// [`SimError::Absent`]
    pub fn patch(&self, table: &str, id_or_name: &str, patch: &Value) -> Result<(), SimError> {
        let mut st = self.shared.lock();
        let id = resolve(&st, table, id_or_name)?;
        if let Some(doc) = st.get_mut(table, &id) {
            merge_patch(doc, patch);
        }
        if st.get(table, &id).is_some_and(|d| d.get("revision_number").is_some()) {
            st.revise(table, &id);
        }
        Ok(())
    }

    /// Removes a document behind everybody's back, with nothing that hangs on it.
    ///
    /// # Errors
    /// [`SimError::Absent`]
    pub fn remove(&self, table: &str, id_or_name: &str) -> Result<Value, SimError> {
        let mut st = self.shared.lock();
        let id = resolve(&st, table, id_or_name)?;
        st.remove(table, &id).ok_or_else(|| absent(table, id_or_name))
    }

    /// Somebody of the seed, to make calls without HTTP, journal and faults.
    ///
    /// # Errors
    /// [`SimError::Absent`] when there is no such user or it has no role.
    pub fn user(&self, name: &str) -> Result<User<'_>, SimError> {
        let who = seed::who(&self.shared.lock(), name).ok_or_else(|| absent(table::USERS, name))?;
        Ok(User { shared: &self.shared, who })
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

fn absent(table: &str, id: &str) -> SimError {
    SimError::Absent { table: table.to_owned(), id: id.to_owned() }
}

fn resolve(st: &State, table: &str, id_or_name: &str) -> Result<String, SimError> {
    let by_id = st.get(table, id_or_name).map(|_| id_or_name.to_owned());
    by_id
        .or_else(|| st.find(table, "name", id_or_name).map(|d| owned(d, "id")))
        .ok_or_else(|| absent(table, id_or_name))
}

/// Somebody who makes calls without HTTP: for what a test or a demonstration needs beforehand.
#[derive(Debug)]
pub struct User<'a> {
    shared: &'a Shared,
    who: Who,
}

/// The answer to such a call.
#[derive(Debug, Clone)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// The body, null when there is none.
    pub body: Value,
}

impl Answer {
    /// The text at a JSON pointer of the body, such as `/network/id`; empty when there is none.
    pub fn text(&self, pointer: &str) -> String {
        self.body.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
    }
}

impl User<'_> {
    /// The id of the project in which the user acts.
    pub fn project_id(&self) -> &str {
        &self.who.project
    }

    /// The id of the user.
    pub fn user_id(&self) -> &str {
        &self.who.user
    }

    /// Makes a call. Manila is asked with microversion 2.51.
    pub fn call(&self, method: &str, service: Service, path: &str, body: Value) -> Answer {
        let method = Method::from_bytes(method.as_bytes()).unwrap_or(Method::GET);
        let mut st = self.shared.lock();
        let (status, body) = seed::act(&mut st, self.who.clone(), method, service, path, body);
        Answer { status, body }
    }

    /// A POST.
    pub fn post(&self, service: Service, path: &str, body: Value) -> Answer {
        self.call("POST", service, path, body)
    }

    /// A PUT.
    pub fn put(&self, service: Service, path: &str, body: Value) -> Answer {
        self.call("PUT", service, path, body)
    }

    /// A GET.
    pub fn get(&self, service: Service, path: &str) -> Answer {
        self.call("GET", service, path, Value::Null)
    }

    /// A DELETE.
    pub fn delete(&self, service: Service, path: &str) -> Answer {
        self.call("DELETE", service, path, Value::Null)
    }
}
