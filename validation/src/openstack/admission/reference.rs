//! Other objects that a rule needs to see: asked for by the rules, fetched by the caller.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use fabric_apis::decode;
use fabric_apis::field::{self, Path};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The kinds that objects refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReferenceKind {
    /// `v1`.
    Secret,
    /// `core.gardener.cloud/v1beta1`.
    InternalSecret,
    /// `core.gardener.cloud/v1beta1`.
    SecretBinding,
    /// `security.gardener.cloud/v1alpha1`.
    CredentialsBinding,
    /// `core.gardener.cloud/v1beta1`, without namespace.
    CloudProfile,
    /// `core.gardener.cloud/v1beta1`.
    NamespacedCloudProfile,
    /// `extensions.gardener.cloud/v1alpha1`, without namespace; only in a seed.
    Cluster,
}

impl ReferenceKind {
    /// The kind.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Secret => "Secret",
            Self::InternalSecret => "InternalSecret",
            Self::SecretBinding => "SecretBinding",
            Self::CredentialsBinding => "CredentialsBinding",
            Self::CloudProfile => "CloudProfile",
            Self::NamespacedCloudProfile => "NamespacedCloudProfile",
            Self::Cluster => "Cluster",
        }
    }

    /// Group and version.
    pub fn api_version(self) -> &'static str {
        match self {
            Self::Secret => "v1",
            Self::CredentialsBinding => "security.gardener.cloud/v1alpha1",
            Self::Cluster => "extensions.gardener.cloud/v1alpha1",
            Self::InternalSecret | Self::SecretBinding | Self::CloudProfile | Self::NamespacedCloudProfile => {
                "core.gardener.cloud/v1beta1"
            }
        }
    }

    /// The resource, as URLs and RBAC rules name it.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Secret => "secrets",
            Self::InternalSecret => "internalsecrets",
            Self::SecretBinding => "secretbindings",
            Self::CredentialsBinding => "credentialsbindings",
            Self::CloudProfile => "cloudprofiles",
            Self::NamespacedCloudProfile => "namespacedcloudprofiles",
            Self::Cluster => "clusters",
        }
    }

    /// Whether objects of the kind live in namespaces.
    pub fn is_namespaced(self) -> bool {
        !matches!(self, Self::CloudProfile | Self::Cluster)
    }
}

/// One object that a rule needs to see. Displays as `Secret garden-dev/openstack`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reference {
    /// Its kind.
    pub kind: ReferenceKind,
    /// Its namespace; empty for kinds without.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl Reference {
    /// An object by kind, namespace and name. The namespace of a kind without is dropped.
    pub fn new(kind: ReferenceKind, namespace: impl Into<String>, name: impl Into<String>) -> Self {
        let namespace = if kind.is_namespaced() { namespace.into() } else { String::new() };
        Self { kind, namespace, name: name.into() }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slash = if self.namespace.is_empty() { "" } else { "/" };
        write!(f, "{} {}{slash}{}", self.kind.kind(), self.namespace, self.name)
    }
}

/// What became of looking for an object. Its `Debug` form shows no values: they may be a secret's.
#[derive(Clone, PartialEq)]
pub enum Lookup {
    /// It is this one, as the API server gave it.
    Found(Value),
    /// There is none.
    NotFound,
    /// It could not be read; the text says why, for a person, without the object's content.
    Unreadable(String),
}

impl fmt::Debug for Lookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found(_) => f.write_str("Found(…)"),
            Self::NotFound => f.write_str("NotFound"),
            Self::Unreadable(why) => f.debug_tuple("Unreadable").field(why).finish(),
        }
    }
}

/// What the caller found. A reference that is not in here was not looked for; rules that need it are skipped.
#[derive(Clone, Debug, Default)]
pub struct Resolved(BTreeMap<Reference, Arc<Lookup>>);

impl Resolved {
    /// Nothing was looked for.
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Adds what became of looking for `reference`. Shared, since a profile is large and stands beside many shoots.
    pub fn insert(&mut self, reference: Reference, lookup: impl Into<Arc<Lookup>>) {
        self.0.insert(reference, lookup.into());
    }

    /// What became of looking for `reference`; `None` when nobody looked.
    pub fn get(&self, reference: &Reference) -> Option<&Lookup> {
        self.0.get(reference).map(Arc::as_ref)
    }

    /// The object as a `T`; `None` when nobody looked. `path` is the field that names it.
    ///
    /// # Errors
    /// That there is no such object, or that it could not be read; without any of its values.
    pub fn read<T: DeserializeOwned>(&self, reference: &Reference, path: &Path<'_>) -> Result<Option<T>, field::Error> {
        self.look(reference, path)?.map(decode::lenient).transpose().map_err(|error| {
            field::Error::internal(path, format!("{reference} could not be read: {}", error.without_values()))
        })
    }

    /// The object as it is, likewise.
    ///
    /// # Errors
    /// That there is no such object, or that it could not be read.
    pub fn look(&self, reference: &Reference, path: &Path<'_>) -> Result<Option<&Value>, field::Error> {
        match self.get(reference) {
            None => Ok(None),
            Some(Lookup::Found(value)) => Ok(Some(value)),
            Some(Lookup::NotFound) => Err(field::Error::not_found(path, reference.to_string())),
            Some(Lookup::Unreadable(why)) => {
                Err(field::Error::internal(path, format!("{reference} could not be read: {why}")))
            }
        }
    }

    /// The object, when it was found.
    pub fn found(&self, reference: &Reference) -> Option<&Value> {
        match self.get(reference) {
            Some(Lookup::Found(value)) => Some(value),
            _ => None,
        }
    }
}
