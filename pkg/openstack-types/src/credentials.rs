//! How we log in. Secrets are redacted in `Debug` and never serialised.

use std::collections::BTreeMap;

use secrecy::SecretString;

/// A user as Keystone names one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum UserRef {
    /// By id.
    Id(String),
    /// By name in a domain.
    Name {
        /// The user's name.
        name: String,
        /// The domain's name.
        domain: DomainRef,
    },
}

/// A domain by name or id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DomainRef {
    /// By id.
    Id(String),
    /// By name.
    Name(String),
}

/// What a token is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// A project by id.
    ProjectId(String),
    /// A project by name in a domain.
    ProjectName {
        /// The project's name.
        name: String,
        /// The project's domain.
        domain: DomainRef,
    },
}

/// The three ways to prove who we are.
#[derive(Clone, Debug)]
pub enum AuthMethod {
    /// User and password, scoped to a project.
    Password {
        /// Who.
        user: UserRef,
        /// The password.
        password: SecretString,
        /// For which project.
        scope: Scope,
    },
    /// An application credential by its id; it carries its own scope.
    AppCredentialId {
        /// The credential's id.
        id: String,
        /// Its secret.
        secret: SecretString,
    },
    /// An application credential by its name and its user.
    AppCredentialName {
        /// The credential's name.
        name: String,
        /// The user it belongs to.
        user: UserRef,
        /// Its secret.
        secret: SecretString,
    },
}

/// Which of the catalog's interfaces to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Interface {
    /// The public one.
    #[default]
    Public,
    /// The internal one.
    Internal,
    /// The administrators' one.
    Admin,
}

impl Interface {
    /// The word in the catalog.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Internal => "internal",
            Self::Admin => "admin",
        }
    }
}

/// Everything that a session needs.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// Keystone's URL, with or without `/v3`.
    pub auth_url: String,
    /// How to log in.
    pub method: AuthMethod,
    /// The region; none: the catalog must hold exactly one.
    pub region: Option<String>,
    /// The catalog's interface.
    pub interface: Interface,
    /// PEM certificates to trust besides the usual roots.
    pub ca_cert: Option<String>,
    /// Accept any certificate. Off unless the user insists.
    pub insecure: bool,
    /// Endpoints that override the catalog's, by service type (`network`, `sharev2`).
    pub endpoint_overrides: BTreeMap<String, String>,
}
