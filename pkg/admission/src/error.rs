use std::path::PathBuf;

/// What can go wrong outside a single request; what goes wrong inside one is its answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A path is in the table twice.
    #[error("two routes have the path {path}: give each webhook a path of its own")]
    DuplicatePath {
        /// The path.
        path: String,
    },
    /// A path does not start with a slash.
    #[error("the path {path:?} can't be a webhook's: it must start with /")]
    BadPath {
        /// The path.
        path: String,
    },
    /// A certificate or key file can't be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A certificate and its key are unusable.
    #[error("{origin}: {problem}")]
    Certificate {
        /// The file or secret they come from.
        origin: String,
        /// What is wrong, without any of the content.
        problem: String,
    },
    /// A certificate could not be made.
    #[error("making a certificate: {0}")]
    Issue(#[from] rcgen::Error),
    /// A time can't be written into a certificate.
    #[error("the time {0} is beyond what a certificate can say")]
    Time(jiff::Timestamp),
    /// A secret or a bundle could not be read or written.
    #[error("{what}: {source}")]
    Store {
        /// What was tried.
        what: &'static str,
        /// Why it failed.
        source: crate::certificates::StoreError,
    },
    /// Other replicas kept writing at the same time.
    #[error("the webhook's certificates changed under every one of {attempts} attempts; the next round tries again")]
    Contended {
        /// How often it was tried.
        attempts: usize,
    },
    /// TLS could not be set up.
    #[error("TLS: {0}")]
    Tls(#[from] rustls::Error),
}
