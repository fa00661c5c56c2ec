//! Rules for secrets with credentials, and for what leads to one.

use std::collections::BTreeMap;

use fabric_apis::decode::{Document, documents};
use fabric_apis::field::{ErrorType, Path};
use fabric_validation::openstack::admission::{Lookup, Reference, ReferenceKind, Resolved, Reviewed, entry};
use fabric_validation::openstack::secret::{validate_data, validate_dns_data};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use ErrorType::{Forbidden, InternalError, Invalid, NotFound, NotSupported, Required};

use crate::table::{Row, Told, Where, answer, ask, at, hold};

/// A secret as written, for infrastructure or for DNS entries.
#[derive(Clone, Debug)]
pub(crate) struct Secret {
    pub(crate) data: BTreeMap<&'static str, String>,
    pub(crate) dns: bool,
}

const ALIASES: [(&str, &str); 9] = [
    ("domainName", "OS_DOMAIN_NAME"),
    ("tenantName", "OS_PROJECT_NAME"),
    ("username", "OS_USERNAME"),
    ("password", "OS_PASSWORD"),
    ("applicationCredentialID", "OS_APPLICATION_CREDENTIAL_ID"),
    ("applicationCredentialName", "OS_APPLICATION_CREDENTIAL_NAME"),
    ("applicationCredentialSecret", "OS_APPLICATION_CREDENTIAL_SECRET"),
    ("authURL", "OS_AUTH_URL"),
    ("caCert", "OS_CACERT"),
];

const TRIMMED: [&str; 6] = [
    "domainName",
    "tenantName",
    "username",
    "applicationCredentialID",
    "applicationCredentialName",
    "applicationCredentialSecret",
];

impl Secret {
    /// The key in use for a usual key: itself first.
    fn key(&self, usual: &'static str) -> &'static str {
        let alias = ALIASES.iter().find(|(key, _)| *key == usual).map(|(_, alias)| *alias);
        match alias {
            Some(alias) if self.dns && !self.data.contains_key(usual) && self.data.contains_key(alias) => alias,
            _ => usual,
        }
    }

    fn value(&self, usual: &'static str) -> Option<&str> {
        self.data.get(self.key(usual)).map(String::as_str)
    }

    fn has(&self, usual: &'static str) -> bool {
        self.value(usual).is_some_and(|value| !value.is_empty())
    }

    fn path(&self, usual: &'static str) -> String {
        format!("secret.data[{}]", self.key(usual))
    }

    fn wrong(&self, usual: &'static str, kind: ErrorType, wrong: impl Fn(&str) -> bool) -> Vec<Where> {
        at(&self.path(usual), kind, self.value(usual).is_some_and(wrong))
    }

    fn needs(&self, usual: &'static str, asked: bool) -> Vec<Where> {
        at(&format!("secret.data.{usual}"), Required, asked && !self.has(usual))
    }

    /// Which way to log in there is, if it is not too many.
    fn by_id(&self) -> bool {
        !self.mixed() && self.has("applicationCredentialID")
    }

    fn by_name(&self) -> bool {
        !self.mixed() && !self.by_id() && self.has("applicationCredentialName")
    }

    fn by_password(&self) -> bool {
        !self.mixed() && !self.by_id() && !self.by_name() && self.has("password")
    }

    fn mixed(&self) -> bool {
        self.has("password") && self.has("applicationCredentialSecret")
    }

    fn entries(&self) -> BTreeMap<String, Vec<u8>> {
        self.data.iter().map(|(key, value)| ((*key).to_owned(), value.clone().into_bytes())).collect()
    }
}

fn scheme_and_host(url: &str) -> (String, &str) {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    (scheme.to_lowercase(), rest.split(['/', '?', '#']).next().unwrap())
}

fn is_http(url: &str) -> bool {
    ["http", "https"].contains(&scheme_and_host(url).0.as_str())
}

fn is_unreadable(url: &str) -> bool {
    let host = scheme_and_host(url).1;
    let port = host.rsplit_once(':').map_or("", |(_, port)| port);
    let open = host.starts_with('[') != host.contains(']');
    let port = !host.ends_with(']') && port.chars().any(|character| !character.is_ascii_digit());
    host.contains(' ') || open || port || url.chars().any(char::is_control)
}

/// One row for each sentence about a secret.
#[rustfmt::skip]
pub(crate) const ROWS: &[Row<Secret>] = &[
    ("domainName is required", |secret| at("secret.data[domainName]", Required, secret.value("domainName").is_none())),
    ("tenantName is required", |secret| at("secret.data[tenantName]", Required, secret.value("tenantName").is_none())),
    ("authURL is required for DNS", |secret| at("secret.data[authURL]", Required, secret.dns && secret.value("authURL").is_none())),
    ("domainName is not empty", |secret| secret.wrong("domainName", Invalid, str::is_empty)),
    ("tenantName is not empty", |secret| secret.wrong("tenantName", Invalid, str::is_empty)),
    ("username is not empty", |secret| secret.wrong("username", Invalid, str::is_empty)),
    ("password is not empty", |secret| secret.wrong("password", Invalid, str::is_empty)),
    ("applicationCredentialID is not empty", |secret| secret.wrong("applicationCredentialID", Invalid, str::is_empty)),
    ("applicationCredentialName is not empty", |secret| secret.wrong("applicationCredentialName", Invalid, str::is_empty)),
    ("applicationCredentialSecret is not empty", |secret| secret.wrong("applicationCredentialSecret", Invalid, str::is_empty)),
    ("authURL is not empty", |secret| secret.wrong("authURL", Invalid, str::is_empty)),
    ("caCert is not empty", |secret| secret.wrong("caCert", Invalid, str::is_empty)),
    ("insecure is not empty", |secret| secret.wrong("insecure", Invalid, str::is_empty)),
    ("names have no blanks around them", |secret| {
        TRIMMED.iter().flat_map(|key| secret.wrong(key, Invalid, |value| value.trim() != value)).collect()
    }),
    ("a password has no line breaks around it", |secret| {
        let line_break = ['\n', '\r'];
        secret.wrong("password", Invalid, |value| value.starts_with(line_break) || value.ends_with(line_break))
    }),
    ("tenantName has at most 64 characters", |secret| secret.wrong("tenantName", Invalid, |value| value.chars().count() > 64)),
    ("authURL is HTTP", |secret| secret.wrong("authURL", Invalid, |url| !url.is_empty() && !is_http(url))),
    ("authURL has a host", |secret| secret.wrong("authURL", Invalid, |url| !url.is_empty() && scheme_and_host(url).1.is_empty())),
    ("authURL is readable", |secret| secret.wrong("authURL", Invalid, |url| is_http(url) && !scheme_and_host(url).1.is_empty() && is_unreadable(url))),
    ("caCert begins", |secret| secret.wrong("caCert", Invalid, |pem| !pem.is_empty() && !pem.contains("-----BEGIN CERTIFICATE-----"))),
    ("caCert ends", |secret| secret.wrong("caCert", Invalid, |pem| !pem.is_empty() && !pem.contains("-----END CERTIFICATE-----"))),
    ("insecure is true or false", |secret| secret.wrong("insecure", NotSupported, |value| !value.is_empty() && !["true", "false"].contains(&value.trim().to_lowercase().as_str()))),
    ("a password excludes an application credential", |secret| at("secret.data", Invalid, secret.mixed())),
    ("an application credential by id needs its secret", |secret| secret.needs("applicationCredentialSecret", secret.by_id())),
    ("an application credential by name needs its secret", |secret| secret.needs("applicationCredentialSecret", secret.by_name())),
    ("an application credential by name needs a user", |secret| secret.needs("username", secret.by_name())),
    ("a password needs a user", |secret| secret.needs("username", secret.by_password())),
    ("there is a way to log in", |secret| at("secret.data", Required, !secret.mixed() && !secret.by_id() && !secret.by_name() && !secret.by_password())),
    ("there is nothing else", |secret| {
        let known = |key: &str| ALIASES.iter().any(|(usual, alias)| *usual == key || (secret.dns && *alias == key)) || key == "insecure";
        secret.data.keys().filter(|key| !known(key)).map(|key| (format!("secret.data[{key}]"), Forbidden)).collect()
    }),
];

fn value_of(key: &'static str) -> BoxedStrategy<String> {
    const PEM: &str = "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n";
    let texts: Vec<String> = match key {
        "authURL" => [
            "",
            "keystone.example",
            "ftp://k/v3",
            "https://",
            "https:///v3",
            "https://a b/v3",
            "https://k/v3\n",
            "HTTPS://k",
            "http://10.0.0.1:5000",
            "https://k:port/v3",
            "http://[::1]:5000/v3",
            "https://[::1/v3",
            "//k/v3",
            "https://keystone.example/v3",
            "https://keystone.example:5000/v3?x#y",
        ]
        .map(str::to_owned)
        .to_vec(),
        "caCert" => ["", PEM, PEM, PEM, "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----", "x"]
            .map(str::to_owned)
            .to_vec(),
        "insecure" => ["", "true", "false", " True\n", "FALSE", "yes", "1", "t rue"].map(str::to_owned).to_vec(),
        "tenantName" => vec!["t".repeat(64), "ä".repeat(64), "t".repeat(65), "ä".repeat(65)],
        _ => Vec::new(),
    };
    let odd = select(["", "", " x", "x\t", "x\n", "\rx", "\u{a0}x", "a b"].map(str::to_owned).to_vec());
    match (texts.is_empty(), key) {
        (true, "password") => prop_oneof![6 => Just("x".to_owned()), 4 => odd, 1 => Just(String::new())].boxed(),
        (true, _) => prop_oneof![8 => Just("x".to_owned()), 1 => odd, 1 => Just(String::new())].boxed(),
        (false, "tenantName") => {
            prop_oneof![14 => Just("x".to_owned()), 1 => Just(String::new()), 3 => odd, 2 => select(texts)].boxed()
        }
        (false, _) => select(texts).boxed(),
    }
}

/// Secrets as people write and miswrite them.
pub(crate) fn secrets(dns: impl Strategy<Value = bool>) -> impl Strategy<Value = Secret> {
    let field = |key: &'static str, often: f64| {
        let alias = ALIASES.iter().find(|(usual, _)| *usual == key).map_or(key, |(_, alias)| *alias);
        let there = proptest::option::weighted(often, value_of(key));
        // The usual name, the other one, or both; the other one is no use outside of DNS.
        let names = prop_oneof![8 => Just((true, false)), 3 => Just((false, true)), 1 => Just((true, true))];
        (there, names).prop_map(move |(value, (usual, other))| {
            let value = value.into_iter();
            value
                .flat_map(|value| {
                    let usual = usual.then(|| (key, value.clone()));
                    let other = other.then(|| (alias, if usual.is_some() { String::new() } else { value }));
                    usual.into_iter().chain(other)
                })
                .collect::<Vec<_>>()
        })
    };
    let login = prop_oneof![
        Just([0.95, 0.9, 0.03, 0.03, 0.03]), // user, password
        Just([0.3, 0.03, 0.9, 0.1, 0.85]),   // id
        Just([0.7, 0.03, 0.03, 0.9, 0.85]),  // name
        Just([0.4, 0.4, 0.3, 0.3, 0.4]),
    ];
    (dns, login).prop_flat_map(move |(dns, [user, password, id, name, secret])| {
        let fields = vec![
            field("domainName", 0.93).boxed(),
            field("tenantName", 0.93).boxed(),
            field("username", user).boxed(),
            field("password", password).boxed(),
            field("applicationCredentialID", id).boxed(),
            field("applicationCredentialName", name).boxed(),
            field("applicationCredentialSecret", secret).boxed(),
            field("authURL", if dns { 0.9 } else { 0.4 }).boxed(),
            field("caCert", 0.25).boxed(),
            field("insecure", 0.25).boxed(),
            proptest::option::weighted(0.08, Just(("region", "r".to_owned()))).prop_map(Vec::from_iter).boxed(),
        ];
        fields.prop_map(move |fields| {
            let mut data: BTreeMap<&'static str, String> = fields.into_iter().flatten().collect();
            // Outside of DNS another name is a mistake, and a rare one.
            let slips = data.len().is_multiple_of(5);
            if !dns && !slips {
                let moved = ALIASES.iter().filter_map(|(usual, alias)| data.remove(alias).map(|value| (*usual, value)));
                for (usual, value) in moved.collect::<Vec<_>>() {
                    data.entry(usual).or_insert(value);
                }
            }
            Secret { data, dns }
        })
    })
}

pub(crate) fn good(dns: bool) -> Secret {
    let mut data: BTreeMap<&'static str, String> =
        ["domainName", "tenantName", "username", "password"].map(|key| (key, "d".to_owned())).into();
    if dns {
        data.insert("OS_AUTH_URL", "https://keystone.example/v3".to_owned());
    }
    Secret { data, dns }
}

#[test]
fn a_secret_is_told_exactly_the_rows_that_apply() {
    let judge = |secret: &Secret| {
        let path = Path::new("secret");
        let data = secret.entries();
        answer(&if secret.dns { validate_dns_data(&data, &path) } else { validate_data(&data, &path) })
    };
    let worlds = prop_oneof![9 => secrets(any::<bool>()), 1 => any::<bool>().prop_map(good)];
    hold(ROWS.iter().map(|(name, _)| *name), worlds, |secret| ask(ROWS, secret), judge);
}

/// What becomes of looking for a secret.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    Secret(Secret),
    Nothing,
    Denied,
}

impl Found {
    pub(crate) fn lookup(&self, kind: &str) -> Lookup {
        match self {
            Self::Secret(secret) => Lookup::Found(as_object(kind, secret)),
            Self::Nothing => Lookup::NotFound,
            Self::Denied => Lookup::Unreadable("forbidden".to_owned()),
        }
    }
}

pub(crate) fn found(secret: impl Strategy<Value = Secret> + 'static) -> BoxedStrategy<Found> {
    prop_oneof![6 => secret.prop_map(Found::Secret), 1 => Just(Found::Nothing), 1 => Just(Found::Denied)].boxed()
}

fn as_object(kind: &str, secret: &Secret) -> Value {
    let api_version = if kind == "InternalSecret" { "core.gardener.cloud/v1beta1" } else { "v1" };
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "s", "namespace": "garden-a"}, "stringData": secret.data})
}

pub(crate) fn document(value: &Value) -> Document {
    documents("test", value.to_string().as_bytes()).unwrap().remove(0)
}

/// Asks the table of attachments, as every program does.
pub(crate) fn judged(new: &Value, old: Option<&Value>, fetch: &dyn Fn(&Reference) -> Lookup) -> Vec<Where> {
    let (new, old) = (document(new), old.map(document));
    let reviewed = old.as_ref().map_or(Reviewed::create(&new), |old| Reviewed::update(&new, old));
    let case = entry(new.api_version(), new.kind()).unwrap().open(reviewed);
    let mut resolved = Resolved::new();
    for round in 0.. {
        assert!(round < 4, "asks and asks");
        let wanted = case.references(&resolved);
        if wanted.is_empty() {
            break;
        }
        for reference in wanted {
            let lookup = fetch(&reference);
            resolved.insert(reference, lookup);
        }
    }
    answer(&case.judge(&resolved).errors)
}

/// Something that leads to a secret, or the secret itself, about to be stored.
#[derive(Clone, Debug)]
pub(crate) struct Leading {
    pub(crate) kind: &'static str,
    provider: &'static str,
    /// The provider before; for a secret, whether its data was another.
    before: Option<&'static str>,
    to: (&'static str, &'static str),
    leaving: bool,
    found: Found,
}

impl Leading {
    fn object(&self, provider: &str) -> Value {
        let (api_version, kind) = self.to;
        let mut object = match self.kind {
            "Secret" => {
                let Found::Secret(secret) = &self.found else { return as_object("Secret", &good(false)) };
                as_object("Secret", secret)
            }
            "SecretBinding" => {
                json!({"apiVersion": "core.gardener.cloud/v1beta1", "secretRef": {"name": "s", "namespace": "n"},
                "provider": {"type": provider}})
            }
            _ => json!({"apiVersion": "security.gardener.cloud/v1alpha1", "provider": {"type": provider},
                "credentialsRef": {"apiVersion": api_version, "kind": kind, "name": "s", "namespace": "n"}}),
        };
        object["kind"] = json!(self.kind);
        object["metadata"] = json!({"name": "b", "namespace": "garden-a"});
        if self.leaving {
            object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        }
        object
    }

    fn is_ours(&self) -> bool {
        self.provider.split(',').any(|provider| provider == "openstack")
    }

    fn is_judged(&self) -> bool {
        !self.leaving
            && match self.kind {
                "Secret" => self.before != Some("same"),
                "SecretBinding" => self.is_ours() && self.before != Some(self.provider),
                _ => self.is_ours() && self.before.is_none(),
            }
    }

    fn leads_to_secret(&self) -> bool {
        self.kind != "CredentialsBinding" || SUPPORTED.contains(&self.to)
    }

    fn field(&self) -> &'static str {
        if self.kind == "SecretBinding" { "secretRef" } else { "credentialsRef" }
    }

    fn is_binding(&self) -> bool {
        self.kind != "Secret"
    }
}

const SUPPORTED: [(&str, &str); 2] = [("v1", "Secret"), ("core.gardener.cloud/v1beta1", "InternalSecret")];

#[rustfmt::skip]
const LEADING: &[Row<Leading>] = &[
    ("a secret's content is judged where it is found", |leading| match &leading.found {
        Found::Secret(secret) if leading.is_judged() && leading.leads_to_secret() => ask(ROWS, secret).into_iter().map(|(_, place)| place).collect(),
        _ => Vec::new(),
    }),
    ("a binding leads to a secret that is there", |leading| {
        at(leading.field(), NotFound, leading.is_binding() && leading.is_judged() && leading.leads_to_secret() && matches!(leading.found, Found::Nothing))
    }),
    ("a binding leads to a secret that can be read", |leading| {
        at(leading.field(), InternalError, leading.is_binding() && leading.is_judged() && leading.leads_to_secret() && matches!(leading.found, Found::Denied))
    }),
    ("credentials are a Secret or an InternalSecret", |leading| {
        at("credentialsRef.kind", NotSupported, leading.is_judged() && !leading.leads_to_secret())
    }),
];

/// Secrets, and what leads to them.
pub(crate) fn leading() -> BoxedStrategy<Leading> {
    let workload = ("security.gardener.cloud/v1alpha1", "WorkloadIdentity");
    let worlds = (
        select(vec!["Secret", "SecretBinding", "CredentialsBinding"]),
        select(vec!["openstack", "openstack", "aws,openstack", "aws", "openstack-designate"]),
        proptest::option::weighted(0.4, select(vec!["same", "openstack", "aws"])),
        select(vec![SUPPORTED[0], SUPPORTED[1], SUPPORTED[1], workload]),
        proptest::bool::weighted(0.1),
        found(prop_oneof![3 => secrets(Just(false)), 1 => Just(good(false))]),
    );
    let made = worlds.prop_map(|(kind, provider, before, to, leaving, found)| {
        let found = match found {
            Found::Nothing | Found::Denied if kind == "Secret" => Found::Secret(good(false)),
            found => found,
        };
        let before = before.map(|before| if before == "same" && kind != "Secret" { provider } else { before });
        Leading { kind, provider, before, to, leaving, found }
    });
    made.boxed()
}

impl Leading {
    /// The object as it would be stored, and what it replaces.
    pub(crate) fn stored(&self) -> (Value, Option<Value>) {
        let new = self.object(self.provider);
        let old = self.before.map(|before| match (self.kind, before) {
            ("Secret", "same") => new.clone(),
            ("Secret", _) => {
                json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "b"}, "stringData": {"old": "x"}})
            }
            _ => self.object(before),
        });
        (new, old)
    }

    pub(crate) fn fetch(&self, reference: &Reference) -> Lookup {
        let kind = reference.kind;
        let expected = if self.kind == "CredentialsBinding" { self.to.1 } else { "Secret" };
        assert_eq!((kind.kind(), reference.namespace.as_str(), reference.name.as_str()), (expected, "n", "s"));
        assert!(matches!(kind, ReferenceKind::Secret | ReferenceKind::InternalSecret));
        self.found.lookup(kind.kind())
    }

    pub(crate) fn told(&self) -> Vec<Told> {
        ask(LEADING, self)
    }
}

#[test]
fn a_secret_is_judged_exactly_when_something_new_leads_to_it() {
    let judge = |leading: &Leading| {
        let (new, old) = leading.stored();
        judged(&new, old.as_ref(), &|reference| leading.fetch(reference))
    };
    hold(LEADING.iter().map(|(name, _)| *name), leading(), Leading::told, judge);
}
