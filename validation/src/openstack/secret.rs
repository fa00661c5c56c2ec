//! Rules for the `cloudprovider` secret: which keys it holds and which ways to log in they make.
//!
//! No value but the tenant's name, the URL and the insecure flag ever gets into an error.

use std::borrow::Cow;
use std::collections::BTreeMap;

use fabric_apis::field::{Error, ErrorList, Path};
use fabric_apis::gardener::{Secret, secret_data};
use validator::ValidateUrl;

use crate::text::validate_max_characters;

/// The keys of the secret.
pub mod key {
    /// Keystone domain, by name.
    pub const DOMAIN_NAME: &str = "domainName";
    /// Project, by name.
    pub const TENANT_NAME: &str = "tenantName";
    /// User, by name.
    pub const USER_NAME: &str = "username";
    /// The user's password.
    pub const PASSWORD: &str = "password";
    /// Application credential, by id.
    pub const APPLICATION_CREDENTIAL_ID: &str = "applicationCredentialID";
    /// Application credential, by name; needs the user's name.
    pub const APPLICATION_CREDENTIAL_NAME: &str = "applicationCredentialName";
    /// The application credential's secret.
    pub const APPLICATION_CREDENTIAL_SECRET: &str = "applicationCredentialSecret";
    /// Keystone's URL; Gardener fills it in from the CloudProfile.
    pub const AUTH_URL: &str = "authURL";
    /// CA bundle, PEM.
    pub const CA_CERT: &str = "caCert";
    /// `true` = don't verify certificates.
    pub const INSECURE: &str = "insecure";

    pub(super) const ALL: [&str; 10] = [
        DOMAIN_NAME,
        TENANT_NAME,
        USER_NAME,
        PASSWORD,
        APPLICATION_CREDENTIAL_ID,
        APPLICATION_CREDENTIAL_NAME,
        APPLICATION_CREDENTIAL_SECRET,
        AUTH_URL,
        CA_CERT,
        INSECURE,
    ];
}

/// Shown instead of a value that is nobody's business.
const HIDDEN: &str = "(hidden)";

/// Everything that is wrong with a secret. Paths start at `secret`.
pub fn validate(secret: &Secret) -> ErrorList {
    validate_data(&secret_data(secret), &Path::new("secret"))
}

/// Everything that is wrong with a secret's data; `path` is the secret's.
pub fn validate_data(data: &BTreeMap<String, Vec<u8>>, path: &Path<'_>) -> ErrorList {
    let path = path.child("data");
    let mut secret = Reader { data, path: &path, errors: ErrorList::new() };

    let domain = secret.required(key::DOMAIN_NAME);
    secret.trimmed(key::DOMAIN_NAME, &domain, Some(HIDDEN));
    let tenant = secret.required(key::TENANT_NAME);
    secret.trimmed(key::TENANT_NAME, &tenant, None);
    validate_max_characters(&tenant, 64, &path.key(key::TENANT_NAME), &mut secret.errors);

    let user = secret.optional(key::USER_NAME);
    secret.trimmed(key::USER_NAME, &user, Some(HIDDEN));
    let password = secret.optional(key::PASSWORD);
    if password.trim_matches(['\n', '\r']) != password {
        secret.invalid(key::PASSWORD, HIDDEN, "must not contain leading or trailing newlines");
    }
    let app_id = secret.optional(key::APPLICATION_CREDENTIAL_ID);
    secret.trimmed(key::APPLICATION_CREDENTIAL_ID, &app_id, Some(HIDDEN));
    let app_name = secret.optional(key::APPLICATION_CREDENTIAL_NAME);
    secret.trimmed(key::APPLICATION_CREDENTIAL_NAME, &app_name, Some(HIDDEN));
    let app_secret = secret.optional(key::APPLICATION_CREDENTIAL_SECRET);
    secret.trimmed(key::APPLICATION_CREDENTIAL_SECRET, &app_secret, Some(HIDDEN));

    secret.auth_url();
    secret.ca_cert();
    secret.insecure();
    let login =
        Login { user: &user, password: &password, app_id: &app_id, app_name: &app_name, app_secret: &app_secret };
    login.validate(&path, &mut secret.errors);
    for unexpected in data.keys().filter(|name| !key::ALL.contains(&name.as_str())) {
        secret.errors.push(Error::forbidden(&path.key(unexpected), format!("unexpected field {unexpected:?}")));
    }
    secret.errors
}

struct Reader<'a> {
    data: &'a BTreeMap<String, Vec<u8>>,
    path: &'a Path<'a>,
    errors: ErrorList,
}

impl<'a> Reader<'a> {
    fn get(&self, name: &str) -> Option<Cow<'a, str>> {
        self.data.get(name).map(|value| String::from_utf8_lossy(value))
    }

    fn invalid(&mut self, name: &str, value: &str, detail: impl Into<String>) {
        self.errors.push(Error::invalid(&self.path.key(name), value, detail));
    }

    fn required(&mut self, name: &str) -> Cow<'a, str> {
        match self.get(name) {
            None => {
                self.errors.push(Error::required(&self.path.key(name), format!("missing required field \"{name}\"")));
                Cow::Borrowed("")
            }
            Some(value) => {
                if value.is_empty() {
                    self.invalid(name, "", format!("field \"{name}\" cannot be empty"));
                }
                value
            }
        }
    }

    fn optional(&mut self, name: &str) -> Cow<'a, str> {
        let value = self.get(name);
        if value.as_ref().is_some_and(|value| value.is_empty()) {
            self.invalid(name, "", format!("field \"{name}\" cannot be empty when key is set"));
        }
        value.unwrap_or_default()
    }

    fn trimmed(&mut self, name: &str, value: &str, shown: Option<&str>) {
        if value.trim() != value {
            self.invalid(name, shown.unwrap_or(value), "must not contain leading or trailing whitespace");
        }
    }

    fn auth_url(&mut self) {
        let url = self.optional(key::AUTH_URL);
        if url.is_empty() {
            return;
        }
        let (scheme, rest) = url.split_once("://").unwrap_or(("", &url));
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let known_scheme = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
        // Said first, because a URL that lacks a part is also one that can't be read.
        if !known_scheme {
            self.invalid(key::AUTH_URL, &url, "must use http:// or https:// scheme");
        }
        if host.is_empty() {
            self.invalid(key::AUTH_URL, &url, "must include a host");
        }
        if known_scheme && !host.is_empty() && !url.validate_url() {
            self.invalid(key::AUTH_URL, &url, "must be a valid URL");
        }
    }

    fn ca_cert(&mut self) {
        let certificate = self.optional(key::CA_CERT);
        if certificate.is_empty() {
            return;
        }
        for marker in ["-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"] {
            if !certificate.contains(marker) {
                self.invalid(key::CA_CERT, "", format!("must contain '{marker}'"));
            }
        }
    }

    fn insecure(&mut self) {
        let value = self.optional(key::INSECURE);
        let normal = value.trim().to_ascii_lowercase();
        if !value.is_empty() && normal != "true" && normal != "false" {
            self.errors.push(Error::not_supported(&self.path.key(key::INSECURE), value.as_ref(), &["true", "false"]));
        }
    }
}

/// What there is to log in with; an absent value is empty.
struct Login<'a> {
    user: &'a str,
    password: &'a str,
    app_id: &'a str,
    app_name: &'a str,
    app_secret: &'a str,
}

impl Login<'_> {
    fn validate(&self, path: &Path<'_>, errors: &mut ErrorList) {
        use key::{APPLICATION_CREDENTIAL_ID as APP_ID, APPLICATION_CREDENTIAL_NAME as APP_NAME};
        use key::{APPLICATION_CREDENTIAL_SECRET as APP_SECRET, PASSWORD, USER_NAME};
        let mut need = |missing: &str, name: &str, because: &str| {
            if missing.is_empty() {
                errors
                    .push(Error::required(&path.child(name), format!("{name} is required when {because} is provided")));
            }
        };
        if !self.password.is_empty() && !self.app_secret.is_empty() {
            errors.push(Error::invalid(path, "", format!("cannot specify both {PASSWORD} and {APP_SECRET}")));
        } else if !self.app_id.is_empty() {
            need(self.app_secret, APP_SECRET, APP_ID);
        } else if !self.app_name.is_empty() {
            need(self.app_secret, APP_SECRET, APP_NAME);
            need(self.user, USER_NAME, APP_NAME);
        } else if !self.password.is_empty() {
            need(self.user, USER_NAME, PASSWORD);
        } else {
            let detail = format!(
                "must provide one of the following authentication methods: (1) {APP_ID} + {APP_SECRET}, \
                 (2) {USER_NAME} + {APP_NAME} + {APP_SECRET}, (3) {USER_NAME} + {PASSWORD}"
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
}
