//! A router's interfaces: ports on inner subnets, made and removed by the router.

use serde_json::{Value, json};

use super::addresses::{check_free, net_of};
use super::errors::{bad, error};
use super::routers::{GATEWAY, INTERFACE, schedule};
use super::{Fields, ports, subnets, validate};
use crate::json::{int, list, owned, text, text_opt};
use crate::request::{Outcome, Reply, Request};
use crate::state::{Later, State, Who, table};

/// What the body names.
enum Target {
    Subnet(String),
    Port(String),
}

fn target(req: &Request) -> Result<Target, Reply> {
    let (subnet, port) = (req.member("subnet_id"), req.member("port_id"));
    for given in [&subnet, &port] {
        if let Some(text) = given.as_str()
            && !validate::is_uuid(text)
        {
            return Err(bad("router", format!("'{text}' is not a valid UUID")));
        }
    }
    match (subnet.as_str(), port.as_str()) {
        (Some(_), Some(_)) => Err(bad("router", "Cannot specify both subnet-id and port-id")),
        (Some(subnet), None) => Ok(Target::Subnet(subnet.to_owned())),
        (None, Some(port)) => Ok(Target::Port(port.to_owned())),
        (None, None) => Err(bad("router", "Either subnet_id or port_id must be specified")),
    }
}

/// `PUT /v2.0/routers/{id}/add_router_interface`
pub(crate) fn add(st: &mut State, who: &Who, router: &str, req: &Request) -> Outcome {
    let (port, subnet) = match target(req)? {
        Target::Subnet(subnet) => (by_subnet(st, who, router, &subnet)?, subnet),
        Target::Port(port) => by_port(st, who, router, &port)?,
    };
    st.revise(table::ROUTERS, router);
    st.later(Later::Port(port.clone()));
    schedule(st, router);
    let subnets = st.get(table::PORTS, &port).map(subnets_of).unwrap_or_default();
    Ok(answer(st, router, &port, &subnet, &subnets))
}

fn by_subnet(st: &mut State, who: &Who, router: &str, subnet_id: &str) -> Result<String, Reply> {
    let subnet = subnets::find(st, who, subnet_id)?.clone();
    let Some(gateway) = text_opt(&subnet, "gateway_ip").map(str::to_owned) else {
        return Err(bad("router", "Subnet for router interface must have a gateway IP"));
    };
    check_overlap(st, router, &subnet)?;
    if let Ok(address) = gateway.parse() {
        check_free(st, &subnet, address)?;
    }
    let fixed = json!({"subnet_id": subnet_id, "ip_address": gateway});
    if let Some(port) = beside(st, router, &subnet) {
        let mut all = list(&port, "fixed_ips").to_vec();
        all.push(fixed);
        let mut change = Fields::new();
        change.insert("fixed_ips".to_owned(), Value::from(all));
        st.change(table::PORTS, text(&port, "id"), &change);
        return Ok(owned(&port, "id"));
    }
    let project = st.get(table::ROUTERS, router).map(|r| owned(r, "project_id")).unwrap_or_default();
    let mut fields = Fields::new();
    fields.insert("project_id".to_owned(), json!(project));
    fields.insert("network_id".to_owned(), json!(text(&subnet, "network_id")));
    fields.insert("device_id".to_owned(), json!(router));
    fields.insert("device_owner".to_owned(), json!(INTERFACE));
    fields.insert("fixed_ips".to_owned(), json!([fixed]));
    ports::make(st, fields, false)
}

/// All IPv6 subnets of one network share one port of the router.
fn beside(st: &State, router: &str, subnet: &Value) -> Option<Value> {
    if int(subnet, "ip_version") != 6 {
        return None;
    }
    let same = |p: &&Value| text(p, "network_id") == text(subnet, "network_id");
    let six = |p: &&Value| list(p, "fixed_ips").iter().any(|f| text(f, "ip_address").contains(':'));
    ports::of_device(st, router, INTERFACE).filter(same).find(six).cloned()
}

fn by_port(st: &mut State, who: &Who, router: &str, port_id: &str) -> Result<(String, String), Reply> {
    let port = ports::RESOURCE.find(st, who, port_id)?.clone();
    let device = text(&port, "device_id");
    if !device.is_empty() {
        let message = format!(
            "Unable to complete operation on port {port_id} for network {}. Port already has an attached device {device}.",
            text(&port, "network_id")
        );
        return Err(error(409, "PortInUse", message));
    }
    let attached = subnets_of(&port);
    let Some(first) = attached.first().cloned() else {
        return Err(bad("router", format!("Port {port_id} has no fixed IPs")));
    };
    for subnet in attached.iter().filter_map(|s| st.get(table::SUBNETS, s)) {
        check_overlap(st, router, subnet)?;
    }
    let mut change = Fields::new();
    change.insert("device_id".to_owned(), json!(router));
    change.insert("device_owner".to_owned(), json!(INTERFACE));
    st.change(table::PORTS, port_id, &change);
    Ok((port_id.to_owned(), first))
}

/// A router has no two ports whose subnets overlap.
fn check_overlap(st: &State, router: &str, subnet: &Value) -> Result<(), Reply> {
    let Some(net) = net_of(subnet) else { return Ok(()) };
    let id = text(subnet, "id");
    let all = ports::of_device(st, router, INTERFACE).chain(ports::of_device(st, router, GATEWAY));
    for other in all.flat_map(subnets_of) {
        if other == id {
            return Err(bad("router", format!("Router already has a port on subnet {id}")));
        }
        let Some(other_net) = st.get(table::SUBNETS, &other).and_then(net_of) else { continue };
        if other_net.contains(&net) || net.contains(&other_net) {
            return Err(bad(
                "router",
                format!("Cidr {net} of subnet {id} overlaps with cidr {other_net} of subnet {other}"),
            ));
        }
    }
    Ok(())
}

/// `PUT /v2.0/routers/{id}/remove_router_interface`
pub(crate) fn remove(st: &mut State, who: &Who, router: &str, req: &Request) -> Outcome {
    let (subnet, port) = (req.member("subnet_id"), req.member("port_id"));
    let found = match (subnet.as_str(), port.as_str()) {
        (None, None) => target(req).map(|_| None)?,
        (wanted, Some(port)) => by_id(st, router, port, wanted)?,
        (Some(subnet), None) => {
            subnets::find(st, who, subnet)?;
            ports::of_device(st, router, INTERFACE).find(|p| subnets_of(p).iter().any(|s| s == subnet)).cloned()
        }
    };
    let Some(port) = found else {
        let message = format!("Router {router} has no interface on subnet {}", subnet.as_str().unwrap_or_default());
        return Err(error(404, "RouterInterfaceNotFoundForSubnet", message));
    };
    let gone = match subnet.as_str() {
        Some(subnet) => vec![subnet.to_owned()],
        None => subnets_of(&port),
    };
    for subnet in &gone {
        check_unused(st, router, subnet)?;
    }
    let first = gone.first().cloned().unwrap_or_default();
    let reply = answer(st, router, text(&port, "id"), &first, &gone);
    let left: Vec<Value> =
        list(&port, "fixed_ips").iter().filter(|f| !gone.iter().any(|g| g == text(f, "subnet_id"))).cloned().collect();
    if left.is_empty() {
        ports::remove(st, text(&port, "id"));
    } else {
        let mut change = Fields::new();
        change.insert("fixed_ips".to_owned(), Value::from(left));
        st.change(table::PORTS, text(&port, "id"), &change);
    }
    st.revise(table::ROUTERS, router);
    Ok(reply)
}

fn by_id(st: &State, router: &str, id: &str, subnet: Option<&str>) -> Result<Option<Value>, Reply> {
    let lost =
        || error(404, "RouterInterfaceNotFound", format!("Router {router} does not have an interface with id {id}"));
    let port = ports::of_device(st, router, INTERFACE).find(|p| text(p, "id") == id).ok_or_else(lost)?;
    match subnet {
        Some(subnet) if !subnets_of(port).iter().any(|s| s == subnet) => {
            let message = format!("Subnet {subnet} on router {router} does not match port {id}");
            Err(error(409, "SubnetMismatchForPort", message))
        }
        _ => Ok(Some(port.clone())),
    }
}

fn check_unused(st: &State, router: &str, subnet: &str) -> Result<(), Reply> {
    let head = format!(
        "Router interface for subnet {subnet} on router {router} cannot be deleted, as it is required by one or more"
    );
    let net = st.get(table::SUBNETS, subnet).and_then(net_of);
    let inside = |address: &str| address.parse().is_ok_and(|a: std::net::IpAddr| net.is_some_and(|n| n.contains(&a)));
    let floating = |f: &Value| text(f, "router_id") == router && inside(text(f, "fixed_ip_address"));
    if st.all(table::FLOATING_IPS).any(floating) {
        return Err(error(409, "RouterInterfaceInUseByFloatingIP", format!("{head} floating IPs.")));
    }
    let routes = st.get(table::ROUTERS, router).map(|r| list(r, "routes")).unwrap_or_default();
    if routes.iter().any(|r| inside(text(r, "nexthop"))) {
        return Err(error(409, "RouterInterfaceInUseByRoute", format!("{head} routes.")));
    }
    Ok(())
}

fn subnets_of(port: &Value) -> Vec<String> {
    list(port, "fixed_ips").iter().map(|f| owned(f, "subnet_id")).collect()
}

fn answer(st: &State, router: &str, port: &str, subnet: &str, subnets: &[String]) -> Reply {
    let doc = st.get(table::PORTS, port);
    let network = doc.map(|p| owned(p, "network_id")).unwrap_or_default();
    let project = st.get(table::ROUTERS, router).map(|r| owned(r, "project_id")).unwrap_or_default();
    Reply::json(
        200,
        json!({
            "id": router, "project_id": project, "port_id": port, "network_id": network,
            "subnet_id": subnet, "subnet_ids": subnets,
        }),
    )
}
