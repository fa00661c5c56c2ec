//! Rules for a secret with OpenStack credentials, for infrastructure (`cloudprovider`) or for DNS entries: which keys it
//! holds and which ways to log in they make.
//!
//! No value but the tenant's name, the URL and the insecure flag ever gets into an error.

use std::borrow::Cow;
use std::collections::BTreeMap;

use fabric_apis::field::{Error, ErrorList, Path};
use fabric_apis::gardener::{Secret, secret_data};
use validator::ValidateUrl;

use crate::text::validate_max_characters;

/// The keys of the secret.
pub use fabric_openstack_types::secret_key as key;

/// Shown instead of a value that is nobody's business.
const HIDDEN: &str = "(hidden)";

/// Everything that is wrong with a secret. Paths start at `secret`.
pub fn validate(secret: &Secret) -> ErrorList {
    validate_data(&secret_data(secret), &Path::new("secret"))
}

/// What is wrong with a secret that was `old` before: nothing when its data is the same, whatever it is.
pub fn validate_update(new: &Secret, old: &Secret) -> ErrorList {
    if secret_data(new) == secret_data(old) { ErrorList::new() } else { validate(new) }
}

/// Everything that is wrong with a secret's data; `path` is the secret's.
pub fn validate_data(data: &BTreeMap<String, Vec<u8>>, path: &Path<'_>) -> ErrorList {
    judge(data, Use::Infrastructure, path)
}

/// Everything that is wrong with the data of a secret for DNS entries; `path` is the secret's.
///
/// Beside the usual keys it may hold [their names as environment variables](key::DNS_ALIASES), and it has to say where
/// Keystone is, because no CloudProfile fills that in. A usual key wins over its other name.
pub fn validate_dns_data(data: &BTreeMap<String, Vec<u8>>, path: &Path<'_>) -> ErrorList {
    judge(data, Use::Dns, path)
}

/// What a secret is for.
#[derive(Clone, Copy, PartialEq)]
enum Use {
    Infrastructure,
    Dns,
}

impl Use {
    fn alias(self, name: &str) -> Option<&'static str> {
        let known = key::DNS_ALIASES.iter().find(|(usual, _)| self == Self::Dns && *usual == name);
        known.map(|(_, alias)| *alias)
    }

    fn knows(self, name: &str) -> bool {
        key::ALL.contains(&name) || (self == Self::Dns && key::DNS_ALIASES.iter().any(|(_, alias)| *alias == name))
    }
}

fn judge(data: &BTreeMap<String, Vec<u8>>, purpose: Use, path: &Path<'_>) -> ErrorList {
    let path = path.child("data");
    let mut secret = Reader { data, purpose, path: &path, errors: ErrorList::new() };

    let domain = secret.required(key::DOMAIN_NAME);
    secret.trimmed(&domain, Some(HIDDEN));
    let tenant = secret.required(key::TENANT_NAME);
    secret.trimmed(&tenant, None);
    validate_max_characters(&tenant.value, 64, &path.key(tenant.name), &mut secret.errors);

    let user = secret.optional(key::USER_NAME);
    secret.trimmed(&user, Some(HIDDEN));
    let password = secret.optional(key::PASSWORD);
    if password.value.trim_matches(['\n', '\r']) != password.value {
        secret.invalid(password.name, HIDDEN, "must not contain leading or trailing newlines");
    }
    let app_id = secret.optional(key::APPLICATION_CREDENTIAL_ID);
    secret.trimmed(&app_id, Some(HIDDEN));
    let app_name = secret.optional(key::APPLICATION_CREDENTIAL_NAME);
    secret.trimmed(&app_name, Some(HIDDEN));
    let app_secret = secret.optional(key::APPLICATION_CREDENTIAL_SECRET);
    secret.trimmed(&app_secret, Some(HIDDEN));

    secret.auth_url();
    secret.ca_cert();
    secret.insecure();
    Login { user, password, app_id, app_name, app_secret }.validate(&path, &mut secret.errors);
    for unexpected in data.keys().filter(|name| !purpose.knows(name)) {
        secret.errors.push(Error::forbidden(&path.key(unexpected), format!("unexpected field {unexpected:?}")));
    }
    secret.errors
}

struct Reader<'a> {
    data: &'a BTreeMap<String, Vec<u8>>,
    purpose: Use,
    path: &'a Path<'a>,
    errors: ErrorList,
}

/// A value under the name it was found by. An absent one is empty and has its usual name.
struct Entry<'a> {
    name: &'static str,
    value: Cow<'a, str>,
}

impl Entry<'_> {
    fn is_empty(&self) -> bool {
        self.value.is_empty()
    }
}

impl<'a> Reader<'a> {
    fn get(&self, name: &'static str) -> Option<Entry<'a>> {
        let names = std::iter::once(name).chain(self.purpose.alias(name));
        let mut found = names.filter_map(|name| self.data.get(name).map(|value| (name, value)));
        found.next().map(|(name, value)| Entry { name, value: String::from_utf8_lossy(value) })
    }

    fn invalid(&mut self, name: &str, value: &str, detail: impl Into<String>) {
        self.errors.push(Error::invalid(&self.path.key(name), value, detail));
    }

    fn required(&mut self, name: &'static str) -> Entry<'a> {
        let Some(entry) = self.get(name) else {
            self.errors.push(Error::required(&self.path.key(name), format!("missing required field \"{name}\"")));
            return Entry { name, value: Cow::Borrowed("") };
        };
        if entry.is_empty() {
            self.invalid(entry.name, "", format!("field \"{}\" cannot be empty", entry.name));
        }
        entry
    }

    fn optional(&mut self, name: &'static str) -> Entry<'a> {
        let Some(entry) = self.get(name) else { return Entry { name, value: Cow::Borrowed("") } };
        if entry.is_empty() {
            self.invalid(entry.name, "", format!("field \"{}\" cannot be empty when key is set", entry.name));
        }
        entry
    }

    fn trimmed(&mut self, entry: &Entry<'_>, shown: Option<&str>) {
        if entry.value.trim() != entry.value {
            let shown = shown.unwrap_or(&entry.value);
            self.invalid(entry.name, shown, "must not contain leading or trailing whitespace");
        }
    }

    fn auth_url(&mut self) {
        let entry = match self.purpose {
            Use::Infrastructure => self.optional(key::AUTH_URL),
            Use::Dns => self.required(key::AUTH_URL),
        };
        if entry.is_empty() {
            return;
        }
        let url = entry.value.as_ref();
        let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let known_scheme = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
        // Said first, because a URL that lacks a part is also one that can't be read.
        if !known_scheme {
            self.invalid(entry.name, url, "must use http:// or https:// scheme");
        }
        if host.is_empty() {
            self.invalid(entry.name, url, "must include a host");
        }
        // A line break at the end is what a file gives away; URL readers differ in what they do with it.
        let readable = url.validate_url() && !url.contains(|character: char| character.is_ascii_control());
        if known_scheme && !host.is_empty() && !readable {
            self.invalid(entry.name, url, "must be a valid URL");
        }
    }

    fn ca_cert(&mut self) {
        let certificate = self.optional(key::CA_CERT);
        if certificate.is_empty() {
            return;
        }
        for marker in missing_pem_markers(&certificate.value) {
            self.invalid(certificate.name, "", format!("must contain '{marker}'"));
        }
    }

    fn insecure(&mut self) {
        let entry = self.optional(key::INSECURE);
        let normal = entry.value.trim().to_ascii_lowercase();
        if !entry.is_empty() && normal != "true" && normal != "false" {
            let path = self.path.key(entry.name);
            self.errors.push(Error::not_supported(&path, entry.value.as_ref(), &["true", "false"]));
        }
    }
}

/// What a bundle of certificates in PEM lacks.
pub(super) fn missing_pem_markers(bundle: &str) -> impl Iterator<Item = &'static str> {
    let markers = ["-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"];
    markers.into_iter().filter(move |marker| !bundle.contains(marker))
}

/// What there is to log in with.
struct Login<'a> {
    user: Entry<'a>,
    password: Entry<'a>,
    app_id: Entry<'a>,
    app_name: Entry<'a>,
    app_secret: Entry<'a>,
}

impl Login<'_> {
    /// The paths hold the usual names, the texts the names in use.
    fn validate(&self, path: &Path<'_>, errors: &mut ErrorList) {
        let Self { user, password, app_id, app_name, app_secret } = self;
        let mut need = |missing: &Entry<'_>, usual: &str, because: &Entry<'_>| {
            if missing.is_empty() {
                let detail = format!("{} is required when {} is provided", missing.name, because.name);
                errors.push(Error::required(&path.child(usual), detail));
            }
        };
        if !password.is_empty() && !app_secret.is_empty() {
            let detail = format!("cannot specify both {} and {}", password.name, app_secret.name);
            errors.push(Error::invalid(path, "", detail));
        } else if !app_id.is_empty() {
            need(app_secret, key::APPLICATION_CREDENTIAL_SECRET, app_id);
        } else if !app_name.is_empty() {
            need(app_secret, key::APPLICATION_CREDENTIAL_SECRET, app_name);
            need(user, key::USER_NAME, app_name);
        } else if !password.is_empty() {
            need(user, key::USER_NAME, password);
        } else {
            let (user, password, app_secret) = (user.name, password.name, app_secret.name);
            let detail = format!(
                "must provide one of the following authentication methods: (1) {} + {app_secret}, \
                 (2) {user} + {} + {app_secret}, (3) {user} + {password}",
                app_id.name, app_name.name
            );
            errors.push(Error::required(path, detail));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWORD: [(&str, &str); 4] =
        [("domainName", "d"), ("tenantName", "t"), ("username", "u"), ("password", "p")];

    fn check(changes: &[(&str, Option<&str>)]) -> String {
        let mut data: BTreeMap<String, Vec<u8>> =
            PASSWORD.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec())).collect();
        for (name, value) in changes {
            match value {
                Some(value) => data.insert((*name).to_owned(), value.as_bytes().to_vec()),
                None => data.remove(*name),
            };
        }
        let errors = validate_data(&data, &Path::new("secret"));
        if errors.is_empty() { String::new() } else { errors.to_string() }
    }

    #[test]
    fn each_key_and_each_combination_is_judged() {
        let long = "t".repeat(65);
        let too_long = [("tenantName", Some(long.as_str()))];
        let long_error =
            format!(r#"secret.data[tenantName]: Invalid value: "{long}": must not be more than 64 characters, got 65"#);
        let no_login = "secret.data: Required value: must provide one of the following authentication methods: \
             (1) applicationCredentialID + applicationCredentialSecret, \
             (2) username + applicationCredentialName + applicationCredentialSecret, (3) username + password";
        let blank = "must not contain leading or trailing whitespace";
        let hidden_blank = |name: &str| format!(r#"secret.data[{name}]: Invalid value: "(hidden)": {blank}"#);
        type Case<'a> = (&'a [(&'a str, Option<&'a str>)], String);
        let cases: Vec<Case<'_>> = vec![
            (&[], String::new()),
            (&[("domainName", None)], r#"secret.data[domainName]: Required value: missing required field "domainName""#.into()),
            (&[("tenantName", Some(""))], r#"secret.data[tenantName]: Invalid value: "": field "tenantName" cannot be empty"#.into()),
            (&[("caCert", Some(""))], r#"secret.data[caCert]: Invalid value: "": field "caCert" cannot be empty when key is set"#.into()),
            (&[("domainName", Some(" d"))], hidden_blank("domainName")),
            (&[("tenantName", Some("t\t"))], format!(r#"secret.data[tenantName]: Invalid value: "t\t": {blank}"#)),
            (&too_long, long_error),
            (&[("username", Some("u "))], hidden_blank("username")),
            (&[("password", Some("p\n"))], r#"secret.data[password]: Invalid value: "(hidden)": must not contain leading or trailing newlines"#.into()),
            (&[("password", Some(" p "))], String::new()),
            (&[("authURL", Some("https://keystone.example/v3"))], String::new()),
            (&[("authURL", Some("keystone.example"))], r#"secret.data[authURL]: Invalid value: "keystone.example": must use http:// or https:// scheme"#.into()),
            (&[("authURL", Some("ftp://keystone.example"))], r#"secret.data[authURL]: Invalid value: "ftp://keystone.example": must use http:// or https:// scheme"#.into()),
            (&[("authURL", Some("https:///v3"))], r#"secret.data[authURL]: Invalid value: "https:///v3": must include a host"#.into()),
            (&[("authURL", Some("https://a/v3\n"))], r#"secret.data[authURL]: Invalid value: "https://a/v3\n": must be a valid URL"#.into()),
            (&[("authURL", Some("https://a b"))], r#"secret.data[authURL]: Invalid value: "https://a b": must be a valid URL"#.into()),
            (&[("caCert", Some("-----BEGIN CERTIFICATE-----"))], r#"secret.data[caCert]: Invalid value: "": must contain '-----END CERTIFICATE-----'"#.into()),
            (&[("insecure", Some(" TRUE "))], String::new()),
            (&[("insecure", Some("yes"))], r#"secret.data[insecure]: Unsupported value: "yes": supported values: "true", "false""#.into()),
            (&[("applicationCredentialSecret", Some("s"))], r#"secret.data: Invalid value: "": cannot specify both password and applicationCredentialSecret"#.into()),
            (&[("password", None), ("applicationCredentialID", Some("i"))], "secret.data.applicationCredentialSecret: Required value: applicationCredentialSecret is required when applicationCredentialID is provided".into()),
            (
                &[("password", None), ("username", None), ("applicationCredentialName", Some("n"))],
                "[secret.data.applicationCredentialSecret: Required value: applicationCredentialSecret is required when applicationCredentialName is provided, \
                 secret.data.username: Required value: username is required when applicationCredentialName is provided]".into(),
            ),
            (&[("username", None)], "secret.data.username: Required value: username is required when password is provided".into()),
            (&[("password", None)], no_login.into()),
            (&[("region", Some("x"))], r#"secret.data[region]: Forbidden: unexpected field "region""#.into()),
            (&[("password", None), ("applicationCredentialID", Some("i")), ("applicationCredentialSecret", Some("s"))], String::new()),
        ];
        for (changes, expected) in cases {
            assert_eq!(check(changes), expected, "{changes:?}");
        }
    }

    #[test]
    fn no_secret_value_gets_into_a_message() {
        let text = check(&[
            ("domainName", Some(" hush")),
            ("username", Some("hush ")),
            ("password", Some("hush\n")),
            ("applicationCredentialID", Some(" hush")),
            ("applicationCredentialName", Some(" hush")),
            ("applicationCredentialSecret", Some(" hush")),
            ("caCert", Some("hush")),
        ]);
        assert!(!text.contains("hush"), "{text}");
    }

    #[test]
    fn string_data_of_a_manifest_counts_like_data() {
        let secret = Secret {
            string_data: Some(PASSWORD.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()),
            ..Secret::default()
        };
        assert!(validate(&secret).is_empty());
        assert!(!validate(&Secret::default()).is_empty());
    }

    fn pairs(pairs: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec())).collect()
    }

    #[test]
    fn a_secret_for_dns_may_use_the_names_of_the_environment() {
        type Case<'a> = (&'a [(&'a str, &'a str)], &'a str);
        const URL: (&str, &str) = ("authURL", "https://keystone.example/v3");
        let usual = [PASSWORD.as_slice(), &[URL]].concat();
        let others = [
            ("OS_DOMAIN_NAME", "d"),
            ("OS_PROJECT_NAME", "t"),
            ("OS_APPLICATION_CREDENTIAL_ID", "i"),
            ("OS_APPLICATION_CREDENTIAL_SECRET", "s"),
            ("OS_AUTH_URL", "https://keystone.example/v3"),
            ("OS_CACERT", "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----"),
        ];
        let shadowed = [usual.as_slice(), &[("OS_DOMAIN_NAME", " ")]].concat();
        let bad = [&others[..2], &[URL, ("OS_USERNAME", "u "), ("OS_APPLICATION_CREDENTIAL_NAME", "n")]].concat();
        let empty = [&others[1..5], &[("OS_DOMAIN_NAME", "")]].concat();
        let cases: &[Case<'_>] = &[
            (&usual, ""),
            (&others, ""),
            (&shadowed, ""),
            (&PASSWORD, r#"secret.data[authURL]: Required value: missing required field "authURL""#),
            (&empty, r#"secret.data[OS_DOMAIN_NAME]: Invalid value: "": field "OS_DOMAIN_NAME" cannot be empty"#),
            (
                &bad,
                "[secret.data[OS_USERNAME]: Invalid value: \"(hidden)\": must not contain leading or trailing whitespace, \
                 secret.data.applicationCredentialSecret: Required value: \
                 applicationCredentialSecret is required when OS_APPLICATION_CREDENTIAL_NAME is provided]",
            ),
        ];
        for (data, expected) in cases {
            let errors = validate_dns_data(&pairs(data), &Path::new("secret"));
            let text = if errors.is_empty() { String::new() } else { errors.to_string() };
            assert_eq!(text, *expected, "{data:?}");
        }
        let infrastructure = validate_data(&pairs(&[&usual[..], &[("OS_USERNAME", "u")]].concat()), &Path::new("s"));
        assert_eq!(infrastructure.to_string(), r#"s.data[OS_USERNAME]: Forbidden: unexpected field "OS_USERNAME""#);
    }

    #[test]
    fn a_secret_whose_data_stays_is_not_judged_again() {
        let secret = |name: &str| Secret {
            data: Some([(name.to_owned(), fabric_apis::gardener::ByteString(b"x".to_vec()))].into()),
            ..Secret::default()
        };
        let mut labelled = secret("old");
        labelled.metadata.labels = Some([("a".to_owned(), "b".to_owned())].into());
        assert!(validate_update(&labelled, &secret("old")).is_empty());
        assert!(!validate_update(&secret("new"), &secret("old")).is_empty());
    }
}
