//! The profiles at admission.

use fabric_apis::decode::{Document, Error as DecodeError, Problem};
use fabric_apis::field::{Error, ErrorList, Findings, Path};
use fabric_apis::gardener::{CloudProfile, NamespacedCloudProfile};
use fabric_apis::openstack::v1alpha1::CloudProfileConfig;

use super::{CONFIG_PATH, validate_config, validate_images, validate_namespaced};
use crate::openstack::PROVIDER_TYPE;
use crate::openstack::admission::{Reference, ReferenceKind, Resolved, Reviewed};

/// A profile on its way out, or one whose offer stays, may have been accepted by other rules.
fn is_settled(reviewed: &Reviewed<'_>) -> bool {
    reviewed.is_in_deletion() || reviewed.is_unchanged("spec")
}

pub(crate) fn judge(reviewed: &Reviewed<'_>, _resolved: &Resolved) -> Findings {
    let other = reviewed.at("spec.type").is_some_and(|provider| provider != PROVIDER_TYPE);
    if other || is_settled(reviewed) {
        return Findings::default();
    }
    let errors = match read::<CloudProfile>(reviewed.object) {
        Ok((_, None)) => {
            let detail = "providerConfig must be set for OpenStack cloud profiles";
            Error::required(&Path::new(CONFIG_PATH), detail).into()
        }
        Ok((profile, Some(config))) => {
            let mut errors = validate_config(&config, &Path::new(CONFIG_PATH));
            errors.extend(validate_images(&profile.spec.machine_images, &config, &Path::new("spec.machineImages")));
            errors
        }
        Err(errors) => errors,
    };
    Findings { errors, warnings: Vec::new() }
}

/// The profile that a project's one derives from; `None` when it names none that could be.
fn parent(reviewed: &Reviewed<'_>) -> Option<Reference> {
    let kind = reviewed.at("spec.parent.kind")?;
    let name = reviewed.at("spec.parent.name")?.as_str().filter(|name| !name.is_empty())?;
    (kind == "CloudProfile").then(|| Reference::new(ReferenceKind::CloudProfile, "", name))
}

pub(crate) fn namespaced_references(reviewed: &Reviewed<'_>, _resolved: &Resolved) -> Vec<Reference> {
    if is_settled(reviewed) { Vec::new() } else { parent(reviewed).into_iter().collect() }
}

pub(crate) fn judge_namespaced(reviewed: &Reviewed<'_>, resolved: &Resolved) -> Findings {
    if is_settled(reviewed) {
        return Findings::default();
    }
    let mut errors = ErrorList::new();
    let found = parent(reviewed)
        .map_or(Ok(None), |parent| resolved.read::<CloudProfile>(&parent, &Path::new("spec.parent.name")))
        .unwrap_or_else(|error| {
            errors.push(error);
            None
        });
    if found.as_ref().is_some_and(|parent| parent.spec.type_ != PROVIDER_TYPE) {
        return Findings::default();
    }
    match read::<NamespacedCloudProfile>(reviewed.object) {
        Ok((profile, config)) => {
            let kind = &profile.spec.parent.kind;
            if kind != "CloudProfile" {
                let path = Path::new("spec.parent.kind");
                errors.push(Error::not_supported(&path, kind.as_str(), &["CloudProfile"]));
            }
            let (config, parent) = (config.unwrap_or_default(), found.as_ref().map(|parent| &parent.spec));
            errors.extend(validate_namespaced(&config, &profile.spec, parent, &Path::new(CONFIG_PATH)));
        }
        Err(unread) => errors.extend(unread),
    }
    Findings { errors, warnings: Vec::new() }
}

/// A profile, and its config read strictly.
fn read<T: serde::de::DeserializeOwned>(document: &Document) -> Result<(T, Option<CloudProfileConfig>), ErrorList> {
    let root = Path::nil();
    let mut errors = ErrorList::new();
    for path in document.duplicates_outside(CONFIG_PATH) {
        let problems = vec![Problem::Duplicate(path.to_owned())];
        errors.extend(DecodeError::Fields { strict: true, problems }.to_field_errors(&root));
    }
    let config = document.strict_at(CONFIG_PATH);
    let config = config.map_err(|error| errors.extend(error.to_field_errors(&Path::new(CONFIG_PATH))));
    let profile = document.lenient().map_err(|error| errors.extend(error.to_field_errors(&root)));
    match (profile, config) {
        (Ok(profile), Ok(config)) if errors.is_empty() => Ok((profile, config)),
        _ => Err(errors),
    }
}

#[cfg(test)]
mod tests {
    use fabric_apis::decode::documents;
    use serde_json::{Value, json};

    use super::*;
    use crate::openstack::admission::{Lookup, entry};

    fn document(text: &str) -> Document {
        documents("test", text.as_bytes()).unwrap().remove(0)
    }

    fn profile(config: Value) -> Value {
        let images = json!([{"name": "linux", "versions": [{"version": "1"}]}]);
        json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "CloudProfile", "metadata": {"name": "p"},
            "spec": {"type": "openstack", "machineImages": images, "providerConfig": config}})
    }

    fn config() -> Value {
        json!({"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
            "keystoneURL": "https://keystone.example/v3",
            "constraints": {"floatingPools": [{"name": "fip"}], "loadBalancerProviders": [{"name": "amphora"}]},
            "machineImages": [{"name": "linux", "versions": [{"version": "1"}]}]})
    }

    fn judged(new: &str, old: Option<&Value>, parent: Option<Lookup>) -> String {
        let (new, old) = (document(new), old.map(|old| document(&old.to_string())));
        let reviewed = Reviewed::of(&new, old.as_ref());
        let case = entry(new.api_version(), new.kind()).unwrap().open(reviewed);
        let mut resolved = Resolved::new();
        for reference in case.references(&resolved) {
            assert_eq!(reference.to_string(), "CloudProfile p");
            if let Some(parent) = &parent {
                resolved.insert(reference, parent.clone());
            }
        }
        let errors = case.judge(&resolved).errors;
        if errors.is_empty() { String::new() } else { errors.to_string() }
    }

    #[test]
    fn a_cloud_profile_is_judged_whenever_its_offer_changes() {
        let good = profile(config());
        let told = |new: &Value, old: Option<&Value>| judged(&new.to_string(), old, None);
        assert_eq!(told(&good, None), "");
        let mut bad = good.clone();
        bad["spec"]["providerConfig"]["constraints"]["floatingPools"] = json!([]);
        let missing =
            "spec.providerConfig.constraints.floatingPools: Required value: must provide at least one floating pool";
        assert_eq!(told(&bad, None), missing);
        assert_eq!(told(&bad, Some(&good)), missing);
        let mut labelled = bad.clone();
        labelled["metadata"]["labels"] = json!({"a": "b"});
        assert_eq!(told(&labelled, Some(&bad)), "", "the offer stays");
        let mut leaving = bad.clone();
        leaving["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        assert_eq!(told(&leaving, Some(&good)), "");
        bad["spec"]["type"] = json!("aws");
        assert_eq!(told(&bad, None), "", "another provider's");
        assert_eq!(
            told(&profile(Value::Null), None),
            "spec.providerConfig: Required value: providerConfig must be set for OpenStack cloud profiles"
        );
        let mut unmapped = good.clone();
        unmapped["spec"]["machineImages"][0]["name"] = json!("other");
        let text = told(&unmapped, None);
        assert!(text.starts_with("spec.machineImages[0]: Required value: must provide an image mapping"), "{text}");
        let mut unknown = good.clone();
        unknown["spec"]["providerConfig"]["dnsServer"] = json!("1.1.1.1");
        let text = told(&unknown, None);
        assert!(text.contains("spec.providerConfig") && text.contains("dnsServer"), "{text}");
        assert_eq!(told(&good, Some(&unknown)), "", "an old object may hold anything");
        let twice = good.to_string().replacen(r#""keystoneURL""#, r#""keystoneURL":"x","keystoneURL""#, 1);
        let text = judged(&twice, None, None);
        assert!(text.contains("keystoneURL"), "{text}");
    }

    #[test]
    fn a_project_profile_is_judged_beside_its_parent() {
        let own = |config: Value, offers: Value| {
            json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "NamespacedCloudProfile",
                "metadata": {"name": "n", "namespace": "garden-a"},
                "spec": {"parent": {"kind": "CloudProfile", "name": "p"}, "machineImages": offers, "providerConfig": config}})
        };
        let images = |version: &str| {
            let mut images = config();
            let kept = |key: &str| key == "apiVersion" || key == "kind" || key == "machineImages";
            images.as_object_mut().unwrap().retain(|key, _| kept(key));
            images["machineImages"][0]["versions"][0]["version"] = json!(version);
            images
        };
        let offers = |version: &str| json!([{"name": "linux", "versions": [{"version": version}]}]);
        let found = || Some(Lookup::Found(profile(config())));
        let told = |new: &Value, parent: Option<Lookup>| judged(&new.to_string(), None, parent);
        assert_eq!(told(&own(Value::Null, json!([])), found()), "");
        assert_eq!(told(&own(images("2"), offers("2")), found()), "");
        let taken = own(images("1"), offers("1"));
        assert_eq!(
            told(&taken, found()),
            "spec.providerConfig.machineImages[0].versions[0]: Forbidden: machine image version linux@1 is already defined in the parent CloudProfile"
        );
        assert_eq!(told(&taken, None), "", "nobody looked for the parent");
        assert_eq!(told(&taken, Some(Lookup::NotFound)), r#"spec.parent.name: Not found: "CloudProfile p""#);
        let mut others = profile(config());
        others["spec"]["type"] = json!("aws");
        assert_eq!(told(&own(config(), json!([])), Some(Lookup::Found(others))), "", "another provider's");
        assert_eq!(judged(&taken.to_string(), Some(&taken), found()), "", "nothing changed");
        let text = told(&own(config(), offers("1")), found());
        assert!(
            text.starts_with(
                "[spec.providerConfig: Forbidden: must only set machineImages; remove constraints, keystoneURL"
            ),
            "{text}"
        );
        let mut nested = own(Value::Null, json!([]));
        nested["spec"]["parent"]["kind"] = json!("NamespacedCloudProfile");
        assert_eq!(
            told(&nested, None),
            r#"spec.parent.kind: Unsupported value: "NamespacedCloudProfile": supported values: "CloudProfile""#
        );
    }
}
