//! An operation from its beginning to its end, in the order that Gardener's contract sets (§3.1).
//!
//! ```text
//!  reconcile   annotation off · finalizer ─► Processing ─► check ─► work ─► Succeeded
//!  restore                      finalizer ─► Processing ─► check ─► work ─► annotation off ─► Succeeded
//!  delete      annotation off ─► Processing ─► work (none when forced) ─► Succeeded ─► finalizer off
//!  migrate     Processing ─► nothing ─► Succeeded ─► finalizer and annotation off
//!              a failure at any point ─► Error, with its codes; tried again after a growing pause
//! ```

use std::sync::Arc;
use std::time::Duration;

use fabric_apis::field::Warning;
use fabric_flow::{Event, Events, Options, TaskState};
use fabric_infrastructure::codes::Code;
use fabric_infrastructure::gardener::Reading;
use fabric_infrastructure::reconcile::{finish, prepare, prepare_delete};
use fabric_infrastructure::{Failure, State, Timing, apply_delete};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::conditions::{self, Says};
use super::contract::{self, FINALIZER, Facts, OPERATION, Operation, Stage, Told, operation};
use super::metrics::TaskLabels;
use super::objects::is_missing;
use super::status::{Progress, Status, Store, put_state};
use super::subject::{Prepared, Subject};
use super::told::{retry_after, told};
use super::{Controller, Failed};

/// The longest that an operation may take.
const LONGEST: Duration = Duration::from_secs(20 * 60);
/// Between two writes of the progress alone.
const PROGRESS: Duration = Duration::from_secs(2);

/// What an operation leaves in the status.
#[derive(Default)]
struct Left {
    status: Map<String, Value>,
    warnings: Vec<Warning>,
}

/// Why work ended early.
struct Broken {
    told: Told,
    retry_after: Option<Duration>,
}

impl From<Told> for Broken {
    fn from(told: Told) -> Self {
        Self { told, retry_after: None }
    }
}

impl From<Failure> for Broken {
    fn from(failure: Failure) -> Self {
        Self { told: told(&failure), retry_after: retry_after(&failure) }
    }
}

impl Controller {
    /// Runs an operation and records how it went.
    ///
    /// # Errors
    /// What is tried again: what the status tells, or that it could not be written.
    pub(super) async fn operate(&self, mut subject: Subject, operation: Operation) -> Result<(), Failed> {
        if operation == Operation::Delete && contract::is_deletion_forced(subject.shoot()) {
            tracing::warn!("forced deletion: the cloud is left as it is");
        }
        self.begin(&mut subject, operation).await?;
        let generation = Facts::of(&subject.object).generation;
        let status = Status::of(self.objects.clone(), subject.key.clone(), &subject.object);
        let begun = contract::processing(operation, 1, None, Timestamp::now());
        status.write(|status| status.insert("lastOperation".to_owned(), json!(begun))).await?;
        let work = tokio::time::timeout(LONGEST, self.work(&subject, operation, &status)).await;
        let done = work.unwrap_or_else(|_elapsed| {
            let text = format!("no end after {} min; what was done is saved", LONGEST.as_secs() / 60);
            Err(Told { stage: Stage::Work, text, codes: Vec::new(), task: None }.into())
        });
        match done {
            Ok(left) => self.succeed(subject, operation, &status, left, generation).await,
            Err(Broken { told, .. }) if self.stop.is_cancelled() => {
                // The next holder of the lease goes on: an operation that is still Processing is one to take up.
                tracing::info!(reason = told.text, "stopped; what was done is saved");
                Ok(())
            }
            Err(broken) => fail(operation, &status, broken, generation).await,
        }
    }

    /// What comes before the first word in the status.
    async fn begin(&self, subject: &mut Subject, operation: Operation) -> Result<(), Failed> {
        let facts = Facts::of(&subject.object);
        let mut metadata = Map::new();
        if facts.operation.as_deref() == Some(operation::RECONCILE) {
            metadata.insert("annotations".to_owned(), json!({ OPERATION: null }));
        }
        let makes = matches!(operation, Operation::Create | Operation::Reconcile | Operation::Restore);
        if makes && !facts.is_kept {
            metadata.insert("finalizers".to_owned(), json!(finalizers(&subject.object, true)));
        }
        self.patch(subject, metadata).await
    }

    async fn patch(&self, subject: &mut Subject, metadata: Map<String, Value>) -> Result<(), Failed> {
        if metadata.is_empty() {
            return Ok(());
        }
        let patch = json!({ "metadata": metadata });
        subject.object = self.objects.patch(&subject.key, subject.version(), patch).await?;
        Ok(())
    }

    async fn work(&self, subject: &Subject, operation: Operation, status: &Status) -> Result<Left, Broken> {
        match operation {
            Operation::Create | Operation::Reconcile | Operation::Restore => {
                let prepared = subject.prepare(Reading::Strict, &self.objects, &self.sessions).await?;
                self.reconcile(prepared, operation, status).await
            }
            Operation::Delete => self.delete(subject, status).await,
            // The state travels with the shoot; the cloud is the next seed's.
            Operation::Migrate => Ok(Left::default()),
        }
    }

    async fn reconcile(&self, prepared: Prepared, operation: Operation, status: &Status) -> Result<Left, Broken> {
        let Prepared { input, state, client } = prepared;
        let seen = prepare(&client, &input, &state).await?;
        let warnings: Vec<Warning> = seen.warnings.iter().chain(&seen.checked.findings.warnings).cloned().collect();
        let (target, plan) = seen.ready()?;
        let progress = Arc::new(Progress::new(operation));
        let store = Store { status, target: &target, progress: &progress };
        let options = self.options(&progress);
        let work = finish(&client, &target, plan, state, &store, Timing::default(), options);
        let done = telling(&progress, status, work).await?;
        let left = Map::from_iter([
            ("providerStatus".to_owned(), json!(done.provider_status)),
            ("networking".to_owned(), json!(done.networking)),
            ("egressCIDRs".to_owned(), json!(done.egress_cidrs)),
            ("state".to_owned(), json!(done.state.to_object())),
        ]);
        Ok(Left { status: left, warnings })
    }

    async fn delete(&self, subject: &Subject, status: &Status) -> Result<Left, Broken> {
        if contract::is_deletion_forced(subject.shoot()) {
            return Ok(Left::default());
        }
        let state = subject.state()?;
        let was_made = !state.is_empty() || subject.object.pointer("/status/providerStatus").is_some();
        let left = match subject.prepare(Reading::Lenient, &self.objects, &self.sessions).await {
            Ok(prepared) => self.take_away(prepared, status).await,
            Err(told) => Err(told.into()),
        };
        match left {
            // With credentials that never worked nothing was ever made.
            Err(broken) if !was_made && is_locked_out(&broken.told) => {
                tracing::info!(reason = broken.told.text, "nothing was made; there is nothing to take away");
                Ok(Left::default())
            }
            other => other,
        }
    }

    async fn take_away(&self, prepared: Prepared, status: &Status) -> Result<Left, Broken> {
        let Prepared { input, state, client } = prepared;
        let (target, plan) = prepare_delete(&client, &input, &state).await?;
        let progress = Arc::new(Progress::new(Operation::Delete));
        let store = Store { status, target: &target, progress: &progress };
        let options = self.options(&progress);
        let work = apply_delete(plan, &target, &client, state, &store, Timing::default(), options);
        let left = telling(&progress, status, work).await;
        let left: State = left.map_err(|error| Failure::Apply(Box::new(error)))?;
        let mut kept = Map::new();
        put_state(&mut kept, &left);
        Ok(Left { status: kept, warnings: Vec::new() })
    }

    /// How a flow is stopped, and who hears of its steps: the log, the metrics, the status.
    fn options(&self, progress: &Arc<Progress>) -> Options {
        let (metrics, progress) = (self.metrics.clone(), Arc::clone(progress));
        let events = Events::to(move |event: Event| {
            let percent = event.percent();
            let result = match &event.state {
                TaskState::Started => {
                    progress.tell(percent, &event.task);
                    return;
                }
                TaskState::Skipped => return,
                TaskState::Succeeded => "succeeded",
                TaskState::Failed(error) => {
                    tracing::warn!(task = event.task, error, "step failed");
                    "failed"
                }
            };
            tracing::debug!(task = event.task, result, percent, elapsed = ?event.elapsed, "step ended");
            let labels = TaskLabels { task: event.task, result };
            metrics.tasks.get_or_create(&labels).observe(event.elapsed.as_secs_f64());
        });
        Options { events, cancel: self.stop.child_token() }
    }

    async fn succeed(
        &self,
        mut subject: Subject,
        operation: Operation,
        status: &Status,
        left: Left,
        generation: i64,
    ) -> Result<(), Failed> {
        if operation == Operation::Restore {
            // Status writes since then have made a newer version.
            self.refresh(&mut subject).await?;
            self.patch(&mut subject, Map::from_iter([("annotations".to_owned(), json!({ OPERATION: null }))])).await?;
        }
        let now = Timestamp::now();
        let says = warned(&left.warnings);
        let changed = status
            .write(|status| {
                status.extend(left.status);
                status.insert("lastOperation".to_owned(), json!(contract::succeeded(operation, now)));
                status.insert("observedGeneration".to_owned(), json!(generation));
                status.remove("lastError");
                operation != Operation::Delete && conditions::set(status, &says, now)
            })
            .await?;
        if changed {
            self.tell(&subject.key, &subject.object, &says).await;
        }
        let lets_go = matches!(operation, Operation::Delete | Operation::Migrate);
        if lets_go {
            self.refresh(&mut subject).await?;
            let mut metadata = Map::from_iter([("finalizers".to_owned(), json!(finalizers(&subject.object, false)))]);
            if operation == Operation::Migrate {
                metadata.insert("annotations".to_owned(), json!({ OPERATION: null }));
            }
            match self.patch(&mut subject, metadata).await {
                Err(Failed::Cluster(error)) if is_missing(&error) => {}
                other => other?,
            }
        }
        Ok(())
    }

    async fn refresh(&self, subject: &mut Subject) -> Result<(), Failed> {
        if let Some(object) = self.objects.infrastructure(&subject.key).await? {
            subject.object = object;
        }
        Ok(())
    }
}

async fn fail(operation: Operation, status: &Status, broken: Broken, generation: i64) -> Result<(), Failed> {
    let Broken { told, retry_after } = broken;
    let (last, error) = contract::failed(operation, &told, Timestamp::now());
    let text = last.description.clone();
    let codes = error.codes.join(",");
    tracing::warn!(operation = operation.as_str(), codes, task = told.task, error = text, "failed");
    status
        .write(|status| {
            status.insert("lastOperation".to_owned(), json!(last));
            status.insert("lastError".to_owned(), json!(error));
            status.insert("observedGeneration".to_owned(), json!(generation));
        })
        .await?;
    Err(Failed::Operation { text, retry_after })
}

/// Runs work while its progress is written beside it. The writer ends before the answer: a late write would overtake
/// the operation's last word.
async fn telling<T>(progress: &Progress, status: &Status, work: impl Future<Output = T>) -> T {
    let end = CancellationToken::new();
    let work = async {
        let done = work.await;
        end.cancel();
        done
    };
    tokio::join!(work, progress.keep(status, PROGRESS, &end)).0
}

/// Whether the failure says that nobody of this specification ever got into the cloud.
fn is_locked_out(told: &Told) -> bool {
    told.codes.iter().any(|code| matches!(code, Code::Unauthenticated | Code::ConfigurationProblem))
}

/// What the rules found odd in a specification that they accept.
fn warned(warnings: &[Warning]) -> Says {
    let texts: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    let (holds, reason) = if texts.is_empty() { (false, "NoWarnings") } else { (true, "LooksWrong") };
    let message = if holds { texts.join("; ") } else { "nothing looks wrong in the specification".to_owned() };
    Says { type_: conditions::WARNINGS, holds, reason, message }
}

/// The object's finalizers, with ours or without it.
fn finalizers(object: &Value, with_ours: bool) -> Vec<String> {
    let known = object.pointer("/metadata/finalizers").and_then(Value::as_array);
    let others = known.into_iter().flatten().filter_map(Value::as_str).filter(|name| *name != FINALIZER);
    others.chain(with_ours.then_some(FINALIZER)).map(str::to_owned).collect()
}
