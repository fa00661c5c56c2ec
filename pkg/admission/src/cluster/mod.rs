//! Where certificates are kept and webhooks are registered, when there is a cluster.
//!
//! ```text
//!  runtime cluster   secrets ca-<component>-webhook, <component>-webhook-server ◄── ClusterSecrets
//!  garden or seed    ValidatingWebhookConfiguration, MutatingWebhookConfiguration ◄── Configurations
//! ```
//! The two clusters may be one. Both writers ask before each request whether this replica still leads.

mod configurations;
mod secrets;

pub use configurations::{Configurations, FailurePolicy, Reach, Webhook, WebhookKind};
pub use secrets::ClusterSecrets;

use crate::certificates::{Leader, StoreError};

/// Says so when this replica may not write any more.
fn may_write(leader: &Leader) -> Result<(), StoreError> {
    if leader() { Ok(()) } else { Err(StoreError::Unavailable("another replica leads now".into())) }
}

/// 409 is both: it is there already, and it changed. What is gone (404 on a patch) is looked for again.
fn store_error(error: kube::Error) -> StoreError {
    match error {
        kube::Error::Api(status) if matches!(status.code, 404 | 409) => StoreError::Conflict,
        kube::Error::Api(status) => StoreError::Unavailable(format!("{} ({})", status.message, status.code)),
        other => StoreError::Unavailable(chain(&other)),
    }
}

/// An error with its causes, each said once.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let said = next.to_string();
        if !text.contains(&said) {
            text += &format!(": {said}");
        }
        cause = next.source();
    }
    text
}
