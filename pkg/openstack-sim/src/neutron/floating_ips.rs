//! Floating IPs: what a bystander on the same network needs.

use serde_json::{Value, json};

use super::addresses::{check_free, pick};
use super::errors::{bad, error, floating_ip_not_found, network_not_found, no_address, port_not_found};
use super::schema::{Absent, Attr, Kind};
use super::{Fields, Resource, Shape, field, gateway, networks, ports, quotas, store};
use crate::json::{flag, int, list, member, owned, set, text};
use crate::request::Reply;
use crate::state::{Later, State, Who, table};

const ATTRS: &[Attr] = &[
    Attr::new("floating_network_id", Kind::Uuid, Absent::Refused).fixed(),
    Attr::new("floating_ip_address", Kind::IpOrNull, Absent::Null).fixed(),
    Attr::new("subnet_id", Kind::UuidOrNull, Absent::Null).fixed(),
    Attr::read("router_id"),
    Attr::new("port_id", Kind::UuidOrNull, Absent::Null),
    Attr::new("fixed_ip_address", Kind::IpOrNull, Absent::Null),
    Attr::read("status"),
    Attr::new("description", Kind::Text(255), Absent::Empty),
    Attr::read("port_details"),
    Attr::new("dns_domain", Kind::Text(255), Absent::Empty).fixed(),
    Attr::new("dns_name", Kind::Text(63), Absent::Empty).fixed(),
];

pub(crate) static RESOURCE: Resource = Resource {
    single: "floatingip",
    plural: "floatingips",
    path: "floatingips",
    table: table::FLOATING_IPS,
    attrs: ATTRS,
    not_found: floating_ip_not_found,
    shared: |_, _, _| false,
    view,
    create,
    update,
    delete,
};

fn view(st: &State, _who: &Who, doc: &Value, _shape: Shape) -> Value {
    let mut out = doc.clone();
    let details = match st.get(table::PORTS, text(doc, "port_id")) {
        None => Value::Null,
        Some(port) => {
            let keys = ["name", "network_id", "mac_address", "admin_state_up", "status", "device_id", "device_owner"];
            keys.into_iter().map(|k| (k.to_owned(), member(port, k))).collect()
        }
    };
    set(&mut out, "port_details", details);
    out
}

fn create(st: &mut State, who: &Who, fields: Fields) -> Result<String, Reply> {
    let network = field(&fields, "floating_network_id").to_owned();
    let found = networks::find(st, who, &network).map_err(|_| network_not_found(&network))?;
    if !flag(found, "router:external") {
        return Err(bad("floatingip", format!("Network {network} is not a valid external network")));
    }
    let project = field(&fields, "project_id").to_owned();
    quotas::check(st, &project, "floatingip")?;
    let id = st.rng.id();
    let address = address(st, &network, &fields)?;
    let target = match field(&fields, "port_id") {
        "" => None,
        port => Some(reach(st, who, &network, port, field(&fields, "fixed_ip_address"), &id, &address)?),
    };
    let mut carrier = Fields::new();
    carrier.insert("project_id".to_owned(), json!(""));
    carrier.insert("network_id".to_owned(), json!(network));
    carrier.insert("device_id".to_owned(), json!(id));
    carrier.insert("device_owner".to_owned(), json!("network:floatingip"));
    carrier.insert("fixed_ips".to_owned(), json!([{"ip_address": address}]));
    ports::make(st, carrier, false)?;
    let get = |key: &str| fields.get(key).cloned().unwrap_or(Value::Null);
    let doc = json!({
        "id": id, "tenant_id": project, "project_id": project, "floating_ip_address": address,
        "floating_network_id": network, "router_id": target.as_ref().map(|t| t.router.clone()),
        "port_id": target.as_ref().map(|t| t.port.clone()),
        "fixed_ip_address": target.as_ref().map(|t| t.address.clone()), "status": "DOWN",
        "description": get("description"), "dns_domain": get("dns_domain"), "dns_name": get("dns_name"),
    });
    store(st, table::FLOATING_IPS, &id, doc, 0);
    st.later(Later::FloatingIp(id.clone()));
    Ok(id)
}

/// The wanted outer address, or any of the wanted subnet or the network.
fn address(st: &mut State, network: &str, fields: &Fields) -> Result<String, Reply> {
    let wanted = field(fields, "subnet_id").to_owned();
    let mut subnets: Vec<Value> = networks::subnets(st, network)
        .filter(|s| int(s, "ip_version") == 4 && (wanted.is_empty() || text(s, "id") == wanted))
        .cloned()
        .collect();
    if let Ok(asked) = field(fields, "floating_ip_address").parse() {
        let around = subnets.iter().find(|s| super::addresses::net_of(s).is_some_and(|n| n.contains(&asked)));
        let subnet = around.ok_or_else(|| no_address(network))?;
        check_free(st, subnet, asked)?;
        return Ok(asked.to_string());
    }
    while !subnets.is_empty() {
        let subnet = subnets.swap_remove(st.rng.below(subnets.len()));
        if let Some(found) = pick(st, &subnet) {
            return Ok(found.to_string());
        }
    }
    Err(no_address(network))
}

/// What a floating IP leads to.
struct Target {
    router: String,
    port: String,
    address: String,
}

fn reach(
    st: &State,
    who: &Who,
    network: &str,
    port: &str,
    wanted: &str,
    id: &str,
    outer: &str,
) -> Result<Target, Reply> {
    let found = ports::RESOURCE.find(st, who, port).map_err(|_| port_not_found(port))?;
    let four =
        |f: &&Value| !text(f, "ip_address").contains(':') && (wanted.is_empty() || text(f, "ip_address") == wanted);
    let Some(fixed) = list(found, "fixed_ips").iter().find(four) else {
        return Err(bad(
            "floatingip",
            format!("Cannot add floating IP to port {port} that has no fixed IPv4 addresses"),
        ));
    };
    let (subnet, address) = (text(fixed, "subnet_id"), owned(fixed, "ip_address"));
    let taken = |f: &Value| text(f, "port_id") == port && text(f, "fixed_ip_address") == address && text(f, "id") != id;
    if st.all(table::FLOATING_IPS).any(taken) {
        let message = format!(
            "Cannot associate floating IP {outer} ({id}) with port {port} using fixed IP {address}, as that fixed IP already has a floating IP on external network {network}."
        );
        return Err(error(409, "FloatingIPPortAlreadyAssociated", message));
    }
    let Some(router) = gateway::router_to(st, subnet, network) else {
        let message = format!(
            "External network {network} is not reachable from subnet {subnet}.  Therefore, cannot associate Port {port} with a Floating IP."
        );
        return Err(error(404, "ExternalGatewayForFloatingIPNotFound", message));
    };
    Ok(Target { router, port: port.to_owned(), address })
}

fn update(st: &mut State, who: &Who, id: &str, mut fields: Fields) -> Result<(), Reply> {
    let doc = st.get(table::FLOATING_IPS, id).cloned().unwrap_or(Value::Null);
    match fields.get("port_id") {
        None => {}
        Some(Value::String(port)) => {
            let (network, outer) = (text(&doc, "floating_network_id"), text(&doc, "floating_ip_address"));
            let target = reach(st, who, network, port, field(&fields, "fixed_ip_address"), id, outer)?;
            fields.insert("router_id".to_owned(), Value::from(target.router));
            fields.insert("fixed_ip_address".to_owned(), Value::from(target.address));
        }
        Some(_) => {
            fields.insert("router_id".to_owned(), Value::Null);
            fields.insert("fixed_ip_address".to_owned(), Value::Null);
        }
    }
    st.change(table::FLOATING_IPS, id, &fields);
    st.later(Later::FloatingIp(id.to_owned()));
    Ok(())
}

/// Takes a floating IP off its port.
pub(crate) fn detach(st: &mut State, id: &str) {
    let mut change = Fields::new();
    for key in ["router_id", "port_id", "fixed_ip_address"] {
        change.insert(key.to_owned(), Value::Null);
    }
    st.change(table::FLOATING_IPS, id, &change);
    st.later(Later::FloatingIp(id.to_owned()));
}

fn delete(st: &mut State, _who: &Who, id: &str) -> Result<(), Reply> {
    st.remove_where(table::PORTS, |p| text(p, "device_id") == id && text(p, "device_owner") == "network:floatingip");
    st.remove(table::FLOATING_IPS, id);
    Ok(())
}
