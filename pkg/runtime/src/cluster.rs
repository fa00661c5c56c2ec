//! The client of a cluster.

use std::path::Path;
use std::time::Duration;

use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};

use crate::Error;

/// Every request ends within this time: what is left between the moment when a holder stops believing in its lease and
/// the moment when another may take it ([`crate::lease::Timing`]).
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// A watch is asked for this long; then it is begun anew where it ended. One that is cut without a word, as by a firewall
/// that forgets, is noticed not much later.
pub const WATCH_TIME: Duration = Duration::from_secs(20);
/// How long a watch's client waits for the next byte: longer than a watch lasts.
const WATCH_TIMEOUT: Duration = Duration::from_secs(25);

/// A client for the cluster that the file names (its current context), else for the one that this pod runs in. Tokens
/// in files, as projected into pods or named by a kubeconfig's `tokenFile`, are read anew when they change.
///
/// # Errors
/// [`Error::Kubeconfig`], [`Error::NoCluster`], [`Error::Client`]. Nothing is sent yet.
pub async fn connect(kubeconfig: Option<&Path>) -> Result<Client, Error> {
    client(kubeconfig, REQUEST_TIMEOUT).await
}

/// The same for watches, whose answers come when something happens. They ask for [`WATCH_TIME`].
///
/// # Errors
/// As [`connect`].
pub async fn connect_for_watches(kubeconfig: Option<&Path>) -> Result<Client, Error> {
    client(kubeconfig, WATCH_TIMEOUT).await
}

async fn client(kubeconfig: Option<&Path>, read: Duration) -> Result<Client, Error> {
    // Once in a process; a second call finds it done.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut config = match kubeconfig {
        Some(path) => {
            let problem =
                |error: KubeconfigError| Error::Kubeconfig { path: path.to_owned(), problem: without_content(error) };
            let file = Kubeconfig::read_from(path).map_err(problem)?;
            Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await.map_err(problem)?
        }
        None => Config::incluster()?,
    };
    config.connect_timeout = Some(REQUEST_TIMEOUT);
    config.read_timeout = Some(read);
    config.write_timeout = Some(REQUEST_TIMEOUT);
    Client::try_from(config).map_err(|error| Error::Client(chain(&error)))
}

/// The YAML reader shows the lines around a mistake, and a token may stand there.
fn without_content(error: KubeconfigError) -> String {
    match error {
        KubeconfigError::Parse(_) => {
            "it is no kubeconfig: check it with `kubectl config view --kubeconfig FILE`".to_owned()
        }
        other => chain(&other),
    }
}

/// An error with its causes, each said once. kube's texts often leave the cause to `source`.
pub fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let said = next.to_string();
        if !text.contains(&said) {
            text += &format!(": {said}");
        }
        cause = next.source();
    }
    text
}

/// A name for this process that no other has: the host's (in a pod, the pod's), and a random part, so that a
/// restarted pod waits for its own old lease like anybody else.
pub fn identity() -> String {
    let host = std::env::var("HOSTNAME").ok().filter(|name| !name.is_empty());
    let host = host.or_else(|| std::fs::read_to_string("/proc/sys/kernel/hostname").ok());
    let host = host.as_deref().map_or("unknown", str::trim);
    format!("{host}_{}", uuid::Uuid::new_v4())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[tokio::test]
    async fn a_kubeconfig_that_is_none_is_named_without_its_content() {
        let folder = std::env::temp_dir().join(format!("fabric-runtime-{}", uuid::Uuid::new_v4()));
        std::fs::create_dir(&folder).unwrap();
        let path = folder.join("kubeconfig");
        let error = connect(Some(&path)).await.err().unwrap().to_string();
        assert!(error.contains(&path.display().to_string()), "{error}");
        let mut file = std::fs::File::create(&path).unwrap();
        writeln!(file, "users:\n- name: x\n  user: {{token: hunter2\n").unwrap();
        let error = connect(Some(&path)).await.err().unwrap().to_string();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(error.contains("kubeconfig") && !error.contains("hunter2"), "{error}");
    }

    #[test]
    fn every_process_has_a_name_of_its_own() {
        assert_ne!(identity(), identity());
    }
}
