use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a program with webhooks can't start or had to end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The cluster, the lease, logs or signals.
    #[error(transparent)]
    Runtime(#[from] fabric_runtime::Error),
    /// The server, its table or its certificates.
    #[error(transparent)]
    Admission(#[from] fabric_admission::Error),
    /// A flag has a value that can't work.
    #[error("{flag}: {problem}")]
    Flag {
        /// The flag.
        flag: &'static str,
        /// What is wrong and what to give.
        problem: String,
    },
    /// A socket could not be opened.
    #[error("listening on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        source: std::io::Error,
    },
    /// The bundle beside the certificate files can't be read.
    #[error("{}: {source}", path.display())]
    Bundle {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}
