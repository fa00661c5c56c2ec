//! A router's extra routes: replaced as a list by PUT, or added and removed one by one, atomically.

use std::net::IpAddr;

use ipnet::IpNet;
use serde_json::{Value, json};

use super::addresses::net_of;
use super::errors::{bad, bad_request, error};
use super::routers::{GATEWAY, INTERFACE};
use super::{Fields, Shape, ports, quotas, routers, validate};
use crate::json::{list, owned, set, text, wrap};
use crate::request::{Outcome, Reply, Request};
use crate::state::{State, Who, table};

/// Every next hop has to lie on a subnet of the router, and must not be the router itself.
pub(crate) fn check(st: &State, router: &str, routes: &[Value]) -> Result<(), Reply> {
    let project = st.get(table::ROUTERS, router).map(|r| owned(r, "project_id")).unwrap_or_default();
    let most = quotas::max_routes(st, &project);
    if most >= 0 && i64::try_from(routes.len()).unwrap_or(i64::MAX) > most {
        let message =
            format!("Unable to complete operation for {router}. The number of routes exceeds the maximum {most}.");
        return Err(error(400, "RoutesExhausted", message));
    }
    let fixed: Vec<&Value> = ports::of_device(st, router, INTERFACE)
        .chain(ports::of_device(st, router, GATEWAY))
        .flat_map(|p| list(p, "fixed_ips"))
        .collect();
    let nets: Vec<IpNet> =
        fixed.iter().filter_map(|f| st.get(table::SUBNETS, text(f, "subnet_id")).and_then(net_of)).collect();
    for route in routes {
        let hop = text(route, "nexthop");
        let refuse = |why: &str| {
            let message = format!("Invalid format for routes: {}, the nexthop is {why}", shown(routes));
            Err(error(400, "InvalidRoutes", message))
        };
        if !hop.parse::<IpAddr>().is_ok_and(|h| nets.iter().any(|n| n.contains(&h))) {
            return refuse("not connected with router");
        }
        if fixed.iter().any(|f| text(f, "ip_address") == hop) {
            return refuse("used by router");
        }
    }
    Ok(())
}

fn shown(routes: &[Value]) -> String {
    let each: Vec<String> = routes
        .iter()
        .map(|r| format!("{{'destination': '{}', 'nexthop': '{}'}}", text(r, "destination"), text(r, "nexthop")))
        .collect();
    format!("[{}]", each.join(", "))
}

fn wanted(req: &Request) -> Result<Vec<Value>, Reply> {
    let router = req.member("router");
    let given = router.get("routes").ok_or_else(|| bad_request("Unable to find 'router' in request body"))?;
    let checked = validate::routes(given).map_err(|why| bad("router", why))?;
    Ok(checked.as_array().cloned().unwrap_or_default())
}

/// `PUT /v2.0/routers/{id}/add_extraroutes`: what is there already stays as it is.
pub(crate) fn add(st: &mut State, who: &Who, router: &str, req: &Request) -> Outcome {
    let mut all = current(st, router);
    for route in wanted(req)? {
        if !all.contains(&route) {
            all.push(route);
        }
    }
    check(st, router, &all)?;
    save(st, who, router, all)
}

/// `PUT /v2.0/routers/{id}/remove_extraroutes`: what is not there needs no removal.
pub(crate) fn remove(st: &mut State, who: &Who, router: &str, req: &Request) -> Outcome {
    let gone = wanted(req)?;
    let left = current(st, router).into_iter().filter(|r| !gone.contains(r)).collect();
    save(st, who, router, left)
}

fn current(st: &State, router: &str) -> Vec<Value> {
    st.get(table::ROUTERS, router).map(|r| list(r, "routes").to_vec()).unwrap_or_default()
}

/// These two calls answer with the plug-in's own document, which has more in it than a GET shows.
fn save(st: &mut State, who: &Who, router: &str, routes: Vec<Value>) -> Outcome {
    let mut change = Fields::new();
    change.insert("routes".to_owned(), Value::from(routes));
    st.change(table::ROUTERS, router, &change);
    let mut shown = routers::RESOURCE.shown(st, who, router, Shape::One);
    let gateway = ports::of_device(st, router, GATEWAY).next().map(|p| owned(p, "id"));
    let snat = st.get(table::ROUTERS, router).is_some_and(|r| crate::json::flag(r, "enable_snat"));
    set(&mut shown, "enable_snat", snat);
    set(&mut shown, "gw_port_id", json!(gateway));
    set(&mut shown, "distributed", false);
    set(&mut shown, "ha", false);
    set(&mut shown, "ha_vr_id", 0);
    set(&mut shown, "enable_default_route_ecmp", false);
    set(&mut shown, "enable_default_route_bfd", false);
    Ok(Reply::json(200, wrap("router", shown)))
}
