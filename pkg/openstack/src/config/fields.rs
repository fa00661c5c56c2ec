//! Named text fields from any source, to credentials: the one place that knows which fields make which method.

use std::collections::BTreeMap;

use fabric_openstack_types::credentials::{AuthMethod, DomainRef, Interface, Scope, UserRef};

use crate::error::Error;

/// Fields under the names of `clouds.yaml`'s `auth`, whatever their source calls them.
pub(super) struct Fields {
    /// Where they come from, for messages.
    pub(super) place: String,
    /// How the source spells a field (`username` → `OS_USERNAME`).
    pub(super) spelled: fn(&str) -> String,
    pub(super) values: BTreeMap<String, String>,
}

impl Fields {
    /// A field that is there and not empty.
    pub(super) fn get(&self, field: &str) -> Option<&str> {
        let value = self.values.get(field).map(String::as_str);
        value.filter(|value| !value.is_empty())
    }

    pub(super) fn need(&self, field: &str, fix: &str) -> Result<String, Error> {
        let value = self.get(field).map(str::to_owned);
        value.ok_or_else(|| self.missing(field, fix))
    }

    pub(super) fn missing(&self, field: &str, fix: &str) -> Error {
        Error::Missing { place: self.place.clone(), field: (self.spelled)(field), fix: fix.to_owned() }
    }

    pub(super) fn invalid(&self, field: &str, problem: impl Into<String>) -> Error {
        Error::Invalid { place: self.place.clone(), field: (self.spelled)(field), problem: problem.into() }
    }

    /// The method, by `auth_type` if it is named, else by the fields that are there.
    pub(super) fn method(&self, auth_type: Option<&str>) -> Result<AuthMethod, Error> {
        let by_app = self.get("application_credential_id").is_some()
            || self.get("application_credential_name").is_some()
            || self.get("application_credential_secret").is_some();
        match auth_type {
            Some("v3applicationcredential") => self.app_credential(),
            Some("password" | "v3password") => self.password(),
            None if by_app => self.app_credential(),
            None => self.password(),
            Some(other) => Err(self
                .invalid("auth_type", format!("{other:?} is not supported: use password or v3applicationcredential"))),
        }
    }

    fn app_credential(&self) -> Result<AuthMethod, Error> {
        let secret = self.need("application_credential_secret", "it belongs to the application credential")?.into();
        if let Some(id) = self.get("application_credential_id") {
            let id = id.to_owned();
            return Ok(AuthMethod::AppCredentialId { id, secret });
        }
        let name =
            self.need("application_credential_name", "give the application credential's id, or its name and its user")?;
        let user = self.user("an application credential given by name needs its user")?;
        Ok(AuthMethod::AppCredentialName { name, user, secret })
    }

    fn password(&self) -> Result<AuthMethod, Error> {
        let user = self.user("who logs in")?;
        let password = self.need("password", "it belongs to the user")?.into();
        Ok(AuthMethod::Password { user, password, scope: self.scope()? })
    }

    fn user(&self, fix: &str) -> Result<UserRef, Error> {
        if let Some(id) = self.get("user_id") {
            return Ok(UserRef::Id(id.to_owned()));
        }
        let name = self.need("username", fix)?;
        let domain = self.domain("user")?;
        Ok(UserRef::Name { name, domain })
    }

    fn scope(&self) -> Result<Scope, Error> {
        if self.get("system_scope").is_some() {
            return Err(self
                .invalid("system_scope", "infrastructure lies in a project: give project_name or project_id instead"));
        }
        if let Some(id) = self.get("project_id").or_else(|| self.get("tenant_id")) {
            return Ok(Scope::ProjectId(id.to_owned()));
        }
        let name = match self.get("tenant_name") {
            Some(name) if self.get("project_name").is_none() => name.to_owned(),
            _ => self.need("project_name", "the project that the infrastructure lies in")?,
        };
        let domain = self.domain("project")?;
        Ok(Scope::ProjectName { name, domain })
    }

    /// The domain of the user or of the project: its own, the other's, the common one.
    fn domain(&self, whose: &str) -> Result<DomainRef, Error> {
        let other = if whose == "user" { "project" } else { "user" };
        for prefix in [&format!("{whose}_"), "", &format!("{other}_")] {
            if let Some(id) = self.get(&format!("{prefix}domain_id")) {
                return Ok(DomainRef::Id(id.to_owned()));
            }
            if let Some(name) = self.get(&format!("{prefix}domain_name")) {
                return Ok(DomainRef::Name(name.to_owned()));
            }
        }
        if let Some(id) = self.get("default_domain") {
            return Ok(DomainRef::Id(id.to_owned()));
        }
        Err(self.missing(&format!("{whose}_domain_name"), &format!("a {whose} given by name needs its domain")))
    }

    /// The catalog's interface; the old spellings `publicURL`, … too.
    pub(super) fn interface(&self, field: &str, value: Option<&str>) -> Result<Interface, Error> {
        match value.map(|value| value.strip_suffix("URL").unwrap_or(value)) {
            None | Some("public") => Ok(Interface::Public),
            Some("internal") => Ok(Interface::Internal),
            Some("admin") => Ok(Interface::Admin),
            Some(other) => {
                Err(self.invalid(field, format!("{other:?} is no interface: use public, internal or admin")))
            }
        }
    }

    /// A switch, as YAML, shells and Kubernetes write it.
    pub(super) fn switch(&self, field: &str, value: Option<&str>) -> Result<Option<bool>, Error> {
        let Some(text) = value else { return Ok(None) };
        match text.trim().to_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Ok(Some(true)),
            "false" | "no" | "off" | "0" | "" => Ok(Some(false)),
            other => Err(self.invalid(field, format!("{other:?} is neither true nor false"))),
        }
    }
}
