//! Projects, users and domains: what a member may read of them, and an administrator.

use serde_json::{Value, json};

use super::{error, forbidden};
use crate::json::{as_filter, member, owned, public, set, text, wrap};
use crate::request::{Outcome, Reply, Request};
use crate::state::{State, Who, table};

/// One collection of the directory.
pub(crate) struct Collection {
    table: &'static str,
    rule: &'static str,
}

pub(crate) static PROJECTS: Collection = Collection { table: table::PROJECTS, rule: "identity:list_projects" };
pub(crate) static USERS: Collection = Collection { table: table::USERS, rule: "identity:list_users" };
pub(crate) static DOMAINS: Collection = Collection { table: table::DOMAINS, rule: "identity:list_domains" };

/// A collection, filtered by the members that the query names. Administrators only.
pub(crate) fn list(st: &State, req: &Request, who: &Who, what: &Collection) -> Outcome {
    if !who.admin() {
        return Err(forbidden(what.rule));
    }
    let rows: Vec<Value> = st
        .all(what.table)
        .filter(|d| req.query.iter().all(|(k, v)| d.get(k).is_none_or(|have| as_filter(have) == *v)))
        .map(|d| with_link(st, what.table, d))
        .collect();
    Ok(page(st, what.table, rows, what.table))
}

/// The projects in which the caller has a role.
pub(crate) fn own_projects(st: &State, who: &Who) -> Outcome {
    let rows: Vec<Value> = st
        .all(table::PROJECTS)
        .filter(|p| st.get(table::GRANTS, &format!("{}/{}", text(p, "id"), who.user)).is_some())
        .map(|p| with_link(st, table::PROJECTS, p))
        .collect();
    Ok(page(st, "projects", rows, "auth/projects"))
}

/// One project: one's own, or any for an administrator.
pub(crate) fn get_project(st: &State, who: &Who, id: &str) -> Outcome {
    if !who.admin() && !who.owns(id) {
        return Err(forbidden("identity:get_project"));
    }
    let doc = st.get(table::PROJECTS, id).ok_or_else(|| error(404, format!("Could not find project: {id}.")))?;
    Ok(Reply::json(200, wrap("project", with_link(st, table::PROJECTS, doc))))
}

/// A new project. Administrators only.
pub(crate) fn create_project(st: &mut State, req: &Request, who: &Who) -> Outcome {
    if !who.admin() {
        return Err(forbidden("identity:create_project"));
    }
    let wanted = req.member("project");
    let (name, domain) = (owned(&wanted, "name"), owned(&wanted, "domain_id"));
    if name.is_empty() {
        return Err(error(400, "'name' is a required property"));
    }
    let taken = |p: &Value| text(p, "name") == name && text(p, "domain_id") == domain;
    if st.all(table::PROJECTS).any(taken) {
        let message = format!(
            "Conflict occurred attempting to store project - it is not permitted to have two projects with the same name in the same domain : {name}."
        );
        return Err(error(409, message));
    }
    let id = add_project(st, &name, &domain);
    let doc = st.get(table::PROJECTS, &id).cloned().unwrap_or(Value::Null);
    Ok(Reply::json(201, wrap("project", with_link(st, table::PROJECTS, &doc))))
}

/// Stores a project and gives its id.
pub(crate) fn add_project(st: &mut State, name: &str, domain: &str) -> String {
    let id = st.rng.hex();
    st.put(
        table::PROJECTS,
        json!({
            "id": id, "name": name, "domain_id": domain, "description": "", "enabled": true,
            "parent_id": domain, "is_domain": false, "tags": [], "options": {},
        }),
    );
    id
}

fn with_link(st: &State, table: &str, doc: &Value) -> Value {
    let mut out = public(doc);
    let href = format!("{}/{table}/{}", st.auth_url(), text(doc, "id"));
    set(&mut out, "links", json!({"self": href}));
    out
}

/// A list with Keystone's three links.
pub(crate) fn page(st: &State, key: &str, rows: Vec<Value>, path: &str) -> Reply {
    let mut body = wrap(key, Value::Array(rows));
    let href = format!("{}/{path}", st.auth_url());
    set(&mut body, "links", json!({"next": null, "self": href, "previous": null}));
    Reply::json(200, body)
}

/// `{"id", "name"}` of a domain, as tokens carry it.
pub(crate) fn domain_of(st: &State, owner: &Value) -> Value {
    let id = text(owner, "domain_id");
    let name = st.get(table::DOMAINS, id).map(|d| member(d, "name")).unwrap_or(Value::Null);
    json!({"id": id, "name": name})
}
