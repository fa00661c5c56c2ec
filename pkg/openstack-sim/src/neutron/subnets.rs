//! Subnets.

use std::net::IpAddr;

use ipnet::IpNet;
use serde_json::{Value, json};

use super::addresses::{default_ranges, eui64, first_host, free_everything, is_auto, net_of, number};
use super::errors::{bad, error, forbidden, invalid_input, subnet_not_found};
use super::schema::{Absent, Attr, Kind};
use super::{Fields, Resource, Shape, field, networks, pools, quotas, store};
use crate::json::{flag, int, list, owned, set, text};
use crate::request::Reply;
use crate::state::{State, Who, table};

const MODES: &[&str] = &["dhcpv6-stateful", "dhcpv6-stateless", "slaac"];

const ATTRS: &[Attr] = &[
    Attr::new("name", Kind::Text(255), Absent::Empty),
    Attr::new("network_id", Kind::Uuid, Absent::Refused).fixed(),
    Attr::new("ip_version", Kind::IntOf(&[4, 6]), Absent::Refused).fixed(),
    Attr::new("subnetpool_id", Kind::UuidOrNull, Absent::Null).fixed(),
    Attr::new("use_default_subnetpool", Kind::Bool, Absent::False).fixed(),
    Attr::new("prefixlen", Kind::Int, Absent::Left).fixed(),
    Attr::new("cidr", Kind::Text(64), Absent::Left).fixed(),
    Attr::new("enable_dhcp", Kind::Bool, Absent::True),
    Attr::new("ipv6_ra_mode", Kind::OfOrNull(MODES), Absent::Null).fixed(),
    Attr::new("ipv6_address_mode", Kind::OfOrNull(MODES), Absent::Null).fixed(),
    Attr::new("gateway_ip", Kind::IpOrNull, Absent::Left),
    Attr::new("allocation_pools", Kind::Ranges, Absent::Left),
    Attr::new("host_routes", Kind::Routes, Absent::List),
    Attr::new("dns_nameservers", Kind::Ips, Absent::List),
    Attr::new("description", Kind::Text(255), Absent::Empty),
    Attr::read("router:external"),
    Attr::new("service_types", Kind::Texts, Absent::List),
    Attr::read("shared"),
];

pub(crate) static RESOURCE: Resource = Resource {
    single: "subnet",
    plural: "subnets",
    path: "subnets",
    table: table::SUBNETS,
    attrs: ATTRS,
    not_found: subnet_not_found,
    shared: |st, who, doc| networks::find(st, who, text(doc, "network_id")).is_ok(),
    view,
    create,
    update,
    delete,
};

/// A subnet that the caller may see.
pub(crate) fn find<'a>(st: &'a State, who: &Who, id: &str) -> Result<&'a Value, Reply> {
    RESOURCE.find(st, who, id)
}

fn view(st: &State, _who: &Who, doc: &Value, _shape: Shape) -> Value {
    let mut out = doc.clone();
    let external = st.get(table::NETWORKS, text(doc, "network_id")).is_some_and(|n| flag(n, "router:external"));
    set(&mut out, "router:external", external);
    out
}

/// Creates a subnet of a fresh cloud and gives its id.
pub(crate) fn seed(st: &mut State, who: &Who, doc: &Value) -> String {
    super::seed(st, who, &RESOURCE, doc)
}

fn create(st: &mut State, who: &Who, fields: Fields) -> Result<String, Reply> {
    let network_id = field(&fields, "network_id").to_owned();
    let network = networks::find(st, who, &network_id)?;
    if !who.may_write(text(network, "project_id")) {
        return Err(forbidden("rule:create_subnet"));
    }
    let version = fields.get("ip_version").and_then(Value::as_i64).unwrap_or(4);
    check_modes(&fields, version)?;
    let pool = pools::chosen(st, who, &fields, version)?;
    let wanted = wanted_cidr(&fields, version)?;
    if wanted.is_none() && pool.is_none() {
        return Err(bad("subnets", "a subnetpool must be specified in the absence of a cidr"));
    }
    check_affinity(st, &network_id, version, pool.as_ref())?;
    let net = match (&pool, wanted) {
        (Some(pool), wanted) => pools::allocate(st, pool, wanted, fields.get("prefixlen").and_then(Value::as_i64))?,
        (None, Some(wanted)) => wanted,
        (None, None) => return Err(bad("subnets", "a subnetpool must be specified in the absence of a cidr")),
    };
    check_slaac(&fields, &net)?;
    check_overlap(st, &network_id, &net)?;
    let gateway = match fields.get("gateway_ip") {
        None => first_host(&net),
        Some(given) => given.as_str().and_then(|g| g.parse().ok()),
    };
    let ranges = match fields.get("allocation_pools").and_then(Value::as_array) {
        Some(given) => {
            check_ranges(given, &net, gateway)?;
            given.clone()
        }
        None => default_ranges(&net, gateway),
    };
    let project = field(&fields, "project_id").to_owned();
    quotas::check(st, &project, "subnet")?;
    let id = st.rng.id();
    let get = |key: &str| fields.get(key).cloned().unwrap_or(Value::Null);
    let doc = json!({
        "id": id, "name": get("name"), "project_id": project, "network_id": network_id, "ip_version": version,
        "subnetpool_id": pool.as_ref().map(|p| owned(p, "id")), "enable_dhcp": get("enable_dhcp"),
        "ipv6_ra_mode": get("ipv6_ra_mode"), "ipv6_address_mode": get("ipv6_address_mode"),
        "gateway_ip": gateway.map(|g| g.to_string()), "cidr": net.to_string(), "allocation_pools": ranges,
        "host_routes": get("host_routes"), "dns_nameservers": get("dns_nameservers"),
        "description": get("description"), "service_types": get("service_types"),
    });
    store(st, table::SUBNETS, &id, doc, 0);
    st.revise(table::NETWORKS, &network_id);
    give_auto_addresses(st, &id);
    Ok(id)
}

fn check_modes(fields: &Fields, version: i64) -> Result<(), Reply> {
    let given = |key: &&str| fields.get(*key).is_some_and(|v| !v.is_null());
    let modes = ["ipv6_ra_mode", "ipv6_address_mode"];
    if version == 4 {
        return match modes.into_iter().find(given) {
            Some(key) => Err(invalid_input(format!("{key} is not valid when ip_version is 4"))),
            None => Ok(()),
        };
    }
    let (ra, address) = (field(fields, "ipv6_ra_mode"), field(fields, "ipv6_address_mode"));
    if !ra.is_empty() && !address.is_empty() && ra != address {
        let message = format!(
            "ipv6_ra_mode set to '{ra}' with ipv6_address_mode set to '{address}' is not valid. If both attributes are set, they must be the same value"
        );
        return Err(invalid_input(message));
    }
    if modes.iter().any(given) && fields.get("enable_dhcp") == Some(&Value::from(false)) {
        let message = "ipv6_ra_mode or ipv6_address_mode cannot be set when enable_dhcp is set to False";
        return Err(invalid_input(message));
    }
    Ok(())
}

/// The network that the body asks for, without host bits.
fn wanted_cidr(fields: &Fields, version: i64) -> Result<Option<IpNet>, Reply> {
    let Some(text) = fields.get("cidr").and_then(Value::as_str) else { return Ok(None) };
    let net: IpNet = match text.parse::<IpNet>() {
        Ok(net) => net,
        Err(_) => match text.parse::<IpAddr>() {
            Ok(address) => IpNet::from(address),
            Err(_) => return Err(invalid_input(format!("{text} is not in a CIDR format"))),
        },
    };
    if net.addr().is_ipv4() != (version == 4) {
        return Err(invalid_input(format!("cidr '{text}' does not match the ip_version '{version}'")));
    }
    Ok(Some(net.trunc()))
}

fn check_slaac(fields: &Fields, net: &IpNet) -> Result<(), Reply> {
    let mode = [field(fields, "ipv6_address_mode"), field(fields, "ipv6_ra_mode")]
        .into_iter()
        .find(|m| matches!(*m, "slaac" | "dhcpv6-stateless"));
    match mode {
        Some(_) if net.prefix_len() != 64 => Err(invalid_input(format!(
            "Invalid CIDR {net} for IPv6 address mode. OpenStack uses the EUI-64 address format, which requires the prefix to be /64"
        ))),
        _ => Ok(()),
    }
}

fn check_affinity(st: &State, network: &str, version: i64, pool: Option<&Value>) -> Result<(), Reply> {
    let wanted = pool.map(|p| text(p, "id")).unwrap_or_default();
    let other = |s: &Value| int(s, "ip_version") == version && text(s, "subnetpool_id") != wanted;
    if networks::subnets(st, network).any(other) {
        let message = "Subnets hosted on the same network must be allocated from the same subnet pool.";
        return Err(error(400, "NetworkSubnetPoolAffinityError", message));
    }
    Ok(())
}

fn check_overlap(st: &State, network: &str, net: &IpNet) -> Result<(), Reply> {
    let over = |s: &Value| net_of(s).is_some_and(|n| n.contains(net) || net.contains(&n));
    if networks::subnets(st, network).any(over) {
        let message = format!("Requested subnet with cidr: {net} for network: {network} overlaps with another subnet");
        return Err(invalid_input(message));
    }
    Ok(())
}

fn check_ranges(ranges: &[Value], net: &IpNet, gateway: Option<IpAddr>) -> Result<(), Reply> {
    for range in ranges {
        let (start, end) = (text(range, "start"), text(range, "end"));
        let parsed = (start.parse::<IpAddr>(), end.parse::<IpAddr>());
        let (Ok(from), Ok(to)) = parsed else { continue };
        if !net.contains(&from) || !net.contains(&to) {
            let message = format!("The allocation pool {start}-{end} spans beyond the subnet cidr {net}.");
            return Err(error(400, "OutOfBoundsAllocationPool", message));
        }
        if number(from) > number(to) {
            return Err(error(
                400,
                "InvalidAllocationPool",
                format!("The allocation pool {start}-{end} is not valid."),
            ));
        }
        if let Some(gateway) = gateway.filter(|g| (number(from)..=number(to)).contains(&number(*g))) {
            let message = format!("Gateway ip {gateway} conflicts with allocation pool {start}-{end}.");
            return Err(error(409, "GatewayConflictWithAllocationPools", message));
        }
    }
    Ok(())
}

/// Ports that are there already make themselves an address in a new subnet of that kind.
fn give_auto_addresses(st: &mut State, id: &str) {
    let Some(subnet) = st.get(table::SUBNETS, id).filter(|s| is_auto(s)).cloned() else { return };
    let ports: Vec<(String, String, Vec<Value>)> = st
        .all(table::PORTS)
        .filter(|p| text(p, "network_id") == text(&subnet, "network_id"))
        .filter(|p| !text(p, "device_owner").starts_with("network:"))
        .map(|p| (owned(p, "id"), owned(p, "mac_address"), list(p, "fixed_ips").to_vec()))
        .collect();
    for (port, mac, mut fixed_ips) in ports {
        let Some(address) = net_of(&subnet).and_then(|n| eui64(&n, &mac)) else { continue };
        fixed_ips.push(json!({"subnet_id": id, "ip_address": address.to_string()}));
        let mut change = Fields::new();
        change.insert("fixed_ips".to_owned(), Value::from(fixed_ips));
        st.change(table::PORTS, &port, &change);
    }
}

fn update(st: &mut State, _who: &Who, id: &str, fields: Fields) -> Result<(), Reply> {
    let subnet = st.get(table::SUBNETS, id).cloned().unwrap_or(Value::Null);
    let net = net_of(&subnet).ok_or_else(|| subnet_not_found(id))?;
    let mut doc = subnet.clone();
    for (key, value) in &fields {
        set(&mut doc, key, value.clone());
    }
    let gateway = text(&doc, "gateway_ip").parse().ok();
    if fields.contains_key("gateway_ip") || fields.contains_key("allocation_pools") {
        check_ranges(list(&doc, "allocation_pools"), &net, gateway)?;
        let held = |p: &Value| {
            let owns = text(p, "device_owner").starts_with("network:router_interface");
            owns && list(p, "fixed_ips")
                .iter()
                .any(|f| text(f, "subnet_id") == id && text(f, "ip_address") == text(&subnet, "gateway_ip"))
        };
        let moved = text(&doc, "gateway_ip") != text(&subnet, "gateway_ip");
        if let Some(port) = st.all(table::PORTS).find(|p| moved && held(p)) {
            let message = format!(
                "Current gateway ip {} already in use by port {}. Unable to update.",
                text(&subnet, "gateway_ip"),
                text(port, "id")
            );
            return Err(error(409, "GatewayIpInUse", message));
        }
    }
    st.change(table::SUBNETS, id, &fields);
    Ok(())
}

/// Any port with an address in it stands in the way, but for addresses that ports made themselves.
fn delete(st: &mut State, _who: &Who, id: &str) -> Result<(), Reply> {
    let Some(subnet) = st.get(table::SUBNETS, id) else { return Err(subnet_not_found(id)) };
    let auto = is_auto(subnet);
    let network = owned(subnet, "network_id");
    let blocks = |p: &Value| {
        let owner = text(p, "device_owner");
        let ignored = owner == "network:dhcp" || (auto && !owner.starts_with("network:"));
        !ignored && list(p, "fixed_ips").iter().any(|f| text(f, "subnet_id") == id)
    };
    if st.all(table::PORTS).any(blocks) {
        let message = format!(
            "Unable to complete operation on subnet {id}: One or more ports have an IP allocation from this subnet."
        );
        return Err(error(409, "SubnetInUse", message));
    }
    free_everything(st, id);
    st.remove(table::SUBNETS, id);
    st.revise(table::NETWORKS, &network);
    Ok(())
}
