//! HTTP/1.1 on loopback: a listener for each service, a task for each connection.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body as HttpBody, Bytes, Frame, Incoming, SizeHint};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::Service;
use crate::cloud::Shared;
use crate::faults::Action;
use crate::journal::Call;
use crate::request::{Body, Reply, Request};

/// No body of ours comes near it.
const MAX_BODY: usize = 4 << 20;

/// Accepts until it is told to stop, then lets open requests end.
pub(crate) async fn accept(
    listener: TcpListener,
    service: Service,
    shared: Arc<Shared>,
    mut stop: watch::Receiver<bool>,
) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            _ = stop.changed() => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
            accepted = listener.accept() => {
                // A connection that broke before it was accepted is the client's affair.
                if let Ok((stream, _)) = accepted {
                    connections.spawn(connection(stream, service, Arc::clone(&shared), stop.clone()));
                }
            }
        }
    }
    while connections.join_next().await.is_some() {}
}

async fn connection(stream: TcpStream, service: Service, shared: Arc<Shared>, mut stop: watch::Receiver<bool>) {
    // Small answers would otherwise wait for the client's delayed acknowledgements.
    if let Err(why) = stream.set_nodelay(true) {
        tracing::debug!(%why, "no TCP_NODELAY on a connection");
    }
    let reset = Arc::new(AtomicBool::new(false));
    let handler = {
        let (reset, stop) = (Arc::clone(&reset), stop.clone());
        service_fn(move |req| Box::pin(answer(Arc::clone(&shared), service, req, Arc::clone(&reset), stop.clone())))
    };
    let mut conn = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), handler);
    let mut stopping = false;
    loop {
        tokio::select! {
            ended = std::future::poll_fn(|cx| conn.poll_without_shutdown(cx)) => {
                if let Err(why) = ended {
                    tracing::debug!(%why, "a connection ended early");
                }
                break;
            }
            _ = stop.changed(), if !stopping => {
                stopping = true;
                Pin::new(&mut conn).graceful_shutdown();
            }
        }
    }
    if reset.load(Ordering::Relaxed) {
        let stream = conn.into_parts().io.into_inner();
        if let Err(why) = stream.set_zero_linger() {
            tracing::debug!(%why, "a connection is closed instead of reset");
        }
    }
}

/// The connection ends without an answer.
#[derive(Debug, thiserror::Error)]
#[error("no answer, by a fault")]
struct NoAnswer;

async fn answer(
    shared: Arc<Shared>,
    service: Service,
    incoming: hyper::Request<Incoming>,
    reset: Arc<AtomicBool>,
    mut stop: watch::Receiver<bool>,
) -> Result<hyper::Response<Payload>, NoAnswer> {
    let (req, path_and_query) = decode(service, incoming).await.ok_or(NoAnswer)?;
    let plan = shared.faults.plan(service, req.method.as_str(), &path_and_query);
    if !shared.latency.is_zero() {
        tokio::time::sleep(shared.latency).await;
    }
    let mut ending = None;
    for action in plan {
        match action {
            Action::Latency(time) => tokio::time::sleep(time).await,
            other => ending = Some(other),
        }
    }
    let before = matches!(ending, Some(Action::Answer { .. } | Action::Stall | Action::Reset));
    let real = (!before).then(|| shared.carry_out(&req));
    let reply = match (ending, real) {
        (Some(Action::Answer { status, body, headers }), _) => Some(Reply { status, headers, body }),
        (Some(Action::DoneButAnswer { status, body }), _) => Some(Reply { status, headers: Vec::new(), body }),
        (Some(Action::CutBody), Some(reply)) => {
            note(&shared, &req, reply.status);
            return Ok(respond(reply, true));
        }
        (Some(Action::Stall | Action::DoneButStall), _) => {
            note(&shared, &req, 0);
            // Ends when the client goes away, which drops this future, or with the cloud.
            let _ = stop.changed().await;
            return Err(NoAnswer);
        }
        (Some(Action::Reset | Action::DoneButReset), _) => {
            reset.store(true, Ordering::Relaxed);
            None
        }
        (_, real) => real,
    };
    note(&shared, &req, reply.as_ref().map(|r| r.status).unwrap_or_default());
    reply.map(|r| respond(r, false)).ok_or(NoAnswer)
}

fn note(shared: &Shared, req: &Request, status: u16) {
    let body = match &req.body {
        Body::Json(doc) if req.service != Service::Identity => Some(doc.clone()),
        Body::Json(_) | Body::Empty | Body::Malformed => None,
    };
    shared.journal.note(Call {
        number: 0,
        service: req.service,
        method: req.method.to_string(),
        path: req.path.clone(),
        query: req.raw_query.clone(),
        status,
        body,
    });
}

async fn decode(service: Service, incoming: hyper::Request<Incoming>) -> Option<(Request, String)> {
    let (head, body) = incoming.into_parts();
    let path_and_query = head.uri.path_and_query().map(|p| p.as_str().to_owned()).unwrap_or_default();
    let headers = head
        .headers
        .iter()
        .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())))
        .collect();
    let bytes = collect(body).await?;
    let body = match bytes.as_slice() {
        [] => Body::Empty,
        bytes => serde_json::from_slice(bytes).map_or(Body::Malformed, |doc: Value| Body::Json(doc)),
    };
    Some((Request::new(service, head.method, &path_and_query, headers, body), path_and_query))
}

/// The whole body; `None` when the client broke off or sends without end.
async fn collect(mut body: Incoming) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        if let Ok(data) = frame.ok()?.into_data() {
            out.extend_from_slice(&data);
        }
        if out.len() > MAX_BODY {
            return None;
        }
    }
    Some(out)
}

fn respond(reply: Reply, cut: bool) -> hyper::Response<Payload> {
    let bytes = reply.body.map(|b| Bytes::from(b.to_string())).unwrap_or_default();
    let request_id = format!("req-{}", uuid::Uuid::new_v4());
    let mut response = hyper::Response::builder()
        .status(reply.status)
        .header("Content-Type", "application/json")
        .header("X-Openstack-Request-Id", &request_id);
    for (name, value) in &reply.headers {
        response = response.header(name, value);
    }
    let payload = Payload::new(bytes, cut);
    // Only a header that a fault names can be unfit; then the answer has none at all.
    response.body(payload).unwrap_or_else(|_| hyper::Response::new(Payload::new(Bytes::new(), false)))
}

/// A body in one piece, or the first half of one.
struct Payload {
    left: Option<Bytes>,
    announced: u64,
    cut: bool,
}

impl Payload {
    fn new(bytes: Bytes, cut: bool) -> Self {
        let announced = bytes.len() as u64;
        let kept = if cut { bytes.slice(..bytes.len() / 2) } else { bytes };
        Self { left: (!kept.is_empty()).then_some(kept), announced, cut }
    }
}

impl HttpBody for Payload {
    type Data = Bytes;
    type Error = NoAnswer;

    fn poll_frame(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, NoAnswer>>> {
        match self.left.take() {
            Some(bytes) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
            None if self.cut => Poll::Ready(Some(Err(NoAnswer))),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_none() && !self.cut
    }

    fn size_hint(&self) -> SizeHint {
        match (&self.left, self.cut) {
            (Some(_), _) | (None, true) => SizeHint::with_exact(self.announced),
            (None, false) => SizeHint::with_exact(0),
        }
    }
}

/// How long open requests may take to end when the cloud stops.
pub(crate) const GRACE: Duration = Duration::from_secs(2);
