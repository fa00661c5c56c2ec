//! Logging in: [`KeystoneAuth`], the authentication of the session (decision E4).
//!
//! ```text
//!   token() ── fresh? ──yes──► it                         renew(seen) after a 401:
//!      │no                                                  the current token is another one than `seen`? it
//!      └─► one flight: whoever comes meanwhile waits,       otherwise log in, however fresh it looks
//!          and takes the same token or the same failure
//! ```

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use async_trait::async_trait;
use fabric_openstack_types::{
    ApiError, ErrorClass, Service,
    credentials::{AuthMethod, Credentials, DomainRef, Scope, UserRef},
    ids::ProjectId,
};
use http::{HeaderValue, Method, StatusCode};
use openstack::{EndpointFilters, auth::AuthType};
use reqwest::{RequestBuilder, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;
use tracing::Instrument;

use crate::{
    catalog::{self, Catalog},
    classify,
    clock::Clock,
    endpoint,
    error::Error,
    metrics::Telemetry,
    retry::{Attempts, RetryPolicy},
    transport,
};

/// A token is renewed this long before its end, or a tenth of its life if that is shorter.
const MARGIN: Duration = Duration::from_secs(60);

/// Keystone v3 with all three forms of credentials. Cheap to clone; clones share the token.
#[derive(Clone)]
pub struct KeystoneAuth {
    inner: Arc<Inner>,
}

struct Inner {
    credentials: Credentials,
    tokens: Url,
    retry: RetryPolicy,
    clock: Arc<dyn Clock>,
    telemetry: Arc<Telemetry>,
    current: RwLock<Option<Arc<Token>>>,
    flight: tokio::sync::Mutex<Flight>,
}

/// The last login, for those who waited for it.
#[derive(Default)]
struct Flight {
    ended: Option<Instant>,
    failure: Option<ApiError>,
}

/// A token with what came with it.
pub(crate) struct Token {
    /// The value of `X-Auth-Token`, marked sensitive.
    header: HeaderValue,
    pub(crate) project: Option<ProjectId>,
    pub(crate) catalog: Catalog,
    renew_at: Option<Instant>,
}

#[derive(Deserialize)]
struct Answer {
    token: Body,
}

#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    expires_at: Option<String>,
    #[serde(default)]
    issued_at: Option<String>,
    #[serde(default)]
    project: Option<Named>,
    #[serde(default)]
    catalog: Catalog,
}

#[derive(Deserialize)]
struct Named {
    id: String,
}

impl fmt::Debug for KeystoneAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeystoneAuth")
            .field("url", &self.inner.tokens.as_str())
            .field("credentials", &self.inner.credentials)
            .field("token", &self.current().map(|_| "[REDACTED]"))
            .finish()
    }
}

impl KeystoneAuth {
    pub(crate) fn new(
        credentials: Credentials,
        retry: RetryPolicy,
        clock: Arc<dyn Clock>,
        telemetry: Arc<Telemetry>,
    ) -> Result<Self, Error> {
        let url = catalog::parse(&credentials.auth_url).map_err(|problem| Error::Invalid {
            place: "credentials".to_owned(),
            field: "auth_url".to_owned(),
            problem,
        })?;
        let mut tokens = endpoint::root(Service::Identity, &url);
        if let Ok(mut path) = tokens.path_segments_mut() {
            path.extend(["auth", "tokens"]);
        }
        let inner = Arc::new(Inner {
            credentials,
            tokens,
            retry,
            clock,
            telemetry,
            current: RwLock::default(),
            flight: tokio::sync::Mutex::default(),
        });
        Ok(Self { inner })
    }

    /// A token that is good for now; logs in when there is none.
    pub(crate) async fn token(&self, client: &reqwest::Client) -> Result<Arc<Token>, ApiError> {
        match self.current().filter(|token| self.is_fresh(token)) {
            Some(token) => Ok(token),
            None => self.login_once(client, None).await,
        }
    }

    /// Another token than the one that was refused, however fresh that looks.
    pub(crate) async fn renew(&self, client: &reqwest::Client, refused: &HeaderValue) -> Result<Arc<Token>, ApiError> {
        self.login_once(client, Some(refused)).await
    }

    fn current(&self) -> Option<Arc<Token>> {
        let guard = self.inner.current.read();
        guard.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn is_fresh(&self, token: &Token) -> bool {
        let now = self.inner.clock.now();
        token.renew_at.is_none_or(|renew_at| now < renew_at)
    }

    async fn login_once(
        &self,
        client: &reqwest::Client,
        refused: Option<&HeaderValue>,
    ) -> Result<Arc<Token>, ApiError> {
        let asked = Instant::now();
        let mut flight = self.inner.flight.lock().await;
        let usable = |token: &Arc<Token>| match refused {
            Some(refused) => token.header != *refused,
            None => self.is_fresh(token),
        };
        if let Some(token) = self.current().filter(usable) {
            return Ok(token);
        }
        // The flight that we waited for failed: trying again, one after the other, would lock the account.
        if let (Some(ended), Some(failure)) = (flight.ended, &flight.failure)
            && ended >= asked
        {
            return Err(failure.clone());
        }
        let result = self.login(client).await;
        flight.ended = Some(Instant::now());
        flight.failure = result.as_ref().err().cloned();
        let token = Arc::new(result?);
        let guard = self.inner.current.write();
        *guard.unwrap_or_else(PoisonError::into_inner) = Some(token.clone());
        Ok(token)
    }

    async fn login(&self, client: &reqwest::Client) -> Result<Token, ApiError> {
        let clock = &self.inner.clock;
        let mut attempts = Attempts::new(self.inner.retry, clock.now());
        loop {
            match self.ask(client).await {
                Ok(token) => return Ok(token),
                Err(error) => match attempts.next(&error, clock.now()) {
                    Some(wait) => clock.sleep(wait).await,
                    None => return Err(error),
                },
            }
        }
    }

    /// One `POST /auth/tokens`.
    async fn ask(&self, client: &reqwest::Client) -> Result<Token, ApiError> {
        let path = self.inner.tokens.path();
        let span = tracing::debug_span!("openstack", service = "identity", method = "POST", path);
        let begin = Instant::now();
        let result = self.exchange(client).instrument(span.clone()).await;
        let outcome = match &result {
            Ok(_) => "ok",
            Err(error) => error.class.as_str(),
        };
        let took = begin.elapsed();
        let telemetry = &self.inner.telemetry;
        telemetry.record(Service::Identity, &Method::POST, outcome, took);
        span.in_scope(|| match &result {
            Ok(_) => tracing::debug!(?took, "logged in"),
            Err(error) => tracing::debug!(?took, %error, "login failed"),
        });
        result
    }

    async fn exchange(&self, client: &reqwest::Client) -> Result<Token, ApiError> {
        let url = &self.inner.tokens;
        let lost = |error: reqwest::Error| transport::lost(Service::Identity, "POST", url, &error).error;
        let request = client.post(url.clone()).json(&body(&self.inner.credentials));
        let response = request.send().await.map_err(lost)?;
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = response.bytes().await.map_err(lost)?;
        if !status.is_success() {
            let mut error = classify::error(Service::Identity, "POST", url.path(), status, &headers, &bytes);
            error.message = self.redacted(error.message);
            return Err(error);
        }
        let malformed = |what: &str| self.malformed(status, &headers, what);
        let mut header = headers
            .get("x-subject-token")
            .cloned()
            .ok_or_else(|| malformed("the answer has no X-Subject-Token: is this the address of Keystone?"))?;
        header.set_sensitive(true);
        // The parser's own message could quote the answer.
        let answer: Answer =
            serde_json::from_slice(&bytes).map_err(|error| malformed(&position("the token's JSON", &error)))?;
        Ok(Token {
            header,
            project: answer.token.project.map(|project| ProjectId::new(project.id)),
            catalog: answer.token.catalog,
            renew_at: renew_at(
                self.inner.clock.now(),
                answer.token.issued_at.as_deref(),
                answer.token.expires_at.as_deref(),
            ),
        })
    }

    fn malformed(&self, status: StatusCode, headers: &http::HeaderMap, what: &str) -> ApiError {
        let path = self.inner.tokens.path();
        let class = ErrorClass::Malformed;
        ApiError {
            status: Some(status.as_u16()),
            request_id: classify::request_id(headers),
            ..ApiError::local(Service::Identity, "POST", path, class, what)
        }
    }

    /// Keystone quotes the request in the messages of its schema.
    fn redacted(&self, message: String) -> String {
        let secret = secret(&self.inner.credentials.method).expose_secret();
        if secret.is_empty() { message } else { message.replace(secret, "[REDACTED]") }
    }

    /// The endpoint of a service as the catalog, or an override, has it.
    pub(crate) fn endpoint(&self, token: &Token, service: Service) -> Result<Url, ApiError> {
        let credentials = &self.inner.credentials;
        let types = catalog::types(service);
        let overridden = types.iter().find_map(|name| credentials.endpoint_overrides.get(*name));
        let found = match overridden {
            Some(url) => catalog::parse(url),
            None => {
                let interface = credentials.interface.as_str();
                token.catalog.find(types, credentials.region.as_deref(), interface)
            }
        };
        found.map_err(|problem| ApiError::local(service, "GET", "/", ErrorClass::NoEndpoint, problem))
    }
}

/// When to renew. The token's life is the difference of two times of the server's clock, so that ours may be wrong.
fn renew_at(now: Instant, issued: Option<&str>, expires: Option<&str>) -> Option<Instant> {
    let issued: jiff::Timestamp = issued?.parse().ok()?;
    let expires: jiff::Timestamp = expires?.parse().ok()?;
    let life = Duration::try_from(expires.duration_since(issued)).ok()?;
    now.checked_add(life.saturating_sub(MARGIN.min(life / 10)))
}

/// Where JSON broke, without quoting it.
pub(crate) fn position(what: &str, error: &serde_json::Error) -> String {
    let problem = match error.classify() {
        serde_json::error::Category::Eof => "ends too early",
        serde_json::error::Category::Data => "has an unexpected form",
        _ => "cannot be read",
    };
    let (line, column) = (error.line(), error.column());
    format!("{what} {problem} at line {line} column {column}")
}

fn secret(method: &AuthMethod) -> &SecretString {
    match method {
        AuthMethod::Password { password, .. } => password,
        AuthMethod::AppCredentialId { secret, .. } | AuthMethod::AppCredentialName { secret, .. } => secret,
    }
}

/// The body of `POST /v3/auth/tokens`.
fn body(credentials: &Credentials) -> Value {
    match &credentials.method {
        AuthMethod::Password { user, password, scope } => {
            let mut who = user_json(user);
            insert(&mut who, "password", json!(password.expose_secret()));
            json!({"auth": {
                "identity": {"methods": ["password"], "password": {"user": who}},
                "scope": {"project": scope_json(scope)},
            }})
        }
        // An application credential carries its scope; one more is refused with a 401.
        AuthMethod::AppCredentialId { id, secret } => app_credential(json!({
            "id": id,
            "secret": secret.expose_secret(),
        })),
        AuthMethod::AppCredentialName { name, user, secret } => app_credential(json!({
            "name": name,
            "secret": secret.expose_secret(),
            "user": user_json(user),
        })),
    }
}

fn app_credential(credential: Value) -> Value {
    json!({"auth": {"identity": {
        "methods": ["application_credential"],
        "application_credential": credential,
    }}})
}

fn user_json(user: &UserRef) -> Value {
    match user {
        UserRef::Id(id) => json!({"id": id}),
        UserRef::Name { name, domain } => json!({"name": name, "domain": domain_json(domain)}),
    }
}

fn scope_json(scope: &Scope) -> Value {
    match scope {
        Scope::ProjectId(id) => json!({"id": id}),
        Scope::ProjectName { name, domain } => {
            json!({"name": name, "domain": domain_json(domain)})
        }
    }
}

fn domain_json(domain: &DomainRef) -> Value {
    match domain {
        DomainRef::Id(id) => json!({"id": id}),
        DomainRef::Name(name) => json!({"name": name}),
    }
}

fn insert(object: &mut Value, key: &str, value: Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(key.to_owned(), value);
    }
}

#[async_trait]
impl AuthType for KeystoneAuth {
    async fn authenticate(
        &self,
        client: &reqwest::Client,
        request: RequestBuilder,
    ) -> Result<RequestBuilder, openstack::Error> {
        let token = self.token(client).await.map_err(for_session)?;
        Ok(request.header("x-auth-token", token.header.clone()))
    }

    async fn get_endpoint(
        &self,
        client: &reqwest::Client,
        service_type: &str,
        filters: &EndpointFilters,
    ) -> Result<Url, openstack::Error> {
        let token = self.token(client).await.map_err(for_session)?;
        let interface = filters.interfaces.first().map(ToString::to_string);
        let interface = interface.unwrap_or_else(|| "public".to_owned());
        let found = token.catalog.find(&[service_type], filters.region.as_deref(), &interface);
        found.map_err(|problem| openstack::Error::new(openstack::ErrorKind::EndpointNotFound, problem))
    }

    async fn refresh(&self, client: &reqwest::Client) -> Result<(), openstack::Error> {
        let renewed = match self.current() {
            Some(token) => self.renew(client, &token.header).await,
            None => self.token(client).await,
        };
        renewed.map(drop).map_err(for_session)
    }
}

/// The session's own error type knows no class: calls of ours never go through it, the session's other users do.
fn for_session(error: ApiError) -> openstack::Error {
    let kind = match error.class {
        ErrorClass::Unauthenticated => openstack::ErrorKind::AuthenticationFailed,
        ErrorClass::Forbidden => openstack::ErrorKind::AccessDenied,
        ErrorClass::Timeout => openstack::ErrorKind::OperationTimedOut,
        ErrorClass::NoEndpoint => openstack::ErrorKind::EndpointNotFound,
        ErrorClass::Invalid => openstack::ErrorKind::InvalidInput,
        ErrorClass::Server => openstack::ErrorKind::InternalServerError,
        _ => openstack::ErrorKind::ProtocolError,
    };
    openstack::Error::new(kind, error.to_string())
}
