//! Calls without HTTP, by somebody of the cloud.

use hyper::Method;
use serde_json::Value;

use crate::backdoor::absent;
use crate::cloud::{Cloud, Shared};
use crate::json::{owned, text, texts};
use crate::request::{Body, Request};
use crate::state::{State, Who, table};
use crate::{Service, SimError, dispatch, keystone};

/// Somebody who makes calls without HTTP: for what a test or a demonstration needs beforehand.
#[derive(Debug)]
pub struct User<'a> {
    shared: &'a Shared,
    who: Who,
}

/// The answer to such a call.
#[derive(Debug, Clone)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// The body, null when there is none.
    pub body: Value,
}

impl Answer {
    /// The text at a JSON pointer of the body, such as `/network/id`; empty when there is none.
    pub fn text(&self, pointer: &str) -> String {
        self.body.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
    }
}

impl Cloud {
    /// Somebody of the cloud, to make calls without HTTP, journal and faults.
    ///
    /// # Errors
    /// [`SimError::Absent`] when there is no such user or it has no role in a project.
    pub fn user(&self, name: &str) -> Result<User<'_>, SimError> {
        let who = who(&self.shared.lock(), name).ok_or_else(|| absent(table::USERS, name))?;
        Ok(User { shared: &self.shared, who })
    }
}

/// The user of a name, in a project in which it has a role.
fn who(st: &State, name: &str) -> Option<Who> {
    let user = st.find(table::USERS, "name", name)?;
    let id = text(user, "id");
    let grant = st.all(table::GRANTS).find(|g| text(g, "user") == id && text(g, "project") != "system")?;
    Some(Who {
        user: id.to_owned(),
        project: owned(grant, "project"),
        roles: texts(grant, "roles"),
        method: "password".to_owned(),
        app_credential: String::new(),
    })
}

impl User<'_> {
    /// The id of the project in which the user acts.
    pub fn project_id(&self) -> &str {
        &self.who.project
    }

    /// The id of the user.
    pub fn user_id(&self) -> &str {
        &self.who.user
    }

    /// Makes a call. Manila is asked with microversion 2.51.
    pub fn call(&self, method: &str, service: Service, path: &str, body: Value) -> Answer {
        let method = Method::from_bytes(method.as_bytes()).unwrap_or(Method::GET);
        let body = if body.is_null() { Body::Empty } else { Body::Json(body) };
        let mut st = self.shared.lock();
        let token = keystone::auth::lend(&mut st, self.who.clone());
        let mut headers = vec![("x-auth-token".to_owned(), token.clone())];
        if service == Service::SharedFileSystem {
            headers.push(("x-openstack-manila-api-version".to_owned(), "2.51".to_owned()));
        }
        let reply = dispatch(&mut st, &Request::new(service, method, path, headers, body));
        st.tokens.remove(&token);
        Answer { status: reply.status, body: reply.body.unwrap_or(Value::Null) }
    }

    /// A POST.
    pub fn post(&self, service: Service, path: &str, body: Value) -> Answer {
        self.call("POST", service, path, body)
    }

    /// A PUT.
    pub fn put(&self, service: Service, path: &str, body: Value) -> Answer {
        self.call("PUT", service, path, body)
    }

    /// A GET.
    pub fn get(&self, service: Service, path: &str) -> Answer {
        self.call("GET", service, path, Value::Null)
    }

    /// A DELETE.
    pub fn delete(&self, service: Service, path: &str) -> Answer {
        self.call("DELETE", service, path, Value::Null)
    }
}
