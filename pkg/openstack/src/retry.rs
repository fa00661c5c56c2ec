//! When to try again, and how long to wait before (decision D8).
//!
//! Tried again are only failures that may pass by themselves: no connection, no answer, 5xx, 429. A failure of
//! the request itself, a quota, an exhausted range or a duplicate is final. Something in use is final too unless
//! the caller sets [`RetryPolicy::in_use`]: only the reconciler knows whether what blocks is its own.

use std::time::Duration;

use fabric_openstack_types::{ApiError, ErrorClass};
use tokio::time::Instant;

/// Conflicts of deletions that clear by themselves once the last user of the object is gone.
const CLEARING: [&str; 5] =
    ["NetworkInUse", "SubnetInUse", "RouterInUse", "SecurityGroupInUse", "RouterInterfaceInUseByRoute"];

/// How often and how long one call is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How often at most, the first attempt included.
    pub attempts: u32,
    /// The wait after the first failure; doubles with each further one, minus a random part of up to half.
    pub base: Duration,
    /// The longest wait that we choose ourselves.
    pub longest: Duration,
    /// No new attempt begins later than this after the first one; a longer `Retry-After` ends the attempts too.
    /// The default, 30 s, and one more request of 60 s are the 90 s that a task has.
    pub total: Duration,
    /// How long a deletion is tried again while something uses the object (`…InUse`). Zero: not at all.
    pub in_use: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 5,
            base: Duration::from_millis(500),
            longest: Duration::from_secs(8),
            total: Duration::from_secs(30),
            in_use: Duration::ZERO,
        }
    }
}

/// The attempts of one call.
#[derive(Debug)]
pub(crate) struct Attempts {
    policy: RetryPolicy,
    since: Instant,
    failed: u32,
}

impl Attempts {
    pub(crate) fn new(policy: RetryPolicy, now: Instant) -> Self {
        Self { policy, since: now, failed: 0 }
    }

    /// After a failed attempt: how long to wait before the next one; `None`: the failure is final.
    pub(crate) fn next(&mut self, error: &ApiError, now: Instant) -> Option<Duration> {
        self.failed += 1;
        let elapsed = now.saturating_duration_since(self.since);
        let wait = match error.class {
            ErrorClass::InUse if clears(error) => {
                let wait = self.backoff();
                return (elapsed + wait <= self.policy.in_use).then_some(wait);
            }
            ErrorClass::RateLimited => error.retry_after.unwrap_or_else(|| self.backoff()),
            // 501: the service does not know the method and never will.
            ErrorClass::Server if error.status == Some(501) => return None,
            ErrorClass::Server => error.retry_after.unwrap_or_else(|| self.backoff()),
            ErrorClass::Connect | ErrorClass::Timeout => self.backoff(),
            _ => return None,
        };
        let allowed = self.failed < self.policy.attempts && elapsed.saturating_add(wait) <= self.policy.total;
        allowed.then_some(wait)
    }

    fn backoff(&self) -> Duration {
        let doublings = self.failed.saturating_sub(1).min(16);
        let full = self.policy.base.saturating_mul(1 << doublings).min(self.policy.longest);
        full.mul_f64(rand::random_range(0.5..=1.0))
    }
}

fn clears(error: &ApiError) -> bool {
    error.kind.as_deref().is_some_and(|kind| CLEARING.contains(&kind))
}

#[cfg(test)]
mod tests {
    use fabric_openstack_types::Service;

    use super::*;

    fn error(class: ErrorClass, kind: Option<&str>, retry_after: Option<u64>) -> ApiError {
        let mut error = ApiError::local(Service::Network, "DELETE", "/v2.0/x", class, "x");
        error.kind = kind.map(str::to_owned);
        error.retry_after = retry_after.map(Duration::from_secs);
        error
    }

    #[test]
    fn only_what_may_pass_by_itself_is_tried_again() {
        use ErrorClass::*;
        let now = Instant::now();
        for (class, again) in [
            (Connect, true),
            (Timeout, true),
            (Server, true),
            (RateLimited, true),
            (Unauthenticated, false),
            (Forbidden, false),
            (Quota, false),
            (NotFound, false),
            (InUse, false),
            (Conflict, false),
            (Invalid, false),
            (Exhausted, false),
            (Tls, false),
            (NoEndpoint, false),
            (Malformed, false),
        ] {
            let mut attempts = Attempts::new(RetryPolicy::default(), now);
            let next = attempts.next(&error(class, None, None), now);
            assert_eq!(next.is_some(), again, "{class}");
        }
    }

    #[test]
    fn waits_grow_and_end() {
        let now = Instant::now();
        let mut attempts = Attempts::new(RetryPolicy::default(), now);
        let failure = error(ErrorClass::Server, None, None);
        let waits: Vec<_> = std::iter::from_fn(|| attempts.next(&failure, now)).collect();
        assert_eq!(waits.len(), 4, "five attempts have four pauses: {waits:?}");
        for (wait, full) in waits.iter().zip([500, 1000, 2000, 4000]) {
            let full = Duration::from_millis(full);
            assert!(*wait >= full / 2 && *wait <= full, "{wait:?} of {full:?}");
        }
    }

    #[test]
    fn retry_after_is_honoured_unless_it_is_too_long() {
        let now = Instant::now();
        for (seconds, want) in [(3, Some(Duration::from_secs(3))), (600, None)] {
            let mut attempts = Attempts::new(RetryPolicy::default(), now);
            let failure = error(ErrorClass::RateLimited, None, Some(seconds));
            assert_eq!(attempts.next(&failure, now), want);
        }
    }

    #[test]
    fn nothing_begins_after_the_deadline() {
        let now = Instant::now();
        let mut attempts = Attempts::new(RetryPolicy::default(), now);
        let failure = error(ErrorClass::Timeout, None, None);
        assert_eq!(attempts.next(&failure, now + Duration::from_secs(30)), None);
    }

    #[test]
    fn in_use_is_tried_again_only_on_request_and_only_where_it_clears() {
        let patient = RetryPolicy { in_use: Duration::from_secs(60), ..RetryPolicy::default() };
        let now = Instant::now();
        for (policy, kind, again) in [
            (RetryPolicy::default(), "NetworkInUse", false),
            (patient, "NetworkInUse", true),
            (patient, "RouterInterfaceInUseByRoute", true),
            (patient, "RouterInterfaceInUseByFloatingIP", false),
        ] {
            let mut attempts = Attempts::new(policy, now);
            let next = attempts.next(&error(ErrorClass::InUse, Some(kind), None), now);
            assert_eq!(next.is_some(), again, "{kind}");
        }
        let mut attempts = Attempts::new(patient, now);
        let late = now + Duration::from_secs(60);
        let failure = error(ErrorClass::InUse, Some("NetworkInUse"), None);
        assert_eq!(attempts.next(&failure, late), None);
    }
}
