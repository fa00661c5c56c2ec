//! Filters, sorting, pages and the choice of fields of a list, as Neutron's API layer does them.

use serde_json::{Map, Value, json};

use super::errors::bad_request;
use crate::json::{as_filter, flag, list, member, set, text, texts, wrap};
use crate::request::{Reply, Request};

const PAGING: [&str; 6] = ["fields", "limit", "marker", "page_reverse", "sort_key", "sort_dir"];
const TAGS: [&str; 4] = ["tags", "tags-any", "not-tags", "not-tags-any"];
/// Members that are shown exactly as they are stored.
const AS_STORED: [&str; 5] = ["id", "name", "project_id", "network_id", "device_id"];

/// Refuses filters on what the resource does not have.
pub(crate) fn check_filters(req: &Request, known: impl Fn(&str) -> bool) -> Result<(), Reply> {
    let mut strange: Vec<&str> = Vec::new();
    for (name, _) in &req.query {
        let name = name.as_str();
        if !PAGING.contains(&name) && !TAGS.contains(&name) && !known(name) && !strange.contains(&name) {
            strange.push(name);
        }
    }
    if strange.is_empty() {
        return Ok(());
    }
    let quoted: Vec<String> = strange.iter().map(|s| format!("'{s}'")).collect();
    let verb = if strange.len() > 1 { "are" } else { "is" };
    let noun = if strange.len() > 1 { "attributes" } else { "attribute" };
    Err(bad_request(format!("[{}] {verb} invalid {noun} for filtering", quoted.join(", "))))
}

/// Does a document pass all filters? The same name repeated means any of its values.
pub(crate) fn passes(req: &Request, doc: &Value) -> bool {
    passes_by(req, doc, |_| true)
}

/// The same, judged by what is stored as it is shown: most of a long list needs no view made of it.
pub(crate) fn may_pass(req: &Request, stored: &Value) -> bool {
    passes_by(req, stored, |name| AS_STORED.contains(&name) && stored.get(name).is_some())
}

fn passes_by(req: &Request, doc: &Value, counts: impl Fn(&str) -> bool) -> bool {
    let mut names: Vec<&str> = req.query.iter().map(|(n, _)| n.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().filter(|n| !PAGING.contains(n) && counts(n)).all(|name| {
        let wanted: Vec<&str> = req.query.iter().filter(|(n, _)| n == name).map(|(_, v)| v.as_str()).collect();
        passes_one(doc, name, &wanted)
    })
}

fn passes_one(doc: &Value, name: &str, wanted: &[&str]) -> bool {
    if TAGS.contains(&name) {
        let have = texts(doc, "tags");
        let asked: Vec<&str> = wanted.iter().flat_map(|w| w.split(',')).collect();
        let all = asked.iter().all(|t| have.iter().any(|h| h == t));
        let any = asked.iter().any(|t| have.iter().any(|h| h == t));
        return match name {
            "tags" => all,
            "tags-any" => any,
            "not-tags" => !all,
            _ => !any,
        };
    }
    match doc.get(name) {
        Some(Value::Bool(have)) => wanted.iter().any(|w| truth(w) == Some(*have)),
        Some(Value::Array(items)) if name == "fixed_ips" => wanted.iter().any(|w| fixed_ip(items, w)),
        Some(Value::Array(items)) => items.iter().any(|i| wanted.contains(&as_filter(i).as_str())),
        other => {
            let have = as_filter(other.unwrap_or(&Value::Null));
            wanted.contains(&have.as_str())
        }
    }
}

fn truth(word: &str) -> Option<bool> {
    match word.to_lowercase().as_str() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// `fixed_ips=subnet_id=<id>`, also `ip_address=` and `ip_address_substr=`.
fn fixed_ip(items: &[Value], wanted: &str) -> bool {
    let (key, value) = wanted.split_once('=').unwrap_or(("ip_address", wanted));
    items.iter().any(|i| match key {
        "ip_address_substr" => text(i, "ip_address").contains(value),
        _ => text(i, key) == value,
    })
}

/// Sorts, cuts the page, chooses fields, and adds the links of the page.
pub(crate) fn page(req: &Request, base: &str, plural: &str, mut rows: Vec<Value>) -> Reply {
    sort(req, &mut rows);
    let reverse = req.param("page_reverse").and_then(truth).unwrap_or(false);
    let limit: usize = req.param("limit").and_then(|l| l.parse().ok()).unwrap_or(0);
    if let Some(marker) = req.param("marker") {
        let at = rows.iter().position(|r| text(r, "id") == marker);
        rows = match at {
            Some(at) if reverse => rows.into_iter().take(at).collect(),
            Some(at) => rows.into_iter().skip(at + 1).collect(),
            None => Vec::new(),
        };
    }
    if limit > 0 && reverse {
        let surplus = rows.len().saturating_sub(limit);
        rows.drain(..surplus);
    } else if limit > 0 {
        rows.truncate(limit);
    }
    let links = links(req, base, &rows, limit, reverse);
    let rows: Vec<Value> = rows.iter().map(|r| fields(req, r)).collect();
    let mut body = wrap(plural, Value::Array(rows));
    if limit > 0 && !links.is_empty() {
        set(&mut body, &format!("{plural}_links"), links);
    }
    Reply::json(200, body)
}

fn sort(req: &Request, rows: &mut [Value]) {
    let values =
        |name: &str| -> Vec<&str> { req.query.iter().filter(|(n, _)| n == name).map(|(_, v)| v.as_str()).collect() };
    let (keys, dirs) = (values("sort_key"), values("sort_dir"));
    for (at, key) in keys.iter().enumerate().rev() {
        rows.sort_by(|a, b| order(&member(a, key), &member(b, key)));
        if dirs.get(at) == Some(&"desc") {
            rows.reverse();
        }
    }
}

fn order(a: &Value, b: &Value) -> std::cmp::Ordering {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => as_filter(a).cmp(&as_filter(b)),
    }
}

fn links(req: &Request, base: &str, rows: &[Value], limit: usize, reverse: bool) -> Vec<Value> {
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Vec::new() };
    let kept: Vec<&str> =
        req.raw_query.split('&').filter(|p| !p.starts_with("marker=") && !p.starts_with("page_reverse=")).collect();
    let start = format!("{base}{}?{}", req.path, kept.join("&"));
    let mut out = Vec::new();
    if rows.len() >= limit || reverse {
        out.push(json!({"rel": "next", "href": format!("{start}&marker={}", text(last, "id"))}));
    }
    if rows.len() >= limit || !reverse {
        let href = format!("{start}&marker={}&page_reverse=True", text(first, "id"));
        out.push(json!({"rel": "previous", "href": href}));
    }
    out
}

/// Only the fields that the query names, all when it names none.
pub(crate) fn fields(req: &Request, doc: &Value) -> Value {
    let wanted: Vec<&str> = req.query.iter().filter(|(n, _)| n == "fields").map(|(_, v)| v.as_str()).collect();
    let Some(map) = doc.as_object().filter(|_| !wanted.is_empty()) else { return doc.clone() };
    let kept: Map<String, Value> =
        map.iter().filter(|(k, _)| wanted.contains(&k.as_str())).map(|(k, v)| (k.clone(), v.clone())).collect();
    Value::Object(kept)
}

/// Is a document shared with everybody?
pub(crate) fn shared(doc: &Value) -> bool {
    flag(doc, "shared")
}

/// Does a list of a document hold this text?
pub(crate) fn holds(doc: &Value, key: &str, value: &str) -> bool {
    list(doc, key).iter().any(|v| v.as_str() == Some(value))
}
