//! From Gardener's objects in a seed to what a reconcile starts from. Pure: who fetches them is another question.
//!
//! ```text
//!  Infrastructure ─┐
//!  Cluster ────────┼─► Input       config, profile, facts of the shoot
//!  Secret ─────────┴─► Credentials for the profile's Keystone, and for no other
//! ```

use std::collections::BTreeMap;

use fabric_apis::{
    decode::{self, Document},
    field::Findings,
    gardener::{Cluster, Infrastructure},
    openstack::v1alpha1::{CloudProfileConfig, InfrastructureConfig},
};
use fabric_openstack::config::secret::{self, Defaults, Usage};
use fabric_openstack_types::credentials::Credentials;
use fabric_validation::openstack::{cloudprovider, shoot::ShootInput};
use serde_json::Value;

use crate::{
    dereference::{Input, Shoot},
    validate::root,
};

/// Where the config stands in an Infrastructure.
pub const PROVIDER_CONFIG: &str = "spec.providerConfig";

/// Why one of the objects around an Infrastructure can't be used, for the person who has to mend it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unusable(String);

/// How strictly the config is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Every field must be known: before something is made.
    Strict,
    /// What is not known is skipped: what was accepted once must stay deletable.
    Lenient,
}

/// The `InfrastructureConfig` in an Infrastructure.
///
/// # Errors
/// What does not read, under its path; a missing config.
pub fn config(object: &Infrastructure, reading: Reading) -> Result<InfrastructureConfig, Findings> {
    let path = root(PROVIDER_CONFIG);
    let value = object.spec.provider_config.clone().unwrap_or(Value::Null);
    let document = Document { index: 0, value, duplicates: Vec::new() };
    let read = match reading {
        Reading::Strict => document.strict(),
        Reading::Lenient => document.lenient(),
    };
    read.map_err(|error| Findings { errors: error.to_field_errors(&path), warnings: Vec::new() })
}

/// The operator's offer in a Cluster.
///
/// # Errors
/// When there is none, or a field that we read has the wrong type.
pub fn profile(cluster: &Cluster) -> Result<CloudProfileConfig, Unusable> {
    let found = cluster.spec.cloud_profile().map_err(|error| unreadable(cluster, "spec.cloudProfile", &error))?;
    let raw = found.spec.provider_config.filter(|raw| !raw.is_null());
    let raw = raw.ok_or_else(|| {
        Unusable(format!(
            "spec.cloudProfile of Cluster {} has no providerConfig: without it nobody knows where Keystone is",
            name(cluster)
        ))
    })?;
    // The operator's object: fields that we don't know are not our business.
    decode::lenient(&raw).map_err(|error| unreadable(cluster, "spec.cloudProfile.spec.providerConfig", &error))
}

/// Everything that a reconcile of an Infrastructure starts from.
///
/// # Errors
/// What of the Cluster can't be read.
pub fn input(
    object: &Infrastructure,
    config: InfrastructureConfig,
    cluster: &Cluster,
    profile: CloudProfileConfig,
) -> Result<Input, Unusable> {
    let shoot = cluster.spec.shoot().map_err(|error| unreadable(cluster, "spec.shoot", &error))?;
    let facts = Input::of_shoot(ShootInput { shoot, config: InfrastructureConfig::default() }).shoot;
    let key = object.spec.ssh_public_key.as_ref().map(|key| String::from_utf8_lossy(&key.0).trim().to_owned());
    let shoot = Shoot {
        technical_id: object.metadata.namespace.clone().unwrap_or_default(),
        region: Some(object.spec.region.clone()).filter(|region| !region.is_empty()).or(facts.region),
        ssh_public_key: key.filter(|key| !key.is_empty()),
        ..facts
    };
    Ok(Input { config, profile: Some(profile), shoot, path: PROVIDER_CONFIG })
}

/// The login in a secret, for the cloud of the profile. `place` names the secret in messages.
///
/// Where Keystone is, and whether its certificate counts, says the operator's profile alone, as
/// [on the way to a seed](cloudprovider): a secret is written by a project's members, and must not make this program
/// send its requests to a host of theirs.
///
/// # Errors
/// What is missing; never a value of the secret.
pub fn log_in(
    place: &str,
    mut data: BTreeMap<String, Vec<u8>>,
    profile: &CloudProfileConfig,
    region: Option<&str>,
) -> Result<Credentials, Unusable> {
    let region = region.unwrap_or_default();
    cloudprovider::complete(&mut data, profile, region).map_err(|error| Unusable(error.to_string()))?;
    let texts: BTreeMap<String, String> =
        data.into_iter().filter_map(|(name, value)| Some((name, String::from_utf8(value).ok()?))).collect();
    let defaults =
        Defaults { region: Some(region.to_owned()).filter(|region| !region.is_empty()), ..Defaults::default() };
    secret::credentials(place, &texts, Usage::Infrastructure, &defaults).map_err(|error| Unusable(error.to_string()))
}

fn name(cluster: &Cluster) -> &str {
    cluster.metadata.name.as_deref().unwrap_or_default()
}

fn unreadable(cluster: &Cluster, what: &str, error: &decode::Error) -> Unusable {
    Unusable(format!("{what} of Cluster {} can't be read: {error}", name(cluster)))
}

#[cfg(test)]
mod tests {
    use fabric_apis::field::ErrorType;
    use fabric_apis::openstack::v1alpha1::KeystoneUrl;
    use serde_json::json;

    use super::*;

    fn infrastructure(config: Value) -> Infrastructure {
        serde_json::from_value(json!({
            "apiVersion": "extensions.gardener.cloud/v1alpha1",
            "kind": "Infrastructure",
            "metadata": { "name": "a", "namespace": "shoot--p--a" },
            "spec": { "type": "openstack", "region": "r1", "secretRef": { "name": "cloudprovider" }, "providerConfig": config,
                "sshPublicKey": "c3NoLWVkMjU1MTkgQUFBQQo=" },
        }))
        .unwrap()
    }

    fn cluster(profile: Value) -> Cluster {
        serde_json::from_value(json!({
            "apiVersion": "extensions.gardener.cloud/v1alpha1",
            "kind": "Cluster",
            "metadata": { "name": "shoot--p--a" },
            "spec": {
                "cloudProfile": { "spec": { "providerConfig": profile } },
                "shoot": {
                    "spec": { "region": "r2", "networking": { "pods": "100.96.0.0/11" }, "provider": { "type": "openstack" } },
                    "status": { "technicalID": "shoot--p--a", "uid": "u" },
                },
            },
        }))
        .unwrap()
    }

    fn config_of(floating: &str) -> Value {
        json!({
            "apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1",
            "kind": "InfrastructureConfig", "floatingPoolName": floating, "networks": { "workers": "10.0.0.0/16" },
        })
    }

    #[test]
    fn facts_come_from_the_object_first_and_from_the_shoot_around_it() {
        let (object, cluster) = (infrastructure(config_of("pool")), cluster(json!({ "keystoneURL": "https://k" })));
        let config = config(&object, Reading::Strict).unwrap();
        let input = input(&object, config, &cluster, profile(&cluster).unwrap()).unwrap();
        let shoot = &input.shoot;
        assert_eq!((shoot.technical_id.as_str(), shoot.uid.as_str()), ("shoot--p--a", "u"));
        assert_eq!((shoot.region.as_deref(), shoot.pods.as_deref()), (Some("r1"), Some("100.96.0.0/11")));
        assert_eq!(shoot.ssh_public_key.as_deref(), Some("ssh-ed25519 AAAA"));
        assert_eq!(input.path, PROVIDER_CONFIG);
    }

    #[test]
    fn a_field_that_nobody_knows_stops_a_creation_and_no_deletion() {
        let mut raw = config_of("pool");
        raw["networks"]["subnetID"] = json!("x");
        let object = infrastructure(raw);
        let found = config(&object, Reading::Strict).unwrap_err();
        let fields: Vec<_> = found.errors.iter().map(|error| error.field.as_str()).collect();
        assert_eq!(fields, ["spec.providerConfig.networks.subnetID"]);
        assert_eq!(config(&object, Reading::Lenient).unwrap().floating_pool_name, "pool");
    }

    #[test]
    fn a_missing_config_is_told_under_its_path() {
        let mut object = infrastructure(Value::Null);
        object.spec.provider_config = None;
        let found = config(&object, Reading::Strict).unwrap_err();
        let error = found.errors.iter().next().unwrap();
        assert!(error.field.starts_with(PROVIDER_CONFIG), "{error}");
        assert_ne!(error.kind, ErrorType::InternalError);
    }

    #[test]
    fn a_profile_without_config_is_named_with_its_cluster() {
        let error = profile(&cluster(Value::Null)).unwrap_err().to_string();
        assert!(error.contains("Cluster shoot--p--a") && error.contains("providerConfig"), "{error}");
    }

    #[test]
    fn a_secret_leads_to_the_operators_keystone_alone() {
        let data = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec())).collect::<BTreeMap<_, _>>()
        };
        let secret = data(&[
            ("domainName", "d"),
            ("tenantName", "t"),
            ("username", "u"),
            ("password", "p"),
            ("authURL", "https://mine"),
            ("insecure", "true"),
        ]);
        let profile = CloudProfileConfig {
            keystone_url: "https://k".to_owned(),
            keystone_urls: vec![KeystoneUrl {
                region: "r1".to_owned(),
                url: "https://r1".to_owned(),
                ..KeystoneUrl::default()
            }],
            ..CloudProfileConfig::default()
        };
        let credentials = log_in("Secret x/y", secret.clone(), &profile, Some("r1")).unwrap();
        assert_eq!((credentials.auth_url.as_str(), credentials.insecure), ("https://r1", false));
        let mut without = secret;
        without.remove("tenantName");
        let error = log_in("Secret x/y", without, &profile, Some("r1")).unwrap_err().to_string();
        assert!(error.contains("Secret x/y") && error.contains("tenantName"), "{error}");
        let error = log_in("Secret x/y", BTreeMap::new(), &CloudProfileConfig::default(), Some("r9")).unwrap_err();
        assert!(error.to_string().contains("r9"), "{error}");
    }
}
