//! A look at an infrastructure that nobody asked to change: is it still as it was left, and what would a reconcile do?
//!
//! A plan that is not empty on an unchanged specification is drift. A look that finds none, and found none before,
//! writes nothing.

use fabric_infrastructure::gardener::Reading;
use fabric_infrastructure::plan::{Item, Verb};
use fabric_infrastructure::reconcile::prepare;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::conditions::{self, Says};
use super::contract::{Facts, Operation, asks};
use super::metrics::RoundLabels;
use super::status::Status;
use super::subject::{Prepared, Subject};
use super::told::told;
use super::{Controller, Failed};

/// What a look found.
enum Found {
    /// Everything is as it should be.
    Clean,
    /// It is not; what would have to be done.
    Open(Vec<Item>),
}

impl Controller {
    /// Looks, tells, and repairs where that was asked for.
    ///
    /// # Errors
    /// What could not be written, or the repair's failure. A look that fails is counted and told in the log alone.
    pub(super) async fn look(&self, mut subject: Subject) -> Result<(), Failed> {
        let facts = Facts::of(&subject.object);
        let is_current = facts.observed == Some(facts.generation);
        let found = match self.see(&subject).await {
            Ok(found) => found,
            Err(text) => {
                self.count("error");
                tracing::warn!(error = text, "looking for drift");
                if is_asked(&subject.object, asks::PLAN) {
                    self.tell_plan(&mut subject, "PlanFailed", text).await?;
                }
                return Ok(());
            }
        };
        if is_asked(&subject.object, asks::PLAN) {
            let text = match &found {
                Found::Clean => "nothing to do".to_owned(),
                Found::Open(items) => sentence(items),
            };
            self.tell_plan(&mut subject, "Planned", text).await?;
        }
        if !is_current {
            // What differs is what the new specification asks for.
            self.count("pending");
            return Ok(());
        }
        self.tell_drift(&subject, &found).await?;
        let repairs = self.settings.repair_drift || is_asked(&subject.object, asks::REPAIR);
        if is_asked(&subject.object, asks::REPAIR) {
            subject.object = self.forget(&subject, asks::REPAIR).await?;
        }
        if let Found::Open(items) = &found
            && repairs
            && items.iter().any(|item| item.verb != Verb::Unrepairable)
        {
            tracing::info!(plan = sentence(items), "repairing drift");
            self.operate(subject, Operation::Reconcile).await?;
        }
        Ok(())
    }

    /// # Errors
    /// Why nothing can be seen.
    async fn see(&self, subject: &Subject) -> Result<Found, String> {
        let prepared = subject.prepare(Reading::Strict, &self.objects, &self.sessions).await;
        let Prepared { input, state, client } = prepared.map_err(|told| told.text)?;
        let seen = prepare(&client, &input, &state).await.map_err(|failure| told(&failure).text)?;
        let (target, plan) = seen.ready().map_err(|failure| told(&failure).text)?;
        let items = plan.open_items(&target);
        Ok(if items.is_empty() { Found::Clean } else { Found::Open(items) })
    }

    fn count(&self, result: &'static str) {
        self.metrics.rounds.get_or_create(&RoundLabels { result }).inc();
    }

    async fn tell_drift(&self, subject: &Subject, found: &Found) -> Result<(), Failed> {
        let (holds, message) = match found {
            Found::Clean => (false, "everything is as it was left".to_owned()),
            Found::Open(items) => (true, sentence(items)),
        };
        self.count(if holds { "drifted" } else { "clean" });
        self.metrics.tell_drift(&subject.key, holds);
        let reason = if holds { "Drifted" } else { "AsItWasLeft" };
        self.write(subject, &Says { type_: conditions::DRIFT, holds, reason, message }).await
    }

    /// The dry run's answer. It is asked for once: the annotation goes.
    async fn tell_plan(&self, subject: &mut Subject, reason: &'static str, message: String) -> Result<(), Failed> {
        self.write(subject, &Says { type_: conditions::PLAN, holds: true, reason, message }).await?;
        subject.object = self.forget(subject, asks::PLAN).await?;
        Ok(())
    }

    async fn write(&self, subject: &Subject, says: &Says) -> Result<(), Failed> {
        let status = Status::of(self.objects.clone(), subject.key.clone(), &subject.object);
        if status.write(|status| conditions::set(status, says, Timestamp::now())).await? {
            self.tell(&subject.key, &subject.object, says).await;
        }
        Ok(())
    }

    /// Takes an annotation away, and returns the object without it.
    async fn forget(&self, subject: &Subject, annotation: &str) -> Result<Value, Failed> {
        let now = self.objects.infrastructure(&subject.key).await?.unwrap_or_else(|| subject.object.clone());
        let version = now.pointer("/metadata/resourceVersion").and_then(Value::as_str).unwrap_or_default();
        let patch = json!({ "metadata": { "annotations": { annotation: null } } });
        Ok(self.objects.patch(&subject.key, version, patch).await?)
    }
}

fn is_asked(object: &Value, annotation: &str) -> bool {
    let annotations = object.pointer("/metadata/annotations");
    annotations.and_then(|all| all.get(annotation)).is_some_and(|value| value == "true")
}

fn sentence(items: &[Item]) -> String {
    let texts: Vec<String> = items.iter().map(ToString::to_string).collect();
    texts.join("; ")
}
