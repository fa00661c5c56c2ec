//! Failures of a reconcile, in Gardener's terms.

use std::time::Duration;

use fabric_flow::{FlowError, TaskFailure};
use fabric_infrastructure::{Error, Failure};

use super::contract::{Stage, Told};

/// Stage, text, codes and task of a failure.
pub(crate) fn told(failure: &Failure) -> Told {
    let stage = match failure {
        Failure::Invalid(_) | Failure::Checks(_) => Stage::Check,
        Failure::Plan(_) | Failure::Apply(_) => Stage::Work,
    };
    let task = match failure {
        Failure::Apply(error) => match &error.failure {
            FlowError::Tasks(tasks) => match tasks.as_slice() {
                [only] => Some(only.task.clone()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    };
    Told { stage, text: failure.to_string(), codes: failure.codes(), task }
}

/// How long the cloud asks us to wait; the longest of several.
pub(crate) fn retry_after(failure: &Failure) -> Option<Duration> {
    let of = |error: &Error| match error {
        Error::Api(error) => error.retry_after,
        _ => None,
    };
    match failure {
        Failure::Invalid(_) => None,
        Failure::Checks(checked) => checked.failures.iter().filter_map(|error| error.retry_after).max(),
        Failure::Plan(errors) => errors.iter().filter_map(of).max(),
        Failure::Apply(error) => match &error.failure {
            FlowError::Tasks(tasks) => tasks
                .iter()
                .filter_map(|task| match &task.failure {
                    TaskFailure::Failed(error) => of(error),
                    TaskFailure::TimedOut(_) => None,
                })
                .max(),
            FlowError::Persist(error) => of(error),
            FlowError::Graph(_) | FlowError::Cancelled => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use fabric_apis::field::{Error as FieldError, Findings, Path};
    use fabric_infrastructure::codes::Code;
    use fabric_openstack_types::{ApiError, ErrorClass, Service};

    use super::*;

    fn busy(seconds: u64) -> Error {
        let error = ApiError::local(Service::Network, "POST", "/v2.0/routers", ErrorClass::RateLimited, "slower");
        Error::Api(ApiError { retry_after: Some(Duration::from_secs(seconds)), ..error })
    }

    #[test]
    fn findings_are_of_the_check_and_a_persons_to_mend() {
        let mut findings = Findings::default();
        findings.error(FieldError::invalid(&Path::new("spec.providerConfig.networks.id"), "x", "must be a UUID"));
        let told = told(&Failure::Invalid(findings));
        assert_eq!((told.stage, told.codes), (Stage::Check, vec![Code::ConfigurationProblem]));
        assert!(told.text.contains("spec.providerConfig.networks.id"), "{}", told.text);
    }

    #[test]
    fn a_rate_limit_is_retried_and_waited_for() {
        let failure = Failure::Plan(vec![busy(3), busy(7)]);
        let told = told(&failure);
        assert_eq!(told.stage, Stage::Work);
        assert!(told.codes.iter().all(|code| code.is_retried()));
        assert_eq!(retry_after(&failure), Some(Duration::from_secs(7)));
    }
}
