//! Reading a body within limits of size, time and memory.

use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::{Body, Bytes};
use hyper::header::{CONTENT_LENGTH, EXPECT, HeaderMap};
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use super::{Rejection, Service};

/// So many times the largest body is read and thrown away, so that the client reads our answer instead of a broken
/// connection; what is larger still is cut off.
const PATIENCE: usize = 4;
/// What is set aside before the first byte came, whatever the head promises.
const FIRST: usize = 16 << 10;

/// A body, and its share of the memory for bodies.
pub(super) struct Content {
    pub(super) bytes: Bytes,
    _room: Option<OwnedSemaphorePermit>,
}

impl Service {
    /// Reads a whole body.
    ///
    /// # Errors
    /// 413, 408, 400 (it broke off) or 503 (no memory left for it).
    pub(super) async fn read<B>(&self, headers: &HeaderMap, body: B) -> Result<Content, Rejection>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let announced = announced(headers);
        if announced > self.limits.body {
            let mut rejection = self.too_large();
            rejection.close = !self.discard(headers, body).await;
            return Err(rejection);
        }
        self.collect(body, announced).await
    }

    async fn collect<B>(&self, mut body: B, announced: usize) -> Result<Content, Rejection>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let deadline = Instant::now() + self.limits.body_time;
        let mut bytes = Vec::with_capacity(announced.min(FIRST));
        let mut room: Option<OwnedSemaphorePermit> = None;
        loop {
            let data = match tokio::time::timeout_at(deadline, body.frame()).await {
                Err(_elapsed) => return Err(closing(StatusCode::REQUEST_TIMEOUT, "slow", "the body came too slowly")),
                Ok(None) => return Ok(Content { bytes: bytes.into(), _room: room }),
                Ok(Some(Err(_broken))) => return Err(closing(StatusCode::BAD_REQUEST, "broken", "the body broke off")),
                // Trailers are of no interest.
                Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
            };
            if bytes.len() + data.len() > self.limits.body {
                let mut rejection = self.too_large();
                rejection.close = !self.skip(body, bytes.len() + data.len()).await;
                return Err(rejection);
            }
            let share = u32::try_from(data.len())
                .ok()
                .and_then(|size| Arc::clone(&self.room).try_acquire_many_owned(size).ok());
            let Some(share) = share else {
                drop((bytes, room));
                let mut rejection =
                    Rejection::new(StatusCode::SERVICE_UNAVAILABLE, "memory", "too many large requests at once");
                rejection.close = !self.skip(body, 0).await;
                return Err(rejection);
            };
            match &mut room {
                Some(room) => room.merge(share),
                None => room = Some(share),
            }
            bytes.extend_from_slice(&data);
        }
    }

    /// Reads a body away; `false` when its end was not reached.
    pub(super) async fn discard<B>(&self, headers: &HeaderMap, body: B) -> bool
    where
        B: Body<Data = Bytes> + Unpin,
    {
        // Who asks first whether to send the body must not be told to.
        let unsent = headers.contains_key(EXPECT) && announced(headers) > 0;
        if unsent || announced(headers) > self.limits.body.saturating_mul(PATIENCE) {
            return false;
        }
        self.skip(body, 0).await
    }

    async fn skip<B>(&self, mut body: B, mut seen: usize) -> bool
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let deadline = Instant::now() + self.limits.body_time;
        while seen <= self.limits.body.saturating_mul(PATIENCE) {
            match tokio::time::timeout_at(deadline, body.frame()).await {
                Ok(None) => return true,
                Ok(Some(Ok(frame))) => seen += frame.data_ref().map_or(0, Bytes::len),
                Ok(Some(Err(_))) | Err(_) => return false,
            }
        }
        false
    }

    fn too_large(&self) -> Rejection {
        let message = format!("the body is larger than {} bytes", self.limits.body);
        Rejection::new(StatusCode::PAYLOAD_TOO_LARGE, "size", message)
    }
}

fn closing(code: StatusCode, reason: &'static str, message: &str) -> Rejection {
    Rejection { close: true, ..Rejection::new(code, reason, message) }
}

fn announced(headers: &HeaderMap) -> usize {
    headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok()).unwrap_or(0)
}
