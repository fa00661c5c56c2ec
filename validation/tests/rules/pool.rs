//! The two searches for a floating pool, said as sets.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use fabric_apis::openstack::v1alpha1::{CloudProfileConfig, FloatingPool};
use fabric_validation::openstack::cloud_profile::{default_floating_subnet, find_floating_pool};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::table::{assert_applied, for_each};
use crate::values::{get, object, one_of, some, text};

/// How well a pool's name fits: what it fixes, and a whole name best of all.
fn fit(pool: &Value, name: &str) -> Option<usize> {
    let pattern = text(pool, "name");
    let (fixed, fits) = match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(""), _) => (0, true),
        (Some(end), _) => (end.len(), name.ends_with(end)),
        (None, Some(start)) => (start.len(), name.starts_with(start)),
        (None, None) => (pattern.len() + 1, name == pattern),
    };
    fits.then_some(fixed)
}

fn is_extra(pool: &Value) -> bool {
    get(pool, "nonConstraining") == Some(&json!(true))
}

/// The pools of exactly this place.
fn place<'a>(pools: &'a [Value], domain: Option<&str>, region: Option<&str>) -> Vec<&'a Value> {
    let is =
        |pool: &Value, key: &str, wanted: Option<&str>| get(pool, key).map(|value| value.as_str().unwrap()) == wanted;
    pools.iter().filter(|pool| is(pool, "domain", domain) && is(pool, "region", region)).collect()
}

/// Those that are left when constraining ones are hidden.
fn left(pools: Vec<&Value>, hidden: bool) -> Vec<&Value> {
    pools.into_iter().filter(|pool| !hidden || is_extra(pool)).collect()
}

fn names<'a>(pools: &[&'a Value], extra: bool) -> BTreeSet<&'a str> {
    pools.iter().filter(|pool| is_extra(pool) == extra).map(|pool| text(pool, "name")).collect()
}

/// The best fit, the first of equals.
fn best<'a>(pools: &[&'a Value], name: &str) -> Option<&'a Value> {
    let most = pools.iter().filter_map(|pool| fit(pool, name)).max()?;
    pools.iter().copied().find(|pool| fit(pool, name) == Some(most))
}

/// Why a pool is allowed, and which; or why none is, and which names would be.
pub(crate) type Verdict<'a> = (&'static str, Result<&'a Value, BTreeSet<&'a str>>);

const REASONS: [&str; 11] = [
    "a pool of domain and region",
    "an extra pool of domain and region",
    "pools of the region and of the domain",
    "a pool of the region, none constrains the domain",
    "a pool of the domain, none constrains the region",
    "a pool of everywhere",
    "an extra pool of everywhere beside constraining ones",
    "a pool of everywhere, as region and domain have no name in common",
    "none: domain and region together constrain",
    "none: region and domain constrain",
    "none",
];

pub(crate) fn verdict<'a>(pools: &'a [Value], domain: &str, region: &str, name: &str) -> Verdict<'a> {
    let exact = place(pools, Some(domain), Some(region));
    if let Some(pool) = best(&exact, name) {
        return (REASONS[usize::from(is_extra(pool))], Ok(pool));
    }
    let narrowed = !names(&exact, false).is_empty();
    let regional = left(place(pools, None, Some(region)), narrowed);
    let of_domain = left(place(pools, Some(domain), None), narrowed);
    let constrains = |pools: &[&Value]| !names(pools, false).is_empty();
    match (best(&regional, name), best(&of_domain, name)) {
        (Some(pool), Some(_)) => return (REASONS[2], Ok(pool)),
        (Some(pool), None) if !constrains(&of_domain) => return (REASONS[3], Ok(pool)),
        (None, Some(pool)) if !constrains(&regional) => return (REASONS[4], Ok(pool)),
        _ => {}
    }
    let both = constrains(&regional) && constrains(&of_domain);
    let allowed: BTreeSet<&str> = if narrowed {
        names(&exact, false)
    } else if both {
        &names(&regional, false) & &names(&of_domain, false)
    } else {
        &names(&regional, false) | &names(&of_domain, false)
    };
    let global = left(place(pools, None, None), !allowed.is_empty());
    if let Some(pool) = best(&global, name) {
        let reason = match (is_extra(pool), allowed.is_empty(), both) {
            (true, false, _) => 6,
            (_, true, true) => 7,
            _ => 5,
        };
        return (REASONS[reason], Ok(pool));
    }
    let extra: Vec<&Value> = [exact, regional, of_domain, global.clone()].concat();
    let allowed = &(&allowed | &names(&global, false)) | &names(&extra, true);
    let reason = if narrowed {
        8
    } else if both {
        9
    } else {
        10
    };
    (REASONS[reason], Err(allowed))
}

fn pools() -> BoxedStrategy<Value> {
    let pool = object(vec![
        ("name", 0.98, one_of(&["a", "b", "fip-1", "fip-*", "f*", "*-1", "*"])),
        ("domain", 0.45, one_of(&["d", "d", "d", "other"])),
        ("region", 0.45, one_of(&["r", "r", "r", "other"])),
        ("nonConstraining", 0.4, any::<bool>().prop_map(Value::from).boxed()),
        ("defaultFloatingSubnet", 0.8, one_of(&["s", "t"])),
    ]);
    some(pool, 8)
}

fn read(pools: &Value) -> Vec<FloatingPool> {
    serde_json::from_value(pools.clone()).unwrap()
}

const NAMES: [&str; 5] = ["a", "b", "fip-1", "fip-2", "z"];

#[test]
fn a_pool_is_allowed_exactly_where_the_table_says() {
    let counts = RefCell::new(BTreeMap::new());
    for_each((pools(), select(NAMES.to_vec())), |(pools, name)| {
        let raw = pools.as_array().unwrap();
        let (reason, expected) = verdict(raw, "d", "r", name);
        *counts.borrow_mut().entry(reason).or_default() += 1;
        let typed = read(&pools);
        let found = find_floating_pool(&typed, "d", "r", name)
            .map(|found| typed.iter().position(|pool| std::ptr::eq(pool, found)).unwrap());
        let expected = expected
            .map(|pool| raw.iter().position(|other| std::ptr::eq(other, pool)).unwrap())
            .map_err(|names| names.into_iter().collect::<Vec<_>>());
        prop_assert_eq!(found, expected, "code, then table ({}): {} in {:#}", reason, name, pools);
        Ok(())
    });
    assert_applied(REASONS, &counts.borrow());
}

#[test]
fn a_preset_subnet_is_found_exactly_where_the_table_says() {
    const FOUND: [&str; 3] = ["a constraining pool of the region", "an extra pool of the region", "none"];
    let counts = RefCell::new(BTreeMap::new());
    for_each((pools(), select(NAMES.to_vec())), |(pools, name)| {
        // Whatever the domain, but only of this region; `*` fixes nothing.
        let of_region = pools.as_array().unwrap().iter().filter(|pool| text(pool, "region") == "r");
        let fixing: Vec<&Value> = of_region.filter(|pool| fit(pool, name).is_some_and(|fixed| fixed > 0)).collect();
        let (extra, constraining): (Vec<&Value>, Vec<&Value>) = fixing.into_iter().partition(|pool| is_extra(pool));
        let (reason, pool) = match (best(&constraining, name), best(&extra, name)) {
            (Some(pool), _) => (FOUND[0], Some(pool)),
            (None, Some(pool)) => (FOUND[1], Some(pool)),
            (None, None) => (FOUND[2], None),
        };
        *counts.borrow_mut().entry(reason).or_default() += 1;
        let mut profile = CloudProfileConfig::default();
        profile.constraints.floating_pools = read(&pools);
        let expected = pool.and_then(|pool| get(pool, "defaultFloatingSubnet")).map(|subnet| subnet.as_str().unwrap());
        prop_assert_eq!(default_floating_subnet(&profile, "r", name), expected, "{} in {:#}", name, pools);
        Ok(())
    });
    assert_applied(FOUND, &counts.borrow());
}
