//! Where credentials come from.
//!
//! ```text
//!   --cloud, OS_CLOUD ──► clouds.yaml + secure.yaml + clouds-public.yaml ┐
//!   OS_AUTH_URL, …    ──► the environment                                ├──► Credentials
//!   Secret cloudprovider                                                 ┘
//! ```
//!
//! What is read is pure: [`Surroundings`] holds the variables and folders, so that a test has its own.

pub mod clouds_yaml;
pub mod env;
mod fields;
mod files;
pub mod secret;

use std::{collections::BTreeMap, path::PathBuf};

use fabric_openstack_types::credentials::Credentials;

use crate::error::Error;

/// What of a process matters here.
#[derive(Clone, Default)]
pub struct Surroundings {
    /// The environment's variables.
    pub variables: BTreeMap<String, String>,
    /// The working folder.
    pub working: PathBuf,
    /// The user's home, if there is one.
    pub home: Option<PathBuf>,
    /// The machine's folder, `/etc/openstack`.
    pub machine: PathBuf,
}

impl std::fmt::Debug for Surroundings {
    /// Variables hold passwords: only their names are shown.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Surroundings")
            .field("variables", &self.variables.keys())
            .field("working", &self.working)
            .field("home", &self.home)
            .field("machine", &self.machine)
            .finish()
    }
}

impl Surroundings {
    /// Those of this process. Variables that are no UTF-8 are left out.
    pub fn of_process() -> Self {
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Self {
            variables,
            working: PathBuf::from("."),
            home: std::env::home_dir(),
            machine: PathBuf::from("/etc/openstack"),
        }
    }

    /// A variable that is set and not empty.
    pub fn variable(&self, name: &str) -> Option<&str> {
        let value = self.variables.get(name).map(String::as_str);
        value.filter(|value| !value.is_empty())
    }
}

/// The credentials that a user means: the cloud named, else `OS_CLOUD`, else the `OS_*` variables, else the only
/// cloud of `clouds.yaml`.
///
/// # Errors
/// Names the file, the cloud, the field and the fix; never a secret's value.
pub fn load(cloud: Option<&str>, from: &Surroundings) -> Result<Credentials, Error> {
    if let Some(cloud) = cloud.or_else(|| from.variable("OS_CLOUD")) {
        return files::read(from)?.credentials(cloud, from);
    }
    if from.variable("OS_AUTH_URL").is_some() {
        return env::credentials(from);
    }
    let clouds = files::read(from)?;
    match clouds.names().as_slice() {
        [only] => clouds.credentials(only, from),
        known => Err(Error::NoCloud { file: clouds.file().to_owned(), known: known.to_vec() }),
    }
}

/// The clouds that `clouds.yaml` names, in alphabetical order (for completions).
///
/// # Errors
/// When a file cannot be read or is no YAML.
pub fn known(from: &Surroundings) -> Result<Vec<String>, Error> {
    Ok(files::read(from)?.names())
}
