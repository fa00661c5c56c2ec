//! A reconcile that did not come to its end: what failed, with Gardener's code and the request to ask the cloud's
//! operator about, and what to do next.

use fabric_apis::field::ErrorList;
use fabric_flow::{FlowError, TaskFailure};
use fabric_infrastructure::{Error, Failure, apply::ApplyError, codes::Code};
use fabric_openstack_types::{ApiError, ErrorClass};
use serde::Serialize;

use crate::{
    exit::{Result, Stop},
    output::{self, Output, Paint, clean},
};

/// The commands that change nothing, so there is nothing to continue.
const READS: [&str; 4] = ["plan", "drift", "status", "topology"];

/// One thing that failed.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Fault {
    /// The task, or the field.
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<String>,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<Code>,
    #[serde(rename = "requestID", skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    /// Why it was not even sent, which is the same for many fields.
    #[serde(skip)]
    unsent: Option<String>,
}

/// What is shown of a failure.
#[derive(Debug, Serialize)]
pub(crate) struct Faults {
    pub(crate) errors: Vec<Fault>,
    #[serde(skip)]
    pub(crate) interrupted: bool,
}

impl Faults {
    pub(crate) fn of(failure: &Failure) -> Self {
        match failure {
            Failure::Invalid(findings) => Self::fields(&findings.errors, &[]),
            Failure::Checks(checked) => Self::fields(&checked.findings.errors, &checked.failures),
            Failure::Plan(errors) => Self::errors(errors),
            Failure::Apply(error) => Self::flow(error),
        }
    }

    /// Findings of rules; a failed call behind one tells its code and request.
    pub(crate) fn fields(errors: &ErrorList, failures: &[ApiError]) -> Self {
        let fault = |error: &fabric_apis::field::Error| {
            let call = failures.iter().find(|call| error.detail.contains(&call.to_string()));
            Fault {
                task: None,
                message: if error.field == "<nil>" { error.body() } else { error.to_string() },
                code: Some(call.map_or(Code::ConfigurationProblem, Code::from)),
                request_id: call.and_then(|call| call.request_id.clone()),
                unsent: call.filter(|call| call.class == ErrorClass::NoEndpoint).map(|call| call.message.clone()),
            }
        };
        Self { errors: errors.iter().map(fault).collect(), interrupted: false }
    }

    pub(crate) fn errors<'a>(errors: impl IntoIterator<Item = &'a Error>) -> Self {
        Self { errors: errors.into_iter().map(|error| Fault::of(None, error)).collect(), interrupted: false }
    }

    pub(crate) fn flow(error: &ApplyError) -> Self {
        let (errors, interrupted) = match &error.failure {
            FlowError::Tasks(tasks) => {
                let fault = |task: &fabric_flow::TaskError<Error>| match &task.failure {
                    TaskFailure::Failed(error) => Fault::of(Some(task.task.clone()), error),
                    TaskFailure::TimedOut(limit) => Fault {
                        task: Some(task.task.clone()),
                        message: format!("it did not end within {} s", limit.as_secs()),
                        code: Some(Code::RetryableDependencies),
                        request_id: None,
                        unsent: None,
                    },
                };
                (tasks.iter().map(fault).collect(), false)
            }
            FlowError::Persist(error) => (vec![Fault::of(None, error)], false),
            FlowError::Cancelled => (Vec::new(), true),
            FlowError::Graph(error) => (
                vec![Fault { task: None, message: error.to_string(), code: None, request_id: None, unsent: None }],
                false,
            ),
        };
        Self { errors, interrupted }
    }

    /// Shows what failed and stops. `verb`: the command to run again; `state`: where what was done is recorded.
    pub(crate) fn stop<T>(
        &self,
        verb: &str,
        state: Option<&std::path::Path>,
        output: Output,
        paint: Paint,
    ) -> Result<T> {
        let saved = state.map(|path| format!("; what was done is recorded in {}", path.display())).unwrap_or_default();
        if self.interrupted {
            return Err(Stop::interrupted(format!("stopped as you asked{saved}"))
                .next(format!("run `{verb}` again to continue")));
        }
        if !output.is_table() {
            output::structured(output.format, self)?;
        }
        let paint = paint.errors();
        let mut unsent: Vec<&String> = Vec::new();
        for fault in &self.errors {
            // A region without the service fails every question in the same way: once is enough for people.
            if let Some(reason) = &fault.unsent {
                if unsent.contains(&reason) {
                    continue;
                }
                unsent.push(reason);
            }
            let task = fault.task.as_ref().map(|task| format!("{}: ", paint.bold(task))).unwrap_or_default();
            let code = fault.code.map(|code| format!(" {}", paint.dim(code.as_str()))).unwrap_or_default();
            output::tell(&format!("  {} {task}{}{code}", paint.red("✗"), clean(&fault.message)));
        }
        let what = format!("{verb} did not come to its end{saved}");
        Err(Stop::error(what).next(self.next(verb)))
    }

    /// What a person does about it; the worst code decides.
    fn next(&self, verb: &str) -> String {
        let continues = if READS.contains(&verb) { "" } else { "; it continues where it stopped" };
        let again = format!("run `{verb}` again{continues}");
        let has = |code: Code| self.errors.iter().any(|fault| fault.code == Some(code));
        let first = [
            (Code::Unauthenticated, "correct the credentials (user, password, project), then "),
            (Code::Unauthorized, "ask for the role that the call needs, then "),
            (Code::ConfigurationProblem, "correct what is named above, then "),
            (Code::QuotaExceeded, "free something or ask for a higher quota, then "),
            (Code::Dependencies, "remove what is in the way, then "),
            (Code::ResourcesDepleted, "wait until something is free again, or choose another pool, then "),
            (Code::RetryableDependencies, "see that the cloud answers, then "),
        ];
        let advice = first.iter().find(|(code, _)| has(*code)).map_or("", |(_, text)| text);
        format!("{advice}{again}")
    }
}

impl Fault {
    fn of(task: Option<String>, error: &Error) -> Self {
        let request_id = match error {
            Error::Api(call) => call.request_id.clone(),
            _ => None,
        };
        Self { task, message: error.to_string(), code: error.code(), request_id, unsent: None }
    }
}
