//! Rules for what operators and projects offer.

use std::collections::BTreeSet;
use std::net::IpAddr;

use fabric_apis::field::ErrorType;
use fabric_validation::openstack::admission::{Lookup, Reference};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use ErrorType::{Duplicate, Forbidden, Invalid, NotFound, NotSupported, Required};

use crate::control_plane::wrong_classes;
use crate::secret::judged;
use crate::table::{Row, Told, Where, ask, at, hold};
use crate::values::{get, list, object, one_of, some, text};

const CONFIG: &str = "spec.providerConfig";
const PEM: &str = "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n";

fn config(profile: &Value) -> &Value {
    get(profile, CONFIG).unwrap_or(&Value::Null)
}

/// Where entries of a list are wrong: each with its place.
fn each(value: &Value, path: &str, wrong: impl Fn(&[Value], usize, &str) -> Vec<Where>) -> Vec<Where> {
    let entries = list(value, path);
    (0..entries.len()).flat_map(|index| wrong(entries, index, &format!("{CONFIG}.{path}[{index}]"))).collect()
}

/// An entry that says nothing where it has to.
fn unsaid(profile: &Value, path: &str, key: &str) -> Vec<Where> {
    each(config(profile), path, |entries, index, place| {
        at(&format!("{place}.{key}"), Required, text(&entries[index], key).is_empty())
    })
}

/// An entry that is there and empty.
fn hollow(profile: &Value, path: &str, key: &str) -> Vec<Where> {
    each(config(profile), path, |entries, index, place| {
        at(&format!("{place}.{key}"), Required, get(&entries[index], key) == Some(&json!("")))
    })
}

/// An entry that some earlier one was like in all these keys, if it has one of `only`.
fn again(profile: &Value, path: &str, keys: &[&str], only: &[&str], suffix: &str) -> Vec<Where> {
    each(config(profile), path, |entries, index, place| {
        let of = |entry: &Value| keys.iter().map(|key| get(entry, key).cloned()).collect::<Vec<_>>();
        let counts = only.is_empty() || only.iter().any(|key| get(&entries[index], key).is_some());
        let before = entries[..index].iter().any(|entry| of(entry) == of(&entries[index]));
        at(&format!("{place}{suffix}"), Duplicate, counts && before)
    })
}

fn certificate(value: &Value, key: &str, place: &str) -> Vec<Where> {
    let pem = text(value, key);
    let whole = pem.contains("-----BEGIN CERTIFICATE-----") && pem.contains("-----END CERTIFICATE-----");
    at(place, Invalid, !pem.is_empty() && !whole)
}

/// Where images of a config say too little.
fn unsaid_images(profile: &Value) -> Vec<Where> {
    let mut wrong = unsaid(profile, "machineImages", "name");
    for (index, image) in list(config(profile), "machineImages").iter().enumerate() {
        let place = format!("{CONFIG}.machineImages[{index}].versions");
        wrong.extend(at(&place, Required, list(image, "versions").is_empty()));
        for (index, version) in list(image, "versions").iter().enumerate() {
            let place = format!("{place}[{index}]");
            wrong.extend(at(&format!("{place}.version"), Required, text(version, "version").is_empty()));
            let flavors = list(version, "capabilityFlavors").iter().enumerate();
            let flavors = flavors.map(|(index, flavor)| (flavor, format!("{place}.capabilityFlavors[{index}]")));
            for (part, place) in std::iter::once((version, place.clone())).chain(flavors) {
                for (index, region) in list(part, "regions").iter().enumerate() {
                    for key in ["name", "id"] {
                        let place = format!("{place}.regions[{index}].{key}");
                        wrong.extend(at(&place, Required, text(region, key).is_empty()));
                    }
                }
            }
        }
    }
    wrong
}

/// Names and versions of images, by list.
fn versions(images: &[Value], name: &str) -> Option<BTreeSet<String>> {
    let of_name: Vec<&Value> = images.iter().filter(|image| text(image, "name") == name).collect();
    let versions = of_name.iter().flat_map(|image| list(image, "versions")).map(|it| text(it, "version").to_owned());
    (!of_name.is_empty()).then(|| versions.collect())
}

#[rustfmt::skip]
const OFFER: &[Row<Value>] = &[
    ("there is a config", |profile| at(CONFIG, Required, get(profile, CONFIG).is_none())),
    ("there is a floating pool", |profile| at("spec.providerConfig.constraints.floatingPools", Required, get(profile, CONFIG).is_some() && list(config(profile), "constraints.floatingPools").is_empty())),
    ("a pool has a name", |profile| unsaid(profile, "constraints.floatingPools", "name")),
    ("a pool's region is not empty", |profile| hollow(profile, "constraints.floatingPools", "region")),
    ("a pool's domain is not empty", |profile| hollow(profile, "constraints.floatingPools", "domain")),
    ("a pool of a place is there once", |profile| again(profile, "constraints.floatingPools", &["name", "region", "domain"], &["region", "domain"], ".name")),
    ("a pool's load balancer classes are in order", |profile| {
        each(config(profile), "constraints.floatingPools", |pools, index, place| wrong_classes(list(&pools[index], "loadBalancerClasses"), &format!("{place}.loadBalancerClasses")))
    }),
    ("there is a load balancer provider", |profile| at("spec.providerConfig.constraints.loadBalancerProviders", Required, get(profile, CONFIG).is_some() && list(config(profile), "constraints.loadBalancerProviders").is_empty())),
    ("a load balancer provider has a name", |profile| unsaid(profile, "constraints.loadBalancerProviders", "name")),
    ("a load balancer provider's region is not empty", |profile| hollow(profile, "constraints.loadBalancerProviders", "region")),
    ("a load balancer provider of a region is there once", |profile| again(profile, "constraints.loadBalancerProviders", &["name", "region"], &["region"], "")),
    ("there is a machine image", |profile| at("spec.providerConfig.machineImages", Required, get(profile, CONFIG).is_some() && list(config(profile), "machineImages").is_empty())),
    ("machine images say what they are", unsaid_images),
    ("machine images on offer are in the cloud", |profile| {
        let images = list(config(profile), "machineImages");
        let offers = if get(profile, CONFIG).is_some() { list(profile, "spec.machineImages") } else { &[] };
        let offers = offers.iter().enumerate().filter(|(_, offer)| !list(offer, "versions").is_empty());
        offers.flat_map(|(index, offer)| match versions(images, text(offer, "name")) {
            None => at(&format!("spec.machineImages[{index}]"), Required, true),
            Some(known) => list(offer, "versions").iter().enumerate()
                .flat_map(|(at_version, version)| at(&format!("spec.machineImages[{index}].versions[{at_version}]"), Required, !known.contains(text(version, "version"))))
                .collect(),
        }).collect()
    }),
    ("there is a Keystone", |profile| {
        at("spec.providerConfig.keyStoneURL", Required, get(profile, CONFIG).is_some() && text(config(profile), "keystoneURL").is_empty() && list(config(profile), "keystoneURLs").is_empty())
    }),
    ("Keystone's CA is a certificate", |profile| certificate(config(profile), "keystoneCACert", "spec.providerConfig.caCert")),
    ("a region's Keystone says which and where", |profile| {
        let said = ["region", "url"].iter().flat_map(|key| unsaid(profile, "keystoneURLs", key));
        said.map(|(path, kind)| (path.replace("keystone", "keyStone"), kind)).collect()
    }),
    ("a region's Keystone is there once", |profile| {
        let regions = |entries: &[Value]| entries.iter().map(|entry| text(entry, "region").to_owned()).collect::<Vec<_>>();
        each(config(profile), "keystoneURLs", |entries, index, place| at(&format!("{place}.region").replace("keystone", "keyStone"), Duplicate, regions(&entries[..index]).contains(&text(&entries[index], "region").to_owned())))
    }),
    ("a region's Keystone's CA is a certificate", |profile| {
        each(config(profile), "keystoneURLs", |entries, index, place| certificate(&entries[index], "caCert", &format!("{place}.caCert").replace("keystone", "keyStone")))
    }),
    ("DNS servers are addresses", |profile| {
        each(config(profile), "dnsServers", |servers, index, place| at(place, Invalid, servers[index].as_str().unwrap().parse::<IpAddr>().is_err()))
    }),
    ("a DHCP domain is not empty", |profile| at("spec.providerConfig.dhcpDomain", Required, get(config(profile), "dhcpDomain") == Some(&json!("")))),
    ("a server group policy is not empty", |profile| each(config(profile), "serverGroupPolicies", |policies, index, place| at(place, Required, policies[index] == json!("")))),
];

fn configs() -> BoxedStrategy<Value> {
    let region = || one_of(&["r", "r", "r", "r", "s", ""]);
    let class = object(vec![
        ("name", 0.98, one_of(&["a", "b", "default", "private"])),
        ("purpose", 0.4, one_of(&["default", "private", "vpn", "odd"])),
        ("floatingSubnetID", 0.2, one_of(&["x"])),
        ("floatingSubnetName", 0.2, one_of(&["x"])),
        ("floatingSubnetTags", 0.2, one_of(&["x"])),
    ]);
    let classes = prop_oneof![3 => Just(json!([])), 1 => some(class, 3)].boxed();
    let pool = object(vec![
        ("name", 0.97, one_of(&["f", "f", "f", "g"])),
        ("region", 0.7, region()),
        ("domain", 0.1, one_of(&["d", ""])),
        ("loadBalancerClasses", 0.5, classes),
    ]);
    let provider =
        object(vec![("name", 0.97, one_of(&["amphora", "amphora", "amphora", "ovn"])), ("region", 0.7, region())]);
    let constraints = object(vec![
        ("floatingPools", 0.97, prop_oneof![3 => Just(json!([{"name": "f"}])), 5 => some(pool, 3)].boxed()),
        (
            "loadBalancerProviders",
            0.97,
            prop_oneof![3 => Just(json!([{"name": "ovn"}])), 5 => some(provider, 3)].boxed(),
        ),
    ]);
    let image_region = object(vec![("name", 0.9, one_of(&["r", ""])), ("id", 0.9, one_of(&["x"]))]);
    let regions = || some(image_region.clone(), 2);
    let version = object(vec![
        ("version", 0.95, one_of(&["1", "2"])),
        ("regions", 0.2, regions()),
        ("capabilityFlavors", 0.1, some(object(vec![("regions", 0.8, regions())]), 2)),
    ]);
    let image = object(vec![("name", 0.95, one_of(&["linux", "own"])), ("versions", 0.95, some(version, 2))]);
    let good_image = json!([{"name": "linux", "versions": [{"version": "1"}, {"version": "2"}]}]);
    let keystone = object(vec![
        ("region", 0.9, region()),
        ("url", 0.9, one_of(&["https://k", ""])),
        ("caCert", 0.4, one_of(&[PEM, "", "x"])),
    ]);
    let servers = one_of(&["1.1.1.1", "2606:4700:4700::1111", "8.8.8.8", "1.1.1", "01.1.1.1", "dns.example", ""]);
    object(vec![
        ("constraints", 0.97, prop_oneof![1 => Just(json!({"floatingPools": [{"name": "f"}], "loadBalancerProviders": [{"name": "ovn"}]})), 2 => constraints].boxed()),
        ("machineImages", 0.97, prop_oneof![2 => Just(good_image), 1 => some(image, 2)].boxed()),
        ("keystoneURL", 0.9, one_of(&["https://k", "https://k", ""])),
        ("keystoneURLs", 0.3, some(keystone, 3)),
        ("keystoneCACert", 0.2, one_of(&[PEM, "", "x"])),
        ("dnsServers", 0.2, some(servers, 2)),
        ("dhcpDomain", 0.2, one_of(&["d", ""])),
        ("serverGroupPolicies", 0.2, some(one_of(&["anti-affinity", ""]), 2)),
    ])
    .prop_map(named)
    .boxed()
}

fn named(mut config: Value) -> Value {
    config["apiVersion"] = json!("openstack.provider.extensions.gardener.cloud/v1alpha1");
    config["kind"] = json!("CloudProfileConfig");
    config
}

fn offers() -> BoxedStrategy<Value> {
    let version = object(vec![("version", 0.98, one_of(&["1", "1", "2"]))]);
    let offer = object(vec![("name", 0.98, one_of(&["linux", "linux", "own"])), ("versions", 0.95, some(version, 2))]);
    prop_oneof![1 => Just(json!([])), 2 => some(offer, 2)].boxed()
}

fn profile(kind: &str, spec: Value) -> Value {
    json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": kind, "metadata": {"name": "p"}, "spec": spec})
}

/// Operators' profiles.
pub(crate) fn profiles() -> BoxedStrategy<Value> {
    let config = prop_oneof![19 => configs(), 1 => Just(Value::Null)];
    let made = |(config, offers)| {
        profile("CloudProfile", json!({"type": "openstack", "machineImages": offers, "providerConfig": config}))
    };
    (config, offers()).prop_map(made).boxed()
}

/// What the rows say about one.
pub(crate) fn told(profile: &Value) -> Vec<Told> {
    ask(OFFER, profile)
}

#[test]
fn an_offer_is_told_exactly_the_rows_that_apply() {
    let nothing = |_: &_| Lookup::NotFound;
    hold(OFFER.iter().map(|(name, _)| *name), profiles(), told, |profile| judged(profile, None, &nothing));
}

/// A project's profile, and its parent if there is one.
#[derive(Clone, Debug)]
pub(crate) struct Own {
    pub(crate) profile: Value,
    parent: Option<Value>,
}

impl Own {
    pub(crate) fn told(&self) -> Vec<Told> {
        ask(OWN, self)
    }

    pub(crate) fn fetch(&self, reference: &Reference) -> Lookup {
        assert_eq!(reference.to_string(), "CloudProfile p");
        self.parent.clone().map_or(Lookup::NotFound, Lookup::Found)
    }

    fn images(&self) -> &[Value] {
        list(config(&self.profile), "machineImages")
    }

    fn offers(&self) -> &[Value] {
        list(&self.profile, "spec.machineImages")
    }

    fn parent(&self) -> Option<&[Value]> {
        self.is_child().then_some(())?;
        self.parent.as_ref().map(|parent| list(parent, "spec.machineImages"))
    }

    fn is_child(&self) -> bool {
        text(&self.profile, "spec.parent.kind") == "CloudProfile"
    }

    /// Asks for each version of the config's images: its place, its image's name and its version.
    fn each_version(&self, wrong: impl Fn(&str, &str) -> bool, kind: ErrorType) -> Vec<Where> {
        let images = self.images().iter().enumerate();
        images
            .flat_map(|(index, image)| {
                let versions = list(image, "versions").iter().enumerate();
                versions
                    .filter(|(_, it)| wrong(text(image, "name"), text(it, "version")))
                    .map(move |(version, _)| (format!("{CONFIG}.machineImages[{index}].versions[{version}]"), kind))
            })
            .collect()
    }
}

fn has(images: &[Value], name: &str, version: &str) -> bool {
    versions(images, name).is_some_and(|known| known.contains(version))
}

#[rustfmt::skip]
const OWN: &[Row<Own>] = &[
    ("the parent is a CloudProfile", |own| at("spec.parent.kind", NotSupported, !own.is_child())),
    ("the parent is there", |own| at("spec.parent.name", NotFound, own.is_child() && own.parent.is_none())),
    ("only machine images are set", |own| {
        let set = config(&own.profile).as_object().into_iter().flatten().filter(|(key, _)| !["apiVersion", "kind", "machineImages"].contains(&key.as_str()));
        let empty = |value: &Value| value.is_null() || *value == json!([]) || *value == json!({}) || *value == json!({"floatingPools": []});
        // Go's texts are empty when absent, its pointers are not.
        let unset = |key: &str, value: &Value| empty(value) || (key == "keystoneURL" && *value == json!(""));
        let set: Vec<_> = set.filter(|(key, value)| !unset(key, value)).collect();
        at(CONFIG, Forbidden, !set.is_empty())
    }),
    ("machine images say what they are", |own| unsaid_images(&own.profile)),
    ("machine images on offer are somewhere", |own| {
        let Some(parent) = own.parent() else { return Vec::new() };
        own.offers().iter().flat_map(|offer| {
            let name = text(offer, "name");
            let unknown = versions(parent, name).is_none() && versions(own.images(), name).is_none();
            let missing = list(offer, "versions").iter().filter(|it| !has(parent, name, text(it, "version")) && !has(own.images(), name, text(it, "version"))).count();
            vec![(format!("{CONFIG}.machineImages"), Required); if unknown { 1 } else { missing }]
        }).collect()
    }),
    ("a version of the parent's is the parent's", |own| {
        let parent = own.parent().unwrap_or_default();
        own.each_version(|name, version| has(parent, name, version), Forbidden)
    }),
    ("an image is on offer", |own| {
        let images = own.images().iter().enumerate();
        images.flat_map(|(index, image)| at(&format!("{CONFIG}.machineImages[{index}]"), Required, versions(own.offers(), text(image, "name")).is_none())).collect()
    }),
    ("a version is on offer", |own| {
        own.each_version(|name, version| versions(own.offers(), name).is_some() && !has(own.offers(), name, version), Invalid)
    }),
];

/// Projects' profiles.
pub(crate) fn own() -> BoxedStrategy<Own> {
    let version = object(vec![("version", 0.97, one_of(&["1", "2"])), ("image", 0.5, one_of(&["x"]))]);
    // Names are there once, as Gardener has it.
    let images = |version: BoxedStrategy<Value>| {
        let of = move |name: &'static str| {
            let versions = some(version.clone(), 2);
            proptest::option::of(versions.prop_map(move |versions| json!({"name": name, "versions": versions})))
        };
        (of.clone()("linux"), of("own")).prop_map(|(a, b)| Value::from_iter(a.into_iter().chain(b))).boxed()
    };
    let bare = object(vec![("version", 0.97, one_of(&["1", "2"]))]);
    let other = object(vec![
        ("keystoneURL", 0.2, one_of(&["https://k", ""])),
        ("dnsServers", 0.2, some(one_of(&["1.1.1.1"]), 1)),
        (
            "constraints",
            0.3,
            select(vec![json!({}), json!({"floatingPools": []}), json!({"floatingPools": [{"name": "f"}]})]).boxed(),
        ),
        ("dhcpDomain", 0.1, one_of(&["", "d"])),
    ]);
    let other = prop_oneof![2 => Just(json!({})), 1 => other];
    let config = (other, proptest::option::weighted(0.9, images(version))).prop_map(|(mut config, images)| {
        if let Some(images) = images {
            config["machineImages"] = images;
        }
        named(config)
    });
    let config = prop_oneof![9 => config, 1 => Just(Value::Null)];
    let kind = prop_oneof![9 => Just("CloudProfile"), 1 => Just("NamespacedCloudProfile")];
    let parent = proptest::option::weighted(0.9, images(bare.clone()));
    (config, images(bare), kind, parent)
        .prop_map(|(config, offers, kind, parent)| Own {
            profile: profile(
                "NamespacedCloudProfile",
                json!({"parent": {"kind": kind, "name": "p"}, "machineImages": offers, "providerConfig": config}),
            ),
            parent: parent.map(|offers| profile("CloudProfile", json!({"type": "openstack", "machineImages": offers}))),
        })
        .boxed()
}

#[test]
fn a_projects_profile_is_told_exactly_the_rows_that_apply() {
    let judge = |own: &Own| judged(&own.profile, None, &|reference| own.fetch(reference));
    hold(OWN.iter().map(|(name, _)| *name), own(), Own::told, judge);
}
