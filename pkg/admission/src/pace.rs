//! How fast a connection must be: idle for long, but quick once a request has begun.
//!
//! hyper's own head time-out starts when it waits for a request and so can't tell an idle connection from one that
//! sends a byte a minute; with a short one an apiserver's idle connections would close under its next request.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Semaphore;
use tokio::time::{Instant, Sleep};

/// Tells the stream that a request's head is complete, until the answer is out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Busy(Arc<AtomicBool>);

impl Busy {
    /// A request is being read or answered, with time-outs of its own, until the returned mark is dropped.
    pub(crate) fn begin(&self) -> InRequest {
        self.0.store(true, Ordering::Release);
        InRequest(Arc::clone(&self.0))
    }
}

/// A request is in progress.
pub(crate) struct InRequest(Arc<AtomicBool>);

impl Drop for InRequest {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// How long a connection may take, and whether others wait for its place.
#[derive(Clone)]
pub(crate) struct Pace {
    /// Without a request.
    pub(crate) idle: Duration,
    /// From a request's first byte to the end of its head.
    pub(crate) head: Duration,
    /// The places: when none is left, an idle connection goes at once.
    pub(crate) places: Arc<Semaphore>,
}

/// A stream that fails with `TimedOut` when its client is too slow between requests.
pub(crate) struct Paced<S> {
    inner: S,
    busy: Busy,
    pace: Pace,
    /// A request was being answered when last looked.
    was_busy: bool,
    /// The head's first byte is there.
    begun: bool,
    idle_since: Instant,
    timer: Pin<Box<Sleep>>,
}

impl<S> Paced<S> {
    pub(crate) fn new(inner: S, busy: Busy, pace: Pace) -> Self {
        let timer = Box::pin(tokio::time::sleep(pace.idle.min(pace.head)));
        Self { inner, busy, pace, was_busy: false, begun: false, idle_since: Instant::now(), timer }
    }

    /// Sees the begin and the end of requests; `true` while one is being answered.
    fn look(&mut self) -> bool {
        let busy = self.busy.0.load(Ordering::Acquire);
        if self.was_busy && !busy {
            self.begun = false;
            self.idle_since = Instant::now();
            self.rearm();
        }
        self.was_busy = busy;
        busy
    }

    /// Wakes when the head is late, or when it is time to look whether an idle connection must go.
    fn rearm(&mut self) {
        let next = if self.begun { self.pace.head } else { self.pace.head.min(self.pace.idle) };
        self.timer.as_mut().reset(Instant::now() + next);
    }

    /// Whether the client has run out of time. Registers for waking when not.
    fn late(&mut self, cx: &mut Context<'_>) -> bool {
        while self.timer.as_mut().poll(cx).is_ready() {
            let crowded = self.pace.places.available_permits() == 0;
            if self.begun || crowded || self.idle_since.elapsed() >= self.pace.idle {
                return true;
            }
            self.rearm();
        }
        false
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let busy = self.look();
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(cx, buffer);
        if busy {
            return read;
        }
        if read.is_ready() && buffer.filled().len() > before && !self.begun {
            self.begun = true;
            self.rearm();
        }
        // Also when there is a byte: a client that sends one now and then is late, too.
        if self.late(cx) { Poll::Ready(Err(io::ErrorKind::TimedOut.into())) } else { read }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Paced<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, buffer)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}
