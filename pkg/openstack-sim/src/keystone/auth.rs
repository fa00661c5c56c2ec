//! Tokens: by password, by application credential, by another token; validated and revoked.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use super::{catalog, directory, error};
use crate::clock;
use crate::json::{flag, list, member, owned, set, text, text_opt, wrap};
use crate::request::{Body, Outcome, Reply, Request};
use crate::state::{State, Token, Who, table};

/// A token that is neither expired nor revoked.
pub(crate) fn live<'a>(st: &'a State, id: &str) -> Option<&'a Token> {
    st.tokens.get(id).filter(|t| t.dies > Instant::now())
}

/// `POST /v3/auth/tokens`
pub(crate) fn issue(st: &mut State, req: &Request) -> Outcome {
    let auth = match &req.body {
        Body::Json(doc) => member(doc, "auth"),
        Body::Empty | Body::Malformed => {
            return Err(error(
                400,
                "Expecting to find valid JSON in request body. The server could not comply with the request since it is either malformed or otherwise incorrect. The client is assumed to be in error.",
            ));
        }
    };
    let Some(identity) = auth.get("identity") else { return Err(missing("identity", &auth)) };
    if identity.get("methods").is_none() {
        return Err(missing("methods", identity));
    }
    let method = list(identity, "methods").first().and_then(Value::as_str).unwrap_or_default().to_owned();
    let scope = auth.get("scope");
    let who = match method.as_str() {
        "password" => {
            let user = by_password(st, &member(&member(identity, "password"), "user"))?;
            scoped(st, user, "password", scope)?
        }
        "token" => {
            let id = owned(&member(identity, "token"), "id");
            let user = live(st, &id).map(|t| t.who.user.clone()).ok_or_else(|| denied(st))?;
            scoped(st, user, "token", scope)?
        }
        "application_credential" => by_credential(st, &member(identity, "application_credential"), scope)?,
        _ => return Err(denied(st)),
    };
    let (id, token) = mint(st, who);
    let with_catalog = req.param("nocatalog").is_none();
    let body = describe(st, &token, with_catalog);
    Ok(Reply::json(201, wrap("token", body)).with("X-Subject-Token", id))
}

fn missing(key: &str, instance: &Value) -> Reply {
    let shape = format!("'{key}' is a required property\n\nFailed validating 'required' in schema:\n    ");
    error(400, format!("{shape}{{'required': ['{key}']}}\n\nOn instance:\n    {instance}"))
}

fn denied(st: &State) -> Reply {
    Reply::unauthorized(&st.auth_url())
}

fn by_password(st: &State, wanted: &Value) -> Result<String, Reply> {
    let user = find_user(st, wanted).ok_or_else(|| denied(st))?;
    let fits = text_opt(wanted, "password").is_some_and(|p| p == text(user, "_password"));
    if fits { Ok(owned(user, "id")) } else { Err(denied(st)) }
}

/// A user by id, or by name and domain.
fn find_user<'a>(st: &'a State, wanted: &Value) -> Option<&'a Value> {
    match text_opt(wanted, "id") {
        Some(id) => st.get(table::USERS, id),
        None => by_name(st, table::USERS, wanted),
    }
}

/// A user or project by name and the domain that is named beside it.
fn by_name<'a>(st: &'a State, table: &str, wanted: &Value) -> Option<&'a Value> {
    let domain = find_domain(st, &member(wanted, "domain"))?;
    st.all(table).find(|d| text(d, "name") == text(wanted, "name") && text(d, "domain_id") == domain)
}

fn find_domain(st: &State, wanted: &Value) -> Option<String> {
    let found = match text_opt(wanted, "id") {
        Some(id) => st.get(table::DOMAINS, id),
        None => st.find(table::DOMAINS, "name", text(wanted, "name")),
    };
    found.map(|d| owned(d, "id"))
}

/// The caller in the scope that was asked for; no role there is 401, as is an unknown project.
fn scoped(st: &State, user: String, method: &str, scope: Option<&Value>) -> Result<Who, Reply> {
    let mut who = Who { user, method: method.to_owned(), ..Who::default() };
    let Some(scope) = scope.filter(|s| s.as_str() != Some("unscoped")) else { return Ok(who) };
    if flag(&member(scope, "system"), "all") {
        who.roles = roles_in(st, "system", &who.user).ok_or_else(|| denied(st))?;
        return Ok(who);
    }
    let wanted = member(scope, "project");
    let project = match text_opt(&wanted, "id") {
        Some(id) => st.get(table::PROJECTS, id),
        None => by_name(st, table::PROJECTS, &wanted),
    };
    who.project = project.map(|p| owned(p, "id")).ok_or_else(|| denied(st))?;
    who.roles = roles_in(st, &who.project, &who.user).ok_or_else(|| denied(st))?;
    Ok(who)
}

fn roles_in(st: &State, place: &str, user: &str) -> Option<Vec<String>> {
    st.get(table::GRANTS, &format!("{place}/{user}")).map(|g| crate::json::texts(g, "roles"))
}

fn by_credential(st: &State, wanted: &Value, scope: Option<&Value>) -> Result<Who, Reply> {
    let found = match text_opt(wanted, "id") {
        Some(id) => st.get(table::APP_CREDENTIALS, id).ok_or_else(|| not_found(id))?,
        None => {
            let user = find_user(st, &member(wanted, "user")).ok_or_else(|| denied(st))?;
            let (name, owner) = (text(wanted, "name"), text(user, "id"));
            st.all(table::APP_CREDENTIALS)
                .find(|c| text(c, "name") == name && text(c, "user_id") == owner)
                .ok_or_else(|| not_found(name))?
        }
    };
    if scope.is_some() {
        let message =
            "Error authenticating with application credential: Application credentials cannot request a scope.";
        let mut reply = error(401, message);
        if let Some(inner) = reply.body.as_mut().and_then(|b| b.get_mut("error")) {
            set(inner, "identity", Value::Object(Map::new()));
        }
        return Err(reply.with("WWW-Authenticate", format!("Keystone uri=\"{}\"", st.auth_url())));
    }
    let fits = text_opt(wanted, "secret").is_some_and(|s| s == text(found, "_secret"));
    let expired = text_opt(found, "expires_at")
        .and_then(|t| format!("{t}Z").parse::<Timestamp>().ok())
        .is_some_and(|t| t <= Timestamp::now());
    if !fits || expired {
        return Err(denied(st));
    }
    Ok(Who {
        user: owned(found, "user_id"),
        project: owned(found, "project_id"),
        roles: list(found, "roles").iter().map(|r| owned(r, "name")).collect(),
        method: "application_credential".to_owned(),
        app_credential: owned(found, "id"),
    })
}

fn not_found(id: &str) -> Reply {
    error(404, format!("Could not find Application Credential: {id}."))
}

/// A token that no test waits for the end of.
const LENT: Duration = Duration::from_secs(3600);

/// Makes a token and counts it.
fn mint(st: &mut State, who: Who) -> (String, Token) {
    let lifetime = st.settings.token_lifetime;
    st.tokens_issued += 1;
    add(st, who, lifetime)
}

/// Makes a token that nobody asked Keystone for.
pub(crate) fn lend(st: &mut State, who: Who) -> String {
    add(st, who, LENT).0
}

fn add(st: &mut State, who: Who, lifetime: Duration) -> (String, Token) {
    let issued = Timestamp::now();
    let span = SignedDuration::try_from(lifetime).unwrap_or(SignedDuration::MAX);
    let expires = issued.saturating_add(span).unwrap_or(Timestamp::MAX);
    let audit = st.rng.hex().chars().take(22).collect();
    let now = Instant::now();
    let (id, token) = (st.rng.token(), Token { who, issued, expires, dies: now + lifetime, audit });
    st.tokens.retain(|_, t| t.dies > now);
    st.tokens.insert(id.clone(), token.clone());
    (id, token)
}

fn describe(st: &State, token: &Token, with_catalog: bool) -> Value {
    let who = &token.who;
    let user = st.get(table::USERS, &who.user).cloned().unwrap_or(Value::Null);
    let mut body = json!({
        "methods": [who.method],
        "user": {
            "domain": directory::domain_of(st, &user), "id": who.user, "name": text(&user, "name"),
            "password_expires_at": null,
        },
        "audit_ids": [token.audit],
        "expires_at": clock::keystone(token.expires),
        "issued_at": clock::keystone(token.issued),
    });
    if let Some(project) = st.get(table::PROJECTS, &who.project) {
        let domain = directory::domain_of(st, project);
        set(&mut body, "project", json!({"domain": domain, "id": who.project, "name": text(project, "name")}));
        set(&mut body, "is_domain", false);
    } else if !who.roles.is_empty() {
        set(&mut body, "system", json!({"all": true}));
    }
    if !who.roles.is_empty() {
        let roles: Vec<Value> = who.roles.iter().map(|name| role(st, name)).collect();
        set(&mut body, "roles", roles);
        if with_catalog {
            set(&mut body, "catalog", catalog::catalog(st));
        }
    }
    if let Some(credential) = st.get(table::APP_CREDENTIALS, &who.app_credential) {
        let short = json!({
            "id": who.app_credential, "name": text(credential, "name"),
            "restricted": !flag(credential, "unrestricted"),
        });
        set(&mut body, "application_credential", short);
    }
    body
}

fn role(st: &State, name: &str) -> Value {
    let id = st.find(table::ROLES, "name", name).map(|r| owned(r, "id")).unwrap_or_default();
    json!({"id": id, "name": name})
}

/// `GET /v3/auth/tokens`: one's own token, or any for an administrator.
pub(crate) fn validate(st: &State, req: &Request, who: &Who) -> Outcome {
    let id = req.header("x-subject-token").unwrap_or_default();
    let unknown = || error(404, "Could not recognize Fernet token");
    let token = live(st, id).filter(|t| who.admin() || t.who.user == who.user).ok_or_else(unknown)?;
    let body = wrap("token", describe(st, token, req.param("nocatalog").is_none()));
    Ok(Reply::json(200, body).with("X-Subject-Token", id))
}

/// `DELETE /v3/auth/tokens`
pub(crate) fn revoke(st: &mut State, req: &Request) -> Outcome {
    let id = req.header("x-subject-token").unwrap_or_default();
    st.tokens.remove(id).map(|_| Reply::empty(204)).ok_or_else(|| error(404, "Could not recognize Fernet token"))
}
