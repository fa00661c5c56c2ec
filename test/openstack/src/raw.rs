//! A client of a page: a token and JSON. Independent of the one under test.

use std::time::Duration;

use reqwest::Method;
use serde_json::Value;

use crate::lab::Facts;

/// A service of the cloud.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Keystone.
    Identity,
    /// Neutron.
    Network,
    /// Nova.
    Compute,
    /// Manila.
    Share,
    /// Octavia.
    LoadBalancer,
}

/// Somebody logged in.
#[derive(Clone, Debug)]
pub struct Raw {
    http: reqwest::Client,
    facts: Facts,
    token: String,
    /// The project of the token.
    pub project: String,
}

impl Raw {
    /// Logs in with the body of `POST /auth/tokens`.
    pub async fn log_in(facts: &Facts, body: &Value) -> Self {
        let http = reqwest::Client::builder().timeout(Duration::from_secs(60)).no_proxy().build().unwrap();
        let answer = http.post(format!("{}/auth/tokens", facts.auth_url)).json(body).send().await.unwrap();
        assert_eq!(answer.status(), 201, "log-in");
        let token = answer.headers()["x-subject-token"].to_str().unwrap().to_owned();
        let body: Value = answer.json().await.unwrap();
        let project = text(&body["token"]["project"]["id"]);
        Self { http, facts: facts.clone(), token, project }
    }

    /// One request: status and body (`Null` when there is none).
    pub async fn send(&self, service: Service, method: Method, path: &str, body: Option<&Value>) -> (u16, Value) {
        let facts = &self.facts;
        let base = match service {
            Service::Identity => facts.auth_url.clone(),
            Service::Network => format!("{}/v2.0", facts.network),
            Service::Compute => facts.compute.clone(),
            Service::Share => facts.share.clone(),
            Service::LoadBalancer => format!("{}/v2/lbaas", facts.load_balancer),
        };
        let mut request = self.http.request(method, format!("{base}/{path}")).header("x-auth-token", &self.token);
        if service == Service::Share {
            request = request.header("x-openstack-manila-api-version", "2.60");
        }
        if service == Service::Compute {
            request = request.header("openstack-api-version", "compute 2.79");
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        let bytes = answer.bytes().await.unwrap();
        (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
    }

    /// One request that must succeed.
    pub async fn call(&self, service: Service, method: Method, path: &str, body: Option<&Value>) -> Value {
        let (status, answer) = self.send(service, method.clone(), path, body).await;
        assert!(status < 300, "{method} {path}: {status} {answer}");
        answer
    }

    /// Reads.
    pub async fn get(&self, service: Service, path: &str) -> Value {
        self.call(service, Method::GET, path, None).await
    }

    /// Makes.
    pub async fn post(&self, service: Service, path: &str, body: Value) -> Value {
        self.call(service, Method::POST, path, Some(&body)).await
    }

    /// Changes.
    pub async fn put(&self, service: Service, path: &str, body: Value) -> Value {
        self.call(service, Method::PUT, path, Some(&body)).await
    }

    /// Deletes. Gone already is fine; a conflict is the caller's to judge.
    pub async fn delete(&self, service: Service, path: &str) -> u16 {
        let (status, answer) = self.send(service, Method::DELETE, path, None).await;
        assert!(status < 300 || status == 404 || status == 409, "DELETE {path}: {status} {answer}");
        status
    }

    /// The list under the plural's key.
    pub async fn list(&self, service: Service, path: &str, key: &str) -> Vec<Value> {
        let answer = self.get(service, path).await;
        answer[key].as_array().unwrap_or_else(|| panic!("{path}: no {key} in {answer}")).clone()
    }
}

/// A JSON text.
pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}
