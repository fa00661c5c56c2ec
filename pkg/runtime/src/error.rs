use std::path::PathBuf;

/// Why a program can't start, or can't reach its cluster.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A kubeconfig can't be read or used.
    #[error("kubeconfig {}: {problem}", path.display())]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// What is wrong, without any of the content.
        problem: String,
    },
    /// The program doesn't run in a pod, and no kubeconfig is named.
    #[error("no cluster: {0}; name one with --kubeconfig, or run in a pod with a service account")]
    NoCluster(#[from] kube::config::InClusterError),
    /// The client could not be made.
    #[error("the cluster's client: {0}")]
    Client(String),
    /// Logs could not be set up, for instance because they are already.
    #[error("logs: {0}")]
    Logging(String),
    /// The system doesn't let us wait for signals.
    #[error("waiting for a signal to stop: {0}")]
    Signal(#[from] std::io::Error),
    /// A lease could not be read or written.
    #[error("lease {name}: {problem}")]
    Lease {
        /// Namespace and name.
        name: String,
        /// Why.
        problem: String,
    },
}
