//! The secret `cloudprovider` of a shoot in a seed: what in it is the operator's to say.
//!
//! Its login is written by a project's members; where Keystone is and whether certificates are checked stands in the
//! CloudProfile. So nobody can send a program of the seed, with whatever it knows, to a host of their own.

use std::collections::BTreeMap;

use fabric_apis::field::{self, Path};
use fabric_apis::gardener::{ByteString, Cluster};
use fabric_apis::{decode, openstack::v1alpha1::CloudProfileConfig};
use fabric_openstack_types::secret_key::{AUTH_URL, CA_CERT, INSECURE};
use serde::Deserialize;
use serde_json::{Value, json};

use super::admission::{Defaults, Reference, ReferenceKind, Resolved, Reviewed, Set};

/// The secret's name, in each namespace of a shoot.
pub const NAME: &str = "cloudprovider";

/// Sets what the operator says about Keystone in `region`: its URL, its CA bundle if the profile has one, and whether
/// certificates go unchecked. What the secret said about these is dropped; a CA bundle of its own stays where the
/// profile has none, since it can only be trusted for the operator's URL.
///
/// # Errors
/// When the profile names no Keystone for the region.
pub fn complete(
    data: &mut BTreeMap<String, Vec<u8>>,
    profile: &CloudProfileConfig,
    region: &str,
) -> Result<(), NoKeystone> {
    let (url, ca) = profile.keystone(region).ok_or_else(|| NoKeystone { region: region.to_owned() })?;
    data.insert(AUTH_URL.to_owned(), url.into());
    if let Some(ca) = ca {
        data.insert(CA_CERT.to_owned(), ca.into());
    }
    data.remove(INSECURE);
    if profile.keystone_force_insecure {
        data.insert(INSECURE.to_owned(), b"true".to_vec());
    }
    Ok(())
}

/// A profile without Keystone for a region.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the CloudProfile names no Keystone for region {region:?}; set keystoneURL, or an entry of keystoneURLs")]
pub struct NoKeystone {
    /// The region.
    pub region: String,
}

/// Others, and one that goes, are left as they are.
fn is_ours(reviewed: &Reviewed<'_>) -> bool {
    let name = reviewed.at("metadata.name").and_then(Value::as_str);
    name == Some(NAME) && !reviewed.namespace().is_empty() && !reviewed.is_in_deletion()
}

/// The Cluster of a shoot is named like its namespace.
fn cluster(reviewed: &Reviewed<'_>) -> Reference {
    Reference::new(ReferenceKind::Cluster, "", reviewed.namespace())
}

pub(crate) fn references(reviewed: &Reviewed<'_>, _: &Resolved) -> Vec<Reference> {
    if is_ours(reviewed) { vec![cluster(reviewed)] } else { Vec::new() }
}

pub(crate) fn mutate(reviewed: &Reviewed<'_>, resolved: &Resolved, _: &Defaults) -> Result<Vec<Set>, field::Error> {
    if !is_ours(reviewed) {
        return Ok(Vec::new());
    }
    let namespace = Path::new("metadata.namespace");
    let reference = cluster(reviewed);
    let Some(cluster) = resolved.read::<Cluster>(&reference, &namespace)? else { return Ok(Vec::new()) };
    let unusable = |problem: String| field::Error::internal(&namespace, format!("{reference}: {problem}"));
    let unreadable = |error: decode::Error| unusable(error.without_values().to_string());
    let shoot = cluster.spec.shoot().map_err(unreadable)?;
    let profile = cluster.spec.cloud_profile().map_err(unreadable)?.spec.provider_config;
    let profile = profile.filter(|profile| !profile.is_null());
    let profile = profile.ok_or_else(|| unusable("spec.cloudProfile has no providerConfig".to_owned()))?;
    let profile: CloudProfileConfig = decode::lenient(&profile).map_err(unreadable)?;

    let path = Path::new("data");
    let before = entries(reviewed.at("data"), &path)?;
    let mut data = before.clone();
    complete(&mut data, &profile, &shoot.spec.region).map_err(|error| unusable(error.to_string()))?;
    if data == before {
        return Ok(Vec::new());
    }
    let value = data.into_iter().map(|(key, value)| (key, json!(ByteString(value)))).collect();
    Ok(vec![Set { path: "/data".to_owned(), value: Value::Object(value) }])
}

fn entries(data: Option<&Value>, path: &Path<'_>) -> Result<BTreeMap<String, Vec<u8>>, field::Error> {
    let entry = |(key, value): (&String, &Value)| {
        // The reader's own words may quote the value.
        let not_base64 = |_| field::Error::invalid(&path.key(key), "(hidden)", "must be base64");
        ByteString::deserialize(value).map_err(not_base64).map(|bytes| (key.clone(), bytes.0))
    };
    data.and_then(Value::as_object).into_iter().flatten().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use fabric_apis::decode::Document;

    use super::super::admission::{Lookup, Operation};
    use super::*;

    fn document(value: Value) -> Document {
        Document { index: 0, value, duplicates: Vec::new() }
    }

    fn secret(data: &[(&str, &str)]) -> Value {
        let data: serde_json::Map<String, Value> =
            data.iter().map(|(key, text)| ((*key).to_owned(), json!(ByteString(text.as_bytes().to_vec())))).collect();
        json!({"metadata": {"name": NAME, "namespace": "shoot--dev--a"}, "data": data})
    }

    fn cluster_with(profile: Value) -> Lookup {
        Lookup::Found(json!({"metadata": {"name": "shoot--dev--a"}, "spec": {
            "cloudProfile": {"spec": {"providerConfig": profile}},
            "shoot": {"spec": {"region": "r1"}},
        }}))
    }

    /// The data afterwards, as text; `None` when nothing is changed.
    fn after(secret: Value, cluster: Lookup) -> Result<Option<BTreeMap<String, String>>, String> {
        let object = document(secret);
        let reviewed = Reviewed::create(&object);
        let mut resolved = Resolved::new();
        for reference in references(&reviewed, &resolved) {
            resolved.insert(reference, cluster.clone());
        }
        let sets = mutate(&reviewed, &resolved, &Defaults::default()).map_err(|error| error.to_string())?;
        let Some(set) = sets.first() else { return Ok(None) };
        assert_eq!((sets.len(), set.path.as_str()), (1, "/data"));
        let data = entries(Some(&set.value), &Path::new("data")).unwrap();
        Ok(Some(data.into_iter().map(|(key, value)| (key, String::from_utf8(value).unwrap())).collect()))
    }

    fn texts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|&(key, text)| (key.to_owned(), text.to_owned())).collect()
    }

    #[test]
    fn the_operator_says_where_keystone_is() {
        let general = json!({"keystoneURL": "https://k"});
        let regional = json!({"keystoneURL": "https://k", "keystoneCACert": "general",
            "keystoneURLs": [{"region": "r2", "url": "https://r2"}, {"region": "r1", "url": "https://r1", "caCert": "r1's"}]});
        let insecure = json!({"keystoneURL": "https://k", "keystoneForceInsecure": true});
        for (profile, given, expected) in [
            (&general, &[("username", "u")][..], &[("username", "u"), ("authURL", "https://k")][..]),
            (&general, &[("authURL", "https://mine"), ("insecure", "true")], &[("authURL", "https://k")]),
            (&general, &[("caCert", "mine")], &[("authURL", "https://k"), ("caCert", "mine")]),
            (&regional, &[("caCert", "mine")], &[("authURL", "https://r1"), ("caCert", "r1's")]),
            (&insecure, &[("insecure", "false")], &[("authURL", "https://k"), ("insecure", "true")]),
        ] {
            let told = after(secret(given), cluster_with(profile.clone()));
            assert_eq!(told, Ok(Some(texts(expected))), "{given:?}");
        }
        assert_eq!(after(secret(&[("authURL", "https://k")]), cluster_with(general)), Ok(None), "so already");
    }

    #[test]
    fn others_are_left_alone() {
        let cluster = || cluster_with(json!({"keystoneURL": "https://k"}));
        for metadata in [
            json!({"name": "other", "namespace": "shoot--dev--a"}),
            json!({"name": NAME}),
            json!({"name": NAME, "namespace": "shoot--dev--a", "deletionTimestamp": "2026-01-01T00:00:00Z"}),
        ] {
            assert_eq!(after(json!({"metadata": metadata, "data": {}}), cluster()), Ok(None));
        }
        let object = document(secret(&[]));
        let update = Reviewed { operation: Operation::Update, object: &object, old: None };
        assert_eq!(mutate(&update, &Resolved::new(), &Defaults::default()), Ok(Vec::new()), "nobody looked");
        let whole = json!({"metadata": {"name": NAME, "namespace": "shoot--dev--a"}});
        assert_eq!(after(whole, cluster()), Ok(Some(texts(&[("authURL", "https://k")]))), "a secret without data");
    }

    #[test]
    fn what_keeps_it_from_being_complete_is_named_without_values() {
        let found = |cluster: Value| Lookup::Found(cluster);
        for (cluster, expected) in [
            (Lookup::NotFound, "metadata.namespace: Not found: \"Cluster shoot--dev--a\""),
            (cluster_with(Value::Null), "Cluster shoot--dev--a: spec.cloudProfile has no providerConfig"),
            (cluster_with(json!({})), "names no Keystone for region \"r1\"; set keystoneURL"),
            (cluster_with(json!({"keystoneURL": 7})), "Cluster shoot--dev--a: "),
            (found(json!({"metadata": {}, "spec": {"shoot": []}})), "Cluster shoot--dev--a: "),
        ] {
            let told = after(secret(&[("password", "hush")]), cluster).unwrap_err();
            assert!(told.contains(expected) && !told.contains("hush"), "{told}");
        }
        let object = json!({"metadata": {"name": NAME, "namespace": "shoot--dev--a"}, "data": {"password": "hush!"}});
        let told = after(object, cluster_with(json!({"keystoneURL": "https://k"}))).unwrap_err();
        assert!(told.starts_with("data[password]: Invalid value: \"(hidden)\"") && !told.contains("hush"), "{told}");
    }
}
