//! A project's own profile: it adds machine images to its parent's and leaves everything else alone.

use fabric_apis::field::{Error, ErrorList, Path};
use fabric_apis::gardener::{CloudProfileSpec, MachineImageOffer, NamespacedCloudProfileSpec};
use fabric_apis::openstack::v1alpha1::{CloudProfileConfig, MachineImage};
use serde_json::Value;

use super::config::{machine_image, versions};

/// Everything that is wrong with a NamespacedCloudProfile's config; `path` is the config's. `parent` is what the
/// CloudProfile offers that it derives from, when it is known; without it what needs it is not judged.
pub fn validate_namespaced(
    config: &CloudProfileConfig,
    spec: &NamespacedCloudProfileSpec,
    parent: Option<&CloudProfileSpec>,
    path: &Path<'_>,
) -> ErrorList {
    let mut errors = only_images(config, path);
    let path = path.child("machineImages");
    for (index, image) in config.machine_images.iter().enumerate() {
        machine_image(image, &path.index(index), &mut errors);
    }
    if let Some(parent) = parent {
        offered_images_exist(&spec.machine_images, &config.machine_images, parent, &path, &mut errors);
    }
    for (index, image) in config.machine_images.iter().enumerate() {
        image_is_offered(image, &spec.machine_images, parent, &path.index(index), &mut errors);
    }
    errors
}

/// Rule: nothing but machine images is set. What is set to nothing doesn't count.
fn only_images(config: &CloudProfileConfig, path: &Path<'_>) -> ErrorList {
    let fields = |config: &CloudProfileConfig| match serde_json::to_value(config) {
        Ok(Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let unset = fields(&CloudProfileConfig::default());
    let nothing = |value: &Value| match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    let set = fields(config).into_iter().filter(|(name, value)| {
        name != "machineImages" && unset.get(name).is_none_or(|unset| unset != value) && !nothing(value)
    });
    let set: Vec<String> = set.map(|(name, _)| name).collect();
    if set.is_empty() {
        return ErrorList::new();
    }
    let detail = format!("must only set machineImages; remove {}", set.join(", "));
    Error::forbidden(path, detail).into()
}

/// Rule: each version on offer here and not by the parent is one that the config says where to find.
fn offered_images_exist(
    offers: &[MachineImageOffer],
    images: &[MachineImage],
    parent: &CloudProfileSpec,
    path: &Path<'_>,
    errors: &mut ErrorList,
) {
    for offer in offers {
        let inherited = parent.machine_images.iter().find(|inherited| inherited.name == offer.name);
        let known = versions(images, &offer.name);
        if inherited.is_none() && known.is_none() {
            let name = &offer.name;
            let detail = format!("machine image {name} is not defined in the NamespacedCloudProfile providerConfig");
            errors.push(Error::required(path, detail));
            continue;
        }
        let known = known.unwrap_or_default();
        for version in offer.versions.iter().map(|offered| offered.version.as_str()) {
            if !known.contains(version) && !inherited.is_some_and(|inherited| inherited.has(version)) {
                let name = &offer.name;
                let detail = format!(
                    "machine image version {name}@{version} is not defined in the NamespacedCloudProfile providerConfig"
                );
                errors.push(Error::required(path, detail));
            }
        }
    }
}

/// Rule: each version of the config is on offer here and not the parent's already.
fn image_is_offered(
    image: &MachineImage,
    offers: &[MachineImageOffer],
    parent: Option<&CloudProfileSpec>,
    path: &Path<'_>,
    errors: &mut ErrorList,
) {
    let name = &image.name;
    let versions = path.child("versions");
    let inherited = parent.and_then(|parent| parent.machine_images.iter().find(|offer| offer.name == *name));
    for (index, version) in image.versions.iter().map(|version| &version.version).enumerate() {
        if inherited.is_some_and(|inherited| inherited.has(version)) {
            let detail =
                format!("machine image version {name}@{version} is already defined in the parent CloudProfile");
            errors.push(Error::forbidden(&versions.index(index), detail));
        }
    }
    let Some(offer) = offers.iter().find(|offer| offer.name == *name) else {
        let detail = format!("machine image {name} is not defined in the NamespacedCloudProfile .spec.machineImages");
        errors.push(Error::required(path, detail));
        return;
    };
    for (index, version) in image.versions.iter().map(|version| &version.version).enumerate() {
        if !offer.has(version) {
            let detail = "machine image version is not defined in the NamespacedCloudProfile";
            errors.push(Error::invalid(&versions.index(index), format!("{name}@{version}"), detail));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_project_adds_images_and_nothing_else() {
        let image = |name: &str, version: &str| json!({"name": name, "versions": [{"version": version}]});
        let parent: CloudProfileSpec = serde_json::from_value(json!({"machineImages": [image("linux", "1")]})).unwrap();
        // Config, offers, what is told.
        let cases: Vec<(Value, Value, &str)> = vec![
            (json!({}), json!([]), ""),
            (json!({"machineImages": [image("own", "1")]}), json!([image("own", "1")]), ""),
            (json!({"machineImages": [image("linux", "2")]}), json!([image("linux", "2")]), ""),
            // Another expiration date for the parent's version.
            (json!({}), json!([image("linux", "1")]), ""),
            (json!({"constraints": {}, "dnsServers": [], "storageClasses": []}), json!([]), ""),
            (
                json!({"keystoneURL": "u", "constraints": {"floatingPools": [{"name": "f"}]}}),
                json!([]),
                "c: Forbidden: must only set machineImages; remove constraints, keystoneURL",
            ),
            (
                json!({}),
                json!([image("own", "1"), image("linux", "2")]),
                "[c.machineImages: Required value: machine image own is not defined in the NamespacedCloudProfile providerConfig, \
                 c.machineImages: Required value: machine image version linux@2 is not defined in the NamespacedCloudProfile providerConfig]",
            ),
            (
                json!({"machineImages": [image("linux", "1")]}),
                json!([image("linux", "1")]),
                "c.machineImages[0].versions[0]: Forbidden: machine image version linux@1 is already defined in the parent CloudProfile",
            ),
            (
                json!({"machineImages": [image("own", "1"), {"name": "x"}]}),
                json!([image("own", "2")]),
                "[c.machineImages[1].versions: Required value: must provide at least one version for machine image \"x\", \
                 c.machineImages: Required value: machine image version own@2 is not defined in the NamespacedCloudProfile providerConfig, \
                 c.machineImages[0].versions[0]: Invalid value: \"own@1\": machine image version is not defined in the NamespacedCloudProfile, \
                 c.machineImages[1]: Required value: machine image x is not defined in the NamespacedCloudProfile .spec.machineImages]",
            ),
        ];
        for (config, offers, expected) in cases {
            let shown = format!("{config} {offers}");
            let config: CloudProfileConfig = serde_json::from_value(config).unwrap();
            let spec = NamespacedCloudProfileSpec {
                machine_images: serde_json::from_value(offers).unwrap(),
                ..NamespacedCloudProfileSpec::default()
            };
            let errors = validate_namespaced(&config, &spec, Some(&parent), &Path::new("c"));
            assert_eq!(if errors.is_empty() { String::new() } else { errors.to_string() }, expected, "{shown}");
        }
    }

    #[test]
    fn without_the_parent_nothing_is_held_against_it() {
        let spec = json!({"machineImages": [{"name": "own", "versions": [{"version": "1"}]}]});
        let spec: NamespacedCloudProfileSpec = serde_json::from_value(spec).unwrap();
        assert!(validate_namespaced(&CloudProfileConfig::default(), &spec, None, &Path::new("c")).is_empty());
    }
}
