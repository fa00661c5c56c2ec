//! The static rules a second time, as a table over the raw config, and the code held against it.
//!
//! Each row is written from the specification's text alone and shares no code with the crate: it reads the JSON that a
//! user wrote. For any config the code's errors, by path and kind, must be exactly those of the rows that apply.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // all of this file is tests

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::IpAddr;

use fabric_apis::decode;
use fabric_apis::field::{ErrorType, Path};
use fabric_apis::openstack::v1alpha1::InfrastructureConfig;
use fabric_validation::openstack::infrastructure::{StaticContext, validate, validate_update};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};

use ErrorType::{Forbidden, Invalid, Required};

/// How often each row has to apply at least, or the test says nothing about it.
const LEAST: usize = 100;
const CASES: u32 = 4_500;

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

/// An address range by its bits: the family, the first address and how many bits are fixed.
#[derive(Clone, Copy)]
struct Range {
    v4: bool,
    bits: u128,
    fixed: u32,
}

impl Range {
    fn read(text: &str) -> Option<Self> {
        let (address, fixed) = text.split_once('/')?;
        let fixed: u32 = fixed.parse().ok()?;
        let (v4, bits, all) = match address.parse().ok()? {
            IpAddr::V4(address) => (true, u128::from(u32::from(address)) << 96, 32),
            IpAddr::V6(address) => (false, u128::from(address), 128),
        };
        (fixed <= all).then_some(Self { v4, bits, fixed })
    }

    fn mask(fixed: u32) -> u128 {
        if fixed == 0 { 0 } else { u128::MAX << (128 - fixed) }
    }

    fn has_host_bits(&self) -> bool {
        self.bits & !Self::mask(self.fixed) != 0
    }

    fn lies_in(&self, outer: &Self) -> bool {
        let mask = Self::mask(outer.fixed);
        self.v4 == outer.v4 && self.fixed >= outer.fixed && self.bits & mask == outer.bits & mask
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.lies_in(other) || other.lies_in(self)
    }
}

fn hex(text: &str) -> bool {
    text.chars().all(|character| character.is_ascii_hexdigit())
}

/// 36 characters with four hyphens, or 32 digits.
fn plain_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    (lengths == [8, 4, 4, 4, 12] || lengths == [32]) && groups.iter().all(|group| hex(group))
}

/// What upstream takes as well: a URN, or 36 characters between two others.
fn any_uuid(text: &str) -> bool {
    let inner = |from: usize, to: usize| text.get(from..to).is_some_and(|id| id.len() == 36 && plain_uuid(id));
    plain_uuid(text)
        || (text.len() == 45 && text[..9].eq_ignore_ascii_case("urn:uuid:") && inner(9, 45))
        || (text.len() == 38 && inner(1, 37))
}

type Row = (&'static str, &'static str, ErrorType, fn(&Raw<'_>) -> bool);

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
const CREATE: &[Row] = &[
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

type Told = BTreeMap<(String, String), usize>;

fn told<'e>(errors: impl IntoIterator<Item = (&'e str, ErrorType)>) -> Told {
    let mut told = Told::new();
    for (path, kind) in errors {
        *told.entry((path.to_owned(), kind.to_string())).or_default() += 1;
    }
    told
}

const A: &str = "123e4567-e89b-12d3-a456-426614174000";

fn id() -> BoxedStrategy<Value> {
    let plain = prop_oneof![Just(A.to_owned()), Just(A.replace('-', "")), Just(A.to_uppercase())];
    let odd = prop_oneof![
        Just(format!("urn:uuid:{A}")),
        Just(format!("{{{A}}}")),
        Just(String::new()),
        Just("my-net".to_owned()),
        Just(A.replace('1', "g")),
        Just(A.replacen('-', "0", 1)),
        Just(format!("{A}0")),
        Just(A.replace('-', "")[1..].to_owned()),
    ];
    prop_oneof![3 => plain, 1 => odd].prop_map(Value::from).boxed()
}

fn name() -> BoxedStrategy<Value> {
    let odd = prop_oneof![
        2 => Just(String::new()),
        1 => Just("a{b".to_owned()),
         1 => Just("[a]".to_owned()),
         1 => Just("a\nb".to_owned()),
         1 => Just("ü".repeat(255)),
         1 => Just("ü".repeat(256)),
         1 => Just("{".repeat(256)),
    ];
    prop_oneof![Just("fip-*".to_owned()), odd].prop_map(Value::from).boxed()
}

fn range4() -> BoxedStrategy<Value> {
    let texts = [
        "10.250.0.0/19",
        "10.250.0.0/16",
        "10.250.1.1/24",
        "10.1.1.1/8",
        "10.0.0.0/8",
        "10.250.0.0",
        "010.0.0.0/8",
        "10.250.0.0/33",
        "fd00::/56",
        "",
        "0.0.0.0/0",
        "10.250.0.0/-1",
        "nonsense",
        " 10.250.0.0/19",
    ];
    select(texts.to_vec()).prop_map(Value::from).boxed()
}

fn range6() -> BoxedStrategy<Value> {
    let texts = [
        "fd00::/56",
        "fd00:0:0:1::/64",
        "fd01::/112",
        "fd02::/48",
        "fd00::/48",
        "fd04::/65",
        "fd00::1/64",
        "fd05::1/112",
        "fd06::/129",
        "10.96.0.0/11",
        "10.96.0.1/11",
        "::/0",
        "",
        "fd00",
        "fe80::%eth0/64",
    ];
    select(texts.to_vec()).prop_map(Value::from).boxed()
}

/// An object of the fields that are there; `null` counts as absent.
fn object(fields: Vec<(&'static str, f64, BoxedStrategy<Value>)>) -> BoxedStrategy<Value> {
    let fields: Vec<_> = fields
        .into_iter()
        .map(|(key, there, value)| {
            let value = prop_oneof![19 => value, 1 => Just(Value::Null)];
            proptest::option::weighted(there, value).prop_map(move |value| value.map(|value| (key.to_owned(), value)))
        })
        .map(Strategy::boxed)
        .collect();
    fields.prop_map(|fields| Value::Object(fields.into_iter().flatten().collect::<Map<_, _>>())).boxed()
}

/// Configs as people write and miswrite them: mostly whole patterns, with parts missing, doubled or misspelled.
fn config() -> BoxedStrategy<Value> {
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
fn pattern() -> impl Strategy<Value = Value> {
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

fn runner() -> TestRunner {
    // The same cases each time: the counts below are facts, not luck.
    TestRunner::new_with_rng(
        Config { cases: CASES, failure_persistence: None, ..Config::default() },
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    )
}

fn assert_all_applied(names: impl Iterator<Item = &'static str>, counts: &BTreeMap<&'static str, usize>) {
    for name in names {
        let count = counts.get(name).copied().unwrap_or_default();
        assert!(count >= LEAST, "row {name:?} applied {count} times only");
    }
}

#[test]
fn a_new_config_is_told_exactly_the_rows_that_apply() {
    let counts = RefCell::new(BTreeMap::new());
    let good = RefCell::new(0);
    let nodes = proptest::option::weighted(0.7, select(vec!["10.250.0.0/16", "10.0.0.0/8", "nonsense", "fd00::/16"]));
    runner()
        .run(&(prop_oneof![19 => config(), 1 => pattern()], nodes), |(config, nodes)| {
            let raw = Raw { config: &config, nodes };
            let rows: Vec<&Row> = CREATE.iter().filter(|(.., applies)| applies(&raw)).collect();
            for (name, ..) in &rows {
                *counts.borrow_mut().entry(*name).or_default() += 1;
            }
            *good.borrow_mut() += usize::from(rows.is_empty());
            let context = StaticContext { nodes, ip_families: None };
            let found = validate(&read(&config), &context, &Path::nil()).errors;
            let found = told(found.iter().map(|error| (error.field.as_str(), error.kind)));
            prop_assert_eq!(found, told(rows.iter().map(|(_, path, kind, _)| (*path, *kind))), "{:#}", config);
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
    assert_all_applied(CREATE.iter().map(|(name, ..)| *name), &counts.borrow());
    assert!(*good.borrow() >= LEAST, "only {} configs were good", good.borrow());
}

#[test]
fn a_changed_config_is_told_exactly_what_may_not_change() {
    let counts = RefCell::new(BTreeMap::new());
    const SHARED: &str = "networks.shareNetwork";
    // Most of a changed config is the old one.
    let keep = proptest::collection::vec(proptest::bool::weighted(0.8), 16);
    runner()
        .run(&(config(), config(), keep), |(old, mut new, keep)| {
            for (key, value) in
                old.as_object().unwrap().iter().zip(&keep).filter_map(|(entry, keep)| keep.then_some(entry))
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
            let (before, after) = (Raw { config: &old, nodes: None }, Raw { config: &new, nodes: None });
            let mut expected: Vec<&'static str> = IMMUTABLE
                .iter()
                .filter(|(path, absent)| changed(&after, &before, path, absent))
                .map(|(path, _)| *path)
                .collect();
            let enabled = |raw: &Raw<'_>| raw.at("networks.shareNetwork.enabled") == Some(&json!(true));
            if enabled(&before) && !enabled(&after) {
                expected.push(SHARED);
            }
            for path in &expected {
                *counts.borrow_mut().entry(*path).or_default() += 1;
            }
            let found = validate_update(&read(&new), &read(&old), &Path::nil());
            let found = told(found.iter().map(|error| (error.field.as_str(), error.kind)));
            prop_assert_eq!(found, told(expected.into_iter().map(|path| (path, Invalid))), "{:#} -> {:#}", old, new);
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
    assert_all_applied(IMMUTABLE.iter().map(|(path, _)| *path).chain([SHARED]), &counts.borrow());
}
