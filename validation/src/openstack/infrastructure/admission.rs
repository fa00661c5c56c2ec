//! What gardenlet hands to the extension, at admission in the seed.
//!
//! Only static rules: they need nothing but the object and, for the ranges of the shoot around it, its Cluster. A Cluster
//! that can't be had leaves out the rules that need it; the controller asks all of them again.

use fabric_apis::decode;
use fabric_apis::field::{Error, Findings, Path};
use fabric_apis::gardener::Shoot;
use fabric_apis::openstack::v1alpha1::InfrastructureConfig;

use super::{StaticContext, validate, validate_update};
use crate::openstack::PROVIDER_TYPE;
use crate::openstack::admission::{Reference, ReferenceKind, Resolved, Reviewed};

/// Where the config stands in an Infrastructure.
const CONFIG_PATH: &str = "spec.providerConfig";

/// Other types are others' business. What is on its way out must go, and a config that is as it was is no news:
/// gardenlet writes the object with each reconcile.
fn is_exempt(reviewed: &Reviewed<'_>) -> bool {
    reviewed.at("spec.type").is_some_and(|provider| provider != PROVIDER_TYPE)
        || reviewed.is_in_deletion()
        || reviewed.is_unchanged(CONFIG_PATH)
}

/// The Cluster is named like the shoot's namespace.
fn cluster(reviewed: &Reviewed<'_>) -> Reference {
    Reference::new(ReferenceKind::Cluster, "", reviewed.namespace())
}

pub(crate) fn references(reviewed: &Reviewed<'_>, _resolved: &Resolved) -> Vec<Reference> {
    if is_exempt(reviewed) || reviewed.namespace().is_empty() { Vec::new() } else { vec![cluster(reviewed)] }
}

pub(crate) fn judge(reviewed: &Reviewed<'_>, resolved: &Resolved) -> Findings {
    let mut findings = Findings::default();
    if is_exempt(reviewed) {
        return findings;
    }
    let shoot = shoot(reviewed, resolved);
    if shoot.as_ref().is_some_and(|shoot| shoot.metadata.deletion_timestamp.is_some()) {
        return findings;
    }
    for duplicate in reviewed.object.duplicates_outside(CONFIG_PATH) {
        let problems = vec![decode::Problem::Duplicate(duplicate.to_owned())];
        let error = decode::Error::Fields { strict: true, problems };
        findings.errors.extend(error.to_field_errors(&Path::nil()));
    }
    let path = Path::new(CONFIG_PATH);
    let config = match reviewed.object.strict_at::<InfrastructureConfig>(CONFIG_PATH) {
        Ok(Some(config)) => Some(config),
        Ok(None) => {
            findings.error(Error::required(&path, "an InfrastructureConfig must be set"));
            None
        }
        Err(error) => {
            findings.errors.extend(error.to_field_errors(&path));
            let foreign = matches!(error, decode::Error::Kind { .. });
            // What can be read of it is judged all the same: all findings at once.
            reviewed.at(CONFIG_PATH).filter(|_| !foreign).and_then(|raw| decode::lenient(raw).ok())
        }
    };
    let Some(config) = config else { return findings };
    let context = shoot.as_ref().map(StaticContext::of).unwrap_or_default();
    findings.merge(validate(&config, &context, &path));
    if let Some(old) = reviewed.old_at(CONFIG_PATH).and_then(|raw| decode::lenient(raw).ok()) {
        findings.errors.extend(validate_update(&config, &old, &path));
    }
    findings
}

fn shoot(reviewed: &Reviewed<'_>, resolved: &Resolved) -> Option<Shoot> {
    decode::lenient(resolved.found(&cluster(reviewed))?.pointer("/spec/shoot")?).ok()
}

#[cfg(test)]
mod tests;
