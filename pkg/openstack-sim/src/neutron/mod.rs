//! Neutron: the API layer that all resources share. What a resource is and does stands in its own file.
//!
//! ```text
//! token ─► path ─► body (schema) ─► find (404 for what the caller may not see) ─► If-Match ─► policy ─► resource
//! ```

mod addresses;
mod discovery;
mod errors;
pub(crate) mod floating_ips;
mod gateway;
mod interfaces;
pub(crate) mod networks;
pub(crate) mod pools;
pub(crate) mod ports;
mod query;
pub(crate) mod quotas;
mod rbac;
pub(crate) mod routers;
mod routes;
mod schema;
pub(crate) mod security_group_rules;
pub(crate) mod security_groups;
pub(crate) mod subnets;
mod tags;
mod validate;

use hyper::Method;
use serde_json::{Map, Value, json};

use crate::json::{int, text, wrap};
use crate::keystone;
use crate::request::{Outcome, Reply, Request};
use crate::state::{State, Who};
use crate::{Service, clock};
use errors::{bad_request, error, forbidden, no_path};
use schema::{Attr, STANDARD};

/// In which answer a document is shown; some members appear in some answers only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Created,
    One,
    Listed,
}

/// A body after the API layer's checks.
pub(crate) type Fields = Map<String, Value>;

/// One kind of resource.
pub(crate) struct Resource {
    /// The key of the envelope and the name in policies.
    single: &'static str,
    /// The key of a list.
    plural: &'static str,
    /// The part of the path.
    path: &'static str,
    table: &'static str,
    attrs: &'static [Attr],
    not_found: fn(&str) -> Reply,
    /// May somebody else than owner and administrator see it?
    shared: fn(&State, &Who, &Value) -> bool,
    view: fn(&State, &Who, &Value, Shape) -> Value,
    create: fn(&mut State, &Who, Fields) -> Result<String, Reply>,
    update: fn(&mut State, &Who, &str, Fields) -> Result<(), Reply>,
    delete: fn(&mut State, &Who, &str) -> Result<(), Reply>,
}

static RESOURCES: [&Resource; 9] = [
    &networks::RESOURCE,
    &subnets::RESOURCE,
    &pools::RESOURCE,
    &ports::RESOURCE,
    &routers::RESOURCE,
    &security_groups::RESOURCE,
    &security_group_rules::RESOURCE,
    &floating_ips::RESOURCE,
    &rbac::RESOURCE,
];

impl Resource {
    fn all_attrs(&self) -> Vec<Attr> {
        let mut out = self.attrs.to_vec();
        out.extend(STANDARD.iter().filter(|s| !self.attrs.iter().any(|a| a.name == s.name)));
        out
    }

    fn visible(&self, st: &State, who: &Who, doc: &Value) -> bool {
        who.admin() || who.owns(text(doc, "project_id")) || (self.shared)(st, who, doc)
    }

    /// A document that the caller may see, as stored.
    fn find<'a>(&self, st: &'a State, who: &Who, id: &str) -> Result<&'a Value, Reply> {
        st.get(self.table, id).filter(|d| self.visible(st, who, d)).ok_or_else(|| (self.not_found)(id))
    }

    fn shown(&self, st: &State, who: &Who, id: &str, shape: Shape) -> Value {
        st.get(self.table, id).map(|d| (self.view)(st, who, d, shape)).unwrap_or(Value::Null)
    }
}

/// Answers a request to Neutron.
pub(crate) fn handle(st: &mut State, req: &Request) -> Outcome {
    let parts = req.parts();
    if parts.is_empty() {
        return Ok(discovery::root(st));
    }
    let who = keystone::caller(st, req)?;
    security_groups::ensure_default(st, &who.project);
    let (_, rest) = parts.split_first().filter(|(v, _)| **v == "v2.0").ok_or_else(no_path)?;
    if let Some(answer) = discovery::handle(st, req, &who, rest) {
        return answer;
    }
    let (name, rest) = rest.split_first().ok_or_else(no_path)?;
    let resource = RESOURCES.iter().find(|r| r.path == *name).ok_or_else(no_path)?;
    match (&req.method, rest) {
        (&Method::GET, []) => list(st, req, &who, resource),
        (&Method::POST, []) => create(st, req, &who, resource),
        (&Method::GET, [id]) => {
            let doc = resource.find(st, &who, id)?;
            let shown = query::fields(req, &(resource.view)(st, &who, doc, Shape::One));
            Ok(Reply::json(200, wrap(resource.single, shown)))
        }
        (&Method::PUT, [id]) => update(st, req, &who, resource, id),
        (&Method::DELETE, [id]) => {
            changeable(st, req, &who, resource, id, "delete")?;
            (resource.delete)(st, &who, id)?;
            Ok(Reply::empty(204))
        }
        (_, [id, "tags", rest @ ..]) => tags::handle(st, req, &who, resource, id, rest),
        (&Method::PUT, [id, action]) if resource.path == "routers" => routers::act(st, req, &who, id, action),
        _ => Err(no_path()),
    }
}

fn list(st: &State, req: &Request, who: &Who, resource: &Resource) -> Outcome {
    let attrs = resource.all_attrs();
    query::check_filters(req, |name| attrs.iter().any(|a| a.name == name))?;
    let rows: Vec<Value> = st
        .all(resource.table)
        .filter(|d| query::may_pass(req, d) && resource.visible(st, who, d))
        .map(|d| (resource.view)(st, who, d, Shape::Listed))
        .filter(|d| query::passes(req, d))
        .collect();
    Ok(query::page(req, &st.base(Service::Network), resource.plural, rows))
}

fn create(st: &mut State, req: &Request, who: &Who, resource: &Resource) -> Outcome {
    let given = schema::unwrap(req, resource.single, resource.plural)?;
    let bulk = req.member(resource.single).is_null();
    let attrs = resource.all_attrs();
    let mut bodies = Vec::new();
    for body in given {
        let fields = schema::for_post(&attrs, body.clone(), who)?;
        may_create(resource, &body, &fields, who)?;
        bodies.push(fields);
    }
    if bulk && resource.path == security_group_rules::RESOURCE.path {
        security_group_rules::check_bulk(&bodies)?;
    }
    let before = bulk.then(|| st.tables.clone());
    let mut made = Vec::new();
    for fields in bodies {
        match (resource.create)(st, who, fields) {
            Ok(id) => made.push(id),
            Err(refused) => {
                if let Some(tables) = before {
                    st.tables = tables;
                }
                return Err(refused);
            }
        }
    }
    let mut shown = made.iter().map(|id| resource.shown(st, who, id, Shape::Created));
    let body = if bulk {
        wrap(resource.plural, shown.collect())
    } else {
        wrap(resource.single, shown.next().unwrap_or(Value::Null))
    };
    Ok(Reply::json(201, body))
}

/// The policy of a creation: writing in the project at all, then each attribute that only administrators set.
fn may_create(resource: &Resource, given: &Fields, fields: &Fields, who: &Who) -> Result<(), Reply> {
    let mut rule = format!("rule:create_{}", resource.single);
    let owner = fields.get("project_id").and_then(Value::as_str).unwrap_or_default();
    let mut allowed = who.may_write(owner);
    for (name, value) in given {
        let Some(attr) = resource.attrs.iter().find(|a| a.name == name && a.admin) else { continue };
        if !is_default(attr, value) {
            rule = format!("({rule} and rule:create_{}:{name})", resource.single);
            allowed = allowed && who.admin();
        }
    }
    if allowed { Ok(()) } else { Err(forbidden(rule)) }
}

fn is_default(attr: &Attr, value: &Value) -> bool {
    match attr.absent {
        schema::Absent::False => value == &Value::from(false),
        schema::Absent::True => value == &Value::from(true),
        _ => value.is_null(),
    }
}

fn update(st: &mut State, req: &Request, who: &Who, resource: &Resource, id: &str) -> Outcome {
    let given = schema::unwrap(req, resource.single, resource.plural)?;
    let given = given.into_iter().next().unwrap_or_default();
    let fields = schema::for_put(&resource.all_attrs(), &given)?;
    changeable(st, req, who, resource, id, "update")?;
    let mut rule = format!("rule:update_{}", resource.single);
    let mut allowed = true;
    for name in fields.keys() {
        if resource.attrs.iter().any(|a| a.name == name && a.admin) {
            rule = format!("({rule} and rule:update_{}:{name})", resource.single);
            allowed = who.admin();
        }
    }
    if !allowed {
        return Err(forbidden(rule));
    }
    (resource.update)(st, who, id, fields)?;
    Ok(Reply::json(200, wrap(resource.single, resource.shown(st, who, id, Shape::One))))
}

/// Finds what is to be changed, holds `If-Match` against it, and asks the policy.
fn changeable(st: &State, req: &Request, who: &Who, resource: &Resource, id: &str, verb: &str) -> Result<(), Reply> {
    let doc = resource.find(st, who, id)?;
    if !who.may_write(text(doc, "project_id")) {
        return Err(forbidden(format!("rule:{verb}_{}", resource.single)));
    }
    if_match(req, doc)
}

fn if_match(req: &Request, doc: &Value) -> Result<(), Reply> {
    let Some(wanted) = req.header("if-match") else { return Ok(()) };
    let Some(number) = wanted.strip_prefix("revision_number=") else {
        return Err(bad_request("Invalid value for If-Match header"));
    };
    let current = int(doc, "revision_number");
    if number.parse() == Ok(current) {
        return Ok(());
    }
    let message = format!("Constrained to {number}, but current revision is {current}");
    Err(error(412, "RevisionNumberConstraintFailed", message))
}

/// Creates something for a fresh cloud; a document that is refused leaves nothing behind.
fn seed(st: &mut State, who: &Who, resource: &Resource, doc: &Value) -> String {
    let given = doc.as_object().cloned().unwrap_or_default();
    let made = schema::for_post(&resource.all_attrs(), given, who).and_then(|f| (resource.create)(st, who, f));
    made.unwrap_or_default()
}

/// A member of checked fields as text.
fn field<'a>(fields: &'a Fields, key: &str) -> &'a str {
    fields.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Adds what the service itself gives every new document, and stores it.
fn store(st: &mut State, table: &str, id: &str, mut doc: Value, revision: i64) {
    let now = clock::zulu();
    if let Some(map) = doc.as_object_mut() {
        let project = map.get("project_id").cloned().unwrap_or(Value::from(""));
        map.insert("id".to_owned(), Value::from(id));
        map.insert("tenant_id".to_owned(), project);
        map.entry("tags").or_insert_with(|| json!([]));
        map.insert("revision_number".to_owned(), Value::from(revision));
        map.insert("created_at".to_owned(), Value::from(now.clone()));
        map.insert("updated_at".to_owned(), Value::from(now));
    }
    st.put(table, doc);
}
