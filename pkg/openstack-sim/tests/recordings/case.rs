//! One recording: prepares a cloud for it, replays it, and compares.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use fabric_openstack_sim::{Cloud, Service};
use serde_json::{Value, json};

use crate::client::{self, Answer};
use crate::compare::{compare, is_id, normal};
use crate::steps::{NEEDS, STEPS, user_of};

/// Where the recordings lie.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/contract/recordings")
}

static RECORDINGS: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
    let files = std::fs::read_dir(folder()).expect("the folder of the recordings");
    files
        .map(|f| f.expect("a file").path())
        .filter(|p| p.extension().is_some_and(|e| e == "json"))
        .map(|p| {
            let name = p.file_stem().expect("a name").to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&p).expect("a readable recording");
            (name, serde_json::from_str(&text).expect("a recording in JSON"))
        })
        .collect()
});

/// The names of all recordings that are here.
pub(crate) fn names() -> Vec<String> {
    RECORDINGS.keys().cloned().collect()
}

/// By which recording or step an object came to be, by its recorded id.
static MAKERS: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let mut out = HashMap::new();
    for (name, recording) in RECORDINGS.iter() {
        let made = &recording["response"]["body"];
        if recording["request"]["method"] == "POST" && recording["response"]["status"].as_u64() < Some(300) {
            for inner in made.as_object().into_iter().flat_map(|m| m.values()) {
                if let Some(id) = inner["id"].as_str() {
                    out.entry(id.to_owned()).or_insert_with(|| name.clone());
                }
                if let Some(port) = inner["vip_port_id"].as_str() {
                    out.entry(port.to_owned()).or_insert_with(|| name.clone());
                }
            }
        }
        if name.starts_with("network__router_add_interface") {
            out.insert(made["port_id"].as_str().unwrap_or_default().to_owned(), name.clone());
        }
    }
    out.extend(STEPS.iter().filter(|s| !s.id.is_empty()).map(|s| (s.id.to_owned(), s.name.to_owned())));
    out
});

/// A cloud in which recorded ids have a meaning.
struct Stage {
    cloud: Cloud,
    /// Recorded text to ours.
    same: HashMap<String, String>,
    done: Vec<String>,
}

impl Stage {
    async fn new(name: &str) -> Self {
        let cloud = crate::cloud().await;
        // Nothing was ACTIVE when the first recordings of Neutron were made.
        cloud.hold(name.starts_with("network__") && !name.contains("active"));
        let mut same = HashMap::new();
        for (table, name, ids) in SEEDED {
            let ours = cloud.id(table, name).expect("an object of the seed");
            same.extend(ids.iter().map(|id| ((*id).to_owned(), ours.clone())));
        }
        for (user, ids) in [
            ("demo", ["98fa2ed1-902d-4819-b318-3c24ddc921a4", "0c2860c0-0010-4e89-bed4-6d1991a51e57"].as_slice()),
            ("other", ["efb300b0-2570-42a2-ab52-56b0997c2206"].as_slice()),
        ] {
            let user = cloud.user(user).expect("somebody of the seed");
            let found = user.get(Service::Network, "/v2.0/security-groups?name=default");
            let ours = found.text("/security_groups/0/id");
            same.extend(ids.iter().map(|id| ((*id).to_owned(), ours.clone())));
        }
        Self { cloud, same, done: Vec::new() }
    }

    /// A text with our ids in place of the recorded ones.
    fn ours(&self, text: &str) -> String {
        if let Some(known) = self.same.get(text) {
            return known.clone();
        }
        let mut out = text.to_owned();
        for (theirs, ours) in self.same.iter().filter(|(t, _)| t.len() >= 8) {
            out = out.replace(theirs, ours);
        }
        out
    }

    fn our_json(&self, value: &Value) -> Value {
        match value {
            Value::String(s) => json!(self.ours(s)),
            Value::Array(a) => a.iter().map(|v| self.our_json(v)).collect(),
            Value::Object(m) => m.iter().map(|(k, v)| (k.clone(), self.our_json(v))).collect(),
            other => other.clone(),
        }
    }

    /// Remembers which of our texts stands for which recorded one.
    fn learn(&mut self, recorded: &Value, ours: &Value) {
        match (recorded, ours) {
            (Value::String(a), Value::String(b)) => {
                let address = a.parse::<std::net::IpAddr>().is_ok() && a != b;
                if is_id(a) || address {
                    self.same.entry(a.clone()).or_insert_with(|| b.clone());
                }
            }
            (Value::Array(a), Value::Array(b)) => a.iter().zip(b).for_each(|(x, y)| self.learn(x, y)),
            (Value::Object(a), Value::Object(b)) => {
                for (key, value) in a {
                    if let Some(other) = b.get(key) {
                        self.learn(value, other);
                    }
                }
            }
            _ => {}
        }
    }

    /// Does everything that a recording needs: makes what its request names, then what stands in the table.
    async fn prepare(&mut self, name: &str) {
        let needs = NEEDS.iter().find(|(n, _)| *n == name).map(|(_, needs)| *needs).unwrap_or_default();
        if needs.first() == Some(&"!hold") {
            self.cloud.hold(true);
        }
        for id in named_ids(name) {
            if let Some(maker) = MAKERS.get(&id).filter(|m| m.as_str() != name && !self.same.contains_key(&id)) {
                self.perform(&maker.clone()).await;
            }
        }
        for need in needs {
            self.perform(need).await;
        }
    }

    async fn perform(&mut self, name: &str) {
        match name {
            "!hold" => return self.cloud.hold(true),
            "!go" => return self.cloud.hold(false),
            name if self.done.iter().any(|d| d == name) => return,
            _ => self.done.push(name.to_owned()),
        }
        Box::pin(self.prepare(name)).await;
        if let Some(step) = STEPS.iter().find(|s| s.name == name) {
            let body = serde_json::from_str(step.body).unwrap_or(Value::Null);
            let answer = client::call(
                &self.cloud,
                step.user,
                step.method,
                step.service,
                &self.ours(step.path),
                self.our_json(&body),
            )
            .await;
            assert!(answer.status < 300, "{name}: {} {}", answer.status, answer.body);
            let made = answer.body.as_object().and_then(|m| m.values().next()).cloned().unwrap_or_default();
            let id = made["id"].as_str().or(answer.body["port_id"].as_str()).unwrap_or_default();
            if !step.id.is_empty() {
                self.same.insert(step.id.to_owned(), id.to_owned());
            }
            return;
        }
        let answer = self.replay(name).await;
        let recorded = &RECORDINGS[name]["response"];
        assert_eq!(u64::from(answer.status), recorded["status"], "{name} as a preparation: {}", answer.body);
        self.learn(&recorded["body"], &answer.body);
    }

    /// Sends the recorded request.
    async fn replay(&mut self, name: &str) -> Answer {
        let request = &RECORDINGS[name]["request"];
        let service = service_of(name);
        let user = user_of(name);
        let mut headers = Vec::new();
        let own = match user {
            "nobody" => String::new(),
            "revoked" => {
                let token = client::token(&self.cloud, "demo").await;
                self.cloud.revoke_tokens();
                token
            }
            user => client::token(&self.cloud, user).await,
        };
        for (key, value) in request["headers"].as_object().into_iter().flatten() {
            let value = match value.as_str().unwrap_or_default() {
                "<token>" => own.clone(),
                other => other.to_owned(),
            };
            headers.push((key.clone(), value));
        }
        let full = request["url"].as_str().expect("a URL").trim_start_matches("http://");
        let (_, path) = full.split_once('/').unwrap_or((full, ""));
        let path = self.path(&format!("/{path}"));
        let body = match &request["body"] {
            Value::Null => None,
            Value::String(raw) => Some(raw.clone()),
            doc => Some(secrets(name, &self.our_json(doc)).to_string()),
        };
        let base = self.cloud.base_url(service);
        let method = request["method"].as_str().expect("a method");
        client::send(&base, method, &path, &headers, body).await.expect("an answer")
    }

    /// A recorded path with our ids, and with our addresses in the query.
    fn path(&self, path: &str) -> String {
        let path = self.ours(path);
        let Some((head, query)) = path.split_once('?') else { return path };
        let pairs: Vec<String> = query
            .split('&')
            .map(|p| match p.split_once('=') {
                Some((k, v)) => format!("{k}={}", self.ours(v)),
                None => p.to_owned(),
            })
            .collect();
        format!("{head}?{}", pairs.join("&"))
    }
}

/// Tables and names of the seed, and the ids by which the recordings know them.
const SEEDED: [(&str, &str, &[&str]); 13] = [
    ("projects", "demo", &["8adccbf11ecc4d708c29c04179f61251", "5f08c06e7d4149da8bdcdf7caf808acc"]),
    ("projects", "other", &["0b2946421fd343118cde9ec56c900a82"]),
    ("projects", "admin", &["0832b412a3cd4554b1edf584d81589e0", "0ca5f4fabfb14404bb6fe088229a2c70"]),
    ("domains", "demo", &["75cc7962b4e74c2f83260fa96e359fc8"]),
    ("users", "demo", &["67dda0211a9d4f4f9b6fef74fc691880"]),
    ("users", "demo-reader", &["a5c12a020e1a43eb9fb24a4734974ab1"]),
    ("application_credentials", "ci", &["a251fca83f2a4904b1826da6a4608a3f"]),
    ("networks", "public", &["d5ab32f5-d187-4304-8463-677b170a60ad", "0585d672-0224-4019-b171-852f375fffe6"]),
    ("subnets", "public-v4", &["1ff26d5f-5839-4529-be29-e89dcc0db786", "804d54e1-5518-42f6-99b4-534cca68fdd4"]),
    ("subnets", "public-v4-b", &["50d7d358-275b-4cd3-883c-d34ec420c595", "5aca860e-cc65-4504-bef6-8bb96da97fb5"]),
    ("subnets", "public-v6", &["9275d464-e062-4da8-a0da-6f276edf023a", "77344905-2094-4483-ab54-558eb8acf842"]),
    ("subnetpools", "shared-v4", &["01f0a8ce-d3c5-4b15-97f4-3de131a7cafa"]),
    ("subnetpools", "shared-v6", &["2ba02e46-c7e9-4eae-b4f7-31b488541111"]),
];

fn service_of(name: &str) -> Service {
    match name.split_once("__").map(|(s, _)| s) {
        Some("identity") => Service::Identity,
        Some("compute") => Service::Compute,
        Some("share") => Service::SharedFileSystem,
        Some("load-balancer") => Service::LoadBalancer,
        _ => Service::Network,
    }
}

/// The recorded ids that a request names.
fn named_ids(name: &str) -> Vec<String> {
    let text = match (RECORDINGS.get(name), STEPS.iter().find(|s| s.name == name)) {
        (Some(r), _) => format!("{} {}", r["request"]["url"], r["request"]["body"]),
        (None, Some(step)) => format!("{} {}", step.path, step.body),
        (None, None) => panic!("there is no recording and no step {name}"),
    };
    let words = text.split(|c: char| !(c.is_ascii_hexdigit() || c == '-'));
    words.filter(|w| is_id(w)).map(str::to_owned).collect()
}

/// The secrets that were taken out of the recordings; wrong ones where the recording is about that.
fn secrets(name: &str, body: &Value) -> Value {
    let right = match name {
        n if n.contains("wrong") => "wrong",
        n if n.contains("app") => "ci-secret",
        n if n.contains("admin") => "admin",
        _ => "demo",
    };
    serde_json::from_str(&body.to_string().replace("<secret>", right)).expect("still JSON")
}

/// Headers that belong to the contract.
const HEADERS: [&str; 8] = [
    "Location",
    "Retry-After",
    "Vary",
    "Www-Authenticate",
    "X-Subject-Token",
    "Openstack-Api-Version",
    "X-Openstack-Nova-Api-Version",
    "X-Openstack-Manila-Api-Version",
];

/// Replays a recording and gives the differences.
pub(crate) async fn run(name: &str) -> Vec<String> {
    let mut stage = Stage::new(name).await;
    stage.prepare(name).await;
    let answer = stage.replay(name).await;
    let recorded = &RECORDINGS[name]["response"];
    let mut out = Vec::new();
    if u64::from(answer.status) != recorded["status"] {
        out.push(format!("status: recorded {}, ours {}: {}", recorded["status"], answer.status, answer.body));
        return out;
    }
    for header in HEADERS {
        let theirs = recorded["headers"][header].as_str();
        let ours = answer.header(header);
        let equal = match (theirs, ours) {
            (Some(_), Some(_)) if header == "X-Subject-Token" => true,
            (Some(a), Some(b)) => normal(a) == normal(b),
            (None, _) => true,
            (Some(_), None) => false,
        };
        if !equal {
            out.push(format!("header {header}: recorded {theirs:?}, ours {ours:?}"));
        }
    }
    match name {
        // The schema that Keystone prints is its own; that it is named is enough.
        "identity__err_400_auth_schema" => {
            let first =
                |v: &Value| v["error"]["message"].as_str().unwrap_or_default().lines().next().map(str::to_owned);
            assert_eq!(first(&recorded["body"]), first(&answer.body));
        }
        _ => compare("", &stage.our_json(&recorded["body"]), &answer.body, &mut out),
    }
    stage.cloud.stop().await;
    out
}
