//! Keystone v3: tokens, catalog, projects, application credentials.

pub(crate) mod app_credentials;
pub(crate) mod auth;
mod catalog;
pub(crate) mod directory;

use hyper::Method;
use serde_json::{Value, json};

use crate::request::{Outcome, Reply, Request};
use crate::state::{State, Who};

/// Keystone's error envelope.
pub(crate) fn error(status: u16, message: impl Into<String>) -> Reply {
    let title = match status {
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        _ => "Unauthorized",
    };
    Reply::json(status, json!({"error": {"code": status, "message": message.into(), "title": title}}))
}

fn forbidden(rule: &str) -> Reply {
    error(403, format!("You are not authorized to perform the requested action: {rule}."))
}

/// Answers a request to Keystone.
pub(crate) fn handle(st: &mut State, req: &Request) -> Outcome {
    let answer = route(st, req);
    match answer {
        Ok(r) => Ok(r.with("Vary", "X-Auth-Token")),
        Err(r) => Err(r.with("Vary", "X-Auth-Token")),
    }
}

fn route(st: &mut State, req: &Request) -> Outcome {
    let parts = req.parts();
    match (&req.method, parts.as_slice()) {
        (&Method::GET, []) => Ok(discovery_root(st)),
        (&Method::GET, ["v3"]) => Ok(Reply::json(200, json!({"version": version(st)}))),
        (&Method::POST, ["v3", "auth", "tokens"]) => auth::issue(st, req),
        _ => {
            let who = caller(st, req)?;
            signed_in(st, req, &who)
        }
    }
}

/// Who calls, by the token of the request; 401 without one.
pub(crate) fn caller(st: &State, req: &Request) -> Result<Who, Reply> {
    let token = req.header("x-auth-token").and_then(|id| auth::live(st, id));
    token.map(|t| t.who.clone()).ok_or_else(|| Reply::unauthorized(&st.auth_url()))
}

fn signed_in(st: &mut State, req: &Request, who: &Who) -> Outcome {
    let parts = req.parts();
    match (&req.method, parts.as_slice()) {
        (&Method::GET | &Method::HEAD, ["v3", "auth", "tokens"]) => auth::validate(st, req, who),
        (&Method::DELETE, ["v3", "auth", "tokens"]) => auth::revoke(st, req),
        (&Method::GET, ["v3", "auth", "catalog"]) => {
            let links = json!({"self": format!("{}/auth/catalog", st.auth_url())});
            Ok(Reply::json(200, json!({"catalog": catalog::catalog(st), "links": links})))
        }
        (&Method::GET, ["v3", "auth", "projects"]) => directory::own_projects(st, who),
        (&Method::GET, ["v3", "projects"]) => directory::list(st, req, who, &directory::PROJECTS),
        (&Method::GET, ["v3", "users"]) => directory::list(st, req, who, &directory::USERS),
        (&Method::GET, ["v3", "domains"]) => directory::list(st, req, who, &directory::DOMAINS),
        (&Method::POST, ["v3", "projects"]) => directory::create_project(st, req, who),
        (&Method::GET, ["v3", "projects", id]) => directory::get_project(st, who, id),
        (_, ["v3", "users", user, "application_credentials", rest @ ..]) => {
            app_credentials::handle(st, req, who, user, rest)
        }
        _ => Err(error(
            404,
            "The requested URL was not found on the server. If you entered the URL manually please check your spelling and try again.",
        )),
    }
}

fn version(st: &State) -> Value {
    json!({
        "id": "v3.14", "status": "stable", "updated": "2020-04-07T00:00:00Z",
        "links": [{"rel": "self", "href": format!("{}/", st.auth_url())}],
        "media-types": [{"base": "application/json", "type": "application/vnd.openstack.identity-v3+json"}],
    })
}

fn discovery_root(st: &State) -> Reply {
    Reply::json(300, json!({"versions": {"values": [version(st)]}})).with("Location", format!("{}/", st.auth_url()))
}
