//! What a Shoot leaves open, preset for OpenStack.
//!
//! - calico and cilium get an overlay network, or none, as the operator wants it for new shoots; a change that drops
//!   the setting gets the old one back, since pods can't move between the two kinds of network.
//! - A calico or cilium without an overlay needs routes to its pods.
//! - The node-local DNS cache asks its upstream over UDP: over TCP large clusters wait.
//!
//! A setting that is there is left as it is, whatever it is.

use fabric_apis::field;
use serde_json::{Map, Value, json};

use super::admission::is_exempt;
use crate::openstack::admission::{Defaults, Operation, Resolved, Reviewed, Set};

const OVERLAY: &str = "spec.networking.providerConfig.overlay";
const NODE_LOCAL_DNS: &str = "spec.systemComponents.nodeLocalDNS";

pub(crate) fn mutate(reviewed: &Reviewed<'_>, _: &Resolved, defaults: &Defaults) -> Result<Vec<Set>, field::Error> {
    let was_in_deletion = reviewed.old_at("metadata.deletionTimestamp").is_some();
    if is_exempt(reviewed) || was_in_deletion || is_moving(reviewed) {
        return Ok(Vec::new());
    }
    Ok(overlay(reviewed, defaults).into_iter().chain(node_local_dns(reviewed)).collect())
}

/// Whether the control plane is on its way to another seed, or about to be: then the spec must stay as it was saved.
fn is_moving(reviewed: &Reviewed<'_>) -> bool {
    let text = |path: &str| reviewed.at(path).and_then(Value::as_str);
    let Some(operation) = text("status.lastOperation.type") else { return false };
    let migrates = operation == "Migrate";
    let is_restored = operation == "Restore" && text("status.lastOperation.state") != Some("Succeeded");
    let is_rescheduled = match (text("spec.seedName"), text("status.seedName")) {
        (Some(wanted), Some(current)) => wanted != current,
        _ => false,
    };
    is_rescheduled || (reviewed.operation == Operation::Update && (migrates || is_restored))
}

fn overlay(reviewed: &Reviewed<'_>, defaults: &Defaults) -> Option<Set> {
    let network = reviewed.at("spec.networking.type").and_then(Value::as_str)?;
    if !["calico", "cilium"].contains(&network) {
        return None;
    }
    let config = reviewed.at("spec.networking.providerConfig");
    if config.is_some_and(|config| !config.is_object()) {
        return None;
    }
    let given = reviewed.at(OVERLAY);
    let wanted = match (given, reviewed.operation) {
        (Some(given), _) => given.clone(),
        (None, Operation::Create) => json!({ "enabled": defaults.overlay }),
        (None, Operation::Update) => reviewed.old_at(OVERLAY)?.clone(),
    };
    let wanted = with_pod_routes(wanted);
    if given == Some(&wanted) {
        return None;
    }
    let path = "/spec/networking/providerConfig".to_owned();
    Some(match config {
        Some(_) => Set { path: path + "/overlay", value: wanted },
        None => Set { path, value: Value::Object(Map::from_iter([("overlay".to_owned(), wanted)])) },
    })
}

fn with_pod_routes(mut overlay: Value) -> Value {
    if overlay.get("enabled") == Some(&Value::Bool(false))
        && overlay.get("createPodRoutes").is_none_or(Value::is_null)
        && let Some(overlay) = overlay.as_object_mut()
    {
        overlay.insert("createPodRoutes".to_owned(), Value::Bool(true));
    }
    overlay
}

fn node_local_dns(reviewed: &Reviewed<'_>) -> Option<Set> {
    let cache = reviewed.at(NODE_LOCAL_DNS)?;
    let is_open = cache.get("forceTCPToUpstreamDNS").is_none_or(Value::is_null);
    (cache.get("enabled") == Some(&Value::Bool(true)) && is_open).then(|| Set {
        path: "/spec/systemComponents/nodeLocalDNS/forceTCPToUpstreamDNS".to_owned(),
        value: Value::Bool(false),
    })
}

#[cfg(test)]
mod tests;
