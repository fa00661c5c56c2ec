//! A Shoot at admission.

use fabric_apis::field::Findings;

use super::{Reading, ShootInput, validate};
use crate::openstack::admission::{Reference, Resolved, Reviewed};

pub(crate) fn references(_reviewed: &Reviewed<'_>, _resolved: &Resolved) -> Vec<Reference> {
    Vec::new()
}

pub(crate) fn judge(reviewed: &Reviewed<'_>, _resolved: &Resolved) -> Findings {
    match ShootInput::read(reviewed.object.clone(), Reading::Strict) {
        Ok(Some(input)) => validate(&input),
        Ok(None) => Findings::default(),
        Err(errors) => Findings { errors, warnings: Vec::new() },
    }
}
