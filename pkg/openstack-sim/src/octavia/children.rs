//! Listeners and pools: they keep a load balancer from going without `cascade=true`.

use hyper::Method;
use serde_json::{Value, json};

use super::{body, fault, forbidden, missing, page, readable, states};
use crate::clock;
use crate::json::{list, owned, set, text, text_opt, wrap};
use crate::octavia::load_balancers::occupy;
use crate::request::{Outcome, Reply, Request};
use crate::state::{State, Who, table};

/// One of the two kinds.
pub(crate) struct Children {
    single: &'static str,
    plural: &'static str,
    kind: &'static str,
    table: &'static str,
}

pub(crate) static LISTENERS: Children =
    Children { single: "listener", plural: "listeners", kind: "Listener", table: table::LISTENERS };
pub(crate) static POOLS: Children = Children { single: "pool", plural: "pools", kind: "Pool", table: table::LB_POOLS };

pub(crate) fn handle(st: &mut State, req: &Request, who: &Who, what: &Children, rest: &[&str]) -> Outcome {
    match (&req.method, rest) {
        (&Method::GET, []) => {
            let seen = st.all(what.table).filter(|c| who.admin() || who.owns(text(c, "project_id")));
            let rows = seen.cloned().map(shown).collect();
            Ok(page(st, req, what.plural, rows))
        }
        (&Method::POST, []) => create(st, req, who, what),
        (&Method::GET, [id]) => {
            let doc = readable(st, who, what.table, what.kind, id)?.clone();
            Ok(Reply::json(200, wrap(what.single, shown(doc))))
        }
        (&Method::PUT, [id]) => update(st, req, who, what, id),
        (&Method::DELETE, [id]) => {
            occupy(st, who, &parent(st, who, what, id)?)?;
            if let Some(doc) = st.get_mut(what.table, id) {
                states(doc, "PENDING_DELETE", None);
            }
            Ok(Reply::empty(204))
        }
        _ => Err(fault(404, "The resource could not be found.")),
    }
}

fn shown(mut doc: Value) -> Value {
    let project = owned(&doc, "project_id");
    set(&mut doc, "tenant_id", project);
    doc
}

fn parent(st: &State, who: &Who, what: &Children, id: &str) -> Result<String, Reply> {
    let doc = readable(st, who, what.table, what.kind, id)?;
    let first = list(doc, "loadbalancers").first();
    first.map(|l| owned(l, "id")).ok_or_else(|| missing("Load Balancer", ""))
}

fn create(st: &mut State, req: &Request, who: &Who, what: &Children) -> Outcome {
    let wanted = body(req, what.single)?;
    if !who.may_write(&who.project) {
        return Err(forbidden());
    }
    let listener = owned(&wanted, "listener_id");
    let parent = match text_opt(&wanted, "loadbalancer_id") {
        Some(id) => id.to_owned(),
        None => parent(st, who, &LISTENERS, &listener)?,
    };
    occupy(st, who, &parent)?;
    let id = st.rng.id();
    let doc = if what.single == "listener" {
        new_listener(&id, &parent, who, &wanted)
    } else {
        new_pool(&id, &parent, &listener, who, &wanted)
    };
    if let Some(above) = st.get_mut(table::LISTENERS, &listener) {
        set(above, "default_pool_id", id.clone());
    }
    st.put(what.table, doc.clone());
    Ok(Reply::json(201, wrap(what.single, shown(doc))))
}

/// What both kinds begin with.
fn begin(id: &str, parent: &str, who: &Who, wanted: &Value) -> Value {
    let get = |key: &str, default: Value| wanted.get(key).cloned().unwrap_or(default);
    json!({
        "id": id, "name": get("name", json!("")), "description": get("description", json!("")),
        "provisioning_status": "PENDING_CREATE", "operating_status": "OFFLINE",
        "admin_state_up": get("admin_state_up", json!(true)), "protocol": get("protocol", json!("TCP")),
        "project_id": who.project, "loadbalancers": [{"id": parent}], "created_at": clock::plain(),
        "updated_at": null, "tags": get("tags", json!([])), "tls_ciphers": null, "tls_versions": null,
        "alpn_protocols": null,
    })
}

fn new_listener(id: &str, parent: &str, who: &Who, wanted: &Value) -> Value {
    let mut doc = begin(id, parent, who, wanted);
    let defaults = json!({
        "protocol_port": 80, "connection_limit": -1, "default_tls_container_ref": null,
        "sni_container_refs": [], "default_pool_id": null, "l7policies": [], "insert_headers": {},
        "timeout_client_data": 50000, "timeout_member_connect": 5000, "timeout_member_data": 50000,
        "timeout_tcp_inspect": 0, "client_ca_tls_container_ref": null, "client_authentication": "NONE",
        "client_crl_container_ref": null, "allowed_cidrs": null, "hsts_max_age": null,
        "hsts_include_subdomains": false, "hsts_preload": false,
    });
    complete(&mut doc, &defaults, wanted);
    doc
}

fn new_pool(id: &str, parent: &str, listener: &str, who: &Who, wanted: &Value) -> Value {
    let mut doc = begin(id, parent, who, wanted);
    let listeners = if listener.is_empty() { json!([]) } else { json!([{"id": listener}]) };
    let defaults = json!({
        "lb_algorithm": "ROUND_ROBIN", "session_persistence": null, "listeners": listeners, "members": [],
        "tls_container_ref": null, "ca_tls_container_ref": null, "crl_container_ref": null, "tls_enabled": false,
    });
    complete(&mut doc, &defaults, wanted);
    doc
}

fn complete(doc: &mut Value, defaults: &Value, wanted: &Value) {
    for (key, default) in defaults.as_object().into_iter().flatten() {
        set(doc, key, wanted.get(key).unwrap_or(default).clone());
    }
}

fn update(st: &mut State, req: &Request, who: &Who, what: &Children, id: &str) -> Outcome {
    let wanted = body(req, what.single)?;
    occupy(st, who, &parent(st, who, what, id)?)?;
    let Some(doc) = st.get_mut(what.table, id) else { return Err(missing(what.kind, id)) };
    for (key, value) in wanted.as_object().into_iter().flatten() {
        if doc.get(key).is_some() {
            set(doc, key, value.clone());
        }
    }
    states(doc, "PENDING_UPDATE", None);
    let doc = doc.clone();
    Ok(Reply::json(200, wrap(what.single, shown(doc))))
}
