//! Load balancers: each with a port for its address, and a state that stands in the way while it changes.

use hyper::Method;
use serde_json::{Map, Value, json};

use super::{body, fault, forbidden, missing, page, readable, states};
use crate::clock;
use crate::json::{flag, list, member, owned, set, text, text_opt, wrap};
use crate::neutron::ports;
use crate::request::{Outcome, Reply, Request};
use crate::state::{Later, State, Who, table};

const KIND: &str = "Load Balancer";

pub(crate) fn handle(st: &mut State, req: &Request, who: &Who, rest: &[&str]) -> Outcome {
    match (&req.method, rest) {
        (&Method::GET, []) => {
            let seen = st.all(table::LOAD_BALANCERS).filter(|l| who.admin() || who.owns(text(l, "project_id")));
            let rows = seen.map(|l| view(st, l)).collect();
            Ok(page(st, req, "loadbalancers", rows))
        }
        (&Method::POST, []) => create(st, req, who),
        (&Method::GET, [id]) => {
            let doc = readable(st, who, table::LOAD_BALANCERS, KIND, id)?;
            Ok(Reply::json(200, wrap("loadbalancer", view(st, doc))))
        }
        (&Method::GET, [id, "status" | "statuses"]) => {
            let doc = readable(st, who, table::LOAD_BALANCERS, KIND, id)?;
            Ok(Reply::json(200, json!({"statuses": {"loadbalancer": status_tree(st, doc)}})))
        }
        (&Method::PUT, [id]) => update(st, req, who, id),
        (&Method::DELETE, [id]) => delete(st, req, who, id),
        _ => Err(fault(404, "The resource could not be found.")),
    }
}

fn writable<'a>(st: &'a State, who: &Who, id: &str) -> Result<&'a Value, Reply> {
    let doc = readable(st, who, table::LOAD_BALANCERS, KIND, id)?;
    if who.may_write(text(doc, "project_id")) { Ok(doc) } else { Err(forbidden()) }
}

fn view(st: &State, doc: &Value) -> Value {
    let mut out = doc.clone();
    for (key, name) in [("listeners", table::LISTENERS), ("pools", table::LB_POOLS)] {
        let ids: Vec<Value> = children(st, name, text(doc, "id")).map(|c| json!({"id": text(c, "id")})).collect();
        set(&mut out, key, ids);
    }
    set(&mut out, "tenant_id", text(doc, "project_id"));
    out
}

/// The listeners or pools of a load balancer.
fn children<'a>(st: &'a State, name: &'a str, id: &'a str) -> impl Iterator<Item = &'a Value> {
    st.all(name).filter(move |c| list(c, "loadbalancers").iter().any(|l| text(l, "id") == id))
}

fn status_tree(st: &State, doc: &Value) -> Value {
    let short = |d: &Value| {
        json!({
            "id": text(d, "id"), "name": text(d, "name"), "operating_status": text(d, "operating_status"),
            "provisioning_status": text(d, "provisioning_status"),
        })
    };
    let mut out = short(doc);
    let listeners: Vec<Value> = children(st, table::LISTENERS, text(doc, "id"))
        .map(|l| {
            let mut listener = short(l);
            let pools: Vec<Value> =
                st.get(table::LB_POOLS, text(l, "default_pool_id")).map(short).into_iter().collect();
            set(&mut listener, "pools", pools);
            listener
        })
        .collect();
    set(&mut out, "listeners", listeners);
    out
}

fn create(st: &mut State, req: &Request, who: &Who) -> Outcome {
    let wanted = body(req, "loadbalancer")?;
    let project = text_opt(&wanted, "project_id").unwrap_or(&who.project).to_owned();
    if !who.may_write(&project) {
        return Err(forbidden());
    }
    if let Some(provider) = text_opt(&wanted, "provider").filter(|p| !matches!(*p, "lab" | "amphora" | "octavia")) {
        return Err(fault(400, format!("Provider '{provider}' is not enabled.")));
    }
    let (network, subnet) = vip_place(st, &wanted)?;
    let id = st.rng.id();
    let port = vip_port(st, &wanted, &id, &project, &network, subnet.as_deref())?;
    let doc_of_port = st.get(table::PORTS, &port).cloned().unwrap_or(Value::Null);
    let first = list(&doc_of_port, "fixed_ips").first().cloned().unwrap_or(Value::Null);
    let get = |key: &str, default: Value| wanted.get(key).cloned().unwrap_or(default);
    let doc = json!({
        "id": id, "name": get("name", json!("")), "description": get("description", json!("")),
        "provisioning_status": "PENDING_CREATE", "operating_status": "OFFLINE",
        "admin_state_up": get("admin_state_up", json!(true)), "project_id": project,
        "created_at": clock::plain(), "updated_at": null, "vip_address": member(&first, "ip_address"),
        "vip_port_id": port, "vip_subnet_id": member(&first, "subnet_id"), "vip_network_id": network,
        "vip_sg_ids": [], "additional_vips": [], "provider": get("provider", json!("lab")), "flavor_id": null,
        "vip_qos_policy_id": null, "tags": get("tags", json!([])), "availability_zone": null,
        "vip_vnic_type": "normal",
    });
    let shown = view(st, &doc);
    st.put(table::LOAD_BALANCERS, doc);
    st.later(Later::LoadBalancer(id));
    Ok(Reply::json(201, wrap("loadbalancer", shown)))
}

/// The network and subnet of the address, from whatever of the three the body names.
fn vip_place(st: &State, wanted: &Value) -> Result<(String, Option<String>), Reply> {
    if let Some(port) = text_opt(wanted, "vip_port_id") {
        let lost = || fault(400, format!("Port {port} not found."));
        return st.get(table::PORTS, port).map(|p| (owned(p, "network_id"), None)).ok_or_else(lost);
    }
    if let Some(subnet) = text_opt(wanted, "vip_subnet_id") {
        let lost = || fault(400, format!("Subnet {subnet} not found."));
        let found = st.get(table::SUBNETS, subnet).ok_or_else(lost)?;
        return Ok((owned(found, "network_id"), Some(subnet.to_owned())));
    }
    if let Some(network) = text_opt(wanted, "vip_network_id") {
        let lost = || fault(400, format!("Network {network} not found."));
        return st.get(table::NETWORKS, network).map(|_| (network.to_owned(), None)).ok_or_else(lost);
    }
    Err(fault(400, "Validation failure: VIP must contain one of: vip_port_id, vip_network_id, vip_subnet_id."))
}

fn vip_port(
    st: &mut State,
    wanted: &Value,
    id: &str,
    project: &str,
    network: &str,
    subnet: Option<&str>,
) -> Result<String, Reply> {
    if let Some(port) = text_opt(wanted, "vip_port_id") {
        return Ok(port.to_owned());
    }
    let mut fields = Map::new();
    fields.insert("project_id".to_owned(), json!(project));
    fields.insert("name".to_owned(), json!(format!("octavia-lb-{id}")));
    fields.insert("network_id".to_owned(), json!(network));
    fields.insert("admin_state_up".to_owned(), json!(false));
    fields.insert("device_id".to_owned(), json!(format!("lb-{id}")));
    fields.insert("device_owner".to_owned(), json!("Octavia"));
    if let Some(subnet) = subnet {
        let mut fixed = json!({"subnet_id": subnet});
        if let Some(address) = text_opt(wanted, "vip_address") {
            set(&mut fixed, "ip_address", address);
        }
        fields.insert("fixed_ips".to_owned(), json!([fixed]));
    }
    ports::make(st, fields, true).map_err(|refused| {
        let why = refused.body.as_ref().and_then(|b| b.pointer("/NeutronError/message")).and_then(Value::as_str);
        fault(if refused.status == 409 { 409 } else { 400 }, why.unwrap_or("The VIP port could not be made"))
    })
}

/// No change while another one runs. An erroneous one may only be deleted.
fn idle(doc: &Value, deleting: bool) -> Result<(), Reply> {
    let status = text(doc, "provisioning_status");
    if status.starts_with("PENDING_") || (status == "ERROR" && !deleting) {
        let id = text(doc, "id");
        return Err(fault(409, format!("Invalid state {status} of loadbalancer resource {id}")));
    }
    Ok(())
}

fn update(st: &mut State, req: &Request, who: &Who, id: &str) -> Outcome {
    let wanted = body(req, "loadbalancer")?;
    idle(writable(st, who, id)?, false)?;
    let Some(doc) = st.get_mut(table::LOAD_BALANCERS, id) else { return Err(missing(KIND, id)) };
    for key in ["name", "description", "admin_state_up", "tags", "vip_qos_policy_id"] {
        if let Some(value) = wanted.get(key) {
            set(doc, key, value.clone());
        }
    }
    states(doc, "PENDING_UPDATE", None);
    st.later(Later::LoadBalancer(id.to_owned()));
    let shown = st.get(table::LOAD_BALANCERS, id).map(|d| view(st, d)).unwrap_or(Value::Null);
    Ok(Reply::json(200, wrap("loadbalancer", shown)))
}

fn delete(st: &mut State, req: &Request, who: &Who, id: &str) -> Outcome {
    let doc = writable(st, who, id)?;
    let cascade = req.param("cascade").is_some_and(|c| c.eq_ignore_ascii_case("true"));
    let has_children =
        children(st, table::LISTENERS, id).next().is_some() || children(st, table::LB_POOLS, id).next().is_some();
    if has_children && !cascade {
        return Err(fault(400, format!("Validation failure: Cannot delete Load Balancer {id} - it has children")));
    }
    idle(doc, true)?;
    if let Some(doc) = st.get_mut(table::LOAD_BALANCERS, id) {
        states(doc, "PENDING_DELETE", None);
    }
    st.later(Later::LoadBalancer(id.to_owned()));
    Ok(Reply::empty(204))
}

/// Is a child's load balancer free to change? Marks it as changing if it is.
pub(crate) fn occupy(st: &mut State, who: &Who, id: &str) -> Result<(), Reply> {
    let doc = writable(st, who, id)?;
    if text(doc, "provisioning_status") != "ACTIVE" {
        return Err(fault(409, format!("Load Balancer {id} is immutable and cannot be updated.")));
    }
    if let Some(doc) = st.get_mut(table::LOAD_BALANCERS, id) {
        states(doc, "PENDING_UPDATE", None);
    }
    st.later(Later::LoadBalancer(id.to_owned()));
    Ok(())
}

/// The delay is over: what was pending is done, what was to go is gone.
pub(crate) fn settle(st: &mut State, id: &str) {
    let Some(doc) = st.get(table::LOAD_BALANCERS, id) else { return };
    if text(doc, "provisioning_status") == "PENDING_DELETE" {
        let (port, own) = (owned(doc, "vip_port_id"), format!("octavia-lb-{id}"));
        let of_this = |c: &Value| list(c, "loadbalancers").iter().any(|l| text(l, "id") == id);
        st.remove_where(table::LISTENERS, of_this);
        st.remove_where(table::LB_POOLS, of_this);
        st.remove(table::LOAD_BALANCERS, id);
        if st.get(table::PORTS, &port).is_some_and(|p| text(p, "name") == own) {
            ports::remove(st, &port);
        }
        return;
    }
    let failed = text(doc, "description").contains("lab:error");
    let up = flag(doc, "admin_state_up");
    if let Some(doc) = st.get_mut(table::LOAD_BALANCERS, id) {
        match (failed, up) {
            (true, _) => states(doc, "ERROR", Some("ERROR")),
            (false, true) => states(doc, "ACTIVE", Some("ONLINE")),
            (false, false) => states(doc, "ACTIVE", Some("OFFLINE")),
        }
    }
    settle_children(st, id);
}

fn settle_children(st: &mut State, id: &str) {
    for name in [table::LISTENERS, table::LB_POOLS] {
        let pending: Vec<(String, bool)> = children(st, name, id)
            .filter(|c| text(c, "provisioning_status").starts_with("PENDING_"))
            .map(|c| (owned(c, "id"), text(c, "provisioning_status") == "PENDING_DELETE"))
            .collect();
        for (child, gone) in pending {
            if gone {
                st.remove(name, &child);
            } else if let Some(doc) = st.get_mut(name, &child) {
                states(doc, "ACTIVE", Some("ONLINE"));
            }
        }
    }
}
