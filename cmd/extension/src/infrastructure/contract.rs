//! Gardener's contract with a controller of extensions (contract §3.1), as decisions without IO: which events count,
//! what an object asks for, and what its status says at each step.

use fabric_apis::gardener::{LastError, LastOperation, Time};
use fabric_infrastructure::codes::Code;
use jiff::Timestamp;
use serde_json::Value;

/// The provider that we serve.
pub(crate) const TYPE: &str = "openstack";
/// Keeps an object until its infrastructure is gone.
pub(crate) const FINALIZER: &str = "extensions.gardener.cloud/infrastructure";
/// What people ask for, with the value `true`.
pub(crate) mod asks {
    /// Tell what a reconcile would do, and change nothing.
    pub(crate) const PLAN: &str = "fabric.extensions.gardener.cloud/plan";
    /// Put right what has drifted.
    pub(crate) const REPAIR: &str = "fabric.extensions.gardener.cloud/repair";
}
/// What gardenlet asks for.
pub(crate) const OPERATION: &str = "gardener.cloud/operation";
/// On a shoot: let go of everything without looking at the cloud.
const FORCE_DELETION: &str = "confirmation.gardener.cloud/force-deletion";

/// The values of the annotation [`OPERATION`].
pub(crate) mod operation {
    pub(crate) const RECONCILE: &str = "reconcile";
    pub(crate) const MIGRATE: &str = "migrate";
    pub(crate) const RESTORE: &str = "restore";
    pub(crate) const WAIT_FOR_STATE: &str = "wait-for-state";
}

/// The states of a last operation.
pub(crate) mod state {
    pub(crate) const PROCESSING: &str = "Processing";
    pub(crate) const SUCCEEDED: &str = "Succeeded";
    pub(crate) const ERROR: &str = "Error";
    pub(crate) const FAILED: &str = "Failed";
}

/// What is done with an infrastructure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Operation {
    Create,
    Reconcile,
    Delete,
    Migrate,
    Restore,
}

/// The sentences of an operation's status: while it runs, and in the end.
struct Texts {
    begins: &'static str,
    fails: &'static str,
    ends: &'static str,
}

impl Operation {
    /// Its name in `lastOperation.type` and in metrics.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Create => "Create",
            Self::Reconcile => "Reconcile",
            Self::Delete => "Delete",
            Self::Migrate => "Migrate",
            Self::Restore => "Restore",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Create, Self::Reconcile, Self::Delete, Self::Migrate, Self::Restore]
            .into_iter()
            .find(|operation| operation.as_str() == text)
    }

    fn texts(self) -> Texts {
        let (begins, fails, ends) = match self {
            Self::Create | Self::Reconcile => (
                "Reconciling the infrastructure",
                "Error reconciling infrastructure",
                "Successfully reconciled infrastructure",
            ),
            Self::Delete => {
                ("Deleting the Infrastructure", "Error deleting Infrastructure", "Successfully deleted Infrastructure")
            }
            Self::Migrate => (
                "Starting migration of the Infrastructure",
                "Error migrating Infrastructure",
                "Successfully migrated Infrastructure",
            ),
            Self::Restore => (
                "Restoring the Infrastructure",
                "Error restoring Infrastructure",
                "Successfully restored Infrastructure",
            ),
        };
        Texts { begins, fails, ends }
    }
}

/// What decides about an object, of all that it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// `spec.type`.
    pub(crate) type_: String,
    /// `spec.class`; absent is `shoot`.
    pub(crate) class: Option<String>,
    /// The annotation [`OPERATION`].
    pub(crate) operation: Option<String>,
    /// The dry run's annotation, any value.
    pub(crate) asks: bool,
    /// The object is on its way out.
    pub(crate) leaves: bool,
    /// It has our finalizer.
    pub(crate) is_kept: bool,
    /// Type and state of the last operation.
    pub(crate) last: Option<(String, String)>,
    /// `metadata.generation`.
    pub(crate) generation: i64,
    /// `status.observedGeneration`.
    pub(crate) observed: Option<i64>,
}

impl Facts {
    /// Those of an object, of which only what is needed here has to be readable.
    pub(crate) fn of(object: &Value) -> Self {
        let text = |path: &str| object.pointer(path).and_then(Value::as_str).map(str::to_owned);
        let annotation = |name: &str| object.pointer("/metadata/annotations").and_then(|all| all.get(name));
        let finalizers = object.pointer("/metadata/finalizers").and_then(Value::as_array);
        Self {
            type_: text("/spec/type").unwrap_or_default(),
            class: text("/spec/class"),
            operation: annotation(OPERATION).and_then(Value::as_str).map(str::to_owned),
            asks: [asks::PLAN, asks::REPAIR].iter().any(|name| annotation(name).is_some_and(|value| value == "true")),
            leaves: object.pointer("/metadata/deletionTimestamp").is_some_and(|time| !time.is_null()),
            is_kept: finalizers.into_iter().flatten().any(|name| name == FINALIZER),
            last: text("/status/lastOperation/type").zip(text("/status/lastOperation/state")),
            generation: object.pointer("/metadata/generation").and_then(Value::as_i64).unwrap_or_default(),
            observed: object.pointer("/status/observedGeneration").and_then(Value::as_i64),
        }
    }

    /// Whether the object is for a controller of these classes.
    pub(crate) fn is_ours(&self, classes: &[String]) -> bool {
        let class = self.class.as_deref().filter(|class| !class.is_empty()).unwrap_or("shoot");
        self.type_ == TYPE && classes.iter().any(|served| served == class)
    }

    fn has_succeeded(&self) -> bool {
        self.last.as_ref().is_some_and(|(_, last)| last == state::SUCCEEDED)
    }
}

/// Whether a change gives reason to act. `is_status_same`: what changed was not the status, which is our own doing.
///
/// An object that was not known before always gives reason to ask what is [`due`].
pub(crate) fn is_update_due(old: &Facts, new: &Facts, is_status_same: bool, ignore_operation: bool) -> bool {
    let is_asked = if ignore_operation { old.generation != new.generation } else { new.operation.is_some() };
    let is_fresh = is_status_same || old.operation != new.operation;
    is_asked && is_fresh || new.leaves && is_status_same || asks_anew(old, new)
}

fn asks_anew(old: &Facts, new: &Facts) -> bool {
    new.asks && !old.asks
}

/// What is to be done with an object now, whatever led to the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// An operation of Gardener's.
    Operation(Operation),
    /// Nothing was asked for: is it still as it should be?
    Look,
    /// Nothing at all, and why.
    Nothing(&'static str),
}

/// Decides it. `is_failed`: the shoot's last operation has failed for good.
pub(crate) fn due(facts: &Facts, is_failed: bool, ignore_operation: bool) -> Due {
    if is_failed {
        return Due::Nothing("the shoot has failed; gardenlet sets it going again");
    }
    if facts.operation.as_deref() == Some(operation::WAIT_FOR_STATE) {
        return Due::Nothing("it waits for the state from another seed");
    }
    let operation = kind(facts);
    let is_moving = matches!(operation, Operation::Migrate | Operation::Restore);
    let last = facts.last.as_ref().map(|(type_, state)| (type_.as_str(), state.as_str()));
    if last == Some((Operation::Migrate.as_str(), state::SUCCEEDED)) && !is_moving {
        return Due::Nothing("it was migrated to another seed");
    }
    if operation == Operation::Delete && !facts.is_kept {
        return Due::Nothing("it is on its way out, and nothing of ours holds it");
    }
    let is_asked = facts.operation.is_some() || facts.leaves || !facts.has_succeeded();
    let is_new = ignore_operation && facts.observed != Some(facts.generation);
    if is_asked || is_new { Due::Operation(operation) } else { Due::Look }
}

/// The kind of operation, by Gardener's order of precedence.
fn kind(facts: &Facts) -> Operation {
    match facts.operation.as_deref() {
        Some(operation::MIGRATE) => return Operation::Migrate,
        _ if facts.leaves => return Operation::Delete,
        Some(operation::RESTORE) => return Operation::Restore,
        _ => {}
    }
    match &facts.last {
        None => Operation::Create,
        Some((type_, last)) if last != state::SUCCEEDED => match Operation::parse(type_) {
            Some(unfinished @ (Operation::Create | Operation::Migrate | Operation::Restore)) => unfinished,
            _ => Operation::Reconcile,
        },
        Some(_) => Operation::Reconcile,
    }
}

/// Whether a shoot has failed for good.
pub(crate) fn has_failed(shoot: &Value) -> bool {
    shoot.pointer("/status/lastOperation/state").is_some_and(|last| last == state::FAILED)
}

/// Whether a person has confirmed that a shoot goes without its cloud being cleaned up.
pub(crate) fn is_deletion_forced(shoot: &Value) -> bool {
    let annotations = shoot.pointer("/metadata/annotations");
    let value = annotations.and_then(|all| all.get(FORCE_DELETION)).and_then(Value::as_str);
    // What Go's strconv.ParseBool takes for true.
    value.is_some_and(|value| matches!(value, "true" | "True" | "TRUE" | "1" | "t" | "T"))
}

/// The last operation of one that has begun or goes on.
pub(crate) fn processing(operation: Operation, progress: u8, step: Option<&str>, now: Timestamp) -> LastOperation {
    let begins = operation.texts().begins;
    let description = step.map_or_else(|| begins.to_owned(), |step| format!("{begins}: {step}"));
    last_operation(operation, state::PROCESSING, progress, description, now)
}

/// The last operation of one that came to its end.
pub(crate) fn succeeded(operation: Operation, now: Timestamp) -> LastOperation {
    last_operation(operation, state::SUCCEEDED, 100, operation.texts().ends.to_owned(), now)
}

/// Where an operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Judging the specification, before anything is done.
    Check,
    /// Doing it.
    Work,
}

/// What is told about a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) stage: Stage,
    pub(crate) text: String,
    pub(crate) codes: Vec<Code>,
    /// The one task that failed.
    pub(crate) task: Option<String>,
}

/// Last operation and last error of a failure.
pub(crate) fn failed(operation: Operation, told: &Told, now: Timestamp) -> (LastOperation, LastError) {
    let prefix = match told.stage {
        Stage::Check => "Error checking infrastructure config",
        Stage::Work => operation.texts().fails,
    };
    let description = format!("{prefix}: {}", told.text);
    let last = last_operation(operation, state::ERROR, 50, description.clone(), now);
    let error = LastError {
        description,
        task_id: told.task.clone(),
        codes: told.codes.iter().map(|code| code.as_str().to_owned()).collect(),
        last_update_time: Some(Time(now)),
    };
    (last, error)
}

fn last_operation(
    operation: Operation,
    state: &str,
    progress: u8,
    description: String,
    now: Timestamp,
) -> LastOperation {
    LastOperation {
        description,
        last_update_time: Time(now),
        progress: progress.into(),
        state: state.to_owned(),
        type_: operation.as_str().to_owned(),
    }
}

#[cfg(test)]
mod tests;
