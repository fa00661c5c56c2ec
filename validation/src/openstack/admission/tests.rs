use std::collections::HashSet;

use fabric_apis::decode::{Document, documents};
use serde_json::json;

use super::*;

#[test]
fn each_kind_stands_once_in_a_webhook_and_under_one_name() {
    let mut seen = HashSet::new();
    for entry in ENTRIES {
        assert!(seen.insert((entry.webhook, entry.group, entry.kind)), "{} twice", entry.kind);
        assert_eq!(entry.plural, format!("{}s", entry.kind.to_lowercase()));
        assert!(entry.operations.contains(&Create), "{}", entry.kind);
        let api_version = match entry.group {
            "" => entry.version.to_owned(),
            group => format!("{group}/{}", entry.version),
        };
        assert!(entry.is_for(&api_version, entry.kind));
        assert!(!entry.is_for("example.org/v1", entry.kind) && !entry.is_for(&api_version, "Other"));
    }
    let counted: usize = Webhook::ALL.iter().map(|webhook| entries(*webhook).count()).sum();
    assert_eq!(counted, ENTRIES.len());
    let paths: HashSet<&str> = Webhook::ALL.iter().map(|webhook| webhook.path()).collect();
    assert_eq!(paths.len(), Webhook::ALL.len());
}

#[test]
fn judging_is_never_done_by_the_entry_that_presets() {
    let judging = entry("core.gardener.cloud/v1beta1", "Shoot").unwrap();
    assert_eq!(judging.webhook, Webhook::Validate);
    let shoot =
        documents("", br#"{"spec": {"networking": {"type": "calico"}, "provider": {"workers": [{}]}}}"#).unwrap();
    let reviewed = Reviewed::create(&shoot[0]);
    let presetting = entries(Webhook::Mutate).next().unwrap().open(reviewed);
    let judging = judging.open(reviewed);
    let (defaults, resolved) = (Defaults::default(), Resolved::new());
    assert!(presetting.judge(&resolved).is_empty());
    assert!(presetting.references(&resolved).is_empty());
    assert_eq!(presetting.mutate(&resolved, &defaults).unwrap().len(), 1);
    assert!(!judging.judge(&resolved).is_empty());
    assert!(judging.mutate(&resolved, &defaults).unwrap().is_empty());
    assert!(entry("core.gardener.cloud/v1beta1", "Seed").is_none());
    assert!(entry("core.gardener.cloud/v1alpha1", "Shoot").is_none());
}

#[test]
fn values_are_read_by_path_and_null_is_absent() {
    let document = |value| Document { index: 0, value, duplicates: Vec::new() };
    let new = document(json!({"metadata": {"namespace": "n", "deletionTimestamp": null}, "spec": {"a": null, "b": 1}}));
    let old = document(json!({"spec": {"b": 2}}));
    let create = Reviewed::create(&new);
    assert_eq!((create.namespace(), create.is_in_deletion(), create.old_at("spec")), ("n", false, None));
    assert!(!create.is_unchanged("spec.a"), "nothing to compare with");
    let update = Reviewed::update(&new, &old);
    assert_eq!(
        (update.at("spec.a"), update.at("spec.b"), update.old_at("spec.b")),
        (None, Some(&json!(1)), Some(&json!(2)))
    );
    assert!(update.is_unchanged("spec.a") && !update.is_unchanged("spec.b"));
}

#[test]
fn a_reference_reads_like_a_name_and_hides_what_was_found() {
    let cases = [
        (Reference::new(ReferenceKind::Secret, "garden-dev", "a"), "Secret garden-dev/a", "v1", "secrets"),
        (
            Reference::new(ReferenceKind::CloudProfile, "ignored", "a"),
            "CloudProfile a",
            "core.gardener.cloud/v1beta1",
            "cloudprofiles",
        ),
        (
            Reference::new(ReferenceKind::CredentialsBinding, "p", "a"),
            "CredentialsBinding p/a",
            "security.gardener.cloud/v1alpha1",
            "credentialsbindings",
        ),
        (
            Reference::new(ReferenceKind::Cluster, "p", "a"),
            "Cluster a",
            "extensions.gardener.cloud/v1alpha1",
            "clusters",
        ),
    ];
    let mut resolved = Resolved::new();
    for (reference, text, api_version, plural) in cases {
        assert_eq!(reference.to_string(), text);
        assert_eq!((reference.kind.api_version(), reference.kind.plural()), (api_version, plural));
        resolved.insert(reference, Lookup::Found(json!({"data": {"password": "aHVzaA=="}})));
    }
    assert!(!format!("{resolved:?}").contains("aHVzaA"), "{resolved:?}");
}
