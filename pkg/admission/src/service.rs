//! From an HTTP request to its answer, without sockets.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use http_body_util::Full;
use hyper::body::{Body, Bytes};
use hyper::header::{ALLOW, CONNECTION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use prometheus_client::registry::Registry;
use tokio::sync::Semaphore;

use crate::route::{Handler, Route};
use crate::verdict::{Status, Verdict};
use crate::{Health, Limits, Metrics, Routes, review};

mod body;

/// A whole answer.
pub(crate) type Answer = Response<Full<Bytes>>;

/// Everything between HTTP and the handlers.
pub struct Service {
    routes: Routes,
    health: Health,
    metrics: Metrics,
    registry: Registry,
    limits: Limits,
    /// Bytes of bodies that may still come into memory.
    room: Arc<Semaphore>,
}

/// A request that doesn't become a review.
#[derive(Debug)]
struct Rejection {
    code: StatusCode,
    /// The metric's word.
    reason: &'static str,
    message: String,
    /// The rest of the body was not read: the connection can't be used again.
    close: bool,
}

impl Rejection {
    fn new(code: StatusCode, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into(), close: false }
    }
}

impl Service {
    /// Answers by these routes. `registry` is what `/metrics` shows; `metrics` was registered there.
    pub fn new(routes: Routes, health: Health, limits: Limits, metrics: Metrics, registry: Registry) -> Self {
        metrics.limits(&limits);
        let room = Arc::new(Semaphore::new(limits.bodies.min(Semaphore::MAX_PERMITS)));
        Self { routes, health, metrics, registry, limits, room }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    pub(crate) fn health(&self) -> &Health {
        &self.health
    }

    /// Answers a webhook's request. Never fails; the error type is hyper's wish.
    ///
    /// # Errors
    /// None.
    pub async fn webhook<B>(&self, request: Request<B>) -> Result<Response<Full<Bytes>>, Infallible>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let (head, body) = request.into_parts();
        let answer = match self.answer(&head, body).await {
            Ok(review) => json(StatusCode::OK, review),
            Err(rejection) => self.reject(rejection),
        };
        Ok(self.last(answer))
    }

    /// Turns a request away because there are too many connections.
    ///
    /// # Errors
    /// None.
    pub(crate) async fn turn_away<B>(&self, request: Request<B>) -> Result<Answer, Infallible>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let (head, body) = request.into_parts();
        self.discard(&head.headers, body).await;
        let mut rejection = Rejection::new(StatusCode::SERVICE_UNAVAILABLE, "connections", "too many connections");
        rejection.close = true;
        Ok(self.reject(rejection))
    }

    /// Answers `/healthz`, `/readyz` and `/metrics`.
    ///
    /// # Errors
    /// None.
    pub async fn operations<B>(&self, request: Request<B>) -> Result<Response<Full<Bytes>>, Infallible> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let mut answer = text(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n");
            answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            return Ok(answer);
        }
        Ok(match request.uri().path() {
            "/healthz" => text(StatusCode::OK, "ok\n"),
            "/readyz" => {
                let (ready, report) = self.health.report();
                text(if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, report)
            }
            "/metrics" => self.exposition(),
            _ => text(StatusCode::NOT_FOUND, "there are /healthz, /readyz and /metrics\n"),
        })
    }

    fn exposition(&self) -> Answer {
        let mut shown = String::new();
        if prometheus_client::encoding::text::encode(&mut shown, &self.registry).is_err() {
            // Only a collector of the caller's own could fail here.
            return text(StatusCode::SERVICE_UNAVAILABLE, "a metric can't be shown\n");
        }
        let mut answer = text(StatusCode::OK, shown);
        let format = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
        answer.headers_mut().insert(CONTENT_TYPE, format);
        answer
    }

    async fn answer<B>(&self, head: &Parts, body: B) -> Result<Vec<u8>, Rejection>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let deadline = Instant::now() + allowance(head.uri.query(), self.limits.review);
        let route = match self.route(head) {
            Ok(route) => route,
            Err(mut rejection) => {
                // Answering into the middle of a body would make the client see a broken connection instead.
                rejection.close = !self.discard(&head.headers, body).await;
                return Err(rejection);
            }
        };
        let body = self.read(&head.headers, body).await?;
        self.review(route, &body.bytes, deadline).await
    }

    fn route(&self, head: &Parts) -> Result<&Route, Rejection> {
        let path = head.uri.path();
        let Some(route) = self.routes.get(path) else {
            let message = format!("there is no webhook at {}", path.chars().take(256).collect::<String>());
            return Err(Rejection::new(StatusCode::NOT_FOUND, "path", message));
        };
        if head.method != Method::POST {
            return Err(Rejection::new(StatusCode::METHOD_NOT_ALLOWED, "method", "a webhook takes POST only"));
        }
        let content_type = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let media_type = content_type.split(';').next().unwrap_or_default().trim();
        if !media_type.eq_ignore_ascii_case("application/json") {
            let message = "the content type must be application/json";
            return Err(Rejection::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content_type", message));
        }
        Ok(route)
    }

    async fn review(&self, route: &Route, body: &Bytes, deadline: Instant) -> Result<Vec<u8>, Rejection> {
        let started = Instant::now();
        let request = review::decode(body, deadline)
            .map_err(|message| Rejection::new(StatusCode::BAD_REQUEST, "review", message))?;
        let verdict = match route.handler(&request) {
            Ok(handler) => judge(handler, &request).await,
            Err(verdict) => verdict,
        };
        self.record(route, &request, &verdict, started.elapsed());
        Ok(review::encode(&request.uid, &verdict))
    }

    fn record(&self, route: &Route, request: &review::Request, verdict: &Verdict, took: Duration) {
        self.metrics.reviewed(route.path(), verdict.word(), took);
        if verdict.is_allowed() {
            return;
        }
        for field in verdict.fields() {
            self.metrics.refused(route.path(), field);
        }
        // The message may quote what the user wrote; who and where is enough to find the user.
        tracing::info!(
            path = route.path(),
            uid = %request.uid,
            kind = %request.kind,
            operation = %request.operation,
            namespace = %request.namespace,
            name = %request.name,
            user = %request.user.username,
            verdict = verdict.word(),
            errors = verdict.fields().len(),
            "refused"
        );
    }

    fn reject(&self, rejection: Rejection) -> Answer {
        tracing::debug!(reason = rejection.reason, message = %rejection.message, "rejected");
        self.metrics.rejected(rejection.reason);
        let status = Status::new(rejection.code.as_u16(), rejection.message);
        let mut answer = json(rejection.code, review::json(&status));
        let headers = answer.headers_mut();
        if rejection.code == StatusCode::METHOD_NOT_ALLOWED {
            headers.insert(ALLOW, HeaderValue::from_static("POST"));
        }
        if rejection.code == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if rejection.close {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        answer
    }

    /// While shutting down, each answer is the last of its connection: the client's next request opens another one,
    /// which goes to a replica that stays.
    fn last(&self, mut answer: Answer) -> Answer {
        if self.health.leaving.is_cancelled() {
            answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        answer
    }
}

/// Asks the handler. Whatever happens in there, there is a verdict.
async fn judge(handler: &dyn Handler, request: &review::Request) -> Verdict {
    let review = AssertUnwindSafe(handler.review(request)).catch_unwind();
    match tokio::time::timeout_at(request.deadline.into(), review).await {
        Ok(Ok(verdict)) => verdict,
        Ok(Err(_panic)) => {
            tracing::error!(uid = %request.uid, kind = %request.kind, "a handler panicked");
            Verdict::refused(
                500,
                "the object could not be checked because of a fault in the webhook; its log says more",
            )
        }
        Err(_elapsed) => Verdict::refused(504, "the object could not be checked in time; try again"),
    }
}

/// How long a review may take: our own limit, or nine tenths of what the caller says it waits (`timeout=10s`).
fn allowance(query: Option<&str>, limit: Duration) -> Duration {
    let told = query.unwrap_or_default().split('&').find_map(|pair| pair.strip_prefix("timeout="));
    let seconds = told.and_then(|text| text.strip_suffix('s')).and_then(|text| text.parse::<u16>().ok());
    seconds.map_or(limit, |seconds| limit.min(Duration::from_secs(seconds.into()) * 9 / 10))
}

fn json(code: StatusCode, content: Vec<u8>) -> Answer {
    with_type(code, "application/json", content.into())
}

fn text(code: StatusCode, content: impl Into<Bytes>) -> Answer {
    with_type(code, "text/plain; charset=utf-8", content.into())
}

fn with_type(code: StatusCode, content_type: &'static str, content: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(content));
    *answer.status_mut() = code;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    answer
}

#[cfg(test)]
mod tests;
