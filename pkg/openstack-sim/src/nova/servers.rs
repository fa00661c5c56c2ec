//! Servers: read only. There are those that a test puts into the table.

use regex::Regex;
use serde_json::{Value, json};

use super::fault;
use crate::Service;
use crate::json::{as_filter, public, text};
use crate::request::{Outcome, Reply, Request};
use crate::state::{State, Who, table};

pub(crate) fn handle(st: &State, req: &Request, who: &Who, rest: &[&str]) -> Outcome {
    match rest {
        [] => Ok(list(st, req, who, false)),
        ["detail"] => Ok(list(st, req, who, true)),
        [id] => match st.get(table::SERVERS, id).filter(|s| visible(s, who)) {
            Some(found) => Ok(Reply::json(200, json!({"server": public(found)}))),
            None => Err(fault(404, format!("Instance {id} could not be found."))),
        },
        _ => Err(Reply::no_route("")),
    }
}

fn visible(server: &Value, who: &Who) -> bool {
    who.admin() || who.owns(text(server, "tenant_id"))
}

/// The name filter is a regular expression, found anywhere in the name.
fn list(st: &State, req: &Request, who: &Who, detail: bool) -> Reply {
    let name = req.param("name").and_then(|n| Regex::new(n).ok());
    let marker = req.param("marker").unwrap_or_default().to_owned();
    let limit: usize = req.param("limit").and_then(|l| l.parse().ok()).unwrap_or(1000);
    let everywhere = who.admin() && req.param("all_tenants").is_some();
    let fits = |s: &&Value| {
        (everywhere || who.owns(text(s, "tenant_id")))
            && name.as_ref().is_none_or(|n| n.is_match(text(s, "name")))
            && req.param("status").is_none_or(|w| s.get("status").map(as_filter).as_deref() == Some(w))
            && text(s, "id") > marker.as_str()
    };
    let mut found: Vec<&Value> = st.all(table::SERVERS).filter(fits).collect();
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().map(|s| text(s, "id").to_owned());
    let rows: Vec<Value> = found
        .into_iter()
        .map(|s| if detail { public(s) } else { json!({"id": text(s, "id"), "name": text(s, "name"), "links": []}) })
        .collect();
    let mut body = json!({"servers": rows});
    if let Some(last) = last.filter(|_| more) {
        let href = format!("{}{}?limit={limit}&marker={last}", st.base(Service::Compute), req.path);
        crate::json::set(&mut body, "servers_links", json!([{"rel": "next", "href": href}]));
    }
    Reply::json(200, body)
}
