//! What has to be equal between a recorded answer and ours.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

/// Members whose value differs from run to run; their type still has to fit.
const VOLATILE: [&str; 21] = [
    "created_at",
    "updated_at",
    "expires_at",
    "issued_at",
    "audit_ids",
    "revision_number",
    "standard_attr_id",
    "mac_address",
    "ip_address",
    "floating_ip_address",
    "fixed_ip_address",
    "vip_address",
    "hostname",
    "fqdn",
    "secret",
    "used",
    "provider:segmentation_id",
    "self",
    "href",
    "availability_zones",
    "updated",
];

/// Members that are lists of whatever there is: each entry has to look like a recorded one.
const LISTS: [&str; 14] = [
    "networks",
    "subnets",
    "subnetpools",
    "ports",
    "routers",
    "security_groups",
    "security_group_rules",
    "floatingips",
    "floatingip_pools",
    "keypairs",
    "catalog",
    "versions",
    "application_credentials",
    "resources",
];

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of ours")
}

static IDS: LazyLock<Regex> =
    LazyLock::new(|| regex(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b"));
static HOSTS: LazyLock<Regex> = LazyLock::new(|| regex(r"http://127\.0\.0\.1:\d+"));
static FLOATING: LazyLock<Regex> = LazyLock::new(|| regex(r"floating IP \d+\.\d+\.\d+\.\d+"));

/// A text without what differs from run to run.
pub(crate) fn normal(text: &str) -> String {
    let text = IDS.replace_all(text, "<id>");
    let text = HOSTS.replace_all(&text, "http://<host>");
    FLOATING.replace_all(&text, "floating IP <ip>").into_owned()
}

/// Is the text an identifier and nothing else?
pub(crate) fn is_id(text: &str) -> bool {
    IDS.find(text).is_some_and(|m| m.len() == text.len())
}

/// Collects the differences below a path.
pub(crate) fn compare(path: &str, recorded: &Value, ours: &Value, out: &mut Vec<String>) {
    let key = path.rsplit('/').next().unwrap_or_default();
    if VOLATILE.contains(&key) {
        if kind(recorded) != kind(ours) && !recorded.is_null() && !ours.is_null() {
            out.push(format!("{path}: recorded {recorded}, ours {ours}"));
        }
        return;
    }
    match (recorded, ours) {
        (Value::Object(a), Value::Object(b)) => {
            let (left, right): (BTreeSet<&String>, BTreeSet<&String>) = (a.keys().collect(), b.keys().collect());
            if left != right {
                let lacking: Vec<_> = left.difference(&right).collect();
                let surplus: Vec<_> = right.difference(&left).collect();
                out.push(format!("{path}: lacks {lacking:?}, has more {surplus:?}"));
            }
            for (name, value) in a {
                if let Some(other) = b.get(name) {
                    compare(&format!("{path}/{name}"), value, other, out);
                }
            }
        }
        (Value::Array(a), Value::Array(b)) if LISTS.contains(&key) => list(path, a, b, out),
        (Value::Array(a), Value::Array(b)) => {
            let (a, b) = (in_order(key, a), in_order(key, b));
            if a.len() != b.len() {
                out.push(format!("{path}: recorded {} entries, ours {}: {ours}", a.len(), b.len()));
            }
            for (at, (x, y)) in a.iter().zip(&b).enumerate() {
                compare(&format!("{path}/{at}"), x, y, out);
            }
        }
        (Value::String(a), Value::String(b)) if normal(a) == normal(b) => {}
        // A running number of a database.
        (Value::Number(_), Value::Number(_)) if key == "id" => {}
        (a, b) if a == b => {}
        (a, b) => out.push(format!("{path}: recorded {a}, ours {b}")),
    }
}

/// Roles are a set: their order says nothing.
fn in_order(key: &str, entries: &[Value]) -> Vec<Value> {
    let mut out = entries.to_vec();
    if key == "roles" {
        out.sort_by_key(|e| e["name"].as_str().map(str::to_owned));
    }
    out
}

/// Each of our entries has the members of some recorded one.
fn list(path: &str, recorded: &[Value], ours: &[Value], out: &mut Vec<String>) {
    if recorded.is_empty() != ours.is_empty() {
        out.push(format!("{path}: recorded {} entries, ours {}", recorded.len(), ours.len()));
    }
    let members =
        |v: &Value| -> BTreeSet<String> { v.as_object().map(|m| m.keys().cloned().collect()).unwrap_or_default() };
    for entry in ours {
        if !recorded.iter().any(|r| members(r) == members(entry)) {
            let first = recorded.first().map(members).unwrap_or_default();
            let mine = members(entry);
            let lacking: Vec<_> = first.difference(&mine).collect();
            let surplus: Vec<_> = mine.difference(&first).collect();
            out.push(format!("{path}: an entry looks like no recorded one: lacks {lacking:?}, has more {surplus:?}"));
        }
    }
}

fn kind(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}
