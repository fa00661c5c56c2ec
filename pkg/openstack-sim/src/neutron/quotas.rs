//! Neutron's quotas: limits per project, what is used of them, and the check before a creation.

use hyper::Method;
use serde_json::{Map, Value, json};

use super::errors::{bad_request, error, forbidden, no_path};
use crate::json::{set, text};
use crate::request::{Outcome, Reply, Request};
use crate::state::{State, Who, table};

/// Resource, default limit, table that is counted.
const LIMITS: [(&str, i64, &str); 11] = [
    ("network", 100, table::NETWORKS),
    ("subnet", 100, table::SUBNETS),
    ("subnetpool", -1, table::POOLS),
    ("port", 500, table::PORTS),
    ("router_route", 30, ""),
    ("router", 100, table::ROUTERS),
    ("floatingip", 50, table::FLOATING_IPS),
    ("rbac_policy", 10, table::RBAC),
    ("security_group", 10, table::GROUPS),
    ("security_group_rule", 100, table::RULES),
    ("trunk", -1, ""),
];

/// The key of a project's limits in the table of quotas, per service.
fn key(service: &str, project: &str) -> String {
    format!("{service}/{project}")
}

/// The limit of one resource: the project's own, or the default.
pub(crate) fn limit(st: &State, service: &str, project: &str, resource: &str, default: i64) -> i64 {
    let own = st.get(table::QUOTAS, &key(service, project)).and_then(|q| q.get(resource)).and_then(Value::as_i64);
    own.unwrap_or(default)
}

/// Sets limits of a project.
pub(crate) fn put(st: &mut State, service: &str, project: &str, limits: &Map<String, Value>) {
    let id = key(service, project);
    let mut doc = st.get(table::QUOTAS, &id).cloned().unwrap_or_else(|| json!({"id": id}));
    for (name, value) in limits {
        set(&mut doc, name, value.clone());
    }
    st.put(table::QUOTAS, doc);
}

/// Gives a project the default limits again.
pub(crate) fn reset(st: &mut State, service: &str, project: &str) {
    st.remove(table::QUOTAS, &key(service, project));
}

/// Refuses one more of a resource when the project's limit is reached.
pub(crate) fn check(st: &State, project: &str, resource: &str) -> Result<(), Reply> {
    let Some((_, default, counted)) = LIMITS.iter().find(|l| l.0 == resource) else { return Ok(()) };
    let limit = limit(st, "network", project, resource, *default);
    if limit >= 0 && used(st, project, counted) >= limit {
        return Err(error(409, "OverQuota", format!("Quota exceeded for resources: ['{resource}'].")));
    }
    Ok(())
}

fn used(st: &State, project: &str, counted: &str) -> i64 {
    let count = st.all(counted).filter(|d| text(d, "project_id") == project).count();
    i64::try_from(count).unwrap_or(i64::MAX)
}

pub(crate) fn handle(st: &mut State, req: &Request, who: &Who, rest: &[&str]) -> Outcome {
    match (&req.method, rest) {
        (&Method::GET, [project, "default"]) => {
            readable(who, project)?;
            let all: Map<String, Value> = LIMITS.iter().map(|(r, l, _)| ((*r).to_owned(), Value::from(*l))).collect();
            Ok(Reply::json(200, json!({"quota": all})))
        }
        (&Method::GET, [project, "details" | "details.json"]) => {
            readable(who, project)?;
            Ok(Reply::json(200, json!({"quota": details(st, project)})))
        }
        (&Method::GET, [project]) => {
            readable(who, project)?;
            Ok(Reply::json(200, json!({"quota": limits(st, project)})))
        }
        (&Method::PUT, [project]) => {
            if !who.admin() {
                return Err(forbidden("rule:update_quota"));
            }
            let wanted = req.member("quota");
            let wanted = wanted.as_object().ok_or_else(|| bad_request("Unable to find 'quota' in request body"))?;
            put(st, "network", project, wanted);
            Ok(Reply::json(200, json!({"quota": limits(st, project)})))
        }
        (&Method::DELETE, [project]) => {
            if !who.admin() {
                return Err(forbidden("rule:delete_quota"));
            }
            reset(st, "network", project);
            Ok(Reply::empty(204))
        }
        _ => Err(no_path()),
    }
}

fn readable(who: &Who, project: &str) -> Result<(), Reply> {
    if who.admin() || who.owns(project) { Ok(()) } else { Err(forbidden("rule:get_quota")) }
}

fn limits(st: &State, project: &str) -> Map<String, Value> {
    LIMITS
        .iter()
        .map(|(name, default, _)| ((*name).to_owned(), Value::from(limit(st, "network", project, name, *default))))
        .collect()
}

fn details(st: &State, project: &str) -> Map<String, Value> {
    let mut out = Map::new();
    for (name, default, counted) in LIMITS {
        let limit = limit(st, "network", project, name, default);
        let used = if name == "router_route" { routes(st, project) } else { used(st, project, counted) };
        out.insert(name.to_owned(), json!({"limit": limit, "used": used, "reserved": 0}));
    }
    out
}

fn routes(st: &State, project: &str) -> i64 {
    let mine = st.all(table::ROUTERS).filter(|r| text(r, "project_id") == project);
    let count: usize = mine.map(|r| crate::json::list(r, "routes").len()).sum();
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The most routes that one router may have.
pub(crate) fn max_routes(st: &State, project: &str) -> i64 {
    limit(st, "network", project, "router_route", 30)
}
