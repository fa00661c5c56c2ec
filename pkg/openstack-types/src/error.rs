//! What can go wrong in a call, told by type: HTTP status, the service's error type, Keystone's reason.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

/// An OpenStack service that we call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Service {
    /// Keystone.
    Identity,
    /// Neutron.
    Network,
    /// Nova.
    Compute,
    /// Manila.
    SharedFileSystem,
    /// Octavia.
    LoadBalancer,
}

impl Service {
    /// The metric label and the word used in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Network => "network",
            Self::Compute => "compute",
            Self::SharedFileSystem => "shared-file-system",
            Self::LoadBalancer => "load-balancer",
        }
    }
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a call failed, by what a caller can do about it (decision D8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorClass {
    /// The credentials are not accepted (401 after a renewal; 404 on `POST /auth/tokens`).
    Unauthenticated,
    /// The credentials are accepted, the policy refuses (403 that is no quota).
    Forbidden,
    /// A quota is used up (Neutron 409 `OverQuota`, Manila 413, Nova 403 with a full limit).
    Quota,
    /// Too many requests (429); `retry_after` says when to come back.
    RateLimited,
    /// The object is not there (404), or not visible for this project.
    NotFound,
    /// Something still uses the object and may let go by itself (409 `…InUse`).
    InUse,
    /// Another 409: a duplicate, an object in a transient state, a revision that moved (412).
    Conflict,
    /// The request itself is wrong (400, 406, 415, 422).
    Invalid,
    /// A pool or a range has nothing left (`IpAddressGenerationFailure`, `ExternalIpAddressExhausted`, `SubnetAllocationError`).
    Exhausted,
    /// The service failed (5xx).
    Server,
    /// No answer in time.
    Timeout,
    /// No connection: name, route, refused, reset.
    Connect,
    /// The TLS handshake failed: unknown issuer, wrong name, expired.
    Tls,
    /// The catalog has no endpoint for the service in this region and interface.
    NoEndpoint,
    /// The answer is not what the service's contract says (cut or wrong JSON).
    Malformed,
}

impl ErrorClass {
    /// The metric label.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unauthenticated => "unauthenticated",
            Self::Forbidden => "forbidden",
            Self::Quota => "quota",
            Self::RateLimited => "rate-limited",
            Self::NotFound => "not-found",
            Self::InUse => "in-use",
            Self::Conflict => "conflict",
            Self::Invalid => "invalid",
            Self::Exhausted => "exhausted",
            Self::Server => "server",
            Self::Timeout => "timeout",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::NoEndpoint => "no-endpoint",
            Self::Malformed => "malformed",
        }
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A failed call, with everything that an operator needs to find it in the service's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{}", self.sentence())]
pub struct ApiError {
    /// The service that was called.
    pub service: Service,
    /// The HTTP method.
    pub method: String,
    /// The path of the URL, without host and query.
    pub path: String,
    /// The HTTP status, if an answer came.
    pub status: Option<u16>,
    /// The service's own error type (`OverQuota`, `NetworkInUse`, `itemNotFound`), if it names one.
    pub kind: Option<String>,
    /// The service's request id, if an answer came.
    pub request_id: Option<String>,
    /// What a caller can do about it.
    pub class: ErrorClass,
    /// The service's message, or ours if no answer came. Never holds a secret.
    pub message: String,
    /// How long the service asks us to wait (429, 503).
    #[serde(skip)]
    pub retry_after: Option<Duration>,
}

impl ApiError {
    /// An error without an answer of a service.
    pub fn local(service: Service, method: &str, path: &str, class: ErrorClass, message: impl Into<String>) -> Self {
        Self {
            service,
            method: method.to_owned(),
            path: path.to_owned(),
            status: None,
            kind: None,
            request_id: None,
            class,
            message: message.into(),
            retry_after: None,
        }
    }

    /// Whether the object is simply not there.
    pub fn is_not_found(&self) -> bool {
        self.class == ErrorClass::NotFound
    }

    fn sentence(&self) -> String {
        let mut text = format!("{} {} {}: ", self.service, self.method, self.path);
        if let Some(status) = self.status {
            text.push_str(&status.to_string());
            text.push(' ');
        }
        text.push_str(self.kind.as_deref().unwrap_or(self.class.as_str()));
        text.push_str(": ");
        text.push_str(&self.message);
        if let Some(id) = &self.request_id {
            text.push_str(&format!(" (request {id})"));
        }
        text
    }
}
