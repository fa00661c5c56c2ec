use std::time::Duration;

/// How much a client may ask for. The defaults fit an apiserver in front of a pod with 128 MiB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest body that is read, in bytes. Default 3 MiB: an apiserver takes requests up to that size, and etcd
    /// stores 1.5 MiB, of which an update's review holds two.
    pub body: usize,
    /// How many bytes of bodies may be in memory at once. Default 48 MiB: sixteen of the largest.
    pub bodies: usize,
    /// How many connections are served at once. Default 512: an apiserver opens one for each call in flight, and a
    /// call takes milliseconds.
    pub connections: usize,
    /// How many connections more are told 503; beyond, they are closed unheard. Default 64.
    pub overflow: usize,
    /// How long a TLS handshake may take. Default 5 s.
    pub handshake: Duration,
    /// How long a request's head may take from its first byte on. Default 5 s.
    pub head: Duration,
    /// How long the body may take. Default 5 s: half of the 10 s that the webhook's caller waits.
    pub body_time: Duration,
    /// How long a connection may stay without a request. Default 120 s: longer than the 90 s after which Go's client,
    /// so an apiserver, drops an idle one itself; otherwise a request could meet a connection that is just closing.
    pub idle: Duration,
    /// How long a handler may take at most. Default 9 s. The caller's own time-out, when it names it in the query
    /// `timeout=`, counts if it is shorter.
    pub review: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 3 << 20,
            bodies: 48 << 20,
            connections: 512,
            overflow: 64,
            handshake: Duration::from_secs(5),
            head: Duration::from_secs(5),
            body_time: Duration::from_secs(5),
            idle: Duration::from_secs(120),
            review: Duration::from_secs(9),
        }
    }
}
