//! Octavia's part: load balancers, and of their children as much as makes a bystander real.

mod children;
pub(crate) mod load_balancers;

use hyper::Method;
use serde_json::{Value, json};

use crate::json::{as_filter, list, set, text, wrap};
use crate::keystone;
use crate::request::{Outcome, Reply, Request};
use crate::state::{State, Who};
use crate::{Service, clock};

/// Octavia's error envelope.
pub(crate) fn fault(status: u16, message: impl Into<String>) -> Reply {
    Reply::json(status, json!({"faultcode": "Client", "faultstring": message.into(), "debuginfo": null}))
}

fn forbidden() -> Reply {
    fault(403, "Policy does not allow this request to be performed.")
}

fn missing(kind: &str, id: &str) -> Reply {
    fault(404, format!("{kind} {id} not found."))
}

/// Answers a request to Octavia.
pub(crate) fn handle(st: &mut State, req: &Request) -> Outcome {
    let parts = req.parts();
    if parts.is_empty() {
        return Ok(discovery(st));
    }
    let who = keystone::caller(st, req)?;
    let rest = match parts.as_slice() {
        ["v2" | "v2.0", "lbaas", rest @ ..] => rest,
        _ => return Err(fault(404, "The resource could not be found.")),
    };
    match (&req.method, rest) {
        (_, ["loadbalancers", rest @ ..]) => load_balancers::handle(st, req, &who, rest),
        (_, ["listeners", rest @ ..]) => children::handle(st, req, &who, &children::LISTENERS, rest),
        (_, ["pools", rest @ ..]) => children::handle(st, req, &who, &children::POOLS, rest),
        (&Method::GET, ["providers"]) => {
            Ok(Reply::json(200, json!({"providers": [{"name": "lab", "description": "no data plane"}]})))
        }
        _ => Err(fault(404, "The resource could not be found.")),
    }
}

fn discovery(st: &State) -> Reply {
    let href = format!("{}/v2", st.base(Service::LoadBalancer));
    let version = |minor: u32| {
        let status = if minor == 30 { "CURRENT" } else { "SUPPORTED" };
        json!({
            "id": format!("v2.{minor}"), "status": status, "updated": "2025-02-26T00:00:00Z",
            "links": [{"href": href, "rel": "self"}],
        })
    };
    Reply::json(200, json!({"versions": (0..=30).map(version).collect::<Vec<_>>()}))
}

/// The envelope of a body.
fn body(req: &Request, key: &str) -> Result<Value, Reply> {
    let wanted = req.member(key);
    if wanted.is_object() { Ok(wanted) } else { Err(fault(400, format!("Missing '{key}' in the request body"))) }
}

/// A list with filters, pages and the links that Octavia adds, empty or not.
fn page(st: &State, req: &Request, plural: &str, rows: Vec<Value>) -> Reply {
    const PAGING: [&str; 6] = ["limit", "marker", "sort", "fields", "page_reverse", "sort_dir"];
    let passes = |doc: &Value| {
        req.query.iter().filter(|(k, _)| !PAGING.contains(&k.as_str())).all(|(key, wanted)| match key.as_str() {
            "tags" => wanted.split(',').all(|t| list(doc, "tags").iter().any(|h| h.as_str() == Some(t))),
            "tenant_id" => text(doc, "project_id") == wanted,
            key => doc.get(key).map(as_filter).is_some_and(|have| have.eq_ignore_ascii_case(wanted)),
        })
    };
    let mut rows: Vec<Value> = rows.into_iter().filter(passes).collect();
    if let Some(marker) = req.param("marker") {
        rows.retain(|r| text(r, "id") > marker);
    }
    let limit: usize = req.param("limit").and_then(|l| l.parse().ok()).unwrap_or(1000);
    let full = rows.len() >= limit;
    rows.truncate(limit);
    let mut links = Vec::new();
    if let Some(last) = rows.last().filter(|_| full) {
        let base = st.base(Service::LoadBalancer);
        let href = format!("{base}{}?limit={limit}&marker={}", req.path, text(last, "id"));
        links.push(json!({"href": href, "rel": "next"}));
    }
    let mut out = wrap(plural, Value::Array(rows));
    set(&mut out, &format!("{plural}_links"), Value::Array(links));
    Reply::json(200, out)
}

/// Sets both states of a document.
fn states(doc: &mut Value, provisioning: &str, operating: Option<&str>) {
    set(doc, "provisioning_status", provisioning);
    if let Some(operating) = operating {
        set(doc, "operating_status", operating);
    }
    set(doc, "updated_at", clock::plain());
}

/// Reading needs a role in the project of the document.
fn readable<'a>(st: &'a State, who: &Who, table: &str, kind: &str, id: &str) -> Result<&'a Value, Reply> {
    let doc = st.get(table, id).ok_or_else(|| missing(kind, id))?;
    if who.admin() || who.owns(text(doc, "project_id")) { Ok(doc) } else { Err(forbidden()) }
}
