//! Joins a shoot's infrastructure with the Cluster and the profile that stand beside it, and asks the rules that
//! waited for them.

use std::collections::HashMap;

use fabric_apis::{
    decode::Kinded,
    field::{Findings, Path},
    gardener::NamespacedCloudProfile,
    openstack::v1alpha1::CloudProfileConfig,
};
use fabric_infrastructure::Shoot as ShootFacts;
use fabric_validation::openstack::{cloud_profile, infrastructure};

use super::{Beside, Facts, Object, Profile, Subject};

/// What stands beside the subjects.
#[derive(Default)]
struct Around {
    clusters: HashMap<String, (ShootFacts, Option<CloudProfileConfig>)>,
    profiles: Vec<Profile>,
    /// The Keystone domain, as told or as the only Secret says.
    domain: Option<String>,
}

/// Takes Clusters and profiles out of `objects` and completes the subjects by them.
pub(super) fn join(objects: &mut [Object], facts: &Facts) {
    let mut around = Around { domain: facts.domain.clone(), ..Around::default() };
    if let ([only], None) =
        (objects.iter().filter_map(|it| it.login.as_ref()).collect::<Vec<_>>().as_slice(), &facts.domain)
    {
        around.domain = only.domain().map(str::to_owned);
    }
    for object in &mut *objects {
        match object.beside.take() {
            Some(Beside::Cluster(cluster)) => {
                around.clusters.insert(cluster.0.technical_id.clone(), *cluster);
            }
            Some(Beside::Profile(profile)) => around.profiles.push(*profile),
            None => {}
        }
    }
    for object in objects {
        let Some(subject) = &mut object.subject else { continue };
        if subject.wants_cluster {
            around.complete(subject);
            if facts.asks_create() && !subject.leaves {
                let path = fabric_infrastructure::validate::root(subject.input.path);
                let found = infrastructure::validate(&subject.input.config, &subject.input.static_context(), &path);
                object.report.add(found);
            }
        }
        if let Some(profile) = facts.profile.as_ref().or_else(|| around.profile(subject)) {
            subject.input.profile = Some(profile.clone());
        }
        object.report.add(floating_pool(subject, around.domain.as_deref()));
    }
}

impl Around {
    /// A Cluster tells what the Infrastructure object does not; what both tell, the Infrastructure knows better.
    fn complete(&self, subject: &mut Subject) {
        let Some((facts, profile)) = self.clusters.get(&subject.namespace) else { return };
        let own = std::mem::replace(&mut subject.input.shoot, facts.clone());
        let shoot = &mut subject.input.shoot;
        shoot.technical_id = own.technical_id;
        shoot.region = own.region.or_else(|| facts.region.clone());
        shoot.ssh_public_key = own.ssh_public_key;
        subject.input.profile.clone_from(profile);
    }

    /// The profile that the shoot names; for an object that can name none, the only one there is.
    fn profile(&self, subject: &Subject) -> Option<&CloudProfileConfig> {
        let named = match &subject.profile {
            Some((kind, name)) => self.profiles.iter().find(|it| {
                let near = kind != NamespacedCloudProfile::KIND || it.namespace == subject.namespace;
                it.kind == *kind && it.name == *name && near
            }),
            None => match self.profiles.as_slice() {
                [only] => Some(only),
                _ => None,
            },
        };
        named.map(|it| &it.config)
    }
}

/// Whether the profile offers the floating pool: asked for a new config, and for one that names another pool now.
fn floating_pool(subject: &Subject, domain: Option<&str>) -> Findings {
    let mut findings = Findings::default();
    let input = &subject.input;
    let Some(profile) = &input.profile else { return findings };
    let changed = subject.before.as_ref().is_none_or(|old| old.floating_pool_name != input.config.floating_pool_name);
    if input.config.floating_pool_name.is_empty() || !changed || subject.leaves || subject.is_offer_judged {
        return findings;
    }
    let root: Path<'_> = fabric_infrastructure::validate::root(input.path);
    let pools = &profile.constraints.floating_pools;
    if domain.is_none() && pools.iter().any(|pool| pool.domain.is_some()) {
        let detail = "the CloudProfile limits floating pools to Keystone domains: give --domain to have this checked";
        findings.warn(&root.child("floatingPoolName"), detail);
        return findings;
    }
    if input.shoot.region.is_none() && pools.iter().any(|pool| pool.region.is_some()) {
        let detail = "the CloudProfile limits floating pools to regions: give --region to have this checked";
        findings.warn(&root.child("floatingPoolName"), detail);
        return findings;
    }
    let domain = domain.unwrap_or_default();
    let region = input.shoot.region.as_deref().unwrap_or_default();
    findings.errors = cloud_profile::validate(&input.config, profile, domain, region, &root);
    findings
}
