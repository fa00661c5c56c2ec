//! Share networks. Manila does not ask Neutron whether the networks that they name exist, nor do we.

use hyper::Method;
use serde_json::{Value, json};

use super::{SHARE_NETWORKS, fault};
use crate::clock;
use crate::json::{as_filter, drop_members, list, member, set, text, text_opt, wrap};
use crate::neutron::quotas;
use crate::request::{Body, Outcome, Reply, Request};
use crate::state::{State, Who, table};

/// The microversion from which a share network has subnets of its own.
const SUBNETS: u32 = 51;
/// The microversion from which it has a status.
const STATUS: u32 = 63;

pub(crate) fn handle(st: &mut State, req: &Request, who: &Who, minor: u32, rest: &[&str]) -> Outcome {
    match (&req.method, rest) {
        (&Method::GET, []) => Ok(index(st, req, who, minor, false)),
        (&Method::GET, ["detail"]) => Ok(index(st, req, who, minor, true)),
        (&Method::POST, []) => create(st, req, who, minor),
        (&Method::GET, [id]) => {
            let doc = find(st, who, id)?;
            Ok(Reply::json(200, wrap("share_network", view(doc, minor))))
        }
        (&Method::PUT, [id]) => update(st, req, who, minor, id),
        (&Method::DELETE, [id]) => {
            writable(st, who, id, "delete")?;
            st.remove(table::SHARE_NETWORKS, id);
            Ok(Reply::empty(202))
        }
        (_, [id, "subnets", rest @ ..]) if minor >= SUBNETS => subnets(st, req, who, id, rest),
        _ => Err(Reply::no_route("")),
    }
}

fn find<'a>(st: &'a State, who: &Who, id: &str) -> Result<&'a Value, Reply> {
    st.get(table::SHARE_NETWORKS, id)
        .filter(|s| who.admin() || who.owns(text(s, "project_id")))
        .ok_or_else(|| fault(404, format!("Share network {id} could not be found.")))
}

fn writable<'a>(st: &'a State, who: &Who, id: &str, verb: &str) -> Result<&'a Value, Reply> {
    let doc = find(st, who, id)?;
    if who.may_write(text(doc, "project_id")) { Ok(doc) } else { Err(refused(verb)) }
}

fn refused(verb: &str) -> Reply {
    fault(403, format!("Policy doesn't allow share_network:{verb} to be performed."))
}

/// Before there were subnets, the network's only one was part of it.
fn view(doc: &Value, minor: u32) -> Value {
    let mut out = doc.clone();
    if minor < SUBNETS {
        let first = list(doc, "share_network_subnets").first().cloned().unwrap_or(Value::Null);
        drop_members(&mut out, &["share_network_subnets"]);
        for key in ["neutron_net_id", "neutron_subnet_id", "network_type", "segmentation_id", "cidr", "ip_version"] {
            set(&mut out, key, member(&first, key));
        }
        set(&mut out, "description", member(doc, "description"));
        for (key, since) in [("gateway", 18), ("mtu", 20)] {
            if minor >= since {
                set(&mut out, key, member(&first, key));
            }
        }
        if minor < 26 {
            set(&mut out, "nova_net_id", Value::Null);
        }
    }
    if minor >= STATUS {
        set(&mut out, "status", "active");
        set(&mut out, "security_service_update_support", true);
    }
    out
}

fn index(st: &State, req: &Request, who: &Who, minor: u32, detail: bool) -> Reply {
    let all = who.admin() && req.param("all_tenants").is_some_and(|v| v == "1");
    let fits = |s: &&Value| (all || who.owns(text(s, "project_id"))) && passes(req, s);
    let rows: Vec<Value> = st
        .all(table::SHARE_NETWORKS)
        .filter(fits)
        .map(|s| if detail { view(s, minor) } else { json!({"id": text(s, "id"), "name": text(s, "name")}) })
        .collect();
    let offset: usize = req.param("offset").and_then(|o| o.parse().ok()).unwrap_or(0);
    let limit: usize = req.param("limit").and_then(|l| l.parse().ok()).unwrap_or(1000);
    let rows: Vec<Value> = rows.into_iter().skip(offset).take(limit).collect();
    Reply::json(200, json!({"share_networks": rows}))
}

/// Filters on the network itself, or on any of its subnets.
fn passes(req: &Request, doc: &Value) -> bool {
    const OWN: [&str; 3] = ["name", "description", "project_id"];
    const SUBNET: [&str; 5] = ["neutron_net_id", "neutron_subnet_id", "network_type", "ip_version", "cidr"];
    req.query.iter().all(|(key, wanted)| {
        let key = key.as_str();
        if OWN.contains(&key) {
            return doc.get(key).map(as_filter).as_deref() == Some(wanted);
        }
        if SUBNET.contains(&key) {
            let fits = |s: &Value| s.get(key).map(as_filter).as_deref() == Some(wanted);
            return list(doc, "share_network_subnets").iter().any(fits);
        }
        match key {
            "name~" => text(doc, "name").contains(wanted.as_str()),
            "description~" => text(doc, "description").contains(wanted.as_str()),
            _ => true,
        }
    })
}

fn envelope(req: &Request, key: &str) -> Result<Value, Reply> {
    if matches!(req.body, Body::Malformed) {
        return Err(fault(400, "cannot understand JSON".to_owned()));
    }
    let wanted = req.member(key);
    if wanted.is_object() {
        return Ok(wanted);
    }
    Err(fault(422, "Unable to process the contained instructions".to_owned()))
}

fn create(st: &mut State, req: &Request, who: &Who, minor: u32) -> Outcome {
    let wanted = envelope(req, "share_network")?;
    if !who.may_write(&who.project) {
        return Err(refused("create"));
    }
    let subnet = subnet(st, &wanted)?;
    let limit = quotas::limit(st, "share", &who.project, "share_networks", SHARE_NETWORKS);
    let count = st.all(table::SHARE_NETWORKS).filter(|s| text(s, "project_id") == who.project).count();
    if limit >= 0 && i64::try_from(count).unwrap_or(i64::MAX) >= limit {
        let message =
            format!("ShareNetworksLimitExceeded: Maximum number of share-networks allowed ({limit}) exceeded.");
        let body = json!({"overLimit": {"code": 413, "message": message, "retryAfter": "0"}});
        return Err(Reply::json(413, body).with("Retry-After", "0"));
    }
    let id = st.rng.id();
    let doc = json!({
        "id": id, "name": member(&wanted, "name"), "project_id": who.project, "created_at": clock::micros(),
        "updated_at": null, "description": member(&wanted, "description"), "share_network_subnets": [subnet],
    });
    let shown = view(&doc, minor);
    st.put(table::SHARE_NETWORKS, doc);
    Ok(Reply::json(200, wrap("share_network", shown)))
}

/// A subnet from its description: both of Neutron's ids, or none.
fn subnet(st: &mut State, wanted: &Value) -> Result<Value, Reply> {
    let (net, sub) = (text_opt(wanted, "neutron_net_id"), text_opt(wanted, "neutron_subnet_id"));
    if net.is_some() != sub.is_some() {
        let message = "When creating a new share network subnet you need to specify both neutron_net_id and neutron_subnet_id or none of them.";
        return Err(fault(400, message.to_owned()));
    }
    Ok(json!({
        "id": st.rng.id(), "availability_zone": member(wanted, "availability_zone"),
        "created_at": clock::micros(), "updated_at": null, "segmentation_id": null, "neutron_net_id": net,
        "neutron_subnet_id": sub, "ip_version": null, "cidr": null, "network_type": null, "mtu": null,
        "gateway": null,
    }))
}

fn update(st: &mut State, req: &Request, who: &Who, minor: u32, id: &str) -> Outcome {
    let wanted = envelope(req, "share_network")?;
    writable(st, who, id, "update")?;
    let Some(doc) = st.get_mut(table::SHARE_NETWORKS, id) else { return Err(Reply::no_route("")) };
    for key in ["name", "description"] {
        if let Some(value) = wanted.get(key) {
            set(doc, key, value.clone());
        }
    }
    if let Some(Value::Array(subnets)) = doc.get_mut("share_network_subnets")
        && let Some(first) = subnets.first_mut()
    {
        for key in ["neutron_net_id", "neutron_subnet_id"] {
            if let Some(value) = wanted.get(key) {
                set(first, key, value.clone());
            }
        }
    }
    set(doc, "updated_at", clock::micros());
    let shown = view(doc, minor);
    Ok(Reply::json(200, wrap("share_network", shown)))
}

fn subnets(st: &mut State, req: &Request, who: &Who, id: &str, rest: &[&str]) -> Outcome {
    let doc = find(st, who, id)?.clone();
    let name = member(&doc, "name");
    let shown = |s: &Value| {
        let mut out = s.clone();
        set(&mut out, "share_network_id", id);
        set(&mut out, "share_network_name", name.clone());
        out
    };
    let lost = |sub: &str| fault(404, format!("Share network subnet {sub} could not be found."));
    match (&req.method, rest) {
        (&Method::GET, []) => {
            let rows: Vec<Value> = list(&doc, "share_network_subnets").iter().map(shown).collect();
            Ok(Reply::json(200, json!({"share_network_subnets": rows})))
        }
        (&Method::GET, [sub]) => {
            let found = list(&doc, "share_network_subnets").iter().find(|s| text(s, "id") == *sub);
            found.map(|s| Reply::json(200, wrap("share_network_subnet", shown(s)))).ok_or_else(|| lost(sub))
        }
        (&Method::POST, []) => {
            writable(st, who, id, "add_share_network_subnet")?;
            let made = subnet(st, &envelope(req, "share-network-subnet")?)?;
            let mut all = list(&doc, "share_network_subnets").to_vec();
            all.push(made.clone());
            replace(st, id, all);
            Ok(Reply::json(200, wrap("share_network_subnet", shown(&made))))
        }
        (&Method::DELETE, [sub]) => {
            writable(st, who, id, "delete")?;
            let have = list(&doc, "share_network_subnets");
            let left: Vec<Value> = have.iter().filter(|s| text(s, "id") != *sub).cloned().collect();
            if left.len() == have.len() {
                return Err(lost(sub));
            }
            replace(st, id, left);
            Ok(Reply::empty(202))
        }
        _ => Err(Reply::no_route("")),
    }
}

fn replace(st: &mut State, id: &str, subnets: Vec<Value>) {
    if let Some(doc) = st.get_mut(table::SHARE_NETWORKS, id) {
        set(doc, "share_network_subnets", subnets);
    }
}
