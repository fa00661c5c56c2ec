use serde_json::json;

use super::*;

fn object(annotations: Value, leaves: bool, last: Option<(&str, &str)>) -> Value {
    json!({
        "metadata": {
            "annotations": annotations,
            "deletionTimestamp": leaves.then_some("2026-01-01T00:00:00Z"),
            "finalizers": [FINALIZER],
            "generation": 2,
        },
        "spec": { "type": "openstack" },
        "status": { "lastOperation": last.map(|(type_, state)| json!({ "type": type_, "state": state })), "observedGeneration": 2 },
    })
}

fn facts(operation: Option<&str>, leaves: bool, last: Option<(&str, &str)>) -> Facts {
    let annotations = operation.map_or(json!({}), |operation| json!({ OPERATION: operation }));
    Facts::of(&object(annotations, leaves, last))
}

#[test]
fn type_and_class_decide_whose_an_object_is() {
    let shoot = ["shoot".to_owned()];
    let of = |type_: &str, class: Option<&str>| Facts {
        type_: type_.to_owned(),
        class: class.map(str::to_owned),
        ..Facts::default()
    };
    for (type_, class, classes, ours) in [
        ("openstack", None, &shoot[..], true),
        ("openstack", Some(""), &shoot[..], true),
        ("openstack", Some("shoot"), &shoot[..], true),
        ("openstack", Some("garden"), &shoot[..], false),
        ("openstack", Some("garden"), &["shoot".to_owned(), "garden".to_owned()][..], true),
        ("aws", None, &shoot[..], false),
        ("", None, &shoot[..], false),
    ] {
        assert_eq!(of(type_, class).is_ours(classes), ours, "{type_} {class:?}");
    }
}

#[test]
fn the_annotation_the_deletion_and_the_last_operation_decide_what_is_done() {
    use Operation::{Create, Delete, Migrate, Reconcile, Restore};
    for (annotation, leaves, last, wanted) in [
        (Some("migrate"), false, Some(("Reconcile", "Succeeded")), Migrate),
        (Some("migrate"), true, Some(("Reconcile", "Succeeded")), Migrate),
        (Some("restore"), true, None, Delete),
        (Some("restore"), false, None, Restore),
        (Some("restore"), false, Some(("Migrate", "Succeeded")), Restore),
        (Some("reconcile"), true, Some(("Reconcile", "Succeeded")), Delete),
        (None, true, Some(("Delete", "Error")), Delete),
        (None, false, None, Create),
        (Some("reconcile"), false, None, Create),
        (None, false, Some(("Create", "Error")), Create),
        (Some("reconcile"), false, Some(("Create", "Processing")), Create),
        (None, false, Some(("Migrate", "Error")), Migrate),
        (None, false, Some(("Restore", "Processing")), Restore),
        (None, false, Some(("Delete", "Error")), Reconcile),
        (Some("reconcile"), false, Some(("Create", "Succeeded")), Reconcile),
        (Some("reconcile"), false, Some(("Reconcile", "Error")), Reconcile),
        (Some("reconcile"), false, Some(("Restore", "Succeeded")), Reconcile),
    ] {
        let due = due(&facts(annotation, leaves, last), false, false);
        assert_eq!(due, Due::Operation(wanted), "{annotation:?} {leaves} {last:?}");
    }
}

#[test]
fn nothing_is_done_while_it_waits_after_a_migration_and_for_a_failed_shoot() {
    let nothing = |facts: &Facts, is_failed: bool| matches!(due(facts, is_failed, false), Due::Nothing(_));
    assert!(nothing(&facts(Some("wait-for-state"), false, None), false));
    assert!(nothing(&facts(Some("reconcile"), false, Some(("Migrate", "Succeeded"))), false));
    assert!(nothing(&facts(None, false, Some(("Migrate", "Succeeded"))), false));
    assert!(nothing(&facts(Some("reconcile"), false, Some(("Reconcile", "Error"))), true));
    let mut loose = facts(None, true, Some(("Reconcile", "Succeeded")));
    loose.is_kept = false;
    assert!(nothing(&loose, false), "a deletion without our finalizer");
}

#[test]
fn what_has_succeeded_is_only_looked_at() {
    assert_eq!(due(&facts(None, false, Some(("Reconcile", "Succeeded"))), false, false), Due::Look);
    assert_eq!(due(&facts(None, false, Some(("Create", "Succeeded"))), false, true), Due::Look);
    let mut newer = facts(None, false, Some(("Create", "Succeeded")));
    newer.generation = 3;
    assert_eq!(due(&newer, false, false), Due::Look, "without the flag a new generation waits for the annotation");
    assert_eq!(due(&newer, false, true), Due::Operation(Operation::Reconcile));
}

#[test]
fn of_changes_only_those_count_that_somebody_asked_for() {
    let calm = facts(None, false, Some(("Reconcile", "Succeeded")));
    let asked = facts(Some("reconcile"), false, Some(("Reconcile", "Succeeded")));
    let leaving = facts(None, true, Some(("Reconcile", "Succeeded")));
    let broken = facts(None, false, Some(("Reconcile", "Error")));
    let mut newer = calm.clone();
    newer.generation = 3;
    let mut curious = calm.clone();
    curious.asks = true;
    // old, new, status unchanged, flag, due
    for (old, new, same, ignore, wanted) in [
        (&calm, &asked, true, false, true),
        // gardenlet writes the annotation while a status is being written: both come as one change.
        (&calm, &asked, false, false, true),
        // Our own status, while `migrate` or `restore` is still there.
        (&asked, &asked, false, false, false),
        (&asked, &asked, true, false, true),
        (&calm, &leaving, true, false, true),
        (&leaving, &leaving, true, false, true),
        (&leaving, &leaving, false, false, false),
        (&calm, &newer, true, false, false),
        (&calm, &newer, true, true, true),
        (&calm, &calm, true, true, false),
        (&calm, &asked, true, true, false),
        (&broken, &broken, true, false, false),
        (&calm, &broken, false, false, false),
        (&calm, &curious, true, false, true),
        (&curious, &curious, true, false, false),
    ] {
        assert_eq!(is_update_due(old, new, same, ignore), wanted, "{old:?}\n{new:?}\n{same} {ignore}");
    }
}

#[test]
fn an_object_of_which_little_can_be_read_has_facts_all_the_same() {
    let odd = json!({ "metadata": { "annotations": { OPERATION: 1 }, "finalizers": "x" }, "spec": 5, "status": [] });
    assert_eq!(Facts::of(&odd), Facts::default());
}

#[test]
fn only_the_word_true_asks() {
    let asks = |value: Value| Facts::of(&object(json!({ asks::PLAN: value }), false, None)).asks;
    assert!(asks(json!("true")) && !asks(json!("false")) && !asks(json!("")));
}

#[test]
fn a_failure_says_at_which_stage_and_keeps_its_codes() {
    let told = |stage| Told {
        stage,
        text: "spec.providerConfig.networks.id: Not found".to_owned(),
        codes: vec![Code::ConfigurationProblem],
        task: Some("ensure network".to_owned()),
    };
    for (operation, stage, prefix) in [
        (Operation::Create, Stage::Check, "Error checking infrastructure config: spec."),
        (Operation::Reconcile, Stage::Work, "Error reconciling infrastructure: spec."),
        (Operation::Restore, Stage::Work, "Error restoring Infrastructure: spec."),
        (Operation::Delete, Stage::Work, "Error deleting Infrastructure: spec."),
        (Operation::Migrate, Stage::Work, "Error migrating Infrastructure: spec."),
    ] {
        let (last, error) = failed(operation, &told(stage), Timestamp::UNIX_EPOCH);
        assert!(last.description.starts_with(prefix), "{}", last.description);
        assert_eq!((last.state.as_str(), last.progress, last.type_.as_str()), ("Error", 50, operation.as_str()));
        assert_eq!(error.description, last.description);
        assert_eq!(error.codes, ["ERR_CONFIGURATION_PROBLEM"]);
        assert_eq!(error.task_id.as_deref(), Some("ensure network"));
    }
}

#[test]
fn an_operation_says_that_it_runs_how_far_it_is_and_that_it_ended() {
    let now = Timestamp::UNIX_EPOCH;
    for (operation, begins, ends) in [
        (Operation::Create, "Reconciling the infrastructure", "Successfully reconciled infrastructure"),
        (Operation::Reconcile, "Reconciling the infrastructure", "Successfully reconciled infrastructure"),
        (Operation::Delete, "Deleting the Infrastructure", "Successfully deleted Infrastructure"),
        (Operation::Migrate, "Starting migration of the Infrastructure", "Successfully migrated Infrastructure"),
        (Operation::Restore, "Restoring the Infrastructure", "Successfully restored Infrastructure"),
    ] {
        let last = processing(operation, 1, None, now);
        assert_eq!((last.description.as_str(), last.progress, last.state.as_str()), (begins, 1, "Processing"));
        let last = processing(operation, 60, Some("ensure router interface"), now);
        assert_eq!(last.description, format!("{begins}: ensure router interface"));
        let last = succeeded(operation, now);
        assert_eq!((last.description.as_str(), last.progress, last.state.as_str()), (ends, 100, "Succeeded"));
    }
}

#[test]
fn a_deletion_is_forced_by_a_word_that_go_takes_for_true() {
    let forced = |value: &str| is_deletion_forced(&json!({ "metadata": { "annotations": { FORCE_DELETION: value } } }));
    assert!(forced("true") && forced("1") && !forced("false") && !forced("yes") && !forced(""));
    assert!(!is_deletion_forced(&json!({})));
}

#[test]
fn a_shoot_has_failed_when_its_last_operation_has() {
    let failed = |state: &str| has_failed(&json!({ "status": { "lastOperation": { "state": state } } }));
    assert!(failed("Failed") && !failed("Error") && !has_failed(&json!({})));
}
