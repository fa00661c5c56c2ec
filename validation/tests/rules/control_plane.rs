//! Rules for a `ControlPlaneConfig`, and for load balancer classes wherever they stand.

use fabric_apis::field::ErrorType;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use ErrorType::{Duplicate, Forbidden, Invalid, Required};

use crate::table::{Row, Where, at};
use crate::values::{get, list, object, one_of, some, text};

/// Where a list of classes is wrong.
pub(crate) fn wrong_classes(classes: &[Value], path: &str) -> Vec<Where> {
    CLASSES.iter().flat_map(|(_, wrong)| wrong(&(classes.to_vec(), path.to_owned()))).collect()
}

type Classes = (Vec<Value>, String);

/// Where single classes are wrong.
fn each(
    (classes, path): &Classes,
    suffix: &str,
    kind: ErrorType,
    wrong: impl Fn(&[Value], usize) -> bool,
) -> Vec<Where> {
    let wrong = (0..classes.len()).filter(|index| wrong(classes, *index));
    wrong.map(|index| (format!("{path}[{index}]{suffix}"), kind)).collect()
}

/// Each class too many for a special purpose, which a class has by its purpose or by its name.
fn too_many((classes, path): &Classes, special: &str) -> Vec<Where> {
    let is = |class: &&Value| text(class, "purpose") == special || text(class, "name") == special;
    vec![(path.clone(), Invalid); classes.iter().filter(is).count().saturating_sub(1)]
}

#[rustfmt::skip]
const CLASSES: &[Row<Classes>] = &[
    ("a class has a purpose that there is", |all| each(all, "", Invalid, |classes, index| {
        get(&classes[index], "purpose").is_some_and(|purpose| ![json!("default"), json!("private"), json!("vpn")].contains(purpose))
    })),
    ("a class chooses its subnet in one way", |all| each(all, "", Forbidden, |classes, index| {
        ["floatingSubnetID", "floatingSubnetName", "floatingSubnetTags"].iter().filter(|key| get(&classes[index], key).is_some()).count() > 1
    })),
    ("a class has a name of its own", |all| each(all, ".name", Duplicate, |classes, index| {
        classes[..index].iter().any(|earlier| text(earlier, "name") == text(&classes[index], "name"))
    })),
    ("there is one default class", |all| too_many(all, "default")),
    ("there is one private class", |all| too_many(all, "private")),
];

/// A config as written, and whether the infrastructure will have a share network.
pub(crate) struct ControlPlane<'a> {
    pub(crate) config: &'a Value,
    pub(crate) infrastructure: Option<&'a Value>,
}

const PATH: &str = "spec.provider.controlPlaneConfig";
type Rule = (&'static str, for<'a> fn(&ControlPlane<'a>) -> Vec<Where>);

#[rustfmt::skip]
const ROWS: &[Rule] = &[
    ("a load balancer provider is named", |it| at(&format!("{PATH}.loadBalancerProvider"), Required, text(it.config, "loadBalancerProvider").is_empty())),
    ("a user defines no class for the VPN", |it| {
        let classes = (list(it.config, "loadBalancerClasses").to_vec(), format!("{PATH}.loadBalancerClasses"));
        each(&classes, "", Invalid, |classes, index| text(&classes[index], "purpose") == "vpn")
    }),
    ("a feature gate has a name that one can have", |it| {
        let gates = get(it.config, "cloudControllerManager.featureGates").and_then(Value::as_object);
        let odd = gates.into_iter().flatten().filter(|(name, _)| name.contains([' ', '-']));
        odd.map(|(name, _)| (format!("{PATH}.cloudControllerManager.featureGates.{name}"), Invalid)).collect()
    }),
    ("Manila's driver needs a share network", |it| {
        let wanted = get(it.config, "storage.csiManila.enabled") == Some(&json!(true));
        let given = |config: &&Value| {
            get(config, "networks.shareNetwork.enabled") == Some(&json!(true)) || get(config, "networks.shareNetworkId").is_some()
        };
        at(&format!("{PATH}.storage.csiManila.enabled"), Invalid, wanted && it.infrastructure.is_some_and(|config| !given(&config)))
    }),
];

/// The names of all rows.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|(name, _)| *name).chain(CLASSES.iter().map(|(name, _)| *name))
}

/// What the rows say.
pub(crate) fn told(it: &ControlPlane<'_>) -> Vec<crate::table::Told> {
    let classes = (list(it.config, "loadBalancerClasses").to_vec(), format!("{PATH}.loadBalancerClasses"));
    let own = ROWS.iter().flat_map(|(name, wrong)| wrong(it).into_iter().map(|place| (*name, place)));
    own.chain(crate::table::ask(CLASSES, &classes)).collect()
}

pub(crate) fn classes() -> BoxedStrategy<Value> {
    let class = object(vec![
        ("name", 0.98, one_of(&["a", "b", "default", "private"])),
        ("purpose", 0.3, one_of(&["default", "private", "vpn", "odd", ""])),
        ("floatingSubnetID", 0.2, one_of(&["x"])),
        ("floatingSubnetName", 0.2, one_of(&["x"])),
        ("floatingSubnetTags", 0.1, one_of(&["x"])),
    ]);
    prop_oneof![2 => Just(json!([])), 2 => Just(json!([{"name": "a"}])), 1 => Just(json!([{"name": "b"}])), 5 => some(class, 4)].boxed()
}

pub(crate) fn configs() -> BoxedStrategy<Value> {
    let gates = select(vec![json!({}), json!({"CSIMigration": true}), json!({"CSIMigration": true, "no-gate": false})]);
    let gates = object(vec![("featureGates", 0.9, gates.boxed())]);
    let storage =
        object(vec![("csiManila", 0.9, object(vec![("enabled", 0.9, any::<bool>().prop_map(Value::from).boxed())]))]);
    object(vec![
        ("loadBalancerProvider", 0.95, one_of(&["amphora", "amphora", "amphora", "ovn", "f5", ""])),
        ("loadBalancerClasses", 0.8, classes()),
        ("cloudControllerManager", 0.2, gates),
        ("storage", 0.3, storage),
        ("zone", 0.1, one_of(&["z"])),
    ])
    .prop_map(|mut config| {
        config["apiVersion"] = json!("openstack.provider.extensions.gardener.cloud/v1alpha1");
        config["kind"] = json!("ControlPlaneConfig");
        config
    })
    .boxed()
}
