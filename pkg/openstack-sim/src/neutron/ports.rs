//! Ports: those that a user makes, and those that routers and load balancers make for themselves.

use serde_json::{Value, json};

use super::addresses::pick_addresses;
use super::errors::{error, forbidden, group_not_found, port_not_found};
use super::schema::{Absent, Attr, Kind};
use super::{Fields, Resource, Shape, field, networks, quotas, security_groups, store};
use crate::json::{drop_members, flag, list, member, owned, set, text};
use crate::request::Reply;
use crate::state::{Later, State, Who, table};

const ATTRS: &[Attr] = &[
    Attr::new("name", Kind::Text(255), Absent::Empty),
    Attr::new("network_id", Kind::Uuid, Absent::Refused).fixed(),
    Attr::new("mac_address", Kind::Text(32), Absent::Left).fixed(),
    Attr::new("admin_state_up", Kind::Bool, Absent::True),
    Attr::read("status"),
    Attr::new("device_id", Kind::Text(255), Absent::Empty),
    Attr::new("device_owner", Kind::Text(255), Absent::Empty),
    Attr::new("fixed_ips", Kind::FixedIps, Absent::Left),
    Attr::new("allowed_address_pairs", Kind::Any, Absent::List),
    Attr::new("extra_dhcp_opts", Kind::Any, Absent::List),
    Attr::new("security_groups", Kind::Uuids, Absent::Left),
    Attr::new("description", Kind::Text(255), Absent::Empty),
    Attr::new("binding:vnic_type", Kind::Text(64), Absent::Text("normal")),
    Attr::new("binding:profile", Kind::Any, Absent::Left).admin(),
    Attr::new("binding:host_id", Kind::Text(255), Absent::Left).admin(),
    Attr::read("binding:vif_type"),
    Attr::read("binding:vif_details"),
    Attr::new("port_security_enabled", Kind::Bool, Absent::Left),
    Attr::new("dns_name", Kind::Text(63), Absent::Empty),
    Attr::read("dns_assignment"),
    Attr::new("dns_domain", Kind::Text(255), Absent::Empty),
    // This Neutron takes tags in the POST of a port, and of nothing else.
    Attr::new("tags", Kind::Tags, Absent::List).fixed(),
];

pub(crate) static RESOURCE: Resource = Resource {
    single: "port",
    plural: "ports",
    path: "ports",
    table: table::PORTS,
    attrs: ATTRS,
    not_found: port_not_found,
    // The owner of a network sees what others plug into it.
    shared: |st, who, doc| {
        st.get(table::NETWORKS, text(doc, "network_id")).is_some_and(|n| who.owns(text(n, "project_id")))
    },
    view,
    create,
    update,
    delete,
};

fn view(_st: &State, who: &Who, doc: &Value, _shape: Shape) -> Value {
    let mut out = doc.clone();
    let name = text(doc, "dns_name");
    let assigned: Vec<Value> = list(doc, "fixed_ips")
        .iter()
        .map(|f| {
            let address = text(f, "ip_address");
            let host = match name {
                "" => format!("host-{}", address.replace(['.', ':'], "-")),
                name => name.to_owned(),
            };
            json!({"ip_address": address, "hostname": host, "fqdn": format!("{host}.openstacklocal.")})
        })
        .collect();
    set(&mut out, "dns_assignment", assigned);
    if !who.admin() {
        drop_members(&mut out, &["binding:profile", "binding:host_id", "binding:vif_type", "binding:vif_details"]);
    }
    out
}

fn create(st: &mut State, who: &Who, fields: Fields) -> Result<String, Reply> {
    let network_id = field(&fields, "network_id");
    let network = networks::find(st, who, network_id)?;
    let owns = who.admin() || who.owns(text(network, "project_id"));
    let shared = !flag(network, "router:external");
    if !owns && !shared {
        return Err(forbidden("rule:create_port"));
    }
    if !owns && fields.contains_key("fixed_ips") {
        return Err(forbidden("(rule:create_port and rule:create_port:fixed_ips)"));
    }
    let secure_network = flag(network, "port_security_enabled");
    make(st, fields, secure_network)
}

/// Makes a port; policies are behind us. Also how routers and load balancers get theirs.
pub(crate) fn make(st: &mut State, fields: Fields, secure: bool) -> Result<String, Reply> {
    let project = field(&fields, "project_id").to_owned();
    let network = field(&fields, "network_id").to_owned();
    let trusted = field(&fields, "device_owner").starts_with("network:");
    let secure = match fields.get("port_security_enabled") {
        Some(Value::Bool(given)) => *given,
        _ => secure && !trusted,
    };
    let groups = match fields.get("security_groups") {
        Some(Value::Array(given)) => given.clone(),
        _ if secure => security_groups::ensure_default(st, &project).into_iter().map(Value::from).collect(),
        _ => Vec::new(),
    };
    check_groups(st, &groups)?;
    if !project.is_empty() {
        quotas::check(st, &project, "port")?;
    }
    let mac = match field(&fields, "mac_address") {
        "" => st.rng.mac(),
        given => given.to_owned(),
    };
    let wanted = fields.get("fixed_ips").and_then(Value::as_array).map(Vec::as_slice);
    let fixed_ips = pick_addresses(st, &network, wanted, &mac, !trusted)?;
    let id = st.rng.id();
    let get = |key: &str, default: Value| fields.get(key).cloned().unwrap_or(default);
    let host = field(&fields, "binding:host_id").to_owned();
    let doc = json!({
        "id": id, "name": get("name", json!("")), "network_id": network, "project_id": project,
        "mac_address": mac, "admin_state_up": get("admin_state_up", json!(true)), "status": "DOWN",
        "device_id": get("device_id", json!("")), "device_owner": get("device_owner", json!("")),
        "fixed_ips": fixed_ips,
        "allowed_address_pairs": pairs(&get("allowed_address_pairs", json!([])), &mac),
        "extra_dhcp_opts": get("extra_dhcp_opts", json!([])), "security_groups": groups,
        "description": get("description", json!("")),
        "binding:vnic_type": get("binding:vnic_type", json!("normal")),
        "binding:profile": get("binding:profile", json!({})), "binding:host_id": host,
        "binding:vif_type": vif_type(&host), "binding:vif_details": vif_details(&host),
        "port_security_enabled": secure, "dns_name": get("dns_name", json!("")),
        "dns_domain": get("dns_domain", json!("")), "tags": get("tags", json!([])),
    });
    store(st, table::PORTS, &id, doc, 1);
    if vif_type(&host) == "ovs" {
        st.later(Later::Port(id.clone()));
    }
    Ok(id)
}

/// Any host binds but those that begin with `no-`, as in the lab.
fn vif_type(host: &str) -> &'static str {
    match host {
        "" => "unbound",
        h if h.starts_with("no-") => "binding_failed",
        _ => "ovs",
    }
}

fn vif_details(host: &str) -> Value {
    if vif_type(host) == "ovs" { json!({"port_filter": true, "bound_drivers": {"0": "lab"}}) } else { json!({}) }
}

/// A pair without a MAC address has the port's.
fn pairs(given: &Value, mac: &str) -> Value {
    let each = |p: &Value| {
        let own = text(p, "mac_address");
        json!({"mac_address": if own.is_empty() { mac } else { own }, "ip_address": member(p, "ip_address")})
    };
    given.as_array().into_iter().flatten().map(each).collect()
}

fn check_groups(st: &State, groups: &[Value]) -> Result<(), Reply> {
    let lost = groups.iter().filter_map(Value::as_str).find(|g| st.get(table::GROUPS, g).is_none());
    lost.map_or(Ok(()), |id| Err(group_not_found(id)))
}

fn update(st: &mut State, _who: &Who, id: &str, mut fields: Fields) -> Result<(), Reply> {
    let port = st.get(table::PORTS, id).cloned().unwrap_or(Value::Null);
    if let Some(Value::Array(groups)) = fields.get("security_groups") {
        check_groups(st, groups)?;
    }
    if let Some(given) = fields.get("allowed_address_pairs") {
        let pairs = pairs(given, text(&port, "mac_address"));
        fields.insert("allowed_address_pairs".to_owned(), pairs);
    }
    if let Some(Value::Array(wanted)) = fields.get("fixed_ips").cloned() {
        let addresses = moved(st, &port, &wanted)?;
        fields.insert("fixed_ips".to_owned(), Value::from(addresses));
    }
    let host = fields.get("binding:host_id").and_then(Value::as_str).map(str::to_owned);
    if let Some(host) = host {
        fields.insert("binding:vif_type".to_owned(), Value::from(vif_type(&host)));
        fields.insert("binding:vif_details".to_owned(), vif_details(&host));
        if vif_type(&host) == "ovs" {
            st.later(Later::Port(id.to_owned()));
        } else {
            fields.insert("status".to_owned(), Value::from("DOWN"));
        }
    }
    match fields.get("admin_state_up").and_then(Value::as_bool) {
        Some(false) => drop(fields.insert("status".to_owned(), Value::from("DOWN"))),
        Some(true) if text(&port, "status") == "DOWN" && is_wired(&port) => st.later(Later::Port(id.to_owned())),
        _ => {}
    }
    st.change(table::PORTS, id, &fields);
    Ok(())
}

/// Whether an agent would bring it up: a router's port, or one that is bound to a host.
fn is_wired(port: &Value) -> bool {
    matches!(text(port, "device_owner"), "network:router_interface" | "network:router_gateway")
        || text(port, "binding:vif_type") == "ovs"
}

/// New addresses for a port: what it has already and is asked for again stays.
fn moved(st: &mut State, port: &Value, wanted: &[Value]) -> Result<Vec<Value>, Reply> {
    let network = text(port, "network_id");
    let mut bare = port.clone();
    set(&mut bare, "fixed_ips", json!([]));
    st.put(table::PORTS, bare);
    let outcome = pick_addresses(st, network, Some(wanted), text(port, "mac_address"), false);
    st.put(table::PORTS, port.clone());
    outcome
}

fn delete(st: &mut State, _who: &Who, id: &str) -> Result<(), Reply> {
    let port = st.get(table::PORTS, id).ok_or_else(|| port_not_found(id))?;
    let owner = text(port, "device_owner");
    if matches!(owner, "network:router_interface" | "network:router_gateway" | "network:floatingip") {
        let message = format!("Port {id} cannot be deleted directly via the port API: has device owner {owner}.");
        return Err(error(409, "ServicePortInUse", message));
    }
    remove(st, id);
    Ok(())
}

/// Takes a port away, and off its floating IP.
pub(crate) fn remove(st: &mut State, id: &str) {
    let held: Vec<String> =
        st.all(table::FLOATING_IPS).filter(|f| text(f, "port_id") == id).map(|f| owned(f, "id")).collect();
    for floating in held {
        super::floating_ips::detach(st, &floating);
    }
    st.remove(table::PORTS, id);
}

/// The ports of a device in one of these roles.
pub(crate) fn of_device<'a>(st: &'a State, device: &'a str, owner: &'a str) -> impl Iterator<Item = &'a Value> {
    st.all(table::PORTS).filter(move |p| text(p, "device_id") == device && text(p, "device_owner") == owner)
}
