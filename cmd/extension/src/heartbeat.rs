//! The extension's sign of life, beside the controller.

use std::time::Duration;

use fabric_runtime::heartbeat::{NAME, keep};
use fabric_runtime::lease::ClusterLease;
use fabric_webhooks::program::{Surroundings, Work};
use futures::{FutureExt, future::BoxFuture};

/// Flags of the heartbeat, spelled as Gardener's extensions spell theirs.
#[derive(Clone, Debug, clap::Args)]
#[group(id = "heartbeat")]
pub(crate) struct Args {
    /// Namespace of the heartbeat's lease; by default this program's, and without one there is no heartbeat
    #[arg(long, value_name = "NAME")]
    heartbeat_namespace: Option<String>,
    /// Seconds between two renewals of the heartbeat's lease
    #[arg(long = "heartbeat-renew-interval-seconds", default_value_t = 30, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
}

/// The heartbeat, before it is started.
pub(crate) struct Heartbeat {
    pub(crate) args: Args,
    /// The extension's name.
    pub(crate) holder: &'static str,
}

impl Work for Heartbeat {
    fn begin(self: Box<Self>, from: Surroundings<'_>) -> BoxFuture<'static, ()> {
        let Self { args, holder } = *self;
        let Surroundings { home, leadership, stop, .. } = from;
        let Some(namespace) = args.heartbeat_namespace.or(from.namespace) else { return async {}.boxed() };
        async move {
            let store = ClusterLease::new(home, &namespace, NAME);
            let every = Duration::from_secs(args.every);
            tokio::select! {
                () = stop.cancelled() => {}
                () = keep(&store, holder, every, &leadership) => {}
            }
        }
        .boxed()
    }
}
