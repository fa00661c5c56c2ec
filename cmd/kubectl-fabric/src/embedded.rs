//! The cloud `demo`: an OpenStack in memory whose content outlives a command in a file, so that a later `drift` sees
//! what `apply` made.

use std::path::{Path, PathBuf};

use fabric_openstack_sim::{Cloud, Config};
use fabric_openstack_types::credentials::{AuthMethod, Credentials, DomainRef, Interface, Scope, UserRef};

use crate::{
    exit::{Result, Stop},
    state_file::{Lock, home},
};

/// The name that chooses it.
pub(crate) const NAME: &str = "demo";

/// A running embedded cloud.
pub(crate) struct Embedded {
    pub(crate) cloud: Cloud,
    file: PathBuf,
    /// Held while the command may change the cloud.
    lock: Option<Lock>,
}

impl Embedded {
    /// Where its content is kept.
    ///
    /// # Errors
    /// No home folder.
    pub(crate) fn default_file() -> Result<PathBuf> {
        Ok(home()?.join("demo-cloud.json"))
    }

    /// Starts it with what it held at the end of the last command. `verb`: the command that will change it; nobody
    /// else may meanwhile.
    ///
    /// # Errors
    /// Another command changes it; its file cannot be read.
    pub(crate) async fn start(file: &Path, verb: Option<&str>) -> Result<Self> {
        let lock = verb.map(|verb| Lock::take(file, verb)).transpose()?;
        let failed = |error: &dyn std::fmt::Display| Stop::error(format!("embedded cloud: {error}"));
        let cloud = Cloud::start(Config::default()).await.map_err(|error| failed(&error))?;
        if file.exists() {
            let again = "remove the file to begin with a fresh embedded cloud";
            cloud.load(file).map_err(|error| failed(&error).next(again))?;
        }
        Ok(Self { cloud, file: file.to_owned(), lock })
    }

    /// Writes its content down, if this command may have changed it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn save(&self) -> Result<(), String> {
        if self.lock.is_none() {
            return Ok(());
        }
        self.cloud.save(&self.file).map_err(|error| error.to_string())
    }

    /// How its user `demo` logs in.
    pub(crate) fn credentials(&self) -> Credentials {
        let domain = || DomainRef::Name("demo".to_owned());
        Credentials {
            auth_url: self.cloud.auth_url(),
            method: AuthMethod::Password {
                user: UserRef::Name { name: "demo".to_owned(), domain: domain() },
                password: "demo".to_owned().into(),
                scope: Scope::ProjectName { name: "demo".to_owned(), domain: domain() },
            },
            region: Some(self.cloud.region()),
            interface: Interface::Public,
            ca_cert: None,
            insecure: false,
            endpoint_overrides: std::collections::BTreeMap::new(),
        }
    }
}
