//! Rules for an `InfrastructureConfig` by itself, and for a change of it.

use fabric_apis::decode;
use fabric_apis::field::{ErrorType, Path};
use fabric_apis::openstack::v1alpha1::InfrastructureConfig;
use fabric_validation::openstack::infrastructure::{StaticContext, validate, validate_update};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use ErrorType::{Forbidden, Invalid, Required};

use crate::table::{Told, answer, hold};
use crate::values::{A, Range, any_uuid, id, name, object, plain_uuid, range4, range6};

/// A config as written, and the shoot's nodes.
struct Raw<'a> {
    config: &'a Value,
    nodes: Option<&'a str>,
}

impl<'a> Raw<'a> {
    fn at(&self, path: &str) -> Option<&'a Value> {
        path.split('.').try_fold(self.config, |value, key| value.get(key)).filter(|value| !value.is_null())
    }

    /// A field of Go's type `*string`.
    fn pointer(&self, path: &str) -> Option<&'a str> {
        self.at(path).map(|value| value.as_str().unwrap())
    }

    /// A field of Go's type `string`: absent is empty.
    fn text(&self, path: &str) -> &'a str {
        self.pointer(path).unwrap_or_default()
    }

    fn has(&self, path: &str) -> bool {
        self.at(path).is_some()
    }

    fn is_empty(&self, path: &str) -> bool {
        self.text(path).is_empty()
    }

    fn has_range(&self) -> bool {
        !(self.is_empty("networks.workers") && self.is_empty("networks.worker"))
    }

    fn bad_name(&self, path: &str) -> bool {
        self.pointer(path).is_some_and(|name| name.contains(['{', '}', '[', ']', '\n']))
    }

    fn long_name(&self, path: &str) -> bool {
        self.pointer(path).is_some_and(|name| name.chars().count() > 255)
    }

    fn range(&self, path: &str) -> Option<Range> {
        Range::read(self.text(path))
    }

    fn given_v6(&self) -> bool {
        self.has("networks.ipv6.nodeSubnetId")
    }

    fn v6(&self, field: &str) -> String {
        format!("networks.ipv6.{field}")
    }

    fn any_v6_range(&self) -> bool {
        ["nodeCIDR", "podCIDR", "serviceCIDR"].iter().any(|field| !self.is_empty(&self.v6(field)))
    }

    /// With a given IPv6 subnet the node range is not looked at.
    fn v6_range(&self, field: &str) -> Option<(String, Option<Range>)> {
        let path = self.v6(field);
        let looked_at = self.has("networks.ipv6") && !self.is_empty(&path) && !(field == "nodeCIDR" && self.given_v6());
        looked_at.then(|| (path.clone(), self.range(&path)))
    }

    fn v6_overlap(&self, earlier: &str, later: &str) -> bool {
        match (self.v6_range(earlier), self.v6_range(later)) {
            (Some((_, Some(earlier))), Some((_, Some(later)))) => earlier.overlaps(&later),
            _ => false,
        }
    }
}

type Rule = (&'static str, &'static str, ErrorType, fn(&Raw<'_>) -> bool);

const SUBNET: &str = "networks.subnetId";
const GROUP: &str = "networks.securityGroupId";
const SHARE: &str = "networks.shareNetworkId";
const SUBNET6: &str = "networks.ipv6.nodeSubnetId";
const NODE6: &str = "networks.ipv6.nodeCIDR";
const POD6: &str = "networks.ipv6.podCIDR";
const SERVICE6: &str = "networks.ipv6.serviceCIDR";

fn requires(raw: &Raw<'_>, field: &str, other: &str) -> bool {
    raw.has(field) && !raw.has(other)
}

fn requires_router(raw: &Raw<'_>, field: &str) -> bool {
    raw.has(field) && raw.is_empty("networks.router.id")
}

fn bad_new_id(raw: &Raw<'_>, field: &str) -> bool {
    raw.pointer(field).is_some_and(|id| !plain_uuid(id))
}

fn unreadable(raw: &Raw<'_>, path: &str) -> bool {
    !raw.is_empty(path) && raw.range(path).is_none()
}

fn host_bits(raw: &Raw<'_>, path: &str) -> bool {
    raw.range(path).is_some_and(|range| range.has_host_bits())
}

fn outside_nodes(raw: &Raw<'_>, path: &str) -> bool {
    match (raw.range(path), raw.nodes.and_then(Range::read)) {
        (Some(range), Some(nodes)) => !range.lies_in(&nodes),
        _ => false,
    }
}

fn v6(raw: &Raw<'_>, field: &str, wrong: fn(&Range) -> bool) -> bool {
    matches!(raw.v6_range(field), Some((_, Some(range))) if wrong(&range))
}

fn v6_unreadable(raw: &Raw<'_>, field: &str) -> bool {
    matches!(raw.v6_range(field), Some((_, None)))
}

/// Explicit ranges come all three or not at all; beside a given subnet there are two, and both are needed.
fn v6_missing(raw: &Raw<'_>, field: &str) -> bool {
    !raw.given_v6() && raw.any_v6_range() && raw.is_empty(&raw.v6(field))
}

fn v6_missing_beside_given(raw: &Raw<'_>, field: &str) -> bool {
    raw.given_v6() && raw.is_empty(&raw.v6(field))
}

/// One row for each sentence of the rules for a new config.
#[rustfmt::skip]
const CREATE: &[Rule] = &[
    ("the floating pool is required", "floatingPoolName", Required, |raw| raw.is_empty("floatingPoolName")),
    ("the floating pool is a resource name", "floatingPoolName", Invalid, |raw| raw.bad_name("floatingPoolName")),
    ("the floating pool has at most 255 characters", "floatingPoolName", Invalid, |raw| raw.long_name("floatingPoolName")),
    ("something says where workers live", "networks.workers", Required, |raw| !raw.has_range() && !raw.has("networks.subnetPool") && !raw.has(SUBNET)),
    ("pool excludes ranges", "networks.subnetPool", Invalid, |raw| raw.has("networks.subnetPool") && raw.has_range()),
    ("subnetId excludes ranges", SUBNET, Invalid, |raw| raw.has(SUBNET) && raw.has_range()),
    ("subnetId excludes a pool", SUBNET, Invalid, |raw| raw.has(SUBNET) && raw.has("networks.subnetPool")),
    ("worker is readable", "networks.worker", Invalid, |raw| unreadable(raw, "networks.worker")),
    ("worker is canonical", "networks.worker", Invalid, |raw| host_bits(raw, "networks.worker")),
    ("workers is readable", "networks.workers", Invalid, |raw| unreadable(raw, "networks.workers")),
    ("workers is canonical", "networks.workers", Invalid, |raw| host_bits(raw, "networks.workers")),
    ("workers lies in nodes", "networks.workers", Invalid, |raw| outside_nodes(raw, "networks.workers")),
    ("worker alone lies in nodes", "networks.worker", Invalid, |raw| raw.is_empty("networks.workers") && outside_nodes(raw, "networks.worker")),
    ("a pool has an id", "networks.subnetPool.id", Required, |raw| raw.has("networks.subnetPool") && raw.is_empty("networks.subnetPool.id")),
    ("a pool has a prefix length", "networks.subnetPool.prefixLength", Invalid, |raw| {
        raw.has("networks.subnetPool") && !(1..=32).contains(&raw.at("networks.subnetPool.prefixLength").map_or(0, |length| length.as_i64().unwrap()))
    }),
    ("id is a UUID", "networks.id", Invalid, |raw| raw.pointer("networks.id").is_some_and(|id| !any_uuid(id))),
    ("subnetId requires id", SUBNET, Invalid, |raw| requires(raw, SUBNET, "networks.id")),
    ("subnetId requires router.id", SUBNET, Invalid, |raw| requires_router(raw, SUBNET)),
    ("subnetId is a UUID", SUBNET, Invalid, |raw| bad_new_id(raw, SUBNET)),
    ("securityGroupId requires id", GROUP, Invalid, |raw| requires(raw, GROUP, "networks.id")),
    ("securityGroupId is a UUID", GROUP, Invalid, |raw| bad_new_id(raw, GROUP)),
    ("shareNetworkId requires id", SHARE, Invalid, |raw| requires(raw, SHARE, "networks.id")),
    ("shareNetworkId is a UUID", SHARE, Invalid, |raw| bad_new_id(raw, SHARE)),
    ("shareNetworkId excludes an own one", SHARE, Invalid, |raw| raw.has(SHARE) && raw.at("networks.shareNetwork.enabled") == Some(&json!(true))),
    ("a router has an id", "networks.router.id", Invalid, |raw| raw.has("networks.router") && raw.is_empty("networks.router.id")),
    ("a router's id is a UUID", "networks.router.id", Invalid, |raw| !raw.is_empty("networks.router.id") && !any_uuid(raw.text("networks.router.id"))),
    ("a floating subnet is not empty", "floatingPoolSubnetName", Required, |raw| raw.pointer("floatingPoolSubnetName") == Some("")),
    ("a floating subnet is a resource name", "floatingPoolSubnetName", Invalid, |raw| raw.bad_name("floatingPoolSubnetName")),
    ("a floating subnet has at most 255 characters", "floatingPoolSubnetName", Invalid, |raw| raw.long_name("floatingPoolSubnetName")),
    ("a floating subnet is for a router of ours", "router", Forbidden, |raw| raw.has("floatingPoolSubnetName") && raw.has("networks.router")),
    ("ipv6 says something", "networks.ipv6", Required, |raw| raw.has("networks.ipv6") && !raw.given_v6() && !raw.has("networks.ipv6.subnetPoolID") && !raw.any_v6_range()),
    ("nodeCIDR is needed by the other ranges", NODE6, Required, |raw| v6_missing(raw, "nodeCIDR")),
    ("podCIDR is needed by the other ranges", POD6, Required, |raw| v6_missing(raw, "podCIDR")),
    ("serviceCIDR is needed by the other ranges", SERVICE6, Required, |raw| v6_missing(raw, "serviceCIDR")),
    ("podCIDR is needed by nodeSubnetId", POD6, Required, |raw| v6_missing_beside_given(raw, "podCIDR")),
    ("serviceCIDR is needed by nodeSubnetId", SERVICE6, Required, |raw| v6_missing_beside_given(raw, "serviceCIDR")),
    ("nodeCIDR is readable", NODE6, Invalid, |raw| v6_unreadable(raw, "nodeCIDR")),
    ("podCIDR is readable", POD6, Invalid, |raw| v6_unreadable(raw, "podCIDR")),
    ("serviceCIDR is readable", SERVICE6, Invalid, |raw| v6_unreadable(raw, "serviceCIDR")),
    ("nodeCIDR is canonical", NODE6, Invalid, |raw| v6(raw, "nodeCIDR", Range::has_host_bits)),
    ("podCIDR is canonical", POD6, Invalid, |raw| v6(raw, "podCIDR", Range::has_host_bits)),
    ("serviceCIDR is canonical", SERVICE6, Invalid, |raw| v6(raw, "serviceCIDR", Range::has_host_bits)),
    ("nodeCIDR is IPv6", NODE6, Invalid, |raw| v6(raw, "nodeCIDR", |range| range.v4)),
    ("podCIDR is IPv6", POD6, Invalid, |raw| v6(raw, "podCIDR", |range| range.v4)),
    ("serviceCIDR is IPv6", SERVICE6, Invalid, |raw| v6(raw, "serviceCIDR", |range| range.v4)),
    ("podCIDR is apart from nodeCIDR", POD6, Invalid, |raw| raw.v6_overlap("nodeCIDR", "podCIDR")),
    ("serviceCIDR is apart from nodeCIDR", SERVICE6, Invalid, |raw| raw.v6_overlap("nodeCIDR", "serviceCIDR")),
    ("serviceCIDR is apart from podCIDR", SERVICE6, Invalid, |raw| raw.v6_overlap("podCIDR", "serviceCIDR")),
    ("podCIDR holds a /64 a node", POD6, Invalid, |raw| v6(raw, "podCIDR", |range| range.fixed > 64)),
    ("nodeSubnetId excludes a pool", SUBNET6, Invalid, |raw| raw.has(SUBNET6) && raw.has("networks.ipv6.subnetPoolID")),
    ("nodeSubnetId excludes nodeCIDR", SUBNET6, Invalid, |raw| raw.has(SUBNET6) && !raw.is_empty(NODE6)),
    ("nodeSubnetId is a UUID", SUBNET6, Invalid, |raw| bad_new_id(raw, SUBNET6)),
    ("nodeSubnetId requires id", SUBNET6, Invalid, |raw| requires(raw, SUBNET6, "networks.id")),
    ("nodeSubnetId requires router.id", SUBNET6, Invalid, |raw| requires_router(raw, SUBNET6)),
    ("nodeSubnetId requires subnetId", SUBNET6, Invalid, |raw| requires(raw, SUBNET6, SUBNET)),
];

/// What may not change, and how the field is read: Go's `string` is empty when absent, its pointers are not.
const IMMUTABLE: &[(&str, Value)] = &[
    ("floatingPoolName", Value::String(String::new())),
    ("floatingPoolSubnetName", Value::Null),
    ("networks.id", Value::Null),
    ("networks.subnetId", Value::Null),
    ("networks.securityGroupId", Value::Null),
    ("networks.shareNetworkId", Value::Null),
    ("networks.router", Value::Null),
    ("networks.worker", Value::String(String::new())),
    ("networks.workers", Value::String(String::new())),
    ("networks.subnetPool", Value::Null),
    ("networks.ipv6", Value::Null),
];

fn changed(new: &Raw<'_>, old: &Raw<'_>, path: &str, absent: &Value) -> bool {
    // Inside of an object an absent text is an empty one.
    let normal = |raw: &Raw<'_>| {
        let mut value = raw.at(path).unwrap_or(absent).clone();
        if let Some(object) = value.as_object_mut() {
            object.retain(|key, value| match key.as_str() {
                "subnetPoolID" | "nodeSubnetId" => !value.is_null(),
                "prefixLength" => value != &json!(0) && !value.is_null(),
                _ => value != &json!("") && !value.is_null(),
            });
        }
        value
    };
    normal(new) != normal(old)
}

/// Configs as people write and miswrite them: mostly whole patterns, with parts missing, doubled or misspelled.
pub(crate) fn config() -> BoxedStrategy<Value> {
    let pool = object(vec![
        ("id", 0.8, select(vec!["pool", A, ""]).prop_map(Value::from).boxed()),
        ("prefixLength", 0.9, select(vec![-1, 0, 1, 24, 32, 33, i64::MAX]).prop_map(Value::from).boxed()),
    ]);
    let ipv6 = |pool: f64, ranges: f64, given: f64| {
        object(vec![
            ("subnetPoolID", pool, id()),
            ("nodeCIDR", ranges, range6()),
            ("podCIDR", ranges.max(given * 0.8), range6()),
            ("serviceCIDR", ranges.max(given * 0.8), range6()),
            ("nodeSubnetId", given, id()),
        ])
    };
    // A block of ranges, a given subnet, and hardly anything.
    let ipv6 = prop_oneof![3 => ipv6(0.2, 0.9, 0.01), 3 => ipv6(0.2, 0.3, 0.9), 1 => ipv6(0.2, 0.1, 0.01)].boxed();
    let networks = object(vec![
        ("id", 0.6, id()),
        ("subnetId", 0.5, id()),
        ("router", 0.6, object(vec![("id", 0.85, id())])),
        ("worker", 0.45, range4()),
        ("workers", 0.4, range4()),
        ("subnetPool", 0.3, pool),
        ("securityGroupId", 0.3, id()),
        ("shareNetworkId", 0.3, id()),
        ("shareNetwork", 0.5, object(vec![("enabled", 0.8, any::<bool>().prop_map(Value::from).boxed())])),
        ("ipv6", 0.7, ipv6),
    ]);
    object(vec![
        ("floatingPoolName", 0.9, name()),
        ("floatingPoolSubnetName", 0.5, name()),
        ("networks", 0.98, networks),
    ])
    .prop_map(|mut config| {
        config["apiVersion"] = json!("openstack.provider.extensions.gardener.cloud/v1alpha1");
        config["kind"] = json!("InfrastructureConfig");
        config
    })
    .boxed()
}

/// The patterns of the specification, and a given dual-stack network.
pub(crate) fn pattern() -> impl Strategy<Value = Value> {
    let given = json!({"id": A, "subnetId": A, "router": {"id": A}});
    let mut group = given.clone();
    group["securityGroupId"] = json!(A);
    let mut dual = group.clone();
    dual["ipv6"] = json!({"nodeSubnetId": A, "podCIDR": "fd00::/56", "serviceCIDR": "fd01::/112"});
    let workers = "10.250.0.0/19";
    let networks = vec![
        json!({ "workers": workers }),
        json!({"id": A, "workers": workers}),
        json!({"id": A, "router": {"id": A}, "workers": workers}),
        given,
        group,
        dual,
    ];
    let version = "openstack.provider.extensions.gardener.cloud/v1alpha1";
    select(networks).prop_map(move |networks| {
        json!({"apiVersion": version, "kind": "InfrastructureConfig", "floatingPoolName": "fip", "networks": networks})
    })
}

fn read(config: &Value) -> InfrastructureConfig {
    decode::strict(config, std::iter::empty()).unwrap()
}

/// What the rows say about a new config.
pub(crate) fn create(config: &Value, nodes: Option<&str>) -> Vec<Told> {
    let raw = Raw { config, nodes };
    let rows = CREATE.iter().filter(|(.., applies)| applies(&raw));
    rows.map(|(name, path, kind, _)| (*name, ((*path).to_owned(), *kind))).collect()
}

const SHARED: &str = "networks.shareNetwork";

/// What may not change from `old` to `new`.
pub(crate) fn update(new: &Value, old: &Value) -> Vec<Told> {
    let (new, old) = (Raw { config: new, nodes: None }, Raw { config: old, nodes: None });
    let immutable = IMMUTABLE.iter().filter(|(path, absent)| changed(&new, &old, path, absent)).map(|(path, _)| *path);
    let enabled = |raw: &Raw<'_>| raw.at("networks.shareNetwork.enabled") == Some(&json!(true));
    let shared = (enabled(&old) && !enabled(&new)).then_some(SHARED);
    immutable.chain(shared).map(|path| (path, (path.to_owned(), Invalid))).collect()
}

/// Two configs, most of the new one being the old one.
pub(crate) fn change() -> impl Strategy<Value = (Value, Value)> {
    let keep = proptest::collection::vec(proptest::bool::weighted(0.8), 16);
    (config(), config(), keep).prop_map(|(old, mut new, keep)| {
        for (key, value) in old.as_object().unwrap().iter().zip(&keep).filter_map(|(entry, keep)| keep.then_some(entry))
        {
            if key != "networks" {
                new[key] = value.clone();
            }
        }
        if let (Some(old), Some(new)) =
            (old.get("networks").and_then(Value::as_object), new.get_mut("networks").and_then(Value::as_object_mut))
        {
            for ((key, value), _) in old.iter().zip(keep.iter().rev()).filter(|(_, keep)| **keep) {
                new.insert(key.clone(), value.clone());
            }
        }
        (old, new)
    })
}

#[test]
fn a_new_config_is_told_exactly_the_rows_that_apply() {
    let nodes = select(vec!["10.250.0.0/16", "10.0.0.0/8", "nonsense", "fd00::/16"]);
    let worlds = (prop_oneof![19 => config(), 1 => pattern()], proptest::option::weighted(0.7, nodes));
    hold(
        CREATE.iter().map(|(name, ..)| *name),
        worlds,
        |(config, nodes)| create(config, *nodes),
        |(config, nodes)| {
            answer(&validate(&read(config), &StaticContext { nodes: *nodes, ip_families: None }, &Path::nil()).errors)
        },
    );
}

#[test]
fn a_changed_config_is_told_exactly_what_may_not_change() {
    hold(
        IMMUTABLE.iter().map(|(path, _)| *path).chain([SHARED]),
        change(),
        |(old, new)| update(new, old),
        |(old, new)| answer(&validate_update(&read(new), &read(old), &Path::nil())),
    );
}
