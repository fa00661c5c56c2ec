//! Routers; their gateway, interfaces and extra routes have files of their own.

use serde_json::{Value, json};

use super::errors::{error, forbidden, no_path, router_not_found};
use super::schema::{Absent, Attr, Kind};
use super::{Fields, Resource, Shape, field, gateway, interfaces, networks, ports, quotas, routes, store};
use crate::json::{drop_members, list, set, text};
use crate::request::{Outcome, Reply, Request};
use crate::state::{State, Who, table};

/// Device owners of a router's ports.
pub(crate) const INTERFACE: &str = "network:router_interface";
pub(crate) const GATEWAY: &str = "network:router_gateway";

const ATTRS: &[Attr] = &[
    Attr::new("name", Kind::Text(255), Absent::Empty),
    Attr::new("admin_state_up", Kind::Bool, Absent::True),
    Attr::read("status"),
    Attr::new("external_gateway_info", Kind::Gateway, Absent::Left),
    Attr::new("description", Kind::Text(255), Absent::Empty),
    Attr::read("availability_zones"),
    Attr::new("availability_zone_hints", Kind::Texts, Absent::List).fixed(),
    Attr { post: false, ..Attr::new("routes", Kind::Routes, Absent::Left) },
    Attr::new("flavor_id", Kind::UuidOrNull, Absent::Null).fixed(),
    Attr::new("distributed", Kind::Bool, Absent::Left).admin(),
    Attr::new("ha", Kind::Bool, Absent::Left).admin(),
];

pub(crate) static RESOURCE: Resource = Resource {
    single: "router",
    plural: "routers",
    path: "routers",
    table: table::ROUTERS,
    attrs: ATTRS,
    not_found: router_not_found,
    shared: |_, _, _| false,
    view,
    create,
    update,
    delete,
};

fn view(st: &State, who: &Who, doc: &Value, shape: Shape) -> Value {
    let mut out = doc.clone();
    if shape == Shape::Created {
        set(&mut out, "availability_zones", json!([]));
    }
    set(&mut out, "external_gateway_info", gateway::info(st, doc));
    drop_members(&mut out, &["enable_snat"]);
    if !who.admin() {
        drop_members(&mut out, &["distributed", "ha"]);
    }
    out
}

fn create(st: &mut State, who: &Who, fields: Fields) -> Result<String, Reply> {
    networks::check_zones(&fields)?;
    let project = field(&fields, "project_id").to_owned();
    let wanted = fields.get("external_gateway_info").filter(|g| g.get("network_id").is_some()).cloned();
    if let Some(wanted) = &wanted {
        gateway::check(st, who, wanted, "create", &project)?;
    }
    quotas::check(st, &project, "router")?;
    let id = st.rng.id();
    let get = |key: &str, default: Value| fields.get(key).cloned().unwrap_or(default);
    let doc = json!({
        "id": id, "name": get("name", json!("")), "project_id": project,
        "admin_state_up": get("admin_state_up", json!(true)), "status": "ACTIVE",
        "enable_snat": true, "description": get("description", json!("")),
        "availability_zones": [], "distributed": get("distributed", json!(false)), "ha": get("ha", json!(false)),
        "availability_zone_hints": get("availability_zone_hints", json!([])), "routes": [],
        "flavor_id": get("flavor_id", Value::Null),
    });
    store(st, table::ROUTERS, &id, doc, 1);
    if let Some(wanted) = &wanted
        && let Err(refused) = gateway::set(st, &id, wanted)
    {
        st.remove(table::ROUTERS, &id);
        return Err(refused);
    }
    Ok(id)
}

fn update(st: &mut State, who: &Who, id: &str, mut fields: Fields) -> Result<(), Reply> {
    let project = st.get(table::ROUTERS, id).map(|r| text(r, "project_id").to_owned()).unwrap_or_default();
    if let Some(routes) = fields.get("routes").and_then(Value::as_array) {
        routes::check(st, id, routes)?;
    }
    if let Some(wanted) = fields.shift_remove("external_gateway_info") {
        gateway::check(st, who, &wanted, "update", &project)?;
        gateway::set(st, id, &wanted)?;
    }
    st.change(table::ROUTERS, id, &fields);
    Ok(())
}

fn delete(st: &mut State, _who: &Who, id: &str) -> Result<(), Reply> {
    let attached: Vec<&str> = ports::of_device(st, id, INTERFACE).map(|p| text(p, "id")).collect();
    if !attached.is_empty() {
        let message = format!("Router {id} has ports still attached: {}", attached.join(", "));
        return Err(error(409, "RouterInUse", message));
    }
    gateway::set(st, id, &json!({}))?;
    st.remove(table::ROUTERS, id);
    Ok(())
}

/// `PUT /v2.0/routers/{id}/{action}`
pub(crate) fn act(st: &mut State, req: &Request, who: &Who, id: &str, action: &str) -> Outcome {
    let router = RESOURCE.find(st, who, id)?;
    if !who.may_write(text(router, "project_id")) {
        return Err(forbidden(format!("rule:{action}")));
    }
    super::if_match(req, router)?;
    match action {
        "add_router_interface" => interfaces::add(st, who, id, req),
        "remove_router_interface" => interfaces::remove(st, who, id, req),
        "add_extraroutes" => routes::add(st, who, id, req),
        "remove_extraroutes" => routes::remove(st, who, id, req),
        _ => Err(no_path()),
    }
}

/// A router is scheduled once it has something to route.
pub(crate) fn schedule(st: &mut State, id: &str) {
    if let Some(router) = st.get_mut(table::ROUTERS, id)
        && list(router, "availability_zones").is_empty()
    {
        set(router, "availability_zones", json!(["nova"]));
    }
}
