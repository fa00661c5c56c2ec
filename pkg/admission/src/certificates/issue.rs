//! Making certificates.

use std::time::Duration;

use jiff::Timestamp;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
};
use rustls::pki_types::CertificateDer;

use super::rotation::Policy;
use crate::Error;

/// A certificate and its key, PEM.
pub(crate) struct Issued {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

/// A new CA for `component`.
pub(crate) fn authority(component: &str, now: Timestamp, policy: &Policy) -> Result<Issued, Error> {
    let mut params = params(Vec::new(), now, policy)?;
    // The time tells people which is which, and a caller that looks for issuers by name which to take.
    params.distinguished_name.push(DnType::CommonName, format!("{component}-webhook-ca {now:.0}"));
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
    let key = KeyPair::generate()?;
    let certificate = params.self_signed(&key)?.pem();
    Ok(Issued { certificate, key: key.serialize_pem() })
}

/// A server certificate for these DNS names and addresses, signed by a CA.
pub(crate) fn server(
    component: &str,
    names: &[String],
    ca: (&CertificateDer<'_>, &str),
    now: Timestamp,
    policy: &Policy,
) -> Result<Issued, Error> {
    let issuer = Issuer::from_ca_cert_der(ca.0, KeyPair::from_pem(ca.1)?)?;
    let mut params = params(names.to_vec(), now, policy)?;
    params.distinguished_name.push(DnType::CommonName, format!("{component}-webhook-server"));
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, &issuer)?.pem();
    Ok(Issued { certificate, key: key.serialize_pem() })
}

fn params(names: Vec<String>, now: Timestamp, policy: &Policy) -> Result<CertificateParams, Error> {
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name = rcgen::DistinguishedName::new();
    // rcgen takes another library's times: count from the epoch.
    let at = |time: Timestamp| {
        let seconds = u64::try_from(time.as_second()).map_err(|_| Error::Time(time))?;
        Ok::<_, Error>(rcgen::date_time_ymd(1970, 1, 1) + Duration::from_secs(seconds))
    };
    params.not_before = at(now.checked_sub(policy.skew).map_err(|_| Error::Time(now))?)?;
    params.not_after = at(now.checked_add(policy.validity).map_err(|_| Error::Time(now))?)?;
    Ok(params)
}
