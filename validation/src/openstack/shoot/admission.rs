//! A Shoot at admission: everything that is judged of it, in one order.
//!
//! Not judged are shoots of other providers, shoots without workers, shoots on their way out, and a change that leaves
//! `spec` as it is: what Gardener's controllers do to finalizers, labels and status must never fail because a rule came
//! after the shoot.

use fabric_apis::decode::Document;
use fabric_apis::field::{ErrorList, Findings, Path};
use fabric_apis::openstack::v1alpha1::CloudProfileConfig;
use serde_json::Value;

use super::read::Parts;
use super::{CONFIG_PATH, CONTROL_PLANE_PATH, ShootInput, dns, garden, validate, workers};
use crate::openstack::admission::{Reference, Resolved, Reviewed};
use crate::openstack::control_plane::{self, Offer};
use crate::openstack::{PROVIDER_TYPE, cloud_profile, infrastructure};

const WORKERS_PATH: &str = "spec.provider.workers";
const DNS_PATH: &str = "spec.dns.providers";

/// What became of looking at a Shoot.
#[derive(Clone, Debug, Default)]
pub struct Examined {
    /// What is wrong or odd.
    pub findings: Findings,
    /// What a reconcile would start from, when the infrastructure's config reads without complaint.
    pub input: Option<ShootInput>,
}

/// Whether no rule is for the Shoot, as it is or in this change.
pub(super) fn is_exempt(reviewed: &Reviewed<'_>) -> bool {
    let provider = reviewed.at("spec.provider.type").and_then(Value::as_str).unwrap_or(PROVIDER_TYPE);
    provider != PROVIDER_TYPE
        || is_workerless(reviewed.object)
        || reviewed.is_in_deletion()
        || reviewed.is_unchanged("spec")
}

/// Whether a Shoot has no workers, hence no infrastructure. One with something else than a list there, or than an object
/// around it, is for the reader to refuse.
pub fn is_workerless(shoot: &Document) -> bool {
    let inner = ["spec", "provider", "workers"].iter().try_fold(&shoot.value, |value, key| match value {
        Value::Null => Ok(&Value::Null),
        Value::Object(fields) => Ok(fields.get(*key).unwrap_or(&Value::Null)),
        _ => Err(()),
    });
    match inner {
        Ok(Value::Null) => true,
        Ok(workers) => workers.as_array().is_some_and(Vec::is_empty),
        Err(()) => false,
    }
}

/// A Shoot as it was read: what can be read of it, and what is wrong with the rest.
#[derive(Default)]
pub(crate) struct Case {
    is_exempt: bool,
    new: Option<Parts>,
    errors: ErrorList,
    old: Option<Parts>,
}

impl Case {
    /// Reads the Shoot, and the old one where rules will ask for it. Of one that no rule is for, nothing is read.
    pub(crate) fn read(reviewed: &Reviewed<'_>) -> Self {
        if is_exempt(reviewed) {
            return Self { is_exempt: true, ..Self::default() };
        }
        let mut errors = ErrorList::new();
        let new = Parts::strict(reviewed.object, &mut errors);
        let old = reviewed.old.filter(|_| new.is_some()).and_then(Parts::lenient);
        Self { is_exempt: false, new, errors, old }
    }

    /// Nothing around a Shoot is looked for when nothing that it needs is new.
    pub(crate) fn references(&self, resolved: &Resolved) -> Vec<Reference> {
        let Some(rules) = self.rules(resolved) else { return Vec::new() };
        let shoot = &rules.new.shoot;
        let mut wanted = dns::references(shoot, rules.old.map(|old| &old.shoot));
        if rules.needs().any() {
            wanted.extend(garden::references(shoot, resolved));
        }
        wanted
    }

    pub(crate) fn judge(&self, resolved: &Resolved) -> Findings {
        let mut findings = Findings { errors: self.errors.clone(), ..Findings::default() };
        if let Some(rules) = self.rules(resolved) {
            rules.ask(&mut findings);
        }
        findings
    }

    fn rules<'a>(&'a self, resolved: &'a Resolved) -> Option<Rules<'a>> {
        Some(Rules { new: self.new.as_ref()?, old: self.old.as_ref(), resolved })
    }
}

/// As the Shoot's entry in the table judges it, and what it reads on the way, for callers that go on with it.
pub fn examine(reviewed: &Reviewed<'_>, resolved: &Resolved) -> Examined {
    let case = Case::read(reviewed);
    let findings = case.judge(resolved);
    // What no rule is for is what it is all the same.
    let new = if case.is_exempt { Parts::strict(reviewed.object, &mut ErrorList::new()) } else { case.new };
    let input = new.and_then(|Parts { shoot, infrastructure, is_sound, .. }| {
        infrastructure.filter(|_| is_sound).map(|config| ShootInput { shoot, config })
    });
    Examined { findings, input }
}

/// The Shoot, what it was, and what the caller found around it.
struct Rules<'a> {
    new: &'a Parts,
    old: Option<&'a Parts>,
    resolved: &'a Resolved,
}

/// What of the operator's offer a Shoot takes up anew.
struct Needs {
    pool: bool,
    control_plane: bool,
    machines: bool,
}

impl Needs {
    fn any(&self) -> bool {
        self.pool || self.control_plane || self.machines
    }
}

impl Rules<'_> {
    fn ask(&self, findings: &mut Findings) {
        let shoot = &self.new.shoot;
        findings.merge(validate(shoot, self.new.infrastructure.as_ref()));
        self.control_plane(&mut findings.errors);
        findings.errors.extend(workers::validate(&shoot.spec.provider.workers, &Path::new(WORKERS_PATH)));
        self.change(&mut findings.errors);
        let old = self.old.map(|old| &old.shoot);
        findings.errors.extend(dns::validate(shoot, old, self.resolved, &Path::new(DNS_PATH)));
        self.offer(&mut findings.errors);
    }

    fn control_plane(&self, errors: &mut ErrorList) {
        if let Some(config) = &self.new.control_plane {
            let path = Path::new(CONTROL_PLANE_PATH);
            errors.extend(control_plane::validate(config, self.new.infrastructure.as_ref(), &path));
        }
    }

    /// What may not change.
    fn change(&self, errors: &mut ErrorList) {
        let Some(old) = self.old else { return };
        if let (Some(new), Some(old)) = (&self.new.infrastructure, &old.infrastructure) {
            errors.extend(infrastructure::validate_update(new, old, &Path::new(CONFIG_PATH)));
        }
        let (new, old) = (&self.new.shoot.spec.provider.workers, &old.shoot.spec.provider.workers);
        errors.extend(workers::validate_update(new, old, &Path::new(WORKERS_PATH)));
    }

    /// What has to be on offer. Only what is new or changed counts, so that an offer which ended, or credentials which
    /// can't be read just now, keep no running shoot from changing something else.
    fn needs(&self) -> Needs {
        let machines = workers::need_offer(&self.new.shoot.spec.provider.workers, self.old_workers());
        Needs { pool: self.is_pool_new(), control_plane: self.is_control_plane_new(), machines }
    }

    fn offer(&self, errors: &mut ErrorList) {
        let needs = self.needs();
        if !needs.any() {
            return;
        }
        let (new, old) = (&self.new.shoot.spec.provider.workers, self.old_workers());
        let (shoot, mut told) = (&self.new.shoot, |error| errors.push(error));
        let domain = garden::domain(shoot, self.resolved).map_err(&mut told).ok().flatten();
        let profile = garden::profile(shoot, self.resolved).map_err(&mut told).ok().flatten();
        let Some(profile) = &profile else { return };
        if needs.machines {
            errors.extend(workers::validate_offer(new, old, profile, &Path::new(WORKERS_PATH)));
        }
        // Pools and load balancers may be offered to one Keystone domain only.
        if let Some(domain) = &domain {
            self.cloud_offer(profile, domain, needs.pool, errors);
        }
    }

    fn cloud_offer(&self, profile: &CloudProfileConfig, domain: &str, pool: bool, errors: &mut ErrorList) {
        let region = self.new.shoot.spec.region.as_str();
        let Some(infrastructure) = &self.new.infrastructure else { return };
        let name = infrastructure.floating_pool_name.as_str();
        if pool {
            let path = Path::new(CONFIG_PATH);
            errors.extend(cloud_profile::validate(infrastructure, profile, domain, region, &path));
        }
        if let Some(config) = &self.new.control_plane {
            let old = self.old.and_then(|old| old.control_plane.as_ref());
            let offer = Offer { profile, domain, region };
            let path = Path::new(CONTROL_PLANE_PATH);
            errors.extend(control_plane::validate_offer(config, old, name, &offer, &path));
        }
    }

    fn old_workers(&self) -> Option<&[fabric_apis::gardener::Worker]> {
        self.old.map(|old| old.shoot.spec.provider.workers.as_slice())
    }

    fn is_pool_new(&self) -> bool {
        let pool = |parts: &Parts| parts.infrastructure.as_ref().map(|config| config.floating_pool_name.clone());
        let name = pool(self.new).filter(|name| !name.is_empty());
        name.is_some() && self.old.is_none_or(|old| pool(old) != name)
    }

    fn is_control_plane_new(&self) -> bool {
        let Some(new) = &self.new.control_plane else { return false };
        let Some(old) = self.old.and_then(|old| old.control_plane.as_ref()) else { return true };
        new.load_balancer_provider != old.load_balancer_provider
            || new.load_balancer_classes != old.load_balancer_classes
    }
}

#[cfg(test)]
mod tests;
