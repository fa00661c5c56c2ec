//! What gardenlet hands to the extension, at admission in the seed.

use fabric_apis::field::Findings;

use crate::openstack::admission::{Reference, Resolved, Reviewed};

pub(crate) fn references(_reviewed: &Reviewed<'_>, _resolved: &Resolved) -> Vec<Reference> {
    Vec::new()
}

pub(crate) fn judge(_reviewed: &Reviewed<'_>, _resolved: &Resolved) -> Findings {
    Findings::default()
}
