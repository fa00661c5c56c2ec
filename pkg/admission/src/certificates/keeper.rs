//! Certificates of our own making, kept in secrets that all replicas read and the leader writes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use rustls::pki_types::CertificateDer;

use super::rotation::{self, Authority, AuthorityStep, Policy, Server, ServerStep, Validity};
use super::{BundleSink, Pair, Secret, SecretStore, Serving, StoreError, Stored, issue, pair};
use crate::{Error, Metrics};

/// Tells the time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;
/// Whether this replica may write just now.
pub type Leader = Arc<dyn Fn() -> bool + Send + Sync>;

const CA_CERT: &str = "ca.crt";
const CA_KEY: &str = "ca.key";
const CERT: &str = "tls.crt";
const KEY: &str = "tls.key";
/// Two leaders at once happen for a moment only.
const ATTEMPTS: usize = 4;

/// What one round did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// A new CA was made.
    pub authority: Option<rotation::Why>,
    /// Old CAs left the bundle.
    pub pruned: bool,
    /// A new server certificate was made.
    pub server: Option<rotation::Why>,
    /// Another certificate is in use now.
    pub swapped: bool,
}

/// Keeps the secrets, the bundle and the certificate in use as they should be.
pub struct Keeper {
    component: String,
    names: Vec<String>,
    policy: Policy,
    secrets: Arc<dyn SecretStore>,
    bundles: Arc<dyn BundleSink>,
    serving: Arc<Serving>,
    leader: Leader,
    clock: Clock,
    metrics: Option<Metrics>,
    /// Which bundle was seen published, and since when.
    published: Option<(String, Timestamp)>,
}

/// What the CA's secret holds, read.
struct Bundle {
    certificates: Vec<CertificateDer<'static>>,
    pem: String,
    key: Option<String>,
    facts: Authority,
}

impl Keeper {
    /// Keeps certificates for a server that is reached by `names` (DNS names or addresses).
    pub fn new(
        component: impl Into<String>,
        names: Vec<String>,
        store: (Arc<dyn SecretStore>, Arc<dyn BundleSink>),
        serving: Arc<Serving>,
        leader: Leader,
    ) -> Self {
        Self {
            component: component.into(),
            names,
            policy: Policy::default(),
            secrets: store.0,
            bundles: store.1,
            serving,
            leader,
            clock: Arc::new(Timestamp::now),
            metrics: None,
            published: None,
        }
    }

    /// With other times.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// With another clock.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Tells these metrics when the certificate ends.
    #[must_use]
    pub fn with_metrics(mut self, metrics: Metrics) -> Self {
        self.metrics = Some(metrics);
        self
    }

    /// Does what is due, for ever: every `every`, and every second until there is a first certificate.
    pub async fn run(mut self, every: Duration) {
        loop {
            match self.round().await {
                Ok(done) if done != Done::default() => {
                    tracing::info!(?done, until = ?self.serving.until(), "certificates")
                }
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "keeping the webhook's certificates; the one in use stays"),
            }
            let pause = if self.serving.until().is_some() { every } else { every.min(Duration::from_secs(1)) };
            tokio::time::sleep(pause).await;
        }
    }

    /// Does what is due now.
    ///
    /// # Errors
    /// [`Error::Store`], [`Error::Issue`], [`Error::Contended`]. A certificate in use stays in use.
    pub async fn round(&mut self) -> Result<Done, Error> {
        let mut done = Done::default();
        for _ in 0..ATTEMPTS {
            match self.attempt(&mut done).await {
                Err(Error::Store { source: StoreError::Conflict, .. }) => {}
                other => return other.map(|()| done),
            }
        }
        Err(Error::Contended { attempts: ATTEMPTS })
    }

    async fn attempt(&mut self, done: &mut Done) -> Result<(), Error> {
        let authority = self.read(Secret::Authority).await?;
        let server = self.read(Secret::Server).await?;
        // A secret that somebody made to be filled in is as good as none.
        let filled = |stored: &&Stored| !stored.data.is_empty();
        let bundle =
            authority.as_ref().filter(filled).and_then(|stored| readable(Secret::Authority, Bundle::read(stored)));
        let pair = server.as_ref().filter(filled).and_then(|stored| readable(Secret::Server, read_pair(stored)));
        // What is there is used first: a replica must serve even while nothing can be written.
        if let Some(pair) = &pair {
            done.swapped |= self.take(pair);
        }
        if !(self.leader)() {
            self.published = None;
            return Ok(());
        }
        let now = (self.clock)();
        let version = authority.as_ref().map(|stored| stored.version.as_str());
        let bundle = self.keep_authority(now, bundle, pair.as_ref(), version, done).await?;
        let published = self.publish(now, &bundle).await;
        let version = server.as_ref().map(|stored| stored.version.as_str());
        self.keep_server(now, &bundle, pair, version, done).await?;
        published
    }

    async fn keep_authority(
        &self,
        now: Timestamp,
        bundle: Option<Bundle>,
        pair: Option<&Pair>,
        version: Option<&str>,
        done: &mut Done,
    ) -> Result<Bundle, Error> {
        let server = bundle.as_ref().and_then(|bundle| pair.map(|pair| self.facts(pair, bundle)));
        let step = rotation::authority(now, bundle.as_ref().map(|bundle| &bundle.facts), server.as_ref(), &self.policy);
        let (mut certificates, key) = match (&step, bundle) {
            (AuthorityStep::Keep, Some(bundle)) => return Ok(bundle),
            (AuthorityStep::Prune(stays), Some(bundle)) => {
                let stays: Vec<bool> = std::iter::once(true).chain(stays.iter().copied()).collect();
                (remaining(&bundle.certificates, &stays), bundle.key)
            }
            (AuthorityStep::Make(_, stays), Some(bundle)) => (remaining(&bundle.certificates, stays), None),
            (_, None) => (Vec::new(), None),
        };
        let key = match key {
            Some(key) => key,
            None => {
                let issued = issue::authority(&self.component, now, &self.policy)?;
                certificates.splice(0..0, parse(&issued.certificate)?);
                issued.key
            }
        };
        let data = BTreeMap::from([
            (CA_CERT.to_owned(), to_pem(&certificates).into_bytes()),
            (CA_KEY.to_owned(), key.into_bytes()),
        ]);
        let stored = self.write(Secret::Authority, version, data).await?;
        match step {
            AuthorityStep::Make(why, _) => done.authority = Some(why),
            _ => done.pruned = true,
        }
        Bundle::read(&stored).map_err(|problem| Error::Certificate { origin: "the CA just made".into(), problem })
    }

    /// Publishes the bundle and remembers since when it is known. A new CA starts the wait anew, an old one leaving does not.
    async fn publish(&mut self, now: Timestamp, bundle: &Bundle) -> Result<(), Error> {
        self.bundles
            .publish(&bundle.pem)
            .await
            .map_err(|source| Error::Store { what: "publishing the CA bundle", source })?;
        let newest = bundle.certificates.first().map(|newest| to_pem(std::slice::from_ref(newest))).unwrap_or_default();
        if self.published.as_ref().is_none_or(|(known, _)| *known != newest) {
            self.published = Some((newest, now));
        }
        Ok(())
    }

    async fn keep_server(
        &self,
        now: Timestamp,
        bundle: &Bundle,
        pair: Option<Pair>,
        version: Option<&str>,
        done: &mut Done,
    ) -> Result<(), Error> {
        let newest = bundle.certificates.first().map(|newest| to_pem(std::slice::from_ref(newest)));
        let published =
            self.published.as_ref().filter(|(known, _)| Some(known) == newest.as_ref()).map(|(_, since)| *since);
        let facts = pair.map(|pair| self.facts(&pair, bundle));
        let ServerStep::Make(why) = rotation::server(now, facts.as_ref(), published, &self.policy) else {
            return Ok(());
        };
        let (Some(ca), Some(key)) = (bundle.certificates.first(), &bundle.key) else { return Ok(()) };
        let issued = issue::server(&self.component, &self.names, (ca, key), now, &self.policy)?;
        let data = BTreeMap::from([
            (CERT.to_owned(), issued.certificate.into_bytes()),
            (KEY.to_owned(), issued.key.into_bytes()),
        ]);
        let stored = self.write(Secret::Server, version, data).await?;
        done.server = Some(why);
        let pair = read_pair(&stored)
            .map_err(|problem| Error::Certificate { origin: "the certificate just made".into(), problem })?;
        done.swapped |= self.take(&pair);
        Ok(())
    }

    fn take(&self, pair: &Pair) -> bool {
        if let Some(metrics) = &self.metrics {
            metrics.certificate_ends(pair.validity.until);
        }
        self.serving.set(pair)
    }

    fn facts(&self, pair: &Pair, bundle: &Bundle) -> Server {
        Server {
            validity: pair.validity,
            signed_by: pair.signed_by(&bundle.certificates),
            has_names: pair.has_names(&self.names),
        }
    }

    async fn read(&self, secret: Secret) -> Result<Option<Stored>, Error> {
        let what = match secret {
            Secret::Authority => "reading the CA's secret",
            Secret::Server => "reading the server certificate's secret",
        };
        self.secrets.read(secret).await.map_err(|source| Error::Store { what, source })
    }

    async fn write(
        &self,
        secret: Secret,
        version: Option<&str>,
        data: BTreeMap<String, Vec<u8>>,
    ) -> Result<Stored, Error> {
        let what = match secret {
            Secret::Authority => "writing the CA's secret",
            Secret::Server => "writing the server certificate's secret",
        };
        self.secrets.write(secret, version, data).await.map_err(|source| Error::Store { what, source })
    }
}

impl Bundle {
    fn read(stored: &Stored) -> Result<Self, String> {
        let pem = stored.data.get(CA_CERT).ok_or("ca.crt is missing")?;
        let certificates = pair::certificates(pem)?;
        let validity: Vec<Validity> = certificates.iter().map(pair::validity).collect::<Result<_, _>>()?;
        let (newest, older) = validity.split_first().ok_or("ca.crt has no certificate")?;
        let first = certificates.first().map(|first| to_pem(std::slice::from_ref(first))).unwrap_or_default();
        let key = stored
            .data
            .get(CA_KEY)
            .filter(|key| Pair::read(first.as_bytes(), key).is_ok())
            .and_then(|key| String::from_utf8(key.clone()).ok());
        let facts = Authority { newest: *newest, older: older.to_vec(), has_key: key.is_some() };
        Ok(Self { pem: to_pem(&certificates), certificates, key, facts })
    }
}

fn read_pair(stored: &Stored) -> Result<Pair, String> {
    let get = |key: &str| stored.data.get(key).ok_or(format!("{key} is missing"));
    Pair::read(get(CERT)?, get(KEY)?)
}

/// A damaged secret counts as none; the leader makes a new one.
fn readable<T>(secret: Secret, read: Result<T, String>) -> Option<T> {
    read.inspect_err(|problem| tracing::warn!(?secret, problem, "unusable secret")).ok()
}

fn remaining(bundle: &[CertificateDer<'static>], stays: &[bool]) -> Vec<CertificateDer<'static>> {
    bundle.iter().zip(stays).filter(|(_, stays)| **stays).map(|(certificate, _)| certificate.clone()).collect()
}

fn parse(pem: &str) -> Result<Vec<CertificateDer<'static>>, Error> {
    pair::certificates(pem.as_bytes())
        .map_err(|problem| Error::Certificate { origin: "the CA just made".into(), problem })
}

fn to_pem(certificates: &[CertificateDer<'_>]) -> String {
    use base64::{Engine, engine::general_purpose::STANDARD};
    let mut pem = String::new();
    for certificate in certificates {
        pem.push_str("-----BEGIN CERTIFICATE-----\n");
        let mut rest: &str = &STANDARD.encode(certificate);
        // RFC 7468: lines of 64 characters.
        while let Some((line, after)) = rest.split_at_checked(64) {
            pem.push_str(line);
            pem.push('\n');
            rest = after;
        }
        if !rest.is_empty() {
            pem.push_str(rest);
            pem.push('\n');
        }
        pem.push_str("-----END CERTIFICATE-----\n");
    }
    pem
}

#[cfg(test)]
mod tests;
