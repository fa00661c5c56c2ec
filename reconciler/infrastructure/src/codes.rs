//! One table from error to Gardener code (contract §3.7): by type, never by text.

use fabric_openstack_types::{ApiError, ErrorClass};
use serde::Serialize;

use crate::error::Error;

/// Gardener's error codes, as far as an infrastructure has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Code {
    /// Credentials are not accepted. Not retried by Gardener.
    #[serde(rename = "ERR_INFRA_UNAUTHENTICATED")]
    Unauthenticated,
    /// Credentials may not do this. Not retried.
    #[serde(rename = "ERR_INFRA_UNAUTHORIZED")]
    Unauthorized,
    /// A quota is used up. Not retried.
    #[serde(rename = "ERR_INFRA_QUOTA_EXCEEDED")]
    QuotaExceeded,
    /// Something of the cloud is in the way. Not retried.
    #[serde(rename = "ERR_INFRA_DEPENDENCIES")]
    Dependencies,
    /// The cloud fails for a while. Retried.
    #[serde(rename = "ERR_RETRYABLE_INFRA_DEPENDENCIES")]
    RetryableDependencies,
    /// The cloud has nothing left. Retried.
    #[serde(rename = "ERR_INFRA_RESOURCES_DEPLETED")]
    ResourcesDepleted,
    /// The specification is wrong. Not retried.
    #[serde(rename = "ERR_CONFIGURATION_PROBLEM")]
    ConfigurationProblem,
}

impl Code {
    /// The code on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unauthenticated => "ERR_INFRA_UNAUTHENTICATED",
            Self::Unauthorized => "ERR_INFRA_UNAUTHORIZED",
            Self::QuotaExceeded => "ERR_INFRA_QUOTA_EXCEEDED",
            Self::Dependencies => "ERR_INFRA_DEPENDENCIES",
            Self::RetryableDependencies => "ERR_RETRYABLE_INFRA_DEPENDENCIES",
            Self::ResourcesDepleted => "ERR_INFRA_RESOURCES_DEPLETED",
            Self::ConfigurationProblem => "ERR_CONFIGURATION_PROBLEM",
        }
    }

    /// Whether Gardener tries again by itself. Only codes that are right to stop a shoot say no.
    pub fn is_retried(self) -> bool {
        matches!(self, Self::RetryableDependencies | Self::ResourcesDepleted)
    }
}

impl From<ErrorClass> for Code {
    /// A rate limit and a conflict pass by themselves: they carry a code that Gardener retries, unlike upstream's.
    fn from(class: ErrorClass) -> Self {
        match class {
            ErrorClass::Unauthenticated => Self::Unauthenticated,
            ErrorClass::Forbidden => Self::Unauthorized,
            ErrorClass::Quota => Self::QuotaExceeded,
            ErrorClass::Exhausted => Self::ResourcesDepleted,
            ErrorClass::NotFound | ErrorClass::Invalid | ErrorClass::NoEndpoint | ErrorClass::Tls => {
                Self::ConfigurationProblem
            }
            ErrorClass::RateLimited
            | ErrorClass::InUse
            | ErrorClass::Conflict
            | ErrorClass::Server
            | ErrorClass::Timeout
            | ErrorClass::Connect
            | ErrorClass::Malformed => Self::RetryableDependencies,
        }
    }
}

impl From<&ApiError> for Code {
    fn from(error: &ApiError) -> Self {
        error.class.into()
    }
}

impl Error {
    /// The Gardener code, if one fits.
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::Api(error) => Some(error.into()),
            Self::MissingGiven { .. } | Self::Configuration { .. } | Self::Unproven { .. } => {
                Some(Code::ConfigurationProblem)
            }
            Self::Ambiguous { .. } | Self::Blocked { .. } => Some(Code::Dependencies),
            Self::BadStatus { .. } | Self::NotReady { .. } => Some(Code::RetryableDependencies),
            Self::State(_) | Self::Unknown(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use fabric_openstack_types::Service;

    use super::*;

    #[test]
    fn what_passes_by_itself_never_stops_a_shoot() {
        for class in [
            ErrorClass::RateLimited,
            ErrorClass::Conflict,
            ErrorClass::InUse,
            ErrorClass::Server,
            ErrorClass::Timeout,
            ErrorClass::Connect,
            ErrorClass::Malformed,
        ] {
            let error = Error::from(ApiError::local(Service::Network, "GET", "/v2.0/networks", class, "x"));
            assert!(error.code().unwrap().is_retried(), "{class}");
        }
    }

    #[test]
    fn what_a_person_must_mend_stops_it() {
        for (class, code) in [
            (ErrorClass::Unauthenticated, "ERR_INFRA_UNAUTHENTICATED"),
            (ErrorClass::Forbidden, "ERR_INFRA_UNAUTHORIZED"),
            (ErrorClass::Quota, "ERR_INFRA_QUOTA_EXCEEDED"),
            (ErrorClass::NotFound, "ERR_CONFIGURATION_PROBLEM"),
            (ErrorClass::Invalid, "ERR_CONFIGURATION_PROBLEM"),
            (ErrorClass::Tls, "ERR_CONFIGURATION_PROBLEM"),
        ] {
            let code_of = Code::from(class);
            assert_eq!((code_of.as_str(), code_of.is_retried()), (code, false), "{class}");
        }
    }
}
