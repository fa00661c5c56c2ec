//! Everything the cloud knows: tables of JSON documents, tokens, and what will happen later.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::json::{int, set, text};
use crate::rng::Rng;
use crate::{Service, clock};

/// Names of the tables; they are also the keys of a snapshot.
pub(crate) mod table {
    pub(crate) const DOMAINS: &str = "domains";
    pub(crate) const PROJECTS: &str = "projects";
    pub(crate) const USERS: &str = "users";
    pub(crate) const ROLES: &str = "roles";
    pub(crate) const GRANTS: &str = "role_assignments";
    pub(crate) const APP_CREDENTIALS: &str = "application_credentials";
    pub(crate) const CATALOG: &str = "services";
    pub(crate) const NETWORKS: &str = "networks";
    pub(crate) const SUBNETS: &str = "subnets";
    pub(crate) const POOLS: &str = "subnetpools";
    pub(crate) const PORTS: &str = "ports";
    pub(crate) const ROUTERS: &str = "routers";
    pub(crate) const GROUPS: &str = "security_groups";
    pub(crate) const RULES: &str = "security_group_rules";
    pub(crate) const FLOATING_IPS: &str = "floatingips";
    pub(crate) const RBAC: &str = "rbac_policies";
    pub(crate) const KEYPAIRS: &str = "keypairs";
    pub(crate) const SERVERS: &str = "servers";
    pub(crate) const SHARE_NETWORKS: &str = "share_networks";
    pub(crate) const LOAD_BALANCERS: &str = "loadbalancers";
    pub(crate) const LISTENERS: &str = "listeners";
    pub(crate) const LB_POOLS: &str = "pools";
    pub(crate) const QUOTAS: &str = "quotas";
}

/// A token and what it stands for.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) who: Who,
    pub(crate) issued: Timestamp,
    pub(crate) expires: Timestamp,
    /// The monotonic end of its life, so that a moved wall clock changes nothing.
    pub(crate) dies: Instant,
    pub(crate) audit: String,
}

/// Who makes a call.
#[derive(Debug, Clone, Default)]
pub(crate) struct Who {
    pub(crate) user: String,
    /// Empty for an unscoped token.
    pub(crate) project: String,
    pub(crate) roles: Vec<String>,
    pub(crate) method: String,
    /// The application credential that made the token, empty for a password.
    pub(crate) app_credential: String,
}

impl Who {
    pub(crate) fn has(&self, role: &str) -> bool {
        self.roles.iter().any(|r| r == role)
    }

    pub(crate) fn admin(&self) -> bool {
        self.has("admin")
    }

    /// May it change what belongs to this project?
    pub(crate) fn may_write(&self, project: &str) -> bool {
        self.admin() || (self.has("member") && self.owns(project))
    }

    pub(crate) fn owns(&self, project: &str) -> bool {
        !self.project.is_empty() && self.project == project
    }
}

/// What the stand-in for the data plane does once its delay is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Later {
    /// A port goes ACTIVE.
    Port(String),
    /// A floating IP goes ACTIVE or DOWN, as it has a port or not.
    FloatingIp(String),
    /// A load balancer and what hangs on it leave their `PENDING_` state.
    LoadBalancer(String),
}

#[derive(Debug)]
struct Pending {
    due: Instant,
    what: Later,
}

/// One table: documents by id. The order of ids is the order in which Neutron lists.
pub(crate) type Table = BTreeMap<String, Value>;

static NOTHING: Table = Table::new();

/// The switches and figures that a running cloud works by.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) region: String,
    /// From the end of a change to ACTIVE.
    pub(crate) delay: Duration,
    pub(crate) token_lifetime: Duration,
    /// Characters a tag may have.
    pub(crate) tag_limit: usize,
    /// Host and port of each service.
    pub(crate) hosts: HashMap<Service, String>,
    /// While set nothing changes its status.
    pub(crate) hold: bool,
    /// Services that the catalog does not list.
    pub(crate) hidden: Vec<Service>,
}

/// The whole cloud.
pub(crate) struct State {
    pub(crate) tables: BTreeMap<String, Table>,
    pub(crate) tokens: HashMap<String, Token>,
    pub(crate) tokens_issued: u64,
    pub(crate) settings: Settings,
    pub(crate) rng: Rng,
    pending: Vec<Pending>,
    /// Neutron's and Nova's running numbers.
    serial: i64,
}

/// Passwords and tokens are in it: only its size is shown.
impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rows: usize = self.tables.values().map(BTreeMap::len).sum();
        write!(f, "State({rows} documents)")
    }
}

impl State {
    pub(crate) fn new(settings: Settings, rng: Rng) -> Self {
        Self {
            tables: BTreeMap::new(),
            tokens: HashMap::new(),
            tokens_issued: 0,
            settings,
            rng,
            pending: Vec::new(),
            serial: 0,
        }
    }

    /// `http://127.0.0.1:<port>` of a service.
    pub(crate) fn base(&self, service: Service) -> String {
        self.settings.hosts.get(&service).map(|h| format!("http://{h}")).unwrap_or_default()
    }

    /// The URL of Keystone that 401 answers name.
    pub(crate) fn auth_url(&self) -> String {
        format!("{}/v3", self.base(Service::Identity))
    }

    pub(crate) fn rows(&self, table: &str) -> &Table {
        self.tables.get(table).unwrap_or(&NOTHING)
    }

    pub(crate) fn all<'a>(&'a self, table: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
        self.rows(table).values()
    }

    pub(crate) fn get(&self, table: &str, id: &str) -> Option<&Value> {
        self.rows(table).get(id)
    }

    pub(crate) fn get_mut(&mut self, table: &str, id: &str) -> Option<&mut Value> {
        self.tables.get_mut(table)?.get_mut(id)
    }

    /// The first document whose member has this text.
    pub(crate) fn find(&self, table: &str, key: &str, value: &str) -> Option<&Value> {
        self.all(table).find(|d| text(d, key) == value)
    }

    pub(crate) fn put(&mut self, table: &str, doc: Value) {
        let id = text(&doc, "id").to_owned();
        self.tables.entry(table.to_owned()).or_default().insert(id, doc);
    }

    pub(crate) fn remove(&mut self, table: &str, id: &str) -> Option<Value> {
        self.tables.get_mut(table)?.remove(id)
    }

    /// Removes what the predicate picks.
    pub(crate) fn remove_where(&mut self, table: &str, pick: impl Fn(&Value) -> bool) {
        if let Some(rows) = self.tables.get_mut(table) {
            rows.retain(|_, d| !pick(d));
        }
    }

    /// Sets members of a document of Neutron; only a real change gives it a new revision.
    pub(crate) fn change(&mut self, table: &str, id: &str, changes: &Map<String, Value>) {
        let Some(doc) = self.get_mut(table, id) else { return };
        let mut changed = false;
        for (key, value) in changes {
            if doc.get(key) != Some(value) {
                set(doc, key, value.clone());
                changed = true;
            }
        }
        if changed {
            revise(doc);
        }
    }

    /// A new revision without a change of its own: something that belongs to it changed.
    pub(crate) fn revise(&mut self, table: &str, id: &str) {
        if let Some(doc) = self.get_mut(table, id) {
            revise(doc);
        }
    }

    /// The next running number.
    pub(crate) fn next_serial(&mut self) -> i64 {
        self.serial += 1;
        self.serial
    }

    /// Has the stand-in for the data plane do something when the delay is over.
    pub(crate) fn later(&mut self, what: Later) {
        let due = Instant::now() + self.settings.delay;
        self.pending.push(Pending { due, what });
    }

    /// What is due now, unless the hold switch is set.
    pub(crate) fn due(&mut self) -> Vec<Later> {
        if self.settings.hold || self.pending.is_empty() {
            return Vec::new();
        }
        let now = Instant::now();
        let (ready, waiting) = std::mem::take(&mut self.pending).into_iter().partition(|p: &Pending| p.due <= now);
        self.pending = waiting;
        ready.into_iter().map(|p: Pending| p.what).collect()
    }

    /// The form in which a cloud is saved, secrets included.
    pub(crate) fn dump(&self) -> Value {
        let pending: Vec<Value> = self.pending.iter().map(|p| dump_later(&p.what)).collect();
        json!({
            "form": crate::persist::FORM,
            "serial": self.serial,
            "rng": self.rng.position(),
            "tables": self.tables.iter().map(|(name, rows)| {
                (name.clone(), rows.values().cloned().collect::<Vec<_>>())
            }).collect::<BTreeMap<_, _>>(),
            "pending": pending,
        })
    }

    /// Takes over a saved cloud, and goes on with its ids where it stopped. Tokens are not saved; what was pending is due at once.
    pub(crate) fn restore(&mut self, saved: &Value) {
        self.tables.clear();
        self.tokens.clear();
        self.serial = int(saved, "serial");
        self.rng = Rng::new(saved.get("rng").and_then(Value::as_u64));
        let tables = saved.get("tables").and_then(Value::as_object);
        for (name, rows) in tables.into_iter().flatten() {
            for doc in rows.as_array().into_iter().flatten() {
                self.put(name, doc.clone());
            }
        }
        let due = Instant::now();
        let pending = saved.get("pending").and_then(Value::as_array);
        self.pending = pending.into_iter().flatten().filter_map(load_later).map(|what| Pending { due, what }).collect();
    }
}

fn revise(doc: &mut Value) {
    let next = int(doc, "revision_number") + 1;
    set(doc, "revision_number", next);
    set(doc, "updated_at", clock::zulu());
}

fn dump_later(what: &Later) -> Value {
    let (kind, id) = match what {
        Later::Port(id) => ("port", id),
        Later::FloatingIp(id) => ("floatingip", id),
        Later::LoadBalancer(id) => ("loadbalancer", id),
    };
    json!({"kind": kind, "id": id})
}

fn load_later(doc: &Value) -> Option<Later> {
    let id = text(doc, "id").to_owned();
    match text(doc, "kind") {
        "port" => Some(Later::Port(id)),
        "floatingip" => Some(Later::FloatingIp(id)),
        "loadbalancer" => Some(Later::LoadBalancer(id)),
        _ => None,
    }
}
