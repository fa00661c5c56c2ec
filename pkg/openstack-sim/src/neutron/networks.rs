//! Networks.

use serde_json::{Value, json};

use super::errors::{error, network_not_found};
use super::schema::{Absent, Attr, Kind};
use super::{Fields, Resource, Shape, field, query, quotas, rbac, store};
use crate::json::{drop_members, flag, owned, set, text};
use crate::request::Reply;
use crate::state::{State, Who, table};

/// What a tunnel leaves of an underlay of 1500 bytes.
const DEFAULT_MTU: i64 = 1450;

const ATTRS: &[Attr] = &[
    Attr::new("name", Kind::Text(255), Absent::Empty),
    Attr::new("admin_state_up", Kind::Bool, Absent::True),
    Attr::new("mtu", Kind::Int, Absent::Left),
    Attr::read("status"),
    Attr::read("subnets"),
    Attr::new("shared", Kind::Bool, Absent::False).admin(),
    Attr::new("port_security_enabled", Kind::Bool, Absent::True),
    Attr::new("dns_domain", Kind::Text(255), Absent::Empty),
    Attr::new("router:external", Kind::Bool, Absent::False).admin(),
    Attr::new("availability_zone_hints", Kind::Texts, Absent::List).fixed(),
    Attr::new("is_default", Kind::Bool, Absent::False).admin(),
    Attr::read("availability_zones"),
    Attr::read("ipv4_address_scope"),
    Attr::read("ipv6_address_scope"),
    Attr::new("description", Kind::Text(255), Absent::Empty),
    Attr::new("provider:network_type", Kind::Text(32), Absent::Left).admin(),
    Attr::new("provider:physical_network", Kind::Text(128), Absent::Left).admin(),
    Attr::new("provider:segmentation_id", Kind::IntOrNull, Absent::Left).admin(),
];

pub(crate) static RESOURCE: Resource = Resource {
    single: "network",
    plural: "networks",
    path: "networks",
    table: table::NETWORKS,
    attrs: ATTRS,
    not_found: network_not_found,
    shared: |st, who, doc| {
        flag(doc, "router:external") || query::shared(doc) || rbac::grants(st, who, "network", text(doc, "id"))
    },
    view,
    create,
    update,
    delete,
};

/// A network that the caller may see.
pub(crate) fn find<'a>(st: &'a State, who: &Who, id: &str) -> Result<&'a Value, Reply> {
    RESOURCE.find(st, who, id)
}

/// Refuses zones that are not there.
pub(crate) fn check_zones(fields: &Fields) -> Result<(), Reply> {
    let hints = fields.get("availability_zone_hints").and_then(Value::as_array);
    match hints.into_iter().flatten().filter_map(Value::as_str).find(|z| *z != "nova") {
        Some(zone) => {
            Err(error(404, "AvailabilityZoneNotFound", format!("AvailabilityZone {zone} could not be found.")))
        }
        None => Ok(()),
    }
}

/// Creates a network of a fresh cloud and gives its id.
pub(crate) fn seed(st: &mut State, who: &Who, doc: &Value) -> String {
    super::seed(st, who, &RESOURCE, doc)
}

fn create(st: &mut State, _who: &Who, fields: Fields) -> Result<String, Reply> {
    check_zones(&fields)?;
    let project = field(&fields, "project_id").to_owned();
    super::security_groups::ensure_default(st, &project);
    quotas::check(st, &project, "network")?;
    let id = st.rng.id();
    let kind = match field(&fields, "provider:network_type") {
        "" => "vxlan",
        other => other,
    };
    let get = |key: &str| fields.get(key).cloned().unwrap_or(Value::Null);
    let segment = if kind == "vxlan" { json!(64000 + st.next_serial()) } else { get("provider:segmentation_id") };
    let mtu = match get("mtu") {
        Value::Null if kind == "vxlan" => json!(DEFAULT_MTU),
        Value::Null => json!(1500),
        given => given,
    };
    let doc = json!({
        "id": id, "name": get("name"), "tenant_id": project, "project_id": project,
        "admin_state_up": get("admin_state_up"), "mtu": mtu, "status": "ACTIVE",
        "shared": get("shared"), "availability_zone_hints": get("availability_zone_hints"),
        "availability_zones": [], "ipv4_address_scope": null, "ipv6_address_scope": null,
        "router:external": get("router:external"), "description": get("description"),
        "port_security_enabled": get("port_security_enabled"), "dns_domain": get("dns_domain"),
        "is_default": get("is_default"), "provider:network_type": kind,
        "provider:physical_network": get("provider:physical_network"), "provider:segmentation_id": segment,
    });
    store(st, table::NETWORKS, &id, doc, 1);
    Ok(id)
}

fn update(st: &mut State, _who: &Who, id: &str, fields: Fields) -> Result<(), Reply> {
    st.change(table::NETWORKS, id, &fields);
    Ok(())
}

/// With its subnets; any port but those of DHCP stands in the way.
fn delete(st: &mut State, _who: &Who, id: &str) -> Result<(), Reply> {
    let on_it = |p: &&Value| text(p, "network_id") == id && text(p, "device_owner") != "network:dhcp";
    let ports: Vec<&str> = st.all(table::PORTS).filter(on_it).map(|p| text(p, "id")).collect();
    if !ports.is_empty() {
        let message = format!(
            "Unable to complete operation on network {id}. There are one or more ports still in use on the network, id for these ports is: {}.",
            ports.join(",")
        );
        return Err(error(409, "NetworkInUse", message));
    }
    st.remove_where(table::SUBNETS, |s| text(s, "network_id") == id);
    st.remove_where(table::PORTS, |p| text(p, "network_id") == id);
    st.remove_where(table::RBAC, |r| text(r, "object_id") == id);
    st.remove(table::NETWORKS, id);
    Ok(())
}

fn view(st: &State, who: &Who, doc: &Value, shape: Shape) -> Value {
    let mut out = doc.clone();
    let id = text(doc, "id");
    let subnets: Vec<String> =
        st.all(table::SUBNETS).filter(|s| text(s, "network_id") == id).map(|s| owned(s, "id")).collect();
    set(&mut out, "subnets", subnets);
    let shared = flag(doc, "shared") || rbac::grants(st, who, "network", id);
    set(&mut out, "shared", shared);
    if shape != Shape::Created && !flag(doc, "router:external") {
        drop_members(&mut out, &["is_default"]);
    }
    if !who.admin() && !who.has("netadmin") {
        drop_members(&mut out, &["provider:network_type", "provider:physical_network", "provider:segmentation_id"]);
    }
    out
}

/// The subnets of a network.
pub(crate) fn subnets<'a>(st: &'a State, network: &'a str) -> impl Iterator<Item = &'a Value> {
    st.all(table::SUBNETS).filter(move |s| text(s, "network_id") == network)
}
