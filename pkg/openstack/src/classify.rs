//! From an answer that is no success to an [`ApiError`]: by status and by the service's own error type (decision D8).
//!
//! The envelopes, as recorded from the real services:
//! ```text
//!  Neutron          {"NeutronError": {"type": T, "message": M, "detail": ""}}
//!  Keystone, and its middleware in front of every service
//!                   {"error": {"code": 401, "title": T, "message": M}}
//!  Nova, Manila     {"itemNotFound": {"code": 404, "message": M}}         the single key is the type
//!  Octavia          {"faultcode": T, "faultstring": M, "debuginfo": null}
//!  their routers    {"message": M, "code": "404 Not Found", "title": T}
//!  web servers      text or HTML
//! ```

use std::time::Duration;

use fabric_openstack_types::{ApiError, ErrorClass, Service};
use http::{HeaderMap, StatusCode};
use serde_json::Value;

/// A pool, a range or an external network that has nothing left, whatever status Neutron wraps it in.
const EXHAUSTED: [&str; 6] = [
    "IpAddressGenerationFailure",
    "IpAddressGenerationFailureAllSubnets",
    "IpAddressGenerationFailureNoMatchingSubnet",
    "ExternalIpAddressExhausted",
    "NoMoreIpAddresses",
    "SubnetAllocationError",
];
/// The longest message that we keep, in characters; services print whole schemas into some.
const LONGEST_MESSAGE: usize = 600;

/// What an error's body says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: Option<String>,
    pub(crate) message: String,
}

impl Fault {
    /// Reads any body; what is in no known form becomes its own message.
    pub(crate) fn read(body: &[u8]) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Ok(json) => Self::of_json(&json).unwrap_or_else(|| Self::of_text(&json.to_string())),
            Err(_) => Self::of_text(&String::from_utf8_lossy(body)),
        }
    }

    fn of_json(json: &Value) -> Option<Self> {
        let fields = json.as_object()?;
        let text = |value: &Value, key: &str| value.get(key)?.as_str().map(str::to_owned);
        if let Some(fault) = fields.get("NeutronError") {
            let message = text(fault, "message").or_else(|| fault.as_str().map(str::to_owned));
            return Some(Self::new(text(fault, "type"), message));
        }
        if let Some(fault) = fields.get("error").filter(|fault| fault.is_object()) {
            return Some(Self::new(text(fault, "title"), text(fault, "message")));
        }
        if let Some(message) = text(json, "faultstring") {
            return Some(Self::new(text(json, "faultcode"), Some(message)));
        }
        if let Some(message) = text(json, "message") {
            return Some(Self::new(text(json, "title"), Some(message)));
        }
        if let Some(first) = fields.get("errors").and_then(|list| list.get(0)) {
            let message = text(first, "detail").or_else(|| text(first, "title"));
            return Some(Self::new(text(first, "code"), message));
        }
        let (key, value) = fields.iter().next().filter(|_| fields.len() == 1)?;
        text(value, "message").map(|message| Self::new(Some(key.clone()), Some(message)))
    }

    fn new(kind: Option<String>, message: Option<String>) -> Self {
        Self { kind, message: tidy(&message.unwrap_or_default()) }
    }

    fn of_text(text: &str) -> Self {
        Self::new(None, Some(text.to_owned()))
    }
}

/// One line, without markup, of bounded length.
fn tidy(text: &str) -> String {
    let mut line = String::new();
    let mut in_tag = false;
    for c in text.chars() {
        match c {
            // "<br />", "<html>"; but "<class 'x'>" and "a < b" are text.
            '<' if text.contains("</") || text.contains("/>") => in_tag = true,
            '>' if in_tag => {
                in_tag = false;
                line.push(' ');
            }
            _ if in_tag => {}
            c => line.push(c),
        }
    }
    let mut line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() > LONGEST_MESSAGE {
        line = line.chars().take(LONGEST_MESSAGE).collect();
        line.push('…');
    }
    line
}

/// The class of an answer that is no success.
pub(crate) fn class(service: Service, status: StatusCode, kind: Option<&str>) -> ErrorClass {
    if let Some(kind) = kind.filter(|_| service == Service::Network) {
        if kind == "OverQuota" {
            return ErrorClass::Quota;
        }
        if EXHAUSTED.contains(&kind) {
            return ErrorClass::Exhausted;
        }
    }
    match status.as_u16() {
        401 => ErrorClass::Unauthenticated,
        403 => ErrorClass::Forbidden,
        404 | 410 => ErrorClass::NotFound,
        409 if kind.is_some_and(|kind| kind.contains("InUse")) => ErrorClass::InUse,
        409 | 412 => ErrorClass::Conflict,
        413 => ErrorClass::Quota,
        408 | 504 => ErrorClass::Timeout,
        429 => ErrorClass::RateLimited,
        400..=499 => ErrorClass::Invalid,
        500..=599 => ErrorClass::Server,
        // A redirection (we follow none) or something that is no final answer at all.
        _ => ErrorClass::Malformed,
    }
}

/// The error that an answer without success stands for.
pub(crate) fn error(
    service: Service,
    method: &str,
    path: &str,
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
) -> ApiError {
    let fault = Fault::read(body);
    let class = match class(service, status, fault.kind.as_deref()) {
        // An application credential that Keystone does not know is "not found" when it logs in.
        ErrorClass::NotFound if service == Service::Identity && path.ends_with("/auth/tokens") && method == "POST" => {
            ErrorClass::Unauthenticated
        }
        class => class,
    };
    let mut message = fault.message;
    if message.is_empty() {
        message = status.canonical_reason().unwrap_or("no message").to_owned();
    }
    if status.is_redirection()
        && let Some(target) = headers.get(http::header::LOCATION)
    {
        message = format!(
            "redirected to {}; redirections are not followed, correct the endpoint in the catalog",
            target.to_str().unwrap_or("an unreadable location")
        );
    }
    ApiError {
        service,
        method: method.to_owned(),
        path: path.to_owned(),
        status: Some(status.as_u16()),
        kind: fault.kind,
        request_id: request_id(headers),
        class,
        message,
        retry_after: retry_after(headers),
    }
}

/// The id under which the service logged the request.
pub(crate) fn request_id(headers: &HeaderMap) -> Option<String> {
    ["x-openstack-request-id", "x-compute-request-id"]
        .iter()
        .find_map(|name| headers.get(*name)?.to_str().ok().map(str::to_owned))
}

/// `Retry-After`: seconds or a date (RFC 9110, section 10.2.3).
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(http::header::RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = jiff::fmt::rfc2822::parse(text).ok()?;
    let wait = date.timestamp().duration_since(jiff::Timestamp::now());
    Some(Duration::try_from(wait).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classified(service: Service, status: u16, body: &str) -> ApiError {
        let status = StatusCode::from_u16(status).unwrap();
        error(service, "GET", "/x", status, &HeaderMap::new(), body.as_bytes())
    }

    #[test]
    fn classifies_what_the_real_services_answered() {
        use ErrorClass::*;
        use Service::*;
        let neutron = |kind: &str| format!(r#"{{"NeutronError":{{"type":"{kind}","message":"m","detail":""}}}}"#);
        let keyed = |kind: &str| format!(r#"{{"{kind}":{{"code":0,"message":"m"}}}}"#);
        let keystone = r#"{"error":{"code":401,"title":"Unauthorized","message":"m"}}"#.to_owned();
        let octavia = r#"{"faultcode":"Client","faultstring":"m","debuginfo":null}"#.to_owned();
        let router = r#"{"message":"m","code":"404 Not Found","title":"Not Found"}"#.to_owned();
        for (service, status, body, kind, want) in [
            (Network, 409, neutron("OverQuota"), Some("OverQuota"), Quota),
            (Network, 409, neutron("NetworkInUse"), Some("NetworkInUse"), InUse),
            (
                Network,
                409,
                neutron("RouterInterfaceInUseByFloatingIP"),
                Some("RouterInterfaceInUseByFloatingIP"),
                InUse,
            ),
            (Network, 409, neutron("SecurityGroupRuleExists"), Some("SecurityGroupRuleExists"), Conflict),
            (Network, 409, neutron("IpAddressGenerationFailure"), Some("IpAddressGenerationFailure"), Exhausted),
            (Network, 400, neutron("ExternalIpAddressExhausted"), Some("ExternalIpAddressExhausted"), Exhausted),
            (Network, 500, neutron("SubnetAllocationError"), Some("SubnetAllocationError"), Exhausted),
            (Network, 400, neutron("NetworkSubnetPoolAffinityError"), Some("NetworkSubnetPoolAffinityError"), Invalid),
            (Network, 403, neutron("PolicyNotAuthorized"), Some("PolicyNotAuthorized"), Forbidden),
            (Network, 404, neutron("NetworkNotFound"), Some("NetworkNotFound"), NotFound),
            (Network, 412, neutron("RevisionNumberConstraintFailed"), Some("RevisionNumberConstraintFailed"), Conflict),
            (Network, 404, router.clone(), Some("Not Found"), NotFound),
            (Network, 401, keystone.clone(), Some("Unauthorized"), Unauthenticated),
            (Network, 503, router, Some("Not Found"), Server),
            (Identity, 401, keystone.clone(), Some("Unauthorized"), Unauthenticated),
            (Identity, 404, keystone, Some("Unauthorized"), NotFound),
            (Identity, 500, "Internal Server Error\n\n(generated by server)".to_owned(), None, Server),
            (Compute, 403, keyed("forbidden"), Some("forbidden"), Forbidden),
            (Compute, 404, keyed("itemNotFound"), Some("itemNotFound"), NotFound),
            (Compute, 406, keyed("computeFault"), Some("computeFault"), Invalid),
            (Compute, 409, keyed("conflictingRequest"), Some("conflictingRequest"), Conflict),
            (Compute, 500, keyed("computeFault"), Some("computeFault"), Server),
            (SharedFileSystem, 413, keyed("overLimit"), Some("overLimit"), Quota),
            (SharedFileSystem, 400, keyed("badRequest"), Some("badRequest"), Invalid),
            (SharedFileSystem, 422, keyed("computeFault"), Some("computeFault"), Invalid),
            (LoadBalancer, 409, octavia.clone(), Some("Client"), Conflict),
            (LoadBalancer, 403, octavia.clone(), Some("Client"), Forbidden),
            (LoadBalancer, 400, octavia, Some("Client"), Invalid),
            (Network, 429, String::new(), None, RateLimited),
            (Network, 504, "<html></html>".to_owned(), None, Timeout),
        ] {
            let error = classified(service, status, &body);
            assert_eq!((error.class, error.kind.as_deref()), (want, kind), "{status} {body}");
            assert!(!error.message.is_empty(), "{status} {body}");
        }
    }

    /// The recordings by the beginning of their file's name; the first row that fits counts.
    const RECORDED: [(&str, ErrorClass); 22] = [
        ("compute__err_403_quota", ErrorClass::Forbidden), // told apart later, by the limits
        ("identity__err_404_app_credential_unknown_id", ErrorClass::Unauthenticated),
        ("network__err_409_quota", ErrorClass::Quota),
        ("network__err_409_delete_default_sg", ErrorClass::InUse),
        ("network__err_409_delete_router_port", ErrorClass::InUse),
        ("network__err_409_fip_fixed_ip_taken", ErrorClass::Conflict),
        ("network__err_409_network_in_use", ErrorClass::InUse),
        ("network__err_409_port_ip_in_use", ErrorClass::Conflict), // a duplicate address, not a user to wait for
        ("network__err_409_router_", ErrorClass::InUse),
        ("network__err_409_security_group_in_use", ErrorClass::InUse),
        ("network__err_409_subnet_in_use", ErrorClass::InUse),
        ("network__err_500_pool_exhausted", ErrorClass::Exhausted),
        ("share__err_413", ErrorClass::Quota),
        ("share__err_406", ErrorClass::Invalid),
        ("share__err_422", ErrorClass::Invalid),
        ("compute__err_406", ErrorClass::Invalid),
        ("*__err_400", ErrorClass::Invalid),
        ("*__err_401", ErrorClass::Unauthenticated),
        ("*__err_403", ErrorClass::Forbidden),
        ("*__err_404", ErrorClass::NotFound),
        ("*__err_409", ErrorClass::Conflict),
        ("*__err_412", ErrorClass::Conflict),
    ];

    #[test]
    fn classifies_every_recording_of_a_refusal() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../test/contract/recordings");
        let mut used = std::collections::BTreeSet::new();
        let mut seen = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let file = entry.unwrap().path();
            let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
            if file.extension().is_none_or(|ending| ending != "json") {
                continue;
            }
            let recording: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
            let status = recording["response"]["status"].as_u64().unwrap() as u16;
            if status < 400 {
                continue;
            }
            seen += 1;
            let (service, rest) = name.split_once("__").unwrap();
            let fits = |pattern: &str| match pattern.strip_prefix("*__") {
                Some(pattern) => rest.starts_with(pattern),
                None => name.starts_with(pattern),
            };
            let (row, want) = RECORDED.iter().find(|(pattern, _)| fits(pattern)).expect(&name);
            used.insert(*row);
            let service = match service {
                "identity" => Service::Identity,
                "network" => Service::Network,
                "compute" => Service::Compute,
                "share" => Service::SharedFileSystem,
                _ => Service::LoadBalancer,
            };
            let request = &recording["request"];
            let (method, url) = (request["method"].as_str().unwrap(), request["url"].as_str().unwrap());
            let path = url.splitn(4, '/').nth(3).unwrap().split('?').next().unwrap();
            let body = match &recording["response"]["body"] {
                Value::String(text) => text.clone().into_bytes(),
                json => json.to_string().into_bytes(),
            };
            let mut headers = HeaderMap::new();
            for (header, value) in recording["response"]["headers"].as_object().unwrap() {
                let header: http::HeaderName = header.parse().unwrap();
                headers.insert(header, value.as_str().unwrap().parse().unwrap());
            }
            let status = StatusCode::from_u16(status).unwrap();
            let error = error(service, method, &format!("/{path}"), status, &headers, &body);
            assert_eq!(error.class, *want, "{name}: {error:?}");
            assert!(!error.message.is_empty() && !error.message.contains('\n'), "{name}: {error:?}");
            if error.class == ErrorClass::InUse || error.class == ErrorClass::Exhausted {
                assert!(error.kind.is_some(), "{name}: {error:?}");
            }
        }
        let idle = RECORDED.iter().filter(|(row, _)| !used.contains(row));
        assert_eq!(idle.collect::<Vec<_>>(), Vec::<&(&str, ErrorClass)>::new(), "rows that fit nothing");
        assert!(seen > 100, "only {seen} recordings of refusals in {folder}");
    }

    #[test]
    fn unknown_shapes_become_messages_and_never_panic() {
        for (body, message) in [
            ("", "Internal Server Error"),
            ("null", "null"),
            ("[1,2]", "[1,2]"),
            ("{}", "{}"),
            (r#"{"NeutronError":"plain"}"#, "plain"),
            (r#"{"NeutronError":{"type":7}}"#, "Internal Server Error"),
            (r#"{"error":"x"}"#, r#"{"error":"x"}"#),
            (r#"{"a":{"message":"m"},"b":1}"#, r#"{"a":{"message":"m"},"b":1}"#),
            (r#"{"errors":[{"title":"t","detail":"d"}]}"#, "d"),
            ("{\"cut", "{\"cut"),
            ("<html><h1>502 Bad Gateway</h1></html>", "502 Bad Gateway"),
            ("a < b", "a < b"),
            ("gone.<br />\n\nreally", "gone. really"),
        ] {
            assert_eq!(classified(Service::Network, 500, body).message, message, "{body}");
        }
        let bytes =
            error(Service::Network, "GET", "/x", StatusCode::INTERNAL_SERVER_ERROR, &HeaderMap::new(), &[0xff, 0xfe]);
        assert_eq!(bytes.class, ErrorClass::Server);
        let long = classified(Service::Network, 500, &"x".repeat(5000));
        assert_eq!(long.message.chars().count(), LONGEST_MESSAGE + 1);
    }

    #[test]
    fn reads_retry_after_as_seconds_and_as_a_date() {
        let wait = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(http::header::RETRY_AFTER, text.parse().unwrap());
            retry_after(&headers)
        };
        assert_eq!(wait("7"), Some(Duration::from_secs(7)));
        assert_eq!(wait("Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO));
        assert_eq!(wait("soon"), None);
        let soon = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(100);
        let text = jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&soon).unwrap();
        let got = wait(&text).unwrap();
        assert!(got > Duration::from_secs(90) && got <= Duration::from_secs(100), "{got:?}");
    }
}
