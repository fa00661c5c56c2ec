//! Nova's resources, as far as we read or write them.

use serde::{Deserialize, Serialize};

use crate::ids::ServerId;

/// A key pair. It belongs to the user, not to the project, and has neither tags nor description.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyPair {
    /// Its name, unique for the user.
    pub name: String,
    /// MD5 fingerprint, colon separated.
    #[serde(default)]
    pub fingerprint: String,
    /// OpenSSH form, one line.
    #[serde(default)]
    pub public_key: String,
}

/// A server, reduced to what tells whose it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// Its id.
    pub id: ServerId,
    /// Its name; Gardener's workers are `<technicalID>-…`.
    #[serde(default)]
    pub name: String,
}
