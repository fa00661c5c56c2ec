//! Security groups. Every project has one called `default`, made when it is first needed.

use serde_json::{Value, json};

use super::errors::{error, group_not_found};
use super::schema::{Absent, Attr, Kind};
use super::{Fields, Resource, Shape, field, query, quotas, rbac, security_group_rules as rules, store};
use crate::json::{owned, set, text};
use crate::request::Reply;
use crate::state::{State, Who, table};

const ATTRS: &[Attr] = &[
    Attr::new("name", Kind::Text(255), Absent::Empty),
    Attr::new("stateful", Kind::Bool, Absent::True),
    Attr::new("description", Kind::Text(255), Absent::Empty),
    Attr::read("shared"),
    Attr::read("security_group_rules"),
];

pub(crate) static RESOURCE: Resource = Resource {
    single: "security_group",
    plural: "security_groups",
    path: "security-groups",
    table: table::GROUPS,
    attrs: ATTRS,
    not_found: group_not_found,
    shared: |st, who, doc| rbac::grants(st, who, "security_group", text(doc, "id")),
    view,
    create,
    update,
    delete,
};

fn view(st: &State, who: &Who, doc: &Value, shape: Shape) -> Value {
    let mut out = doc.clone();
    let id = text(doc, "id");
    set(&mut out, "shared", rbac::grants(st, who, "security_group", id));
    let nested: Vec<Value> =
        st.all(table::RULES).filter(|r| text(r, "security_group_id") == id).map(|r| rules::nested(r, shape)).collect();
    set(&mut out, "security_group_rules", nested);
    out
}

fn create(st: &mut State, _who: &Who, fields: Fields) -> Result<String, Reply> {
    let project = field(&fields, "project_id").to_owned();
    ensure_default(st, &project);
    if field(&fields, "name") == "default" {
        return Err(error(409, "SecurityGroupDefaultAlreadyExists", "Default security group already exists."));
    }
    quotas::check(st, &project, "security_group")?;
    let get = |key: &str| fields.get(key).cloned().unwrap_or(Value::Null);
    Ok(add(st, &project, get("name"), get("description"), get("stateful")))
}

/// A group with the two rules that let everything out.
fn add(st: &mut State, project: &str, name: Value, description: Value, stateful: Value) -> String {
    let id = st.rng.id();
    let doc = json!({
        "id": id, "name": name, "stateful": stateful, "tenant_id": project, "project_id": project,
        "description": description,
    });
    store(st, table::GROUPS, &id, doc, 1);
    for ethertype in ["IPv4", "IPv6"] {
        rules::add_plain(st, project, &id, "egress", ethertype, None);
    }
    id
}

/// The project's default group, made if it is not there. `None` without a project.
pub(crate) fn ensure_default(st: &mut State, project: &str) -> Option<String> {
    if project.is_empty() {
        return None;
    }
    let own = |g: &&Value| text(g, "project_id") == project && text(g, "name") == "default";
    if let Some(found) = st.all(table::GROUPS).find(own) {
        return Some(owned(found, "id"));
    }
    let id = add(st, project, json!("default"), json!("Default security group"), json!(true));
    for ethertype in ["IPv4", "IPv6"] {
        rules::add_plain(st, project, &id, "ingress", ethertype, Some(&id));
    }
    Some(id)
}

fn update(st: &mut State, _who: &Who, id: &str, fields: Fields) -> Result<(), Reply> {
    st.change(table::GROUPS, id, &fields);
    Ok(())
}

fn delete(st: &mut State, who: &Who, id: &str) -> Result<(), Reply> {
    if st.all(table::PORTS).any(|p| query::holds(p, "security_groups", id)) {
        return Err(error(409, "SecurityGroupInUse", format!("Security Group {id} in use.")));
    }
    if st.get(table::GROUPS, id).is_some_and(|g| text(g, "name") == "default") && !who.admin() {
        let message = "Insufficient rights for removing default security group.";
        return Err(error(409, "SecurityGroupCannotRemoveDefault", message));
    }
    st.remove_where(table::RULES, |r| text(r, "security_group_id") == id || text(r, "remote_group_id") == id);
    st.remove(table::GROUPS, id);
    Ok(())
}
