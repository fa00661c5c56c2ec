//! One call: what is sent, what comes back, and how it is sent again.

use fabric_openstack_types::{ApiError, ErrorClass, Service};
use http::{HeaderValue, Method, StatusCode};
use reqwest::{Request, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::Instant;
use tracing::Instrument;

use crate::{
    classify,
    client::Client,
    endpoint,
    keystone::{Token, position},
    retry::Attempts,
    transport::{self, Failure},
};

/// A request, before it has a host.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) service: Service,
    method: Method,
    segments: Vec<String>,
    pub(crate) query: Vec<(String, String)>,
    headers: Vec<(&'static str, String)>,
    body: Option<Value>,
}

impl Call {
    fn new(service: Service, method: Method, segments: &[&str]) -> Self {
        Self {
            service,
            method,
            segments: segments.iter().map(|&segment| segment.to_owned()).collect(),
            query: Vec::new(),
            headers: Vec::new(),
            body: None,
        }
    }

    pub(crate) fn get(service: Service, segments: &[&str]) -> Self {
        Self::new(service, Method::GET, segments)
    }

    pub(crate) fn post(service: Service, segments: &[&str], body: Value) -> Self {
        Self { body: Some(body), ..Self::new(service, Method::POST, segments) }
    }

    pub(crate) fn put(service: Service, segments: &[&str], body: Option<Value>) -> Self {
        Self { body, ..Self::new(service, Method::PUT, segments) }
    }

    pub(crate) fn delete(service: Service, segments: &[&str]) -> Self {
        Self::new(service, Method::DELETE, segments)
    }

    pub(crate) fn query(mut self, key: &str, value: impl Into<String>) -> Self {
        self.query.push((key.to_owned(), value.into()));
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    fn url(&self, root: &Url) -> Url {
        let mut url = root.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(&self.segments);
        }
        if !self.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&self.query);
        }
        url
    }
}

/// A success.
#[derive(Debug)]
pub(crate) struct Answer {
    service: Service,
    method: Method,
    path: String,
    status: StatusCode,
    request_id: Option<String>,
    body: Vec<u8>,
}

impl Answer {
    /// The whole body.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        serde_json::from_slice(&self.body).map_err(|error| self.malformed(position("the answer's JSON", &error)))
    }

    /// What stands under `key`.
    pub(crate) fn member<T: DeserializeOwned>(&self, key: &str) -> Result<T, ApiError> {
        let mut whole: Value = self.json()?;
        let member = whole.get_mut(key).map(Value::take);
        let member = member.ok_or_else(|| self.malformed(format!("the answer has no {key:?}")))?;
        serde_json::from_value(member)
            .map_err(|error| self.malformed(format!("{key:?} has an unexpected form: {error}")))
    }

    fn malformed(&self, message: String) -> ApiError {
        let (method, class) = (self.method.as_str(), ErrorClass::Malformed);
        ApiError {
            status: Some(self.status.as_u16()),
            request_id: self.request_id.clone(),
            ..ApiError::local(self.service, method, &self.path, class, message)
        }
    }
}

impl Client {
    /// Sends a call that may be repeated without harm (reading, replacing, deleting) until it succeeds or its
    /// failure is final.
    pub(crate) async fn repeat(&self, call: &Call) -> Result<Answer, ApiError> {
        let mut attempts = Attempts::new(self.retry, self.shared.clock.now());
        loop {
            match self.send(call).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => self.pause(&mut attempts, failure).await?,
            }
        }
    }

    /// Sends a call that creates something. When it may have arrived, `look` searches for its result before it is
    /// sent again; when nobody can look, it is not sent again. `read` takes the result from the answer.
    pub(crate) async fn create<T, L>(
        &self,
        call: &Call,
        read: impl Fn(&Answer) -> Result<T, ApiError>,
        look: impl Fn() -> L,
    ) -> Result<T, ApiError>
    where
        L: Future<Output = Result<Option<T>, ApiError>>,
    {
        let mut attempts = Attempts::new(self.retry, self.shared.clock.now());
        loop {
            let failure = match self.send(call).await {
                Ok(answer) => match read(&answer) {
                    Ok(made) => return Ok(made),
                    Err(error) => Failure::unreadable(error),
                },
                Err(failure) => failure,
            };
            if !failure.maybe_done {
                self.pause(&mut attempts, failure).await?;
                continue;
            }
            let error = failure.error.clone();
            // The look comes after the pause: the service may be at it still.
            let paused = self.pause(&mut attempts, failure).await;
            match look().await {
                Ok(Some(made)) => {
                    tracing::info!(service = %call.service, %error, "found what a lost answer had created");
                    return Ok(made);
                }
                Ok(None) => paused?,
                Err(blind) => {
                    tracing::warn!(service = %call.service, %blind, "cannot tell whether a lost call was carried out");
                    return Err(error);
                }
            }
        }
    }

    /// Waits before the next attempt, or returns the error if it is final.
    async fn pause(&self, attempts: &mut Attempts, failure: Failure) -> Result<(), ApiError> {
        let Failure { error, unsent, .. } = failure;
        let wait = attempts.next(&error, self.shared.clock.now());
        match wait.filter(|_| !unsent) {
            Some(wait) => {
                tracing::debug!(%error, ?wait, "trying again");
                self.shared.clock.sleep(wait).await;
                Ok(())
            }
            None => Err(error),
        }
    }

    /// Sends a call once; a refused token is renewed once.
    pub(crate) async fn send(&self, call: &Call) -> Result<Answer, Failure> {
        let shared = &self.shared;
        let http = shared.session.client().inner();
        let token = shared.auth.token(http).await.map_err(Failure::before)?;
        let (used, result) = self.send_with(call, &token).await?;
        match result {
            Err(failure) if failure.error.class == ErrorClass::Unauthenticated => {
                let renewed = shared.auth.renew(http, &used).await;
                let renewed = renewed.map_err(Failure::before)?;
                self.send_with(call, &renewed).await?.1
            }
            result => result,
        }
    }

    /// Sends with the session's token, and says which one that was. The outer failure: nothing was sent.
    async fn send_with(&self, call: &Call, token: &Token) -> Result<(HeaderValue, Result<Answer, Failure>), Failure> {
        let shared = &self.shared;
        let endpoint = shared.auth.endpoint(token, call.service);
        let endpoint = endpoint.map_err(|error| Failure::before(named(error, call)))?;
        let url = call.url(&endpoint::root(call.service, &endpoint));
        let (used, request) = self.prepare(call, &url).await.map_err(Failure::before)?;
        let span = tracing::debug_span!(
            "openstack",
            service = call.service.as_str(),
            method = call.method.as_str(),
            path = url.path(),
            status = tracing::field::Empty,
            request_id = tracing::field::Empty,
        );
        // Never closed: an error cannot happen, and then the gate is open.
        let _permit = shared.gate.acquire().await.ok();
        if call.method != Method::GET && !shared.permit.is_given() {
            let (method, class) = (call.method.as_str(), ErrorClass::Conflict);
            let message = "not sent: this process may no longer write, another one took over".to_owned();
            return Err(Failure::before(ApiError::local(call.service, method, url.path(), class, message)));
        }
        let begin = Instant::now();
        let result = self.exchange(call, &url, request).instrument(span.clone()).await;
        let took = begin.elapsed();
        let (status, request_id, outcome) = match &result {
            Ok(answer) => (Some(answer.status.as_u16()), &answer.request_id, "ok"),
            Err(Failure { error, .. }) => (error.status, &error.request_id, error.class.as_str()),
        };
        span.record("status", status);
        span.record("request_id", request_id.as_deref());
        span.in_scope(|| tracing::debug!(outcome, ?took, "call"));
        shared.telemetry.record(call.service, &call.method, outcome, took);
        Ok((used, result))
    }

    async fn prepare(&self, call: &Call, url: &Url) -> Result<(HeaderValue, Request), ApiError> {
        let invalid = |reason: String| {
            let (method, class) = (call.method.as_str(), ErrorClass::Invalid);
            let message = format!("the request cannot be built: {reason}");
            ApiError::local(call.service, method, url.path(), class, message)
        };
        let session = &self.shared.session;
        let http = session.client().inner();
        let mut request =
            http.request(call.method.clone(), url.clone()).header(http::header::ACCEPT, "application/json");
        for (name, value) in &call.headers {
            request = request.header(*name, value);
        }
        if let Some(body) = &call.body {
            request = request.json(body);
        }
        let authenticated = session.auth_type().authenticate(http, request).await;
        let request = authenticated
            .map_err(|error| invalid(error.to_string()))?
            .build()
            .map_err(|error| invalid(error.to_string()))?;
        let used = request.headers().get("x-auth-token").cloned();
        let used = used.ok_or_else(|| invalid("it has no token".to_owned()))?;
        Ok((used, request))
    }

    /// The session's own `send_unchecked` turns a lost connection into text, which cannot be classified; so the
    /// session's HTTP client is called directly.
    async fn exchange(&self, call: &Call, url: &Url, request: Request) -> Result<Answer, Failure> {
        let http = self.shared.session.client().inner();
        let lost = |error: reqwest::Error| transport::lost(call.service, call.method.as_str(), url, &error);
        let response = http.execute(request).await.map_err(lost)?;
        let (status, headers) = (response.status(), response.headers().clone());
        let body = response.bytes().await.map_err(lost)?;
        if !status.is_success() {
            let method = call.method.as_str();
            let path = url.path();
            let error = classify::error(call.service, method, path, status, &headers, &body);
            return Err(Failure::answered(error));
        }
        Ok(Answer {
            service: call.service,
            method: call.method.clone(),
            path: url.path().to_owned(),
            status,
            request_id: classify::request_id(&headers),
            body: body.into(),
        })
    }

    /// Deletes; what is gone already was deleted. A 404 without the service's own error type is no such answer:
    /// it comes from a wrong endpoint or from a proxy.
    pub(crate) async fn remove(&self, call: &Call) -> Result<(), ApiError> {
        match self.repeat(call).await {
            Ok(_) => Ok(()),
            Err(error) if is_gone(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Whether the service itself says that the object does not exist.
pub(crate) fn is_gone(error: &ApiError) -> bool {
    let path_is_unknown = matches!(error.kind.as_deref(), None | Some("HTTPNotFound" | "Not Found"));
    error.class == ErrorClass::NotFound && !path_is_unknown
}

/// An error that happened before there was a URL, under the call's own path.
fn named(error: ApiError, call: &Call) -> ApiError {
    ApiError { method: call.method.as_str().to_owned(), path: format!("/{}", call.segments.join("/")), ..error }
}
