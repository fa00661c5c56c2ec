//! A router's external gateway: who may set what of it, and the port behind it.

use serde_json::{Value, json};

use super::addresses::pick_addresses;
use super::errors::{bad, error, forbidden, network_not_found};
use super::routers::{GATEWAY, schedule};
use super::{Fields, ports};
use crate::json::{flag, list, member, owned, set as put, text};
use crate::request::Reply;
use crate::state::{Later, State, Who, table};

/// Asks the policy. SNAT and fixed addresses are for administrators and the role `netadmin` in its own project.
pub(crate) fn check(st: &State, who: &Who, wanted: &Value, verb: &str, project: &str) -> Result<(), Reply> {
    let trusted = who.admin() || (who.has("netadmin") && who.owns(project));
    let gateway = format!("rule:{verb}_router:external_gateway_info");
    let mut inner = format!("{gateway}:network_id");
    let mut restricted = false;
    for key in ["enable_snat", "external_fixed_ips"] {
        if wanted.get(key).is_some() {
            inner = format!("({inner} and {gateway}:{key})");
            restricted = true;
        }
    }
    if restricted && !trusted {
        let inner = inner.strip_prefix('(').and_then(|i| i.strip_suffix(')')).unwrap_or(&inner).to_owned();
        return Err(forbidden(format!("(rule:{verb}_router and ({gateway} and ({inner})))")));
    }
    let network = text(wanted, "network_id");
    if network.is_empty() {
        return Ok(());
    }
    let found = super::networks::find(st, who, network).map_err(|_| network_not_found(network))?;
    if flag(found, "router:external") {
        return Ok(());
    }
    Err(bad("router", format!("Network {network} is not an external network")))
}

/// What a router shows of its gateway.
pub(crate) fn info(st: &State, router: &Value) -> Value {
    match ports::of_device(st, text(router, "id"), GATEWAY).next() {
        None => Value::Null,
        Some(port) => json!({
            "network_id": text(port, "network_id"), "external_fixed_ips": member(port, "fixed_ips"),
            "enable_snat": flag(router, "enable_snat"),
        }),
    }
}

/// Gives a router the wanted gateway, changes it, or takes it away when nothing is wanted.
pub(crate) fn set(st: &mut State, id: &str, wanted: &Value) -> Result<(), Reply> {
    let old = ports::of_device(st, id, GATEWAY).next().cloned();
    let network = text(wanted, "network_id");
    let stays = old.as_ref().is_some_and(|p| text(p, "network_id") == network);
    if let Some(port) = &old
        && !stays
    {
        check_unused(st, id, text(port, "network_id"))?;
    }
    match (&old, network) {
        (None, "") => return Ok(()),
        (Some(port), "") => ports::remove(st, text(port, "id")),
        (Some(port), _) if stays => readdress(st, port, wanted)?,
        _ => {
            let made = plug(st, id, network, wanted)?;
            if let Some(port) = &old {
                ports::remove(st, text(port, "id"));
            }
            st.later(Later::Port(made));
        }
    }
    let snat = wanted.get("enable_snat").and_then(Value::as_bool).unwrap_or(true);
    let snat_changed = st.get(table::ROUTERS, id).is_some_and(|r| flag(r, "enable_snat") != snat);
    if let Some(router) = st.get_mut(table::ROUTERS, id) {
        put(router, "enable_snat", snat);
    }
    if !stays || snat_changed {
        st.revise(table::ROUTERS, id);
    }
    schedule(st, id);
    Ok(())
}

fn plug(st: &mut State, router: &str, network: &str, wanted: &Value) -> Result<String, Reply> {
    let mut fields = Fields::new();
    fields.insert("project_id".to_owned(), json!(""));
    fields.insert("network_id".to_owned(), json!(network));
    fields.insert("device_id".to_owned(), json!(router));
    fields.insert("device_owner".to_owned(), json!(GATEWAY));
    if let Some(fixed @ Value::Array(_)) = wanted.get("external_fixed_ips") {
        fields.insert("fixed_ips".to_owned(), fixed.clone());
    }
    ports::make(st, fields, false)
}

/// The same network with other fixed addresses: an address stays where only its subnet is asked for again.
fn readdress(st: &mut State, port: &Value, wanted: &Value) -> Result<(), Reply> {
    let asked = list(wanted, "external_fixed_ips");
    if asked.is_empty() {
        return Ok(());
    }
    let have = list(port, "fixed_ips");
    let asked: Vec<Value> = asked
        .iter()
        .map(|a| {
            let kept =
                have.iter().find(|h| a.get("ip_address").is_none() && text(h, "subnet_id") == text(a, "subnet_id"));
            kept.unwrap_or(a).clone()
        })
        .collect();
    let mut bare = port.clone();
    put(&mut bare, "fixed_ips", json!([]));
    st.put(table::PORTS, bare);
    let picked = pick_addresses(st, text(port, "network_id"), Some(&asked), text(port, "mac_address"), false);
    st.put(table::PORTS, port.clone());
    let mut change = Fields::new();
    change.insert("fixed_ips".to_owned(), Value::from(picked?));
    st.change(table::PORTS, text(port, "id"), &change);
    Ok(())
}

/// A floating IP that runs over the gateway holds it.
fn check_unused(st: &State, router: &str, network: &str) -> Result<(), Reply> {
    let holds = |f: &Value| text(f, "router_id") == router && text(f, "floating_network_id") == network;
    if st.all(table::FLOATING_IPS).any(holds) {
        let message = format!(
            "Gateway cannot be updated for router {router}, since a gateway to external network {network} is required by one or more floating IPs."
        );
        return Err(error(409, "RouterExternalGatewayInUseByFloatingIp", message));
    }
    Ok(())
}

/// The router through which a subnet reaches an external network.
pub(crate) fn router_to(st: &State, subnet: &str, external: &str) -> Option<String> {
    st.all(table::PORTS)
        .filter(|p| text(p, "device_owner") == super::routers::INTERFACE)
        .filter(|p| list(p, "fixed_ips").iter().any(|f| text(f, "subnet_id") == subnet))
        .map(|p| owned(p, "device_id"))
        .find(|router| ports::of_device(st, router, GATEWAY).any(|g| text(g, "network_id") == external))
}
