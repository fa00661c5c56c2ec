//! Gardener's secret `cloudprovider`.

use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::STANDARD};
use fabric_openstack_types::credentials::{AuthMethod, Credentials, DomainRef, Interface, Scope, UserRef};
use fabric_openstack_types::secret_key::DNS_ALIASES;
use serde_json::Value;

use crate::error::Error;

/// Whose secret it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// `cloudprovider` of a shoot: only Gardener's own keys.
    Infrastructure,
    /// A DNS secret: the `OS_*` spellings too.
    Dns,
}

/// What does not stand in the secret.
#[derive(Clone, Debug, Default)]
pub struct Defaults {
    /// Keystone's URL (the CloudProfile's), used when the secret has no `authURL`.
    pub auth_url: Option<String>,
    /// The shoot's region.
    pub region: Option<String>,
    /// The CloudProfile's CA certificate, used when the secret has no `caCert`.
    pub ca_cert: Option<String>,
}

struct Data<'a> {
    place: &'a str,
    data: &'a BTreeMap<String, String>,
    usage: Usage,
}

/// Credentials from a secret's data. `place` names the secret in messages.
///
/// The method is chosen as Gardener's extension does: application credential by id, else by name, else password.
///
/// # Errors
/// Names the key and the fix; never a value of a secret key.
pub fn credentials(
    place: &str,
    data: &BTreeMap<String, String>,
    usage: Usage,
    defaults: &Defaults,
) -> Result<Credentials, Error> {
    let data = Data { place, data, usage };
    let domain = data.need("domainName", "the domain of user and project")?;
    let tenant = data.need("tenantName", "the project that the shoot's infrastructure lies in")?;
    let auth_url = data.get("authURL").map(str::to_owned).or_else(|| defaults.auth_url.clone());
    Ok(Credentials {
        auth_url: auth_url.ok_or_else(|| data.missing("authURL", "set it, or keystoneURL in the CloudProfile"))?,
        method: data.method(&domain, &tenant)?,
        region: defaults.region.clone(),
        interface: Interface::Public,
        ca_cert: data.get("caCert").map(str::to_owned).or_else(|| defaults.ca_cert.clone()),
        // Exactly this word; anything else is "no".
        insecure: data.get("insecure").is_some_and(|text| text.trim().to_lowercase() == "true"),
        endpoint_overrides: BTreeMap::new(),
    })
}

impl Data<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        let spelled = |key: &str| self.data.get(key).map(String::as_str);
        let filled = |text: &&str| !text.is_empty();
        let alias = DNS_ALIASES.iter().find(|(name, _)| *name == key);
        let alias = alias.filter(|_| self.usage == Usage::Dns);
        spelled(key).filter(filled).or_else(|| spelled(alias?.1).filter(filled))
    }

    fn need(&self, key: &str, fix: &str) -> Result<String, Error> {
        let value = self.get(key).map(str::to_owned);
        value.ok_or_else(|| self.missing(key, fix))
    }

    fn missing(&self, key: &str, fix: &str) -> Error {
        Error::Missing { place: self.place.to_owned(), field: key.to_owned(), fix: fix.to_owned() }
    }

    fn method(&self, domain: &str, tenant: &str) -> Result<AuthMethod, Error> {
        let domain = || DomainRef::Name(domain.to_owned());
        let named = |name: String| UserRef::Name { name, domain: domain() };
        let secret = self.get("applicationCredentialSecret");
        if self.get("password").is_some() && secret.is_some() {
            return Err(Error::Invalid {
                place: self.place.to_owned(),
                field: "password".to_owned(),
                problem: "stands beside applicationCredentialSecret: keep one of the two".to_owned(),
            });
        }
        if let Some(password) = self.get("password") {
            return Ok(AuthMethod::Password {
                user: named(self.need("username", "the password's user")?),
                password: password.into(),
                scope: Scope::ProjectName { name: tenant.to_owned(), domain: domain() },
            });
        }
        let fix = "give password, or applicationCredentialSecret with its id or name";
        let secret = self.need("applicationCredentialSecret", fix)?.into();
        if let Some(id) = self.get("applicationCredentialID") {
            let id = id.to_owned();
            return Ok(AuthMethod::AppCredentialId { id, secret });
        }
        let fix = "give applicationCredentialID, or applicationCredentialName with username";
        let name = self.need("applicationCredentialName", fix)?;
        let user = named(self.need("username", "the user of the application credential")?);
        Ok(AuthMethod::AppCredentialName { name, user, secret })
    }
}

/// The data of a Secret's manifest as text: `data` is base64, `stringData` is not and wins.
///
/// # Errors
/// Names the key that is no base64 or no text.
pub fn decode(place: &str, manifest: &Value) -> Result<BTreeMap<String, String>, Error> {
    let entries = |section: &str| {
        let section = manifest.get(section).and_then(Value::as_object);
        section.into_iter().flatten()
    };
    let invalid = |key: &str, problem: &str| Error::Invalid {
        place: place.to_owned(),
        field: key.to_owned(),
        problem: problem.to_owned(),
    };
    let mut data = BTreeMap::new();
    for (key, value) in entries("data") {
        let field = format!("data.{key}");
        let text = value.as_str().ok_or_else(|| invalid(&field, "must be a text"))?;
        let compact: String = text.split_whitespace().collect();
        let bytes =
            STANDARD.decode(compact).map_err(|_| invalid(&field, "is no base64: encode it, or use stringData"))?;
        let text = String::from_utf8(bytes).map_err(|_| invalid(&field, "is no UTF-8 text"))?;
        data.insert(key.clone(), text);
    }
    for (key, value) in entries("stringData") {
        let field = format!("stringData.{key}");
        let text = value.as_str().ok_or_else(|| invalid(&field, "must be a text: quote it"))?;
        data.insert(key.clone(), text.to_owned());
    }
    Ok(data)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(pairs: &[(&str, &str)], usage: Usage) -> Result<Credentials, Error> {
        let pairs = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        let defaults =
            Defaults { auth_url: Some("https://profile/v3".to_owned()), region: Some("R".to_owned()), ca_cert: None };
        credentials("secret cloudprovider", &pairs.collect(), usage, &defaults)
    }

    const BASE: [(&str, &str); 2] = [("domainName", "d"), ("tenantName", "t")];

    #[test]
    fn chooses_the_method_as_gardeners_extension_does() {
        let method = |more: &[(&str, &str)]| {
            let read = read(&[&BASE[..], more].concat(), Usage::Infrastructure);
            match read.unwrap().method {
                AuthMethod::Password { .. } => "password",
                AuthMethod::AppCredentialId { .. } => "id",
                AuthMethod::AppCredentialName { .. } => "name",
            }
        };
        assert_eq!(method(&[("username", "u"), ("password", "hunter2")]), "password");
        let by_id = [("applicationCredentialID", "i"), ("applicationCredentialSecret", "s")];
        assert_eq!(method(&by_id), "id");
        let both = [&by_id[..], &[("applicationCredentialName", "n"), ("username", "u")]].concat();
        assert_eq!(method(&both), "id");
        let by_name = [("applicationCredentialName", "n"), ("username", "u"), ("applicationCredentialSecret", "s")];
        assert_eq!(method(&by_name), "name");
    }

    #[test]
    fn what_is_wrong_is_named_without_its_value() {
        for (pairs, said) in [
            (vec![], "domainName is missing"),
            (vec![BASE[0]], "tenantName is missing"),
            (vec![BASE[0], ("tenantName", "")], "tenantName is missing"),
            (BASE.to_vec(), "applicationCredentialSecret is missing: give password"),
            ([&BASE[..], &[("password", "hunter2")]].concat(), "username is missing"),
            (
                [&BASE[..], &[("password", "hunter2"), ("applicationCredentialSecret", "hunter3")]].concat(),
                "password: stands beside applicationCredentialSecret",
            ),
            (
                [&BASE[..], &[("applicationCredentialSecret", "hunter3"), ("applicationCredentialName", "n")]].concat(),
                "username is missing",
            ),
            // The spellings of DNS secrets do not count for infrastructure.
            (
                [&BASE[..], &[("username", "u"), ("OS_PASSWORD", "hunter2")]].concat(),
                "applicationCredentialSecret is missing",
            ),
        ] {
            let error = read(&pairs, Usage::Infrastructure).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
            assert!(error.starts_with("secret cloudprovider: "), "{error}");
            assert!(!error.contains("hunter"), "{error}");
        }
    }

    #[test]
    fn dns_secrets_may_use_the_other_spellings() {
        let read = read(
            &[
                ("OS_DOMAIN_NAME", "d"),
                ("OS_PROJECT_NAME", "t"),
                ("OS_AUTH_URL", "https://secret/v3"),
                ("OS_USERNAME", "u"),
                ("OS_PASSWORD", "p"),
            ],
            Usage::Dns,
        );
        assert_eq!(read.unwrap().auth_url, "https://secret/v3");
    }

    #[test]
    fn insecure_is_only_the_word_true() {
        for (text, want) in [("true", true), (" True\n", true), ("1", false), ("yes", false), ("", false)] {
            let pairs = [&BASE[..], &[("username", "u"), ("password", "p"), ("insecure", text)]].concat();
            assert_eq!(read(&pairs, Usage::Infrastructure).unwrap().insecure, want, "{text:?}");
        }
    }

    #[test]
    fn decodes_a_manifest() {
        let data =
            decode("s", &json!({"data": {"a": "aHVudGVyMg==", "b": "eA=="}, "stringData": {"b": "plain"}})).unwrap();
        assert_eq!(data["a"], "hunter2");
        assert_eq!(data["b"], "plain");
        for (manifest, said) in [
            (json!({"data": {"a": "hunter2!"}}), "data.a: is no base64"),
            (json!({"data": {"a": 7}}), "data.a: must be a text"),
            (json!({"stringData": {"a": true}}), "stringData.a: must be a text"),
        ] {
            let error = decode("s", &manifest).unwrap_err().to_string();
            assert!(error.contains(said) && !error.contains("hunter"), "{error}");
        }
    }
}
