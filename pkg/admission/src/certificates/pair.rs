//! Reading certificates and keys, and telling the facts that decisions need.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::sign::CertifiedKey;
use rustls::{RootCertStore, client};

use super::rotation::{SignedBy, Validity};

/// A certificate with its chain and its key, which fit together.
pub(crate) struct Pair {
    pub(crate) key: Arc<CertifiedKey>,
    pub(crate) validity: Validity,
}

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pair").field("validity", &self.validity).finish_non_exhaustive()
    }
}

impl Pair {
    /// Reads a certificate chain and its key, both PEM.
    ///
    /// # Errors
    /// What is wrong, without any of the content.
    pub(crate) fn read(chain: &[u8], key: &[u8]) -> Result<Self, String> {
        let chain = certificates(chain)?;
        let first = chain.first().ok_or("there is no certificate in it")?;
        let validity = validity(first)?;
        // The reader's own words might quote the key.
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| "there is no private key in it")?;
        let provider = rustls::crypto::ring::default_provider();
        let key = CertifiedKey::from_der(chain, key, &provider).map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => "the key belongs to another certificate".to_owned(),
            other => format!("unusable key: {other}"),
        })?;
        Ok(Self { key: Arc::new(key), validity })
    }

    fn leaf(&self) -> Option<ParsedCertificate<'_>> {
        ParsedCertificate::try_from(self.key.cert.first()?).ok()
    }

    /// Whether it is good for each of these DNS names and addresses.
    pub(crate) fn has_names(&self, names: &[String]) -> bool {
        let Some(leaf) = self.leaf() else { return false };
        names.iter().all(|name| {
            ServerName::try_from(name.as_str()).is_ok_and(|name| client::verify_server_name(&leaf, &name).is_ok())
        })
    }

    /// Who signed it, out of a bundle with the newest CA first.
    pub(crate) fn signed_by(&self, bundle: &[CertificateDer<'static>]) -> SignedBy {
        match bundle.iter().position(|authority| self.verifies(authority)) {
            Some(0) => SignedBy::Newest,
            Some(_) => SignedBy::Older,
            None => SignedBy::Unknown,
        }
    }

    fn verifies(&self, authority: &CertificateDer<'static>) -> bool {
        let mut roots = RootCertStore::empty();
        let algorithms = rustls::crypto::ring::default_provider().signature_verification_algorithms.all;
        // Its own first moment: whether it is still good is asked elsewhere.
        let seconds = u64::try_from(self.validity.since.as_second()).unwrap_or_default();
        let at = UnixTime::since_unix_epoch(std::time::Duration::from_secs(seconds));
        roots.add(authority.clone()).is_ok()
            && self.leaf().is_some_and(|leaf| {
                client::verify_server_cert_signed_by_trust_anchor(&leaf, &roots, &[], at, algorithms).is_ok()
            })
    }
}

/// The certificates in a PEM text.
pub(crate) fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>().map_err(|_| "it is no PEM certificate".into())
}

/// From when until when a certificate is good.
pub(crate) fn validity(certificate: &CertificateDer<'_>) -> Result<Validity, String> {
    let (_, parsed) = x509_parser::parse_x509_certificate(certificate).map_err(|_| "it is no X.509 certificate")?;
    let at = |seconds: i64| Timestamp::from_second(seconds).map_err(|_| "its validity is beyond all time");
    let validity = parsed.validity();
    Ok(Validity { since: at(validity.not_before.timestamp())?, until: at(validity.not_after.timestamp())? })
}
