//! Patterns of names, on the first line, and a name, on the second: both kinds against a plain reading of what they mean.

#![no_main]

use fabric_apis::openstack::v1alpha1::{CloudProfileConfig, FloatingPool};
use fabric_fuzz::begin;
use fabric_infrastructure::pattern::Pattern;
use fabric_validation::openstack::cloud_profile::{default_floating_subnet, find_floating_pool};
use libfuzzer_sys::fuzz_target;
use regex::Regex;

fn seeds() -> Vec<Vec<u8>> {
    let all = [
        "*\npublic",
        "pub*\npublic",
        "*lic\npublic",
        "public\npublic",
        "p*c\npublic",
        "!pub-?\npub-a",
        "~a|b\nab",
        "~(a)(b\nab",
        "[a-c]\nb",
        "{a,b}*\nab",
        "**\n*",
        "\n",
    ];
    all.map(|text| text.as_bytes().to_vec()).to_vec()
}

fn pool(name: &str, region: Option<&str>) -> FloatingPool {
    FloatingPool {
        name: name.to_owned(),
        region: region.map(str::to_owned),
        default_floating_subnet: Some("preset".to_owned()),
        ..FloatingPool::default()
    }
}

/// Whether a pool's name allows `name`: `*` counts only alone, in front or at the end.
fn allows(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (None, Some(start)) => name.starts_with(start),
        (None, None) => pattern == name,
    }
}

fn pools(pattern: &str, name: &str) {
    let everywhere = [pool(pattern, None)];
    let found = find_floating_pool(&everywhere, "domain", "region", name);
    assert_eq!(found.is_ok(), allows(pattern, name), "{pattern:?} for {name:?}");
    if let Err(allowed) = found {
        assert_eq!(allowed, [pattern]);
    }
    let mut profile = CloudProfileConfig::default();
    profile.constraints.floating_pools = vec![pool(pattern, Some("region"))];
    let preset = default_floating_subnet(&profile, "region", name);
    // A part that fixes nothing presets nothing.
    assert_eq!(preset.is_some(), allows(pattern, name) && pattern != "*", "{pattern:?} for {name:?}");
}

fn subnets(pattern: &str, name: &str) {
    let Ok(parsed) = Pattern::parse(pattern) else { return };
    let matches = parsed.matches(name);
    let negated = pattern.strip_prefix('!');
    let rest = negated.unwrap_or(pattern);
    let hit = matches != negated.is_some();
    if let Some(regex) = rest.strip_prefix('~') {
        let alone = Regex::new(regex).expect("what is accepted is a regular expression by itself");
        assert!(!hit || alone.is_match(name), "{pattern:?} for {name:?}");
    } else if !rest.is_empty() && rest.chars().all(|letter| letter.is_alphanumeric() || letter == '-') {
        assert_eq!(hit, rest == name, "{pattern:?} for {name:?}");
    }
}

fn words() -> Vec<String> {
    ["**", "(?:", "(?x)", "(?-u)", "[^", "[[", "{1,", "{a,b}", "\\b", "\\pL", "!~"].map(str::to_owned).to_vec()
}

fuzz_target!(init: begin(seeds(), words()), |data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (pattern, name) = text.split_once('\n').unwrap_or((text, ""));
    pools(pattern, name);
    subnets(pattern, name);
});
