//! Application credentials: only the user itself may manage them, and never by way of another one.

use hyper::Method;
use serde_json::{Value, json};

use super::{directory, error, forbidden};
use crate::json::{list, member, owned, public, set, text, text_opt, wrap};
use crate::request::{Outcome, Reply, Request};
use crate::state::{State, Who, table};

pub(crate) fn handle(st: &mut State, req: &Request, who: &Who, user: &str, rest: &[&str]) -> Outcome {
    if who.user != user && !who.admin() {
        return Err(forbidden("identity:list_application_credentials"));
    }
    match (&req.method, rest) {
        (&Method::GET, []) => {
            let mine = st.all(table::APP_CREDENTIALS).filter(|c| text(c, "user_id") == user);
            let rows: Vec<Value> = mine.map(|c| with_link(st, c)).collect();
            Ok(directory::page(st, table::APP_CREDENTIALS, rows, &format!("users/{user}/application_credentials")))
        }
        (&Method::POST, []) => create(st, req, who),
        (&Method::GET, [id]) => {
            let doc = find(st, user, id)?;
            Ok(Reply::json(200, wrap("application_credential", with_link(st, doc))))
        }
        (&Method::DELETE, [id]) => {
            find(st, user, id)?;
            st.remove(table::APP_CREDENTIALS, id);
            st.tokens.retain(|_, t| t.who.app_credential != *id);
            Ok(Reply::empty(204))
        }
        _ => Err(error(405, "The method is not allowed for the requested URL.")),
    }
}

fn find<'a>(st: &'a State, user: &str, id: &str) -> Result<&'a Value, Reply> {
    st.get(table::APP_CREDENTIALS, id)
        .filter(|c| text(c, "user_id") == user)
        .ok_or_else(|| error(404, format!("Could not find Application Credential: {id}.")))
}

fn create(st: &mut State, req: &Request, who: &Who) -> Outcome {
    if !who.app_credential.is_empty() {
        return Err(forbidden(
            "Using method 'application_credential' is not allowed for managing additional application credentials.",
        ));
    }
    let wanted = req.member("application_credential");
    let name = owned(&wanted, "name");
    if name.is_empty() {
        return Err(error(400, "'name' is a required property"));
    }
    let taken = |c: &Value| text(c, "user_id") == who.user && text(c, "name") == name;
    if st.all(table::APP_CREDENTIALS).any(taken) {
        let message = format!(
            "Conflict occurred attempting to store application_credential - Duplicate entry found with name {name}."
        );
        return Err(error(409, message));
    }
    let secret = text_opt(&wanted, "secret").map_or_else(|| st.rng.token(), str::to_owned);
    let id = add(st, who, &wanted, &secret);
    let mut doc = st.get(table::APP_CREDENTIALS, &id).map(|d| with_link(st, d)).unwrap_or(Value::Null);
    set(&mut doc, "secret", secret);
    Ok(Reply::json(201, wrap("application_credential", doc)))
}

/// Stores a credential of the caller in its project and gives the id.
pub(crate) fn add(st: &mut State, who: &Who, wanted: &Value, secret: &str) -> String {
    let asked: Vec<&str> = list(wanted, "roles").iter().map(|r| text(r, "name")).collect();
    let wants =
        |name: &str| asked.is_empty() || asked.contains(&name) || (name == "reader" && asked.contains(&"member"));
    let roles: Vec<Value> = who
        .roles
        .iter()
        .filter(|name| wants(name))
        .map(|name| {
            let id = st.find(table::ROLES, "name", name).map(|r| owned(r, "id")).unwrap_or_default();
            json!({"id": id, "name": name, "domain_id": null, "description": null, "options": {"immutable": true}})
        })
        .collect();
    let expires = text_opt(wanted, "expires_at").map(|t| format!("{}.000000", t.trim_end_matches('Z')));
    let id = st.rng.hex();
    st.put(
        table::APP_CREDENTIALS,
        json!({
            "id": id, "name": text(wanted, "name"), "description": member(wanted, "description"),
            "user_id": who.user, "project_id": who.project, "system": null, "expires_at": expires,
            "unrestricted": member(wanted, "unrestricted"), "roles": roles, "_secret": secret,
        }),
    );
    id
}

fn with_link(st: &State, doc: &Value) -> Value {
    let mut out = public(doc);
    let href = format!("{}/application_credentials/{}", st.auth_url(), text(doc, "id"));
    set(&mut out, "links", json!({"self": href}));
    out
}
