//! Which external network a shoot may use, and what the operator preset for it.
//!
//! Two searches exist and differ on purpose, because upstream's two do: [`find_floating_pool`] decides at admission
//! whether a name is allowed, [`default_floating_subnet`] finds a preset while reconciling.

use std::collections::BTreeSet;

use fabric_apis::field::{Error, ErrorList, Path};
use fabric_apis::openstack::v1alpha1::{CloudProfileConfig, FloatingPool, InfrastructureConfig};

/// Rule: the floating pool is one that the profile offers to this domain in this region. To be asked for a new config
/// and for one whose `floatingPoolName` changed. `path` is the config's.
pub fn validate(
    config: &InfrastructureConfig,
    profile: &CloudProfileConfig,
    domain: &str,
    region: &str,
    path: &Path<'_>,
) -> ErrorList {
    let name = config.floating_pool_name.as_str();
    match find_floating_pool(&profile.constraints.floating_pools, domain, region, name) {
        Ok(_) => ErrorList::new(),
        Err(allowed) => Error::not_supported(&path.child("floatingPoolName"), name, &allowed).into(),
    }
}

/// Finds the pool that allows `name`, from the most special place to the most general: pools of exactly this domain
/// and region; pools of the region and pools of the domain; pools of everywhere. Constraining pools of one place hide
/// the constraining ones of the next.
///
/// # Errors
/// The names that would be allowed, sorted.
pub fn find_floating_pool<'a>(
    pools: &'a [FloatingPool],
    domain: &str,
    region: &str,
    name: &str,
) -> Result<&'a FloatingPool, Vec<&'a str>> {
    let mut search = Search { pools, name, additional: BTreeSet::new() };
    let exact = search.stage(Some(domain), Some(region), false);
    if let Some(pool) = exact.best {
        return Ok(pool);
    }
    // A name must be allowed by region and by domain where both constrain it.
    let hidden = !exact.constraining.is_empty();
    let regional = search.stage(None, Some(region), hidden);
    let by_domain = search.stage(Some(domain), None, hidden);
    match (regional.best, by_domain.best) {
        (Some(pool), Some(_)) => return Ok(pool),
        (Some(pool), None) if by_domain.constraining.is_empty() => return Ok(pool),
        (None, Some(pool)) if regional.constraining.is_empty() => return Ok(pool),
        _ => {}
    }
    let mut allowed = match (regional.constraining.is_empty(), by_domain.constraining.is_empty()) {
        (false, false) => regional.constraining.intersection(&by_domain.constraining).copied().collect(),
        (false, true) => regional.constraining,
        (true, false) => by_domain.constraining,
        (true, true) => exact.constraining,
    };
    let hidden = !allowed.is_empty();
    let global = search.stage(None, None, hidden);
    if let Some(pool) = global.best {
        return Ok(pool);
    }
    allowed.extend(global.constraining);
    allowed.extend(search.additional);
    Err(allowed.into_iter().collect())
}

struct Search<'a, 'n> {
    pools: &'a [FloatingPool],
    name: &'n str,
    /// Names of pools that are offered in addition to the constraining ones, from all stages so far.
    additional: BTreeSet<&'a str>,
}

struct Stage<'a> {
    best: Option<&'a FloatingPool>,
    constraining: BTreeSet<&'a str>,
}

impl<'a> Search<'a, '_> {
    /// Looks at the pools of exactly this place (`None` = the pool names no domain, no region).
    fn stage(&mut self, domain: Option<&str>, region: Option<&str>, constraining_hidden: bool) -> Stage<'a> {
        let mut stage = Stage { best: None, constraining: BTreeSet::new() };
        let mut best_score = 0;
        for pool in self.pools {
            if pool.domain.as_deref() != domain || pool.region.as_deref() != region {
                continue;
            }
            if !pool.is_constraining() {
                self.additional.insert(&pool.name);
            } else if constraining_hidden {
                continue;
            } else {
                stage.constraining.insert(&pool.name);
            }
            if let Some(score) = wildcard_score(&pool.name, self.name)
                && (stage.best.is_none() || score > best_score)
            {
                stage.best = Some(pool);
                best_score = score;
            }
        }
        stage
    }
}

/// The external subnet pattern that the profile presets for a router of ours, when the config names none.
///
/// Unlike [`find_floating_pool`], only pools with exactly this region count, whatever their domain; constraining pools
/// go first; and a pool named `*` never counts.
pub fn default_floating_subnet<'a>(profile: &'a CloudProfileConfig, region: &str, pool_name: &str) -> Option<&'a str> {
    let find = |constraining: bool| {
        let mut best: Option<&FloatingPool> = None;
        let mut best_score = 0;
        for pool in &profile.constraints.floating_pools {
            if pool.region.as_deref() != Some(region) || pool.is_constraining() != constraining {
                continue;
            }
            if let Some(score) = wildcard_score(&pool.name, pool_name)
                && score > best_score
            {
                best = Some(pool);
                best_score = score;
            }
        }
        best
    };
    find(true).or_else(|| find(false))?.default_floating_subnet.as_deref()
}

/// How well `pattern` (`*`, `prefix*`, `*suffix` or a whole name) fits: the number of characters it fixes, one more
/// for a whole name. `None` when it doesn't fit.
fn wildcard_score(pattern: &str, text: &str) -> Option<usize> {
    if pattern == "*" {
        Some(0)
    } else if let Some(suffix) = pattern.strip_prefix('*') {
        text.ends_with(suffix).then_some(suffix.len())
    } else if let Some(prefix) = pattern.strip_suffix('*') {
        text.starts_with(prefix).then_some(prefix.len())
    } else {
        (pattern == text).then_some(pattern.len() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(name: &str, domain: Option<&str>, region: Option<&str>) -> FloatingPool {
        FloatingPool {
            name: name.to_owned(),
            domain: domain.map(str::to_owned),
            region: region.map(str::to_owned),
            default_floating_subnet: Some(format!("{name}-subnet")),
            ..FloatingPool::default()
        }
    }

    fn extra(mut pool: FloatingPool) -> FloatingPool {
        pool.non_constraining = Some(true);
        pool
    }

    const D: Option<&str> = Some("d");
    const R: Option<&str> = Some("r");

    #[test]
    fn a_pool_is_found_from_the_most_special_place_outwards() {
        // Pools, asked name, found index or the allowed names.
        type Case = (&'static str, Vec<FloatingPool>, &'static str, Result<usize, &'static str>);
        let cases: Vec<Case> = vec![
            ("no pool at all", vec![], "a", Err("")),
            ("global", vec![pool("a", None, None)], "a", Ok(0)),
            ("global, other name", vec![pool("a", None, None), pool("b", None, None)], "c", Err("a,b")),
            ("another region does not count", vec![pool("a", None, Some("x"))], "a", Err("")),
            ("another domain does not count", vec![pool("a", Some("x"), None)], "a", Err("")),
            ("region hides global", vec![pool("a", None, None), pool("b", None, R)], "a", Err("b")),
            ("domain hides global", vec![pool("a", None, None), pool("b", D, None)], "a", Err("b")),
            ("exact hides region", vec![pool("a", None, R), pool("b", D, R)], "a", Err("b")),
            ("exact wins over global", vec![pool("a", None, None), pool("a", D, R)], "a", Ok(1)),
            ("region and domain agree: region's", vec![pool("a", D, None), pool("a", None, R)], "a", Ok(1)),
            ("region alone, domain constrains otherwise", vec![pool("b", D, None), pool("a", None, R)], "a", Err("")),
            ("domain alone, region constrains otherwise", vec![pool("a", D, None), pool("b", None, R)], "a", Err("")),
            (
                "both constrain: the intersection",
                vec![pool("a", D, None), pool("b", D, None), pool("b", None, R), pool("c", None, R)],
                "z",
                Err("b"),
            ),
            ("an extra pool hides nothing", vec![pool("a", None, None), extra(pool("b", None, R))], "a", Ok(0)),
            ("an extra pool beside hidden ones", vec![extra(pool("a", None, None)), pool("b", None, R)], "a", Ok(0)),
            ("extra pools are listed", vec![extra(pool("a", None, None)), pool("b", None, R)], "z", Err("a,b")),
            ("any name", vec![pool("*", None, None)], "z", Ok(0)),
            ("a longer prefix fits better", vec![pool("f*", None, None), pool("fip-*", None, None)], "fip-1", Ok(1)),
            ("a suffix", vec![pool("*-ext", None, None)], "a-ext", Ok(0)),
            ("the whole name fits best", vec![pool("fip-*", None, None), pool("fip-1", None, None)], "fip-1", Ok(1)),
            ("the first of equals", vec![pool("fip*", None, None), pool("fip*", None, None)], "fip", Ok(0)),
        ];
        for (case, pools, name, expected) in cases {
            let found = find_floating_pool(&pools, "d", "r", name);
            match expected {
                Ok(index) => assert!(found.is_ok_and(|pool| std::ptr::eq(pool, &pools[index])), "{case}"),
                Err(allowed) => assert_eq!(found.map_err(|names| names.join(",")), Err(allowed.to_owned()), "{case}"),
            }
        }
    }

    #[test]
    fn a_name_that_is_not_offered_is_told_with_the_offered_ones() {
        let config = InfrastructureConfig { floating_pool_name: "z".to_owned(), ..Default::default() };
        let mut profile = CloudProfileConfig::default();
        profile.constraints.floating_pools = vec![pool("b", None, None), pool("a", None, None)];
        let errors = validate(&config, &profile, "d", "r", &Path::new("spec.provider.infrastructureConfig"));
        assert_eq!(
            errors.to_string(),
            r#"spec.provider.infrastructureConfig.floatingPoolName: Unsupported value: "z": supported values: "a", "b""#
        );
    }

    #[test]
    fn the_preset_subnet_comes_from_a_pool_of_the_region_only() {
        let cases: Vec<(&str, Vec<FloatingPool>, Option<&str>)> = vec![
            ("global pools never count", vec![pool("fip", None, None)], None),
            ("the domain does not matter", vec![pool("fip", Some("x"), R)], Some("fip-subnet")),
            ("`*` never counts", vec![pool("*", None, R)], None),
            ("a better wildcard", vec![pool("f*", None, R), pool("fi*", None, R)], Some("fi*-subnet")),
            ("constraining first", vec![extra(pool("fip", None, R)), pool("f*", None, R)], Some("f*-subnet")),
            ("an extra pool after all", vec![extra(pool("fip", None, R)), pool("x", None, R)], Some("fip-subnet")),
        ];
        for (case, pools, expected) in cases {
            let mut profile = CloudProfileConfig::default();
            profile.constraints.floating_pools = pools;
            assert_eq!(default_floating_subnet(&profile, "r", "fip"), expected, "{case}");
        }
    }
}
