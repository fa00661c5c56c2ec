//! The flags, spelled as Gardener's extensions spell theirs.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use fabric_runtime::{cluster, logging};
use kube::Client;

use crate::Error;
use crate::dynamic::{self, LONGEST};

/// How an apiserver reaches the webhooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Mode {
    /// By this program's Service, in the same cluster
    #[default]
    Service,
    /// By the host given with --webhook-config-url
    Url,
    /// By the Service's name as a host
    UrlService,
}

/// Flags of every program with webhooks.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Kubeconfig of the cluster whose objects are checked; by default the one this pod runs in
    #[arg(long, env = "KUBECONFIG", value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Kubeconfig of the cluster that this program lives in, for certificates and the lease, where it is another one
    #[arg(long, env = "SOURCE_KUBECONFIG", value_name = "FILE")]
    pub source_kubeconfig: Option<PathBuf>,
    /// `enabled`: this program lives in the cluster that its pod runs in, whatever --kubeconfig says
    #[arg(long, env = "SOURCE_CLUSTER", value_name = "WORD", conflicts_with = "source_kubeconfig")]
    pub source_cluster: Option<String>,

    /// How an apiserver reaches the webhooks
    #[arg(long = "webhook-config-mode", value_enum, default_value_t, value_name = "MODE")]
    pub mode: Mode,
    /// Host, or host:port, for the mode `url`
    #[arg(long = "webhook-config-url", value_name = "HOST")]
    pub url: Option<String>,
    /// Namespace of this program: of its Service, its certificates and its lease
    #[arg(long = "webhook-config-namespace", env = "WEBHOOK_CONFIG_NAMESPACE", value_name = "NAME")]
    pub namespace: Option<String>,
    /// Namespace in the checked cluster whose deletion takes the webhook configurations along
    #[arg(long = "webhook-config-owner-namespace", value_name = "NAME")]
    pub owner_namespace: Option<String>,
    /// Name of the webhook configurations; by default this program's name
    #[arg(long = "webhook-config-name", value_name = "NAME")]
    pub config_name: Option<String>,
    /// Check only objects in these namespaces, and those outside of namespaces: to begin with a few projects
    #[arg(long = "webhook-config-namespaces", value_delimiter = ',', value_name = "NAMES")]
    pub namespaces: Vec<String>,
    /// Port of the Service
    #[arg(long = "webhook-config-service-port", default_value_t = 443, value_name = "PORT")]
    pub service_port: u16,
    /// Address the webhooks listen on
    #[arg(long = "webhook-config-server-host", default_value = "::", value_name = "ADDRESS")]
    pub host: IpAddr,
    /// Port the webhooks listen on
    #[arg(long = "webhook-config-server-port", default_value_t = 10250, value_name = "PORT")]
    pub port: u16,
    /// Folder with tls.crt, tls.key and, for the configurations, ca.crt, which somebody else renews. Without it this
    /// program makes its certificates
    #[arg(long = "webhook-config-cert-dir", value_name = "FOLDER")]
    pub cert_dir: Option<PathBuf>,
    /// How often certificates and configurations are looked after
    #[arg(long = "webhook-config-cert-round", default_value = "300s", value_name = "DURATION", hide = true)]
    pub cert_round: Seconds,
    /// Whether this program makes and keeps the webhook configurations
    #[arg(long = "webhook-config-register", default_value_t = true, action = clap::ArgAction::Set, value_name = "BOOL")]
    pub register: bool,

    /// Rules that look into the cloud: not asked, told as warnings, or refusing
    #[arg(long, value_enum, default_value_t, value_name = "MODE")]
    pub dynamic_validation: dynamic::Mode,
    /// Seconds that such a look may take, at most 6
    #[arg(long, default_value_t = 5, value_name = "SECONDS")]
    pub dynamic_validation_timeout: u64,

    /// Whether only one of several replicas writes certificates and configurations
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    pub leader_election: bool,
    /// Name of the lease; by default this program's name
    #[arg(long, value_name = "NAME")]
    pub leader_election_id: Option<String>,
    /// Namespace of the lease; by default this program's
    #[arg(long, env = "LEADER_ELECTION_NAMESPACE", value_name = "NAME")]
    pub leader_election_namespace: Option<String>,

    /// Where /metrics is served; 0: nowhere
    #[arg(long, default_value = ":8080", value_name = "ADDRESS")]
    pub metrics_bind_address: Bind,
    /// Where /healthz and /readyz are served; 0: nowhere
    #[arg(long, default_value = ":8081", value_name = "ADDRESS")]
    pub health_bind_address: Bind,
    /// How long new requests are still taken after a signal to stop, until everybody has noticed
    #[arg(long, default_value = "15s", value_name = "DURATION", hide = true)]
    pub shutdown_notice: Seconds,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub logging: logging::Args,
}

/// An address to listen on as Go programs spell it: `:8080` is every address, `0` is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bind(Option<SocketAddr>);

impl std::str::FromStr for Bind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "0" {
            return Ok(Self(None));
        }
        let whole = if text.starts_with(':') { format!("[::]{text}") } else { text.to_owned() };
        whole.parse().map(|address| Self(Some(address))).map_err(|_| "write ADDRESS:PORT, :PORT, or 0 for none".into())
    }
}

/// A time in whole or broken seconds, `15s` or `0.2s`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seconds(Duration);

impl From<Seconds> for Duration {
    fn from(seconds: Seconds) -> Self {
        seconds.0
    }
}

impl std::str::FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let seconds = text.strip_suffix('s').and_then(|text| text.parse().ok());
        let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        duration.map(Self).ok_or_else(|| "write it like 15s".into())
    }
}

impl Args {
    /// Flags that need each other.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.mode == Mode::Url && self.url.is_none() {
            let problem = "the mode url needs the host that apiservers reach this program by".to_owned();
            return Err(Error::Flag { flag: "--webhook-config-url", problem });
        }
        if self.url.as_deref().is_some_and(|url| url.contains("://") || url.contains('/')) {
            let problem = "give the host, or host:port, without https:// and path".to_owned();
            return Err(Error::Flag { flag: "--webhook-config-url", problem });
        }
        if self.source_cluster.as_deref().is_some_and(|word| !word.is_empty() && word != "enabled") {
            return Err(Error::Flag { flag: "--source-cluster", problem: "the only word is `enabled`".to_owned() });
        }
        Ok(())
    }

    /// The cluster that this program lives in.
    pub(super) async fn home(&self, garden: &Client) -> Result<Client, Error> {
        if let Some(path) = &self.source_kubeconfig {
            return Ok(cluster::connect(Some(path)).await?);
        }
        if self.source_cluster.as_deref() == Some("enabled") && self.kubeconfig.is_some() {
            return Ok(cluster::connect(None).await?);
        }
        Ok(garden.clone())
    }

    pub(super) fn namespace(&self) -> Result<&str, Error> {
        self.namespace.as_deref().filter(|name| !name.is_empty()).ok_or_else(|| Error::Flag {
            flag: "--webhook-config-namespace",
            problem: "give the namespace that this program runs in".to_owned(),
        })
    }

    pub(super) fn lease_namespace(&self) -> Result<&str, Error> {
        self.leader_election_namespace.as_deref().filter(|name| !name.is_empty()).map_or_else(|| self.namespace(), Ok)
    }

    pub(super) fn operations(&self) -> Vec<SocketAddr> {
        let mut all: Vec<SocketAddr> =
            [self.metrics_bind_address.0, self.health_bind_address.0].into_iter().flatten().collect();
        // One socket serves all three paths.
        all.dedup_by(|a, b| a == b && a.port() != 0);
        all
    }

    pub(super) fn dynamic_time(&self) -> Duration {
        Duration::from_secs(self.dynamic_validation_timeout.max(1)).min(LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        args: Args,
    }

    fn read(flags: &[&str]) -> Args {
        Cli::try_parse_from(std::iter::once(&"x").chain(flags)).unwrap().args
    }

    #[test]
    fn defaults_are_gardeners() {
        let args = read(&[]);
        assert_eq!((args.port, args.mode, args.leader_election), (10250, Mode::Service, true));
        let ports: Vec<u16> = args.operations().iter().map(SocketAddr::port).collect();
        assert_eq!(ports, [8080, 8081]);
        assert_eq!(args.dynamic_validation, dynamic::Mode::Off);
    }

    #[test]
    fn addresses_are_read_as_go_programs_do() {
        for (text, read) in [(":8080", Some("[::]:8080")), ("127.0.0.1:0", Some("127.0.0.1:0")), ("0", None)] {
            assert_eq!(text.parse::<Bind>().unwrap().0.map(|it| it.to_string()).as_deref(), read);
        }
        assert!("localhost".parse::<Bind>().is_err());
        let one = read(&["--metrics-bind-address", ":9", "--health-bind-address", ":9"]);
        assert_eq!(one.operations().len(), 1);
        let two = read(&["--metrics-bind-address", ":0", "--health-bind-address", ":0"]);
        assert_eq!(two.operations().len(), 2, "the system chooses a port for each");
    }

    #[test]
    fn flags_that_need_each_other_say_so() {
        let problem = |flags: &[&str]| read(flags).check().unwrap_err().to_string();
        assert!(problem(&["--webhook-config-mode", "url"]).starts_with("--webhook-config-url: "));
        assert!(problem(&["--webhook-config-url", "https://x"]).contains("without https://"));
        assert!(problem(&["--source-cluster", "yes"]).contains("`enabled`"));
        assert!(read(&["--leader-election=false"]).lease_namespace().unwrap_err().to_string().contains("namespace"));
        assert!(!read(&["--leader-election", "false"]).leader_election);
        assert!(read(&["--leader-election"]).leader_election);
    }

    #[test]
    fn a_time_box_stays_below_the_webhooks_time() {
        assert_eq!(read(&["--dynamic-validation-timeout", "60"]).dynamic_time(), LONGEST);
        assert_eq!(read(&["--dynamic-validation-timeout", "0"]).dynamic_time(), Duration::from_secs(1));
    }
}
