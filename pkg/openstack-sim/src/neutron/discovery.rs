//! Versions, extensions, availability zones and the few lists that hang on no resource.

use hyper::Method;
use serde_json::{Value, json};

use super::quotas;
use crate::Service;
use crate::json::{flag, member, owned, text};
use crate::request::{Outcome, Reply, Request};
use crate::state::{State, Who, table};

/// The extensions whose behaviour this Neutron has: name, alias, date.
const EXTENSIONS: [(&str, &str, &str); 17] = [
    ("Availability Zone", "availability_zone", "2015-01-01T10:00:00-00:00"),
    ("Default Subnetpools", "default-subnetpools", "2016-02-18T18:00:00-00:00"),
    ("Neutron external network", "external-net", "2013-01-14T10:00:00-00:00"),
    ("Neutron Extra Route", "extraroute", "2013-02-01T10:00:00-00:00"),
    ("Atomically add/remove extra routes", "extraroute-atomic", "2019-07-10T00:00:00+00:00"),
    ("Neutron L3 Configurable external gateway mode", "ext-gw-mode", "2013-03-28T10:00:00-00:00"),
    ("Neutron L3 Router", "router", "2012-07-20T10:00:00-00:00"),
    ("Network MTU", "net-mtu", "2015-03-25T10:00:00-00:00"),
    ("Pagination support", "pagination", "2016-06-12T00:00:00-00:00"),
    ("Quota details management support", "quota_details", "2017-02-10T10:00:00-00:00"),
    ("If-Match constraints based on revision_number", "revision-if-match", "2016-12-11T00:00:00-00:00"),
    ("security-group", "security-group", "2012-10-05T10:00:00-00:00"),
    ("Sorting support", "sorting", "2016-06-12T00:00:00-00:00"),
    ("standard-attr-description", "standard-attr-description", "2016-02-10T10:00:00-00:00"),
    ("Resource revision numbers", "standard-attr-revisions", "2016-04-11T10:00:00-00:00"),
    ("Tag support for resources with standard attribute", "standard-attr-tag", "2017-01-01T00:00:00-00:00"),
    ("Subnet Allocation", "subnet_allocation", "2015-03-30T10:00:00-00:00"),
];

/// `GET /`
pub(crate) fn root(st: &State) -> Reply {
    let href = format!("{}/v2.0/", st.base(Service::Network));
    Reply::json(
        200,
        json!({"versions": [{
            "id": "v2.0", "status": "CURRENT", "links": [{"rel": "self", "href": href}],
        }]}),
    )
}

/// Answers what is no resource; `None` when it is one.
pub(crate) fn handle(st: &mut State, req: &Request, who: &Who, rest: &[&str]) -> Option<Outcome> {
    match (&req.method, rest) {
        (_, ["quotas", rest @ ..]) => Some(quotas::handle(st, req, who, rest)),
        (&Method::GET, []) => Some(Ok(resources(st))),
        (&Method::GET, ["extensions"]) => {
            let all: Vec<Value> = EXTENSIONS.iter().map(extension).collect();
            Some(Ok(Reply::json(200, json!({"extensions": all}))))
        }
        (&Method::GET, ["extensions", alias]) => Some(match EXTENSIONS.iter().find(|e| e.1 == *alias) {
            Some(found) => Ok(Reply::json(200, json!({"extension": extension(found)}))),
            None => Err(Reply::no_route(&format!("Extension with alias {alias} does not exist"))),
        }),
        (&Method::GET, ["availability_zones"]) => Some(Ok(Reply::json(
            200,
            json!({"availability_zones": [
                {"state": "available", "name": "nova", "resource": "network"},
                {"state": "available", "name": "nova", "resource": "router"},
            ]}),
        ))),
        (&Method::GET, ["agents"]) => Some(Ok(Reply::json(200, json!({"agents": []})))),
        (&Method::GET, ["floatingip_pools"]) => Some(Ok(floating_ip_pools(st, who))),
        _ => None,
    }
}

fn extension((name, alias, updated): &(&str, &str, &str)) -> Value {
    json!({"name": name, "alias": alias, "description": name, "updated": updated, "links": []})
}

fn resources(st: &State) -> Reply {
    let base = st.base(Service::Network);
    let all: Vec<Value> = ["network", "subnet", "subnetpool", "port"]
        .into_iter()
        .map(|name| {
            let href = format!("{base}/v2.0/{name}s");
            json!({"name": name, "collection": format!("{name}s"), "links": [{"rel": "self", "href": href}]})
        })
        .collect();
    Reply::json(200, json!({"resources": all}))
}

fn floating_ip_pools(st: &State, who: &Who) -> Reply {
    let external =
        |s: &&Value| st.get(table::NETWORKS, text(s, "network_id")).is_some_and(|n| flag(n, "router:external"));
    let pools: Vec<Value> = st
        .all(table::SUBNETS)
        .filter(|s| crate::json::int(s, "ip_version") == 4)
        .filter(external)
        .map(|s| {
            json!({
                "subnet_id": owned(s, "id"), "subnet_name": owned(s, "name"), "project_id": who.project,
                "network_id": owned(s, "network_id"), "cidr": member(s, "cidr"), "tenant_id": who.project,
            })
        })
        .collect();
    Reply::json(200, json!({"floatingip_pools": pools}))
}
