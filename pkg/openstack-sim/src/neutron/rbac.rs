//! RBAC policies: a network, subnet pool or group shared with one other project, or with all.

use serde_json::{Value, json};

use super::errors::{bad_request, rbac_not_found};
use super::schema::{Absent, Attr, Kind};
use super::{Fields, Resource, field, networks, pools, quotas, security_groups, store};
use crate::json::text;
use crate::request::Reply;
use crate::state::{State, Who, table};

const ATTRS: &[Attr] = &[
    Attr::new("object_type", Kind::Of(&["network", "subnetpool", "security_group"]), Absent::Refused).fixed(),
    Attr::new("object_id", Kind::Uuid, Absent::Refused).fixed(),
    Attr::new("action", Kind::Of(&["access_as_shared", "access_as_external"]), Absent::Refused).fixed(),
    Attr::new("target_tenant", Kind::Text(255), Absent::Refused),
    // Named here: a policy has no tags.
    Attr::read("tags"),
];

pub(crate) static RESOURCE: Resource = Resource {
    single: "rbac_policy",
    plural: "rbac_policies",
    path: "rbac-policies",
    table: table::RBAC,
    attrs: ATTRS,
    not_found: rbac_not_found,
    shared: |_, _, _| false,
    view: |_, _, doc, _| {
        let mut out = doc.clone();
        let extra = ["tags", "revision_number", "created_at", "updated_at"];
        crate::json::drop_members(&mut out, &extra);
        out
    },
    create,
    update: |st, _, id, fields| {
        st.change(table::RBAC, id, &fields);
        Ok(())
    },
    delete: |st, _, id| {
        st.remove(table::RBAC, id);
        Ok(())
    },
};

/// Is the object shared with the caller's project?
pub(crate) fn grants(st: &State, who: &Who, kind: &str, id: &str) -> bool {
    st.all(table::RBAC).any(|r| {
        let target = text(r, "target_tenant");
        text(r, "object_type") == kind && text(r, "object_id") == id && (target == "*" || who.owns(target))
    })
}

fn create(st: &mut State, who: &Who, fields: Fields) -> Result<String, Reply> {
    let object = field(&fields, "object_id");
    let resource = match field(&fields, "object_type") {
        "network" => &networks::RESOURCE,
        "subnetpool" => &pools::RESOURCE,
        _ => &security_groups::RESOURCE,
    };
    let found = resource.find(st, who, object)?;
    if !who.may_write(text(found, "project_id")) {
        return Err(bad_request(format!("Object {object} is not the caller's")));
    }
    let project = field(&fields, "project_id").to_owned();
    quotas::check(st, &project, "rbac_policy")?;
    let id = st.rng.id();
    let get = |key: &str| fields.get(key).cloned().unwrap_or(Value::Null);
    let doc = json!({
        "id": id, "project_id": project, "object_type": get("object_type"), "object_id": get("object_id"),
        "action": get("action"), "target_tenant": get("target_tenant"),
    });
    store(st, table::RBAC, &id, doc, 0);
    Ok(id)
}
