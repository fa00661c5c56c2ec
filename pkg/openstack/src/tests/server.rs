//! An HTTP server that does what a test tells it: answers, cuts, drops, stalls. It speaks just enough HTTP/1.1.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpListener,
};

/// What arrived.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: String,
    /// With the query.
    pub(crate) path: String,
    /// Lower case.
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl Seen {
    /// `GET /v2.0/networks`, without the query.
    pub(crate) fn line(&self) -> String {
        let path = self.path.split('?').next().unwrap_or_default();
        format!("{} {path}", self.method)
    }

    pub(crate) fn token(&self) -> &str {
        let line = self.head.lines().find_map(|line| line.strip_prefix("x-auth-token: "));
        line.unwrap_or_default()
    }
}

/// What happens then.
pub(crate) enum Act {
    Json(u16, Value),
    /// Status, one header line, body.
    With(u16, &'static str, String),
    /// Says that the body is longer than it is, and closes.
    Cut(u16, String),
    Drop,
    Stall,
}

type Script = dyn Fn(&Seen) -> Act + Send + Sync;

/// The server; it ends with the test's runtime.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) url: String,
    log: Arc<Mutex<Vec<Seen>>>,
    busy: Arc<AtomicUsize>,
    busiest: Arc<AtomicUsize>,
}

impl Server {
    /// Serves every path by `script`, but logins itself: `token-1`, `token-2`, … for an hour each.
    pub(crate) async fn start(script: impl Fn(&Seen) -> Act + Send + Sync + 'static) -> Self {
        let logins = AtomicUsize::new(0);
        let url = Arc::new(Mutex::new(String::new()));
        let own = url.clone();
        let server = Self::bare(move |seen| {
            if seen.line() == "POST /v3/auth/tokens" {
                let number = logins.fetch_add(1, Ordering::SeqCst) + 1;
                return login(&own.lock().unwrap(), number);
            }
            script(seen)
        })
        .await;
        *url.lock().unwrap() = server.url.clone();
        server
    }

    /// Serves every path by `script`.
    pub(crate) async fn bare(script: impl Fn(&Seen) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = Self {
            url: format!("http://{address}"),
            log: Arc::default(),
            busy: Arc::default(),
            busiest: Arc::default(),
        };
        let (accepting, script) = (server.clone(), Arc::new(script) as Arc<Script>);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (server, script) = (accepting.clone(), script.clone());
                tokio::spawn(async move { server.serve(stream, &*script).await });
            }
        });
        server
    }

    pub(crate) async fn serve(&self, mut stream: impl AsyncRead + AsyncWrite + Unpin, script: &Script) {
        let Some(seen) = read(&mut stream).await else { return };
        self.log.lock().unwrap().push(seen.clone());
        let now = self.busy.fetch_add(1, Ordering::SeqCst) + 1;
        self.busiest.fetch_max(now, Ordering::SeqCst);
        tokio::task::yield_now().await;
        let act = script(&seen);
        let (status, header, body, claimed) = match act {
            Act::Json(status, value) => (status, "x-openstack-request-id: req-1", value.to_string(), 0),
            Act::With(status, header, body) => (status, header, body, 0),
            Act::Cut(status, body) => (status, "x-a: b", body, 10),
            Act::Drop => {
                self.busy.fetch_sub(1, Ordering::SeqCst);
                return;
            }
            Act::Stall => {
                tokio::time::sleep(Duration::from_secs(30)).await;
                return;
            }
        };
        let length = body.len() + claimed;
        let text =
            format!("HTTP/1.1 {status} X\r\n{header}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
        self.busy.fetch_sub(1, Ordering::SeqCst);
        // The client may be gone already.
        let _ = stream.write_all(text.as_bytes()).await;
        let _ = stream.shutdown().await;
    }

    pub(crate) fn log(&self) -> Vec<Seen> {
        self.log.lock().unwrap().clone()
    }

    /// Every request's line, without logins.
    pub(crate) fn lines(&self) -> Vec<String> {
        let lines = self.log().iter().map(Seen::line).collect::<Vec<_>>();
        lines.into_iter().filter(|line| line != "POST /v3/auth/tokens").collect()
    }

    pub(crate) fn logins(&self) -> usize {
        self.log().len() - self.lines().len()
    }

    /// How many requests were served at the same time at most.
    pub(crate) fn busiest(&self) -> usize {
        self.busiest.load(Ordering::SeqCst)
    }
}

/// The answer to a login.
pub(crate) fn login(url: &str, number: usize) -> Act {
    let endpoint = |kind: &str, url: String| {
        let endpoint = json!({"interface": "public", "region": "R", "region_id": "R", "url": url});
        json!({"type": kind, "endpoints": [endpoint]})
    };
    let body = json!({"token": {
        "issued_at": "2026-01-01T00:00:00.000000Z",
        "expires_at": "2026-01-01T01:00:00.000000Z",
        "project": {"id": "p1"},
        "catalog": [
            endpoint("network", url.to_owned()),
            endpoint("compute", format!("{url}/v2.1")),
            endpoint("sharev2", format!("{url}/v2")),
            endpoint("load-balancer", url.to_owned()),
        ],
    }});
    let header: &'static str = Box::leak(format!("x-subject-token: token-{number}").into_boxed_str());
    Act::With(201, header, body.to_string())
}

async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Option<Seen> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = end {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let lower = head.to_lowercase();
            let length = lower.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
            if bytes.len() >= end + 4 + length {
                let mut words = head.split_whitespace().map(str::to_owned);
                return Some(Seen {
                    method: words.next()?,
                    path: words.next()?,
                    head: lower,
                    body: serde_json::from_slice(&bytes[end + 4..]).unwrap_or(Value::Null),
                });
            }
        }
        let read = stream.read(&mut buffer).await.ok().filter(|read| *read > 0)?;
        bytes.extend(&buffer[..read]);
    }
}
