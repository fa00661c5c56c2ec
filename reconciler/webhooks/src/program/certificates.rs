//! Certificates from files or of our own making, and the bundle that callers are told.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use fabric_admission::Metrics;
use fabric_admission::certificates::{BundleSink, Done, Files, Keeper, Leader, Serving, StoreError};
use fabric_admission::cluster::ClusterSecrets;
use kube::Client;

use super::{Args, Mode, Program, idle, registration};
use crate::Error;

/// After a failure, and while there is no certificate.
const SOON: Duration = Duration::from_secs(2);
/// How often a replica looks whether it leads now: a comparison of two times.
const GLANCE: Duration = Duration::from_millis(250);
/// How often certificate files are looked at.
const FILES: Duration = Duration::from_secs(10);

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The work that keeps certificates and configurations as they should be. With files, the first pair is read at once.
pub(super) fn keep(
    program: &Program,
    args: &Args,
    (garden, home): (&Client, &Client),
    serving: &Arc<Serving>,
    metrics: &Metrics,
    leader: Leader,
) -> Result<Work, Error> {
    let bundles: Arc<dyn BundleSink> = if args.register {
        Arc::new(registration::configurations(program, args, garden.clone(), Arc::clone(&leader))?)
    } else {
        Arc::new(Nobody)
    };
    let round = args.cert_round.into();
    let Some(folder) = &args.cert_dir else {
        let namespace = args.namespace()?;
        let secrets = ClusterSecrets::new(home.clone(), namespace, program.component, Arc::clone(&leader));
        let names = names(program, args)?;
        let store = (Arc::new(secrets) as Arc<_>, bundles);
        let keeper = Keeper::new(program.component, names, store, Arc::clone(serving), Arc::clone(&leader))
            .with_metrics(metrics.clone());
        return Ok(Box::pin(rounds(keeper, Arc::clone(serving), leader, round)));
    };
    let files =
        Files::open(folder.join("tls.crt"), folder.join("tls.key"), Arc::clone(serving), Some(metrics.clone()))?;
    let bundle = folder.join("ca.crt");
    let register = args.register;
    Ok(Box::pin(async move {
        let telling = async { if register { tell(bundle, bundles, leader, round).await } else { idle().await } };
        tokio::join!(files.watch(FILES), telling);
    }))
}

/// Does what is due every `round`, at once when this replica begins to lead, and soon while there is no certificate.
async fn rounds(mut keeper: Keeper, serving: Arc<Serving>, leader: Leader, round: Duration) {
    loop {
        let led = leader();
        let pause = match keeper.round().await {
            Ok(done) => {
                if done != Done::default() {
                    tracing::info!(?done, until = ?serving.until(), "certificates");
                }
                if serving.until().is_some() { round } else { SOON }
            }
            Err(error) => {
                tracing::warn!(%error, "keeping the webhook's certificates; the one in use stays");
                SOON
            }
        };
        wait(pause, led, &leader).await;
    }
}

/// Tells callers the bundle beside the files again and again: it may change, and so may the configurations.
async fn tell(path: PathBuf, bundles: Arc<dyn BundleSink>, leader: Leader, round: Duration) {
    loop {
        let led = leader();
        let told = async {
            let bundle = match tokio::fs::read_to_string(&path).await {
                Ok(bundle) => bundle,
                // Then callers go by their own roots.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
                Err(source) => return Err(Error::Bundle { path: path.clone(), source }),
            };
            let what = "registering the webhooks";
            bundles.publish(&bundle).await.map_err(|source| fabric_admission::Error::Store { what, source }.into())
        };
        let pause = if !led {
            round
        } else if let Err(error) = told.await {
            tracing::warn!(%error, "the webhook configurations");
            SOON
        } else {
            round
        };
        wait(pause, led, &leader).await;
    }
}

/// Until the time is over, or this replica begins to lead.
async fn wait(pause: Duration, led: bool, leader: &Leader) {
    let end = tokio::time::Instant::now() + pause;
    while tokio::time::Instant::now() < end && (led || !leader()) {
        tokio::time::sleep(GLANCE.min(pause)).await;
    }
}

/// What the certificate has to be good for.
fn names(program: &Program, args: &Args) -> Result<Vec<String>, Error> {
    if args.mode == Mode::Url {
        let url = args.url.as_deref().unwrap_or_default();
        return Ok(vec![registration::host(url).to_owned()]);
    }
    let (name, namespace) = (program.full_name(), args.namespace()?);
    Ok(vec![name.clone(), format!("{name}.{namespace}"), format!("{name}.{namespace}.svc")])
}

/// Callers that somebody else tells.
struct Nobody;

#[async_trait::async_trait]
impl BundleSink for Nobody {
    async fn publish(&self, _bundle: &str) -> Result<(), StoreError> {
        Ok(())
    }
}
