//! What a handler says, and how it reads on the wire.

use fabric_apis::field::{ErrorList, ErrorType, Findings};
use serde::Serialize;
use serde_json::Value;

/// The answer to one request.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    decision: Decision,
    warnings: Vec<String>,
    /// The fields of a refusal, for the metrics.
    fields: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
enum Decision {
    Allowed(Option<Vec<PatchOperation>>),
    Refused(Status),
}

/// One change a mutating webhook makes (RFC 6902; the three operations that are needed).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum PatchOperation {
    /// Sets a value that is not there yet, or inserts into a list.
    Add {
        /// A JSON pointer.
        path: String,
        /// The value.
        value: Value,
    },
    /// Sets a value that is there.
    Replace {
        /// A JSON pointer.
        path: String,
        /// The value.
        value: Value,
    },
    /// Takes a value away.
    Remove {
        /// A JSON pointer.
        path: String,
    },
}

impl Verdict {
    /// Nothing to complain about.
    pub fn allowed() -> Self {
        Self { decision: Decision::Allowed(None), warnings: Vec::new(), fields: Vec::new() }
    }

    /// Allowed with these changes; without any it is plainly allowed.
    pub fn patched(operations: Vec<PatchOperation>) -> Self {
        let patch = (!operations.is_empty()).then_some(operations);
        Self { decision: Decision::Allowed(patch), ..Self::allowed() }
    }

    /// Refused with every error, joined as Kubernetes joins them; allowed if there is none. The code is 403, or 503 when an
    /// error is none of the user's (something else could not be read): the same object may pass a moment later.
    pub fn of_errors(errors: &ErrorList) -> Self {
        if errors.is_empty() {
            return Self::allowed();
        }
        let causes = errors
            .iter()
            .map(|error| Cause { reason: error.kind.as_cause(), field: error.field.clone(), message: error.body() })
            .collect();
        let ours = errors.iter().any(|error| error.kind == ErrorType::InternalError);
        let mut status = Status::new(if ours { 503 } else { 403 }, errors.to_string());
        status.details = Some(Details { causes });
        let fields = errors.iter().map(|error| error.field.clone()).collect();
        Self { decision: Decision::Refused(status), warnings: Vec::new(), fields }
    }

    /// Refused if there are errors; the warnings are told either way.
    pub fn of_findings(findings: &Findings) -> Self {
        Self::of_errors(&findings.errors).with_warnings(findings.warnings.iter().map(ToString::to_string))
    }

    /// Refused (403) for a reason that is about no field.
    pub fn denied(message: impl Into<String>) -> Self {
        Self::refused(403, message)
    }

    /// Refused (400): the object can't be read.
    pub fn undecodable(message: impl Into<String>) -> Self {
        Self::refused(400, message)
    }

    /// Refused because of us, not of the object: out of time (504) or broken (500 inside the review).
    pub(crate) fn refused(code: u16, message: impl Into<String>) -> Self {
        Self { decision: Decision::Refused(Status::new(code, message)), ..Self::allowed() }
    }

    /// Adds warnings, which the user sees whether the object is allowed or not. Control characters, which an apiserver
    /// would drop the warning for, become spaces.
    #[must_use]
    pub fn with_warnings<S: AsRef<str>>(mut self, warnings: impl IntoIterator<Item = S>) -> Self {
        let clean = |text: S| text.as_ref().replace(|c: char| c.is_control(), " ");
        self.warnings.extend(warnings.into_iter().map(clean));
        self
    }

    /// Whether the object may pass.
    pub fn is_allowed(&self) -> bool {
        matches!(self.decision, Decision::Allowed(_))
    }

    /// The warnings, in order.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The changes of a mutating webhook.
    pub fn patch(&self) -> Option<&[PatchOperation]> {
        match &self.decision {
            Decision::Allowed(patch) => patch.as_deref(),
            Decision::Refused(_) => None,
        }
    }

    /// The text of a refusal.
    pub fn message(&self) -> Option<&str> {
        self.status().map(|status| status.message.as_str())
    }

    /// The code of a refusal.
    pub fn code(&self) -> Option<u16> {
        self.status().map(|status| status.code)
    }

    /// The paths a refusal complains about.
    pub(crate) fn fields(&self) -> &[String] {
        &self.fields
    }

    pub(crate) fn status(&self) -> Option<&Status> {
        match &self.decision {
            Decision::Refused(status) => Some(status),
            Decision::Allowed(_) => None,
        }
    }

    /// The metric's word.
    pub(crate) fn word(&self) -> &'static str {
        match &self.decision {
            Decision::Allowed(None) => "allowed",
            Decision::Allowed(Some(_)) => "patched",
            Decision::Refused(status) => match status.code {
                403 => "refused",
                400 => "unreadable",
                504 => "late",
                503 => "unavailable",
                _ => "broken",
            },
        }
    }
}

/// Kubernetes' `Status` of a failure, as an answer of its own or inside a review's.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Status {
    kind: &'static str,
    api_version: &'static str,
    status: &'static str,
    message: String,
    reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Details>,
    code: u16,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Details {
    causes: Vec<Cause>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Cause {
    reason: &'static str,
    message: String,
    field: String,
}

impl Status {
    pub(crate) fn new(code: u16, message: impl Into<String>) -> Self {
        Self {
            kind: "Status",
            api_version: "v1",
            status: "Failure",
            message: message.into(),
            reason: reason(code),
            details: None,
            code,
        }
    }
}

/// The reason that goes with a code in the Kubernetes API.
fn reason(code: u16) -> &'static str {
    match code {
        400 => "BadRequest",
        403 => "Forbidden",
        404 => "NotFound",
        405 => "MethodNotAllowed",
        408 | 504 => "Timeout",
        413 => "RequestEntityTooLarge",
        415 => "UnsupportedMediaType",
        503 => "ServiceUnavailable",
        _ => "InternalError",
    }
}
