//! A client that knows nothing of OpenStack: one connection for each request.

use std::pin::Pin;

use fabric_openstack_sim::{Cloud, Service};
use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    /// Null without a body, a text when it is no JSON.
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    }
}

/// A body that is sent at once.
struct Whole(Option<Bytes>);

impl Body for Whole {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        std::task::Poll::Ready(self.0.take().map(|b| Ok(Frame::data(b))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, |b| b.len() as u64))
    }
}

/// Sends a request to `http://127.0.0.1:<port>` and reads the whole answer.
pub(crate) async fn send(
    base: &str,
    method: &str,
    path: &str,
    headers: &[(String, String)],
    body: Option<String>,
) -> Result<Answer, Box<dyn std::error::Error + Send + Sync>> {
    let host = base.trim_start_matches("http://");
    let stream = TcpStream::connect(host).await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(async move {
        // What goes wrong on the connection shows in the answer.
        let _ = connection.await;
    });
    let mut request = hyper::Request::builder().method(method).uri(path).header("Host", host);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let request = request.body(Whole(body.map(Bytes::from)))?;
    let (head, mut incoming) = sender.send_request(request).await?.into_parts();
    let mut bytes = Vec::new();
    while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut incoming).poll_frame(cx)).await {
        if let Ok(data) = frame?.into_data() {
            bytes.extend_from_slice(&data);
        }
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let body = match text.as_str() {
        "" => Value::Null,
        text => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
    };
    let headers = head.headers.iter().map(|(n, v)| (n.to_string(), v.to_str().unwrap_or_default().to_owned()));
    Ok(Answer { status: head.status.as_u16(), headers: headers.collect(), body })
}

/// A token of somebody of the seed, from Keystone.
pub(crate) async fn token(cloud: &Cloud, user: &str) -> String {
    let (project, domain, password) = match user {
        "admin" => ("admin", "Default", "admin"),
        "other" => ("other", "demo", "demo"),
        _ => ("demo", "demo", "demo"),
    };
    let auth = if user == "ci" {
        json!({"auth": {"identity": {"methods": ["application_credential"], "application_credential": {
            "name": "ci", "user": {"name": "demo", "domain": {"name": "demo"}}, "secret": "ci-secret",
        }}}})
    } else {
        json!({"auth": {
            "identity": {"methods": ["password"], "password": {"user": {
                "name": user, "domain": {"name": domain}, "password": password,
            }}},
            "scope": {"project": {"name": project, "domain": {"name": domain}}},
        }})
    };
    let base = cloud.base_url(Service::Identity);
    let answer = send(&base, "POST", "/v3/auth/tokens", &[], Some(auth.to_string())).await.expect("Keystone answers");
    assert_eq!(answer.status, 201, "{user}: {}", answer.body);
    answer.header("X-Subject-Token").expect("a token").to_owned()
}

/// Somebody's call with a fresh token.
pub(crate) async fn call(cloud: &Cloud, user: &str, method: &str, service: Service, path: &str, body: Value) -> Answer {
    let headers = [("X-Auth-Token".to_owned(), token(cloud, user).await)];
    let body = (!body.is_null()).then(|| body.to_string());
    send(&cloud.base_url(service), method, path, &headers, body).await.expect("an answer")
}
