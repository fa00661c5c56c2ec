//! A request as the services see it, and their answer.

use hyper::Method;
use serde_json::{Value, json};

use crate::Service;

/// The body of a request.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    /// No body at all.
    Empty,
    /// A document.
    Json(Value),
    /// Bytes that are no JSON.
    Malformed,
}

/// One request, decoded.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) service: Service,
    pub(crate) method: Method,
    /// The path without the query, as it came.
    pub(crate) path: String,
    /// The path cut at `/`, percent-decoded, without empty parts.
    pub(crate) segments: Vec<String>,
    /// The query as it came, for links.
    pub(crate) raw_query: String,
    pub(crate) query: Vec<(String, String)>,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Body,
}

impl Request {
    /// Takes a path with its query apart.
    pub(crate) fn new(
        service: Service,
        method: Method,
        path_and_query: &str,
        headers: Vec<(String, String)>,
        body: Body,
    ) -> Self {
        let (path, raw_query) = path_and_query.split_once('?').unwrap_or((path_and_query, ""));
        Self {
            service,
            method,
            path: path.to_owned(),
            segments: path.split('/').filter(|s| !s.is_empty()).map(|s| decode(s, false)).collect(),
            raw_query: raw_query.to_owned(),
            query: raw_query.split('&').filter(|p| !p.is_empty()).map(pair).collect(),
            headers,
            body,
        }
    }

    /// A header by its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// The first value of a query parameter.
    pub(crate) fn param(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// The parts of the path as texts, to match on.
    pub(crate) fn parts(&self) -> Vec<&str> {
        self.segments.iter().map(String::as_str).collect()
    }

    /// A member of the body, null when there is none.
    pub(crate) fn member(&self, key: &str) -> Value {
        match &self.body {
            Body::Json(doc) => crate::json::member(doc, key),
            Body::Empty | Body::Malformed => Value::Null,
        }
    }
}

fn pair(text: &str) -> (String, String) {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    (decode(name, true), decode(value, true))
}

fn decode(text: &str, plus: bool) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'%' => match hex_ahead(bytes.clone()) {
                Some(value) => {
                    out.push(value);
                    bytes.nth(1);
                }
                None => out.push(byte),
            },
            b'+' if plus => out.push(b' '),
            _ => out.push(byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The value of the two hexadecimal digits that come next, if they do.
fn hex_ahead(mut ahead: std::str::Bytes<'_>) -> Option<u8> {
    let digit = |b: u8| char::from(b).to_digit(16);
    u8::try_from(digit(ahead.next()?)? * 16 + digit(ahead.next()?)?).ok()
}

/// The answer to a request.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    /// `None`: no content.
    pub(crate) body: Option<Value>,
}

/// What a handler gives: an error is an answer too, it only ends the handler early.
pub(crate) type Outcome = Result<Reply, Reply>;

impl Reply {
    /// A document.
    pub(crate) fn json(status: u16, body: Value) -> Self {
        Self { status, headers: Vec::new(), body: Some(body) }
    }

    /// No content.
    pub(crate) fn empty(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: None }
    }

    /// With one more header.
    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// 401 as `keystonemiddleware` and Keystone itself give it.
    pub(crate) fn unauthorized(auth_url: &str) -> Self {
        let body = json!({"error": {
            "code": 401, "title": "Unauthorized",
            "message": "The request you have made requires authentication.",
        }});
        Self::json(401, body).with("WWW-Authenticate", format!("Keystone uri=\"{auth_url}\""))
    }

    /// The 404 that the web framework below the services gives for a path it does not route.
    pub(crate) fn no_route(explanation: &str) -> Self {
        let message = format!("The resource could not be found.<br /><br />\n{explanation}\n\n");
        Self::json(404, json!({"message": message, "code": "404 Not Found", "title": "Not Found"}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_decoded_and_keeps_repeated_names() {
        let r = Request::new(
            Service::Network,
            Method::GET,
            "/v2.0/networks?name=a%20b&name=c+d&router%3Aexternal=True&x=%zz",
            Vec::new(),
            Body::Empty,
        );
        let pairs: Vec<_> = r.query.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(pairs, [("name", "a b"), ("name", "c d"), ("router:external", "True"), ("x", "%zz")]);
        assert_eq!(r.parts(), ["v2.0", "networks"]);
    }
}
