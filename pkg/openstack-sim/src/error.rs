//! What can go wrong with the embedded cloud itself; what its services answer is no error of ours.

use std::path::PathBuf;

/// Errors of starting, saving, loading and steering the cloud.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// A port could not be opened on loopback, usually since it is taken.
    #[error("cannot listen on 127.0.0.1:{port} for {service}: {source}")]
    Listen {
        /// The service that wanted the port.
        service: &'static str,
        /// The wanted port, 0 for any free one.
        port: u16,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file of a saved cloud could not be read or written.
    #[error("cannot {verb} the saved cloud {}: {source}", path.display())]
    File {
        /// `read` or `write`.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A saved cloud is no JSON.
    #[error("the saved cloud {} is damaged: {source}; remove the file to start afresh", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where it is damaged.
        source: serde_json::Error,
    },
    /// A saved cloud has a form that this version does not know.
    #[error("the saved cloud {} has form {found}, this version reads {expected}; remove the file to start afresh", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// The form in the file.
        found: i64,
        /// The form we write.
        expected: i64,
    },
    /// A fault's path is no regular expression.
    #[error("the path of a fault is no regular expression: {0}")]
    Pattern(#[from] regex::Error),
    /// The backdoor was asked for an object that is not there.
    #[error("there is no {table} {id:?} in the embedded cloud")]
    Absent {
        /// The table, as in a snapshot.
        table: String,
        /// The id or name that was asked for.
        id: String,
    },
}
