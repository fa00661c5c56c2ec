//! What can go wrong before the first call: configuration. A failed call is an [`ApiError`].

use std::path::PathBuf;

use fabric_openstack_types::ApiError;

/// Why there is no client, or why its call failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A service was called, or should have been.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// A configuration file cannot be read.
    #[error("{}: {source}", .file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A configuration file is no YAML, or not of the form that `clouds.yaml` has.
    #[error("{file}: {message}")]
    Syntax {
        /// The file.
        file: String,
        /// Where and what.
        message: String,
    },
    /// Nothing says which cloud to use.
    #[error(
        "no cloud given: name one of {file} with --cloud or OS_CLOUD ({}), or set OS_AUTH_URL and the other OS_* variables",
        list(.known)
    )]
    NoCloud {
        /// The `clouds.yaml` that was found, or where one was looked for.
        file: String,
        /// Its clouds.
        known: Vec<String>,
    },
    /// The cloud is not in the file.
    #[error("{file}: no cloud {cloud:?}{}", there_are(.known))]
    UnknownCloud {
        /// The file, or where one was looked for.
        file: String,
        /// The cloud asked for.
        cloud: String,
        /// The clouds that there are.
        known: Vec<String>,
    },
    /// A field that is needed is not there.
    #[error("{place}: {field} is missing: {fix}")]
    Missing {
        /// The file and the cloud, or the secret, or "environment".
        place: String,
        /// The field.
        field: String,
        /// What to do.
        fix: String,
    },
    /// A field has a value that cannot be used. Never prints a secret's value.
    #[error("{place}: {field}: {problem}")]
    Invalid {
        /// The file and the cloud, or the secret, or "environment".
        place: String,
        /// The field.
        field: String,
        /// What is wrong and what to do.
        problem: String,
    },
}

fn there_are(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("; it has {}", names.join(", ")) }
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
