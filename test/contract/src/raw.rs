//! Calls that the client has no trait for, through its session: what stands around a case.

use fabric_openstack::Client;
use reqwest::{Method, Response, StatusCode};
use serde_json::Value;

/// Calls a service by its catalog type; `path` goes behind the catalog's URL. Fails unless the answer is a success.
pub async fn call(client: &Client, service: &str, method: Method, path: &str, body: Option<Value>) -> Value {
    let answer = ask(client, service, method.clone(), path, body).await;
    let status = answer.status();
    let text = answer.text().await.unwrap();
    assert!(status.is_success(), "{method} {path}: {status} {text}");
    serde_json::from_str(&text).unwrap_or(Value::Null)
}

/// The same, whatever the answer.
pub async fn status(client: &Client, service: &str, method: Method, path: &str) -> StatusCode {
    ask(client, service, method, path, None).await.status()
}

async fn ask(client: &Client, service: &str, method: Method, path: &str, body: Option<Value>) -> Response {
    let session = client.session().client();
    let filters = client.session().endpoint_filters();
    let endpoint = session.get_endpoint(service, filters).await.unwrap();
    let url = format!("{}{path}", endpoint.as_str().trim_end_matches('/'));
    let mut request = session.request(method, url.parse().unwrap());
    if let Some(body) = body {
        request = request.json(&body);
    }
    request.send_unchecked().await.unwrap()
}
