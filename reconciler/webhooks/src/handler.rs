//! One review, from the objects' bytes to the verdict.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use fabric_admission::{Handler, Object, Operation, PatchOperation, Request, Verdict};
use fabric_apis::decode::{self, Document};
use fabric_apis::field::ErrorList;
use fabric_validation::openstack::admission::{self, Case, Entry, Resolved, Reviewed};

use crate::fetch::resolve;
use crate::routes::Rules;

/// Kept back for the answer's own way.
const MARGIN: Duration = Duration::from_millis(500);
/// So long the objects around the reviewed one may take, all together: the rest of a webhook's 10 s is the cloud's.
const FETCHING: Duration = Duration::from_secs(3);

/// Asks one line of the table.
pub(crate) struct Judge {
    pub(crate) entry: &'static Entry,
    pub(crate) rules: Arc<Rules>,
}

#[async_trait]
impl Handler for Judge {
    async fn review(&self, request: &Request) -> Verdict {
        let objects = match Objects::read(request) {
            Ok(objects) => objects,
            Err(verdict) => return verdict,
        };
        let reviewed = objects.reviewed();
        let end = request.deadline.checked_sub(MARGIN).unwrap_or(request.deadline);
        let fetching = end.min(Instant::now() + FETCHING);
        let (case, mut resolved) = (self.entry.open(reviewed), Resolved::new());
        let fetch = self.rules.fetch.as_ref();
        resolve(fetch, fetching, &mut resolved, |resolved| case.references(resolved)).await;
        if self.entry.webhook.is_mutating() {
            return self.mutate(&case, &resolved);
        }
        let mut findings = case.judge(&resolved);
        if findings.errors.is_empty()
            && let Some(dynamic) = &self.rules.dynamic
        {
            findings.merge(dynamic.review(self.entry, &reviewed, &mut resolved, fetch, end).await);
        }
        Verdict::of_findings(&findings)
    }
}

impl Judge {
    fn mutate(&self, case: &Case<'_>, resolved: &Resolved) -> Verdict {
        let patch = |set: admission::Set| PatchOperation::Add { path: set.path, value: set.value };
        match case.mutate(resolved, &self.rules.defaults) {
            Ok(sets) => Verdict::patched(sets.into_iter().map(patch).collect()),
            Err(error) => Verdict::of_errors(&ErrorList::from(error)),
        }
    }
}

/// The objects of a request, read.
struct Objects {
    operation: admission::Operation,
    new: Document,
    old: Option<Document>,
}

impl Objects {
    fn read(request: &Request) -> Result<Self, Verdict> {
        let operation = match request.operation {
            Operation::Create => admission::Operation::Create,
            Operation::Update => admission::Operation::Update,
            // The table has no such line.
            other => return Err(Verdict::undecodable(format!("there are no rules for {other}"))),
        };
        let new = request.object.as_ref().ok_or_else(|| Verdict::undecodable("request.object is missing"))?;
        let old = request.old_object.as_ref().map(|object| document(object, "request.oldObject")).transpose()?;
        Ok(Self { operation, new: document(new, "request.object")?, old })
    }

    fn reviewed(&self) -> Reviewed<'_> {
        Reviewed { operation: self.operation, object: &self.new, old: self.old.as_ref() }
    }
}

fn document(object: &Object, field: &str) -> Result<Document, Verdict> {
    let unreadable = |problem: &str| Verdict::undecodable(format!("{field} is no Kubernetes object: {problem}"));
    let documents = decode::documents(field, object.bytes()).map_err(|error| match error {
        // The reader's words may quote what it read, and that may be a secret.
        decode::Error::Syntax { line, column, .. } => unreadable(&format!("its JSON breaks at {line}:{column}")),
        _ => unreadable("it can't be read"),
    })?;
    match <[Document; 1]>::try_from(documents) {
        Ok([document]) if document.value.is_object() => Ok(document),
        Ok(_) => Err(unreadable("it must be a JSON object")),
        Err(_) => Err(unreadable("it is empty")),
    }
}
