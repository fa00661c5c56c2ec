//! The controller of `Infrastructure/openstack`: Gardener's contract around `fabric_infrastructure`.
//!
//! ```text
//!  watch ─► queue ─► applier ─► due? ─┬─► operate   create, reconcile, restore, delete, migrate
//!                                     └─► look      drift, dry run, repair
//!  contract   what is due, and what the status says (no IO)      status, conditions, patch   written where they changed
//!  subject    Infrastructure + Cluster + Secret ─► input, state, client           told       failures in Gardener's terms
//! ```
//!
//! Invariants:
//! * Nothing is written unless this process holds the lease.
//! * One object is worked on by one task at a time; a change meanwhile is looked at afterwards.
//! * The state is in the status before the next step of a flow begins; a stop ends between steps.
//! * A drift round writes only a transition.

mod conditions;
mod contract;
mod head;
mod look;
mod metrics;
mod objects;
mod operate;
mod patch;
mod queue;
mod status;
mod subject;
mod told;

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fabric_openstack::Sessions;
use fabric_runtime::{Leadership, cluster::chain};
use fabric_webhooks::program::{Surroundings, Work};
use futures::{FutureExt, StreamExt, future::BoxFuture};
use kube::runtime::controller::{self, Action, applier};
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use kube::runtime::reflector;
use kube::{Api, Client};
use rand::Rng;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use conditions::Says;
use contract::{Due, Facts, due, has_failed};
use head::Head;
use metrics::{Metrics, OperationLabels};
use objects::Objects;
use queue::{Key, Known, shown};
use subject::Subject;

pub(crate) use args::{Args, Settings};

mod args;

/// The name in events.
const NAME: &str = "gardener-extension-openstack-fabric";
/// The first pause after a failure, the longest, and that after a look which was only partly possible.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(5 * 60);
/// A note in an event may be as long.
const LONGEST_NOTE: usize = 1024;

/// Why a run is tried again.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failed {
    /// The operation's own failure; its status tells it.
    #[error("{text}")]
    Operation { text: String, retry_after: Option<Duration> },
    /// The seed's API server.
    #[error("{}", chain(.0))]
    Cluster(#[from] kube::Error),
}

/// The controller, before it is started.
pub(crate) struct Infrastructures {
    pub(crate) settings: Settings,
}

impl Work for Infrastructures {
    fn begin(self: Box<Self>, from: Surroundings<'_>) -> BoxFuture<'static, ()> {
        let metrics = Metrics::register(from.registry);
        let (client, watches, leadership, stop) = (from.client, from.watches, from.leadership, from.stop);
        let sessions = Arc::new(Sessions::new(fabric_openstack::Options {
            metrics: Some(from.openstack),
            // A process that was paused longer than its lease lasts wakes up in the middle of its work.
            permit: fabric_openstack::Permit::new({
                let leadership = leadership.clone();
                move || leadership.is_held()
            }),
            ..fabric_openstack::Options::default()
        }));
        let (synced, leads) = (Arc::clone(&metrics.synced), leadership.clone());
        let is_ready = move || match leads.is_held() && !synced.load(Ordering::Relaxed) {
            true => Err("Infrastructures are not listed yet".to_owned()),
            false => Ok(()),
        };
        *from.health = std::mem::take(from.health).with("infrastructure", Arc::new(is_ready));
        let settings = self.settings;
        metrics.concurrency.set(settings.concurrency.into());
        async move {
            loop {
                tokio::select! {
                    () = stop.cancelled() => return,
                    () = leadership.held() => {}
                }
                let controller =
                    Controller::new((client.clone(), &leadership), &settings, metrics.clone(), &sessions, &stop);
                // Without the lease another may have begun: what runs is dropped where it stands, and what it made is
                // found again by its marks.
                tokio::select! {
                    () = Arc::new(controller).run(watches.clone()) => {}
                    () = leadership.lost() => tracing::warn!("without the lease all work is dropped"),
                }
                if stop.is_cancelled() {
                    return;
                }
            }
        }
        .boxed()
    }
}

/// What all runs share.
struct Controller {
    objects: Objects,
    recorder: Recorder,
    sessions: Arc<Sessions>,
    metrics: Metrics,
    settings: Settings,
    stop: CancellationToken,
    /// When an object is looked at next.
    looks: Mutex<HashMap<Key, Instant>>,
    /// How often an object failed in a row.
    failures: Mutex<HashMap<Key, u32>>,
}

impl Controller {
    fn new(
        (client, leadership): (Client, &Leadership),
        settings: &Settings,
        metrics: Metrics,
        sessions: &Arc<Sessions>,
        stop: &CancellationToken,
    ) -> Self {
        let reporter = Reporter { controller: NAME.to_owned(), instance: Some(fabric_runtime::cluster::identity()) };
        Self {
            objects: Objects::new(client.clone(), leadership.clone()),
            recorder: Recorder::new(client, reporter),
            sessions: Arc::clone(sessions),
            metrics,
            settings: settings.clone(),
            stop: stop.clone(),
            looks: Mutex::default(),
            failures: Mutex::default(),
        }
    }

    /// Works until `stop`, then until what runs has come to a step's end.
    async fn run(self: Arc<Self>, watches: Client) {
        let (store, writer) = reflector::store();
        let known = Known::new(self.settings.ignore_operation);
        let requests = queue::requests(Api::all(watches), writer, known, self.metrics.clone());
        let stop = self.stop.clone().cancelled_owned();
        let queue = requests.take_until(stop).boxed();
        let config = controller::Config::default().concurrency(self.settings.concurrency);
        let applied = applier(
            |head, controller: Arc<Self>| Box::pin(async move { controller.handle(&head).await }),
            |head, failed, controller| controller.pause_after(&head, failed),
            self,
            store,
            queue,
            config,
        );
        applied
            .for_each(|done| async move {
                // An object that is gone when its turn comes; failures of ours have been told.
                if let Err(error) = done {
                    tracing::debug!(error = chain(&error), "not worked on");
                }
            })
            .await;
    }

    async fn handle(&self, head: &Head) -> Result<Action, Failed> {
        if !head.facts.is_ours(&self.settings.classes) || self.stop.is_cancelled() {
            return Ok(Action::await_change());
        }
        let key = Key::from_obj(head);
        let is_only_looked_at = due(&head.facts, false, self.settings.ignore_operation) == Due::Look;
        if is_only_looked_at && !head.facts.asks {
            match self.time_to_look(&key) {
                None => return Ok(Action::await_change()),
                Some(rest) if !rest.is_zero() => return Ok(Action::requeue(rest)),
                Some(_) => {}
            }
        }
        let span = tracing::info_span!("infrastructure", shoot = key.namespace.as_deref(), object = key.name);
        self.metrics.running.inc();
        let done = self.act(&key).instrument(span).await;
        self.metrics.running.dec();
        if done.is_ok() {
            lock(&self.failures).remove(&key);
        }
        done
    }

    async fn act(&self, key: &Key) -> Result<Action, Failed> {
        let Some(object) = self.objects.infrastructure(key).await? else {
            self.forget_all(key);
            return Ok(Action::await_change());
        };
        let facts = Facts::of(&object);
        let cluster = self.objects.cluster(key.namespace.as_deref().unwrap_or_default()).await?;
        let subject = Subject { key: key.clone(), object, cluster };
        match due(&facts, has_failed(subject.shoot()), self.settings.ignore_operation) {
            Due::Nothing(why) => {
                tracing::debug!(why, "nothing to do");
                return Ok(Action::await_change());
            }
            Due::Operation(operation) => {
                let begun = Instant::now();
                let done = self.operate(subject, operation).await;
                let result = if done.is_ok() { "succeeded" } else { "failed" };
                let labels = OperationLabels { operation: operation.as_str(), result };
                self.metrics.reconciles.get_or_create(&labels).inc();
                self.metrics.durations.get_or_create(&labels).observe(begun.elapsed().as_secs_f64());
                done?;
                self.metrics.tell_drift(key, false);
            }
            Due::Look => self.look(subject).await?,
        }
        if facts.asks && !matches!(due(&facts, false, self.settings.ignore_operation), Due::Look) {
            // The dry run comes after what was more urgent.
            return Ok(Action::requeue(Duration::ZERO));
        }
        Ok(self.look_later(key))
    }

    /// How long until the next look at an object; `None`: nobody looks. The first one is at a random time, so that not
    /// all come together after a start.
    fn time_to_look(&self, key: &Key) -> Option<Duration> {
        let every = self.settings.drift_interval?;
        let mut looks = lock(&self.looks);
        let now = Instant::now();
        let at = looks.entry(key.clone()).or_insert_with(|| now + every.mul_f64(rand::rng().random_range(0.0..1.0)));
        Some(at.saturating_duration_since(now))
    }

    fn look_later(&self, key: &Key) -> Action {
        let Some(every) = self.settings.drift_interval else { return Action::await_change() };
        let rest = every.mul_f64(rand::rng().random_range(0.9..1.1));
        lock(&self.looks).insert(key.clone(), Instant::now() + rest);
        Action::requeue(rest)
    }

    fn forget_all(&self, key: &Key) {
        lock(&self.looks).remove(key);
        lock(&self.failures).remove(key);
        self.metrics.tell_drift(key, false);
    }

    /// The pause before a failed object's next turn: it doubles, and is never shorter than the cloud asks for.
    fn pause_after(&self, head: &Head, failed: &Failed) -> Action {
        let key = Key::from_obj(head);
        let mut failures = lock(&self.failures);
        let count = failures.entry(key.clone()).or_default();
        let pause = FIRST_PAUSE.saturating_mul(1_u32.checked_shl(*count).unwrap_or(u32::MAX)).min(LONGEST_PAUSE);
        *count = count.saturating_add(1).min(16);
        let pause = pause.mul_f64(rand::rng().random_range(0.8..1.2));
        let (pause, is_told) = match failed {
            Failed::Operation { retry_after, .. } => (pause.max(retry_after.unwrap_or_default()), true),
            // Somebody else wrote in between: look again soon.
            Failed::Cluster(kube::Error::Api(status)) if status.code == 409 => (Duration::from_millis(200), false),
            Failed::Cluster(_) => (pause, false),
        };
        if !is_told {
            tracing::warn!(object = shown(&key), error = %failed, ?pause, "the seed's API server; trying again");
        }
        Action::requeue(pause)
    }

    /// Puts into an event what a condition says, once for each transition.
    async fn tell(&self, key: &Key, object: &Value, says: &Says) {
        let mut regarding = kube::Resource::object_ref(&Head::default(), &());
        regarding.name = Some(key.name.clone());
        regarding.namespace.clone_from(&key.namespace);
        regarding.uid = object.pointer("/metadata/uid").and_then(Value::as_str).map(str::to_owned);
        let event = Event {
            type_: if says.holds && says.type_ != conditions::PLAN { EventType::Warning } else { EventType::Normal },
            reason: format!("{}{}", says.type_, says.reason),
            note: Some(conditions::cut(&says.message, LONGEST_NOTE)),
            action: "Look".to_owned(),
            secondary: None,
        };
        if let Err(error) = self.recorder.publish(&event, &regarding).await {
            tracing::warn!(error = chain(&error), "an event could not be written");
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
