//! HTTP itself: our `reqwest` client, and what it means when no answer comes.

use std::{error::Error as StdError, io, net::IpAddr, time::Duration};

use fabric_openstack_types::{ApiError, ErrorClass, Service, credentials::Credentials};
use reqwest::{Certificate, Url, redirect};
use rustls::CertificateError;

use crate::error::Error;

/// Time to a connection, the TLS handshake included.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Builds the client that all calls of one credential share. The proxy comes from the environment
/// (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`), but not for a cloud on this machine, which no proxy reaches.
pub(crate) fn client(credentials: &Credentials, request_timeout: Duration) -> Result<reqwest::Client, Error> {
    let mut builder = reqwest::Client::builder()
        .use_rustls_tls()
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(request_timeout)
        // A redirected request would carry the token to a host that no catalog names.
        .redirect(redirect::Policy::none())
        .user_agent(concat!("openstack-fabric/", env!("CARGO_PKG_VERSION")))
        .danger_accept_invalid_certs(credentials.insecure);
    if is_local(&credentials.auth_url) {
        builder = builder.no_proxy();
    }
    if let Some(pem) = &credentials.ca_cert {
        for certificate in authorities(pem)? {
            builder = builder.add_root_certificate(certificate);
        }
    }
    builder.build().map_err(|error| Error::Invalid {
        place: "HTTP client".to_owned(),
        field: "TLS".to_owned(),
        problem: deepest(&error),
    })
}

fn is_local(url: &str) -> bool {
    let url = Url::parse(url).ok();
    let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

fn authorities(pem: &str) -> Result<Vec<Certificate>, Error> {
    let invalid = |problem: String| Error::Invalid {
        place: "credentials".to_owned(),
        field: "CA certificate".to_owned(),
        problem,
    };
    let found = Certificate::from_pem_bundle(pem.as_bytes())
        .map_err(|error| invalid(format!("is no PEM bundle: {}", deepest(&error))))?;
    if found.is_empty() {
        return Err(invalid("holds no certificate: give PEM text with a BEGIN CERTIFICATE line".to_owned()));
    }
    Ok(found)
}

/// A call that failed, and what that says about sending it again.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: ApiError,
    /// The request may have arrived and may have had its effect.
    pub(crate) maybe_done: bool,
    /// It failed before it was sent: the login was tried again already, and a missing endpoint stays missing.
    pub(crate) unsent: bool,
}

impl Failure {
    /// The request was never made.
    pub(crate) fn before(error: ApiError) -> Self {
        Self { error, maybe_done: false, unsent: true }
    }

    /// Judges an answer that is no success: a server that failed may have failed after the effect.
    pub(crate) fn answered(error: ApiError) -> Self {
        let maybe_done = matches!(error.class, ErrorClass::Server | ErrorClass::Timeout);
        Self { error, maybe_done, unsent: false }
    }

    /// A success that cannot be read: the effect is there.
    pub(crate) fn unreadable(error: ApiError) -> Self {
        Self { error, maybe_done: true, unsent: false }
    }
}

/// No answer, or only a part of one.
pub(crate) fn lost(service: Service, method: &str, url: &Url, error: &reqwest::Error) -> Failure {
    let host = match (url.host_str(), url.port_or_known_default()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        _ => "the service".to_owned(),
    };
    let reason = deepest(error);
    let (class, message) = if let Some(tls) = chain(error).find_map(|it| it.downcast_ref::<rustls::Error>()) {
        (ErrorClass::Tls, format!("TLS with {host}: {}", distrust(tls).unwrap_or(&reason)))
    } else if error.is_connect() && error.is_timeout() {
        let limit = CONNECT_TIMEOUT.as_secs();
        (ErrorClass::Connect, format!("no connection to {host} in {limit} s"))
    } else if error.is_timeout() {
        (ErrorClass::Timeout, format!("no answer from {host} in time"))
    } else if error.is_connect() {
        (ErrorClass::Connect, format!("no connection to {host}: {reason}"))
    } else if error.is_builder() {
        (ErrorClass::Invalid, format!("the request cannot be built: {reason}"))
    } else {
        (ErrorClass::Connect, format!("connection to {host} lost: {reason}"))
    };
    Failure {
        error: ApiError::local(service, method, url.path(), class, message),
        maybe_done: !(error.is_connect() || error.is_builder() || class == ErrorClass::Tls),
        unsent: false,
    }
}

/// The error and everything below it.
fn chain<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |&error: &&'a (dyn StdError + 'static)| {
        // `io::Error::source` skips the error that it wraps, which is where rustls' own sits.
        let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        wrapped.map(|inner| inner as &'a (dyn StdError + 'static)).or_else(|| error.source())
    })
}

/// The two reasons that every private cloud meets first; rustls names them for programmers.
fn distrust(error: &rustls::Error) -> Option<&'static str> {
    match error {
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => Some(
            "the issuer of its certificate is not known: give the CA certificate (cacert in clouds.yaml, OS_CACERT, \
             caCert in a Secret), or allow it by `insecure`",
        ),
        rustls::Error::InvalidCertificate(CertificateError::Other(other))
            if other.to_string().contains("CaUsedAsEndEntity") =>
        {
            Some(
                "its certificate signed itself and is marked as a CA, which no server's may be: have a CA sign one for \
                 it, or allow it by `insecure`",
            )
        }
        _ => None,
    }
}

/// The message at the bottom of the chain: `reqwest`'s own names the URL and no reason.
fn deepest(error: &(dyn StdError + 'static)) -> String {
    chain(error).last().map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cloud_on_this_machine_needs_no_proxy() {
        for (url, local) in [
            ("http://127.0.0.1:5000/v3", true),
            ("http://[::1]:5000", true),
            ("https://localhost/identity", true),
            ("https://localhost.example/identity", false),
            ("https://10.0.0.1:5000", false),
            ("no url", false),
        ] {
            assert_eq!(is_local(url), local, "{url}");
        }
    }
}
