//! Every example and every command of the documents, as a reader would use them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests"
)]

use std::{collections::BTreeSet, fs, panic::AssertUnwindSafe};

use fabric_test_docs::{Place, console, examples, root};
use futures::FutureExt;
use serde_json::Value;

/// Documents whose console blocks are run on either cloud.
const DOCUMENTS: [&str; 2] = ["README.md", "docs/usage/flexible-network-configuration.md"];

/// The one that needs a Kubernetes beside the lab's OpenStack.
const ADMISSION: &str = "docs/usage/admission.md";

const NETWORK: [&str; 4] = ["network", "subnet", "router", "router interface"];

/// What each example gives, as its plan tells; whatever else the plan names has to be made.
const GIVEN: [(&str, &[&str]); 10] = [
    ("1-managed", &[]),
    ("2-network", &["network"]),
    ("3-router", &["network", "router"]),
    ("4-subnet", &NETWORK),
    ("5-security-group", &["network", "subnet", "router", "router interface", "security group"]),
    (
        "6-dual-stack-given",
        &["network", "subnet", "router", "router interface", "IPv6 subnet", "IPv6 router interface"],
    ),
    ("7-dual-stack-own", &[]),
    ("8-subnet-pool", &[]),
    ("9-share-network", &NETWORK),
    ("9-share-network-given", &["network", "subnet", "router", "router interface", "share network"]),
];

/// What is made unless it is given.
fn made(example: &str) -> BTreeSet<&'static str> {
    let (_, given) = GIVEN.iter().find(|(name, _)| *name == example).expect("a row for every example");
    let mut made: BTreeSet<&str> = NETWORK.into();
    made.extend(["security group", "security group rule", "key pair"]);
    match example {
        "7-dual-stack-own" => {
            made.extend(["IPv6 subnet", "IPv6 pod subnet", "IPv6 service subnet", "IPv6 router interface"]);
        }
        "9-share-network" => {
            made.insert("share network");
        }
        _ => {}
    }
    if given.contains(&"security group") {
        made.remove("security group rule");
    }
    made.retain(|kind| !given.contains(kind));
    made
}

/// The kinds of a plan's lines with this verb.
fn kinds<'a>(plan: &'a Value, verb: &str) -> BTreeSet<&'a str> {
    let items = plan["items"].as_array().expect("items");
    items.iter().filter(|item| item["verb"] == verb).filter_map(|item| item["kind"].as_str()).collect()
}

fn assert_planned(example: &str, plan: &Value) {
    let (_, given) = GIVEN.iter().find(|(name, _)| *name == example).expect("a row for every example");
    assert_eq!(kinds(plan, "use"), given.iter().copied().collect(), "{example}: {plan:#}");
    assert_eq!(kinds(plan, "create"), made(example), "{example}: {plan:#}");
    assert_eq!(plan["warnings"], serde_json::json!([]), "{example}");
}

/// `-f` for every example of these numbers, filled in.
async fn all(place: &Place, prefixes: &[&str]) -> String {
    let mut words = String::new();
    for name in examples().iter().filter(|name| prefixes.iter().any(|prefix| name.starts_with(prefix))) {
        words.push_str(&format!(" -f {}", place.render(name).await.display()));
    }
    words
}

/// Nothing is wrong and nothing looks wrong with any of them.
fn assert_no_findings(reports: &Value, at_least: usize) {
    let reports = reports.as_array().expect("a list");
    assert!(reports.len() >= at_least, "only {} objects were judged", reports.len());
    for report in reports {
        let none = serde_json::json!([]);
        assert!(report["errors"] == none && report["warnings"] == none, "{report:#}");
    }
}

#[tokio::test]
async fn every_example_is_valid() {
    let place = Place::offline();
    let files = all(&place, &["2", "3", "4"]).await;
    let output = place.fabric(&format!("infra validate{files} --region RegionOne -o json")).await.ends_with(0);
    assert_no_findings(&output.json(), examples().len());
}

#[test]
fn every_pattern_is_there_as_a_config_and_the_same_in_a_shoot() {
    let parse = |name: String| -> Value {
        let text = fs::read_to_string(root().join("examples").join(&name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        serde_yaml::from_str(&text).unwrap()
    };
    for (name, _) in GIVEN {
        let config = parse(format!("30-infrastructure-config-{name}.yaml"));
        let shoot = parse(format!("40-shoot-byo-{name}.yaml"));
        assert_eq!(shoot["spec"]["provider"]["infrastructureConfig"], config, "{name}");
    }
    let numbered = |prefix: &str| examples().iter().filter(|name| name.starts_with(prefix)).count();
    assert_eq!((numbered("30-infrastructure-config-"), numbered("40-shoot-byo-")), (GIVEN.len(), GIVEN.len()));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_example_fits_what_a_user_gives_on_the_embedded_cloud() {
    let place = Place::embedded().await;
    let files = all(&place, &["30-infrastructure-", "40"]).await;
    let validate = format!("infra validate --dynamic{files} --region RegionOne --cloud mycloud -o json");
    assert_no_findings(&place.fabric(&validate).await.ends_with(0).json(), 2 * GIVEN.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn every_shoot_is_made_kept_and_taken_away_on_the_embedded_cloud() {
    let place = Place::embedded().await;
    for (example, _) in GIVEN {
        round(&place, example, &format!("40-shoot-byo-{example}.yaml"), "--cloud mycloud").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_bare_config_plans_the_same_on_the_embedded_cloud() {
    let place = Place::embedded().await;
    for (example, _) in GIVEN {
        let config = place.render(&format!("30-infrastructure-config-{example}.yaml")).await;
        let plan = format!("infra plan -f {} --name shoot--dev--bare --cloud mycloud -o json", config.display());
        assert_planned(example, &place.fabric(&plan).await.ends_with(2).json());
    }
    let more = "--name shoot--dev--bare --cloud mycloud";
    round(&place, "3-router", "30-infrastructure-config-3-router.yaml", more).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_infrastructure_logs_in_with_the_secret_beside_it_on_the_embedded_cloud() {
    let place = Place::embedded().await;
    round(&place, "1-managed", "30-infrastructure.yaml", "").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn both_secrets_log_in_on_the_embedded_cloud() {
    let place = Place::embedded().await;
    let shoot = place.render("40-shoot-byo-4-subnet.yaml").await;
    for name in examples().iter().filter(|name| name.starts_with("25-secret-")) {
        let secret = place.render(name).await;
        let plan = format!("infra plan -f {} --secret {} -o json", shoot.display(), secret.display());
        assert_planned("4-subnet", &place.fabric(&plan).await.ends_with(2).json());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_profile_is_taken_from_beside_a_shoot_on_the_embedded_cloud() {
    let place = Place::embedded().await;
    let files = all(&place, &["20-cloudprofile", "40-shoot-byo-1-"]).await;
    place.fabric(&format!("infra apply{files} --cloud mycloud")).await.ends_with(0);
    // Without the profile the subnet has no business with its name servers.
    let files = all(&place, &["40-shoot-byo-1-"]).await;
    let drift = place.fabric(&format!("infra drift{files} --cloud mycloud -o json")).await.ends_with(2);
    assert!(drift.stdout.contains("dns_nameservers"), "{}", drift.stdout);
}

/// Plan, apply, drift, delete, and a plan that finds nothing of it.
async fn round(place: &Place, example: &str, file: &str, more: &str) {
    let file = place.render(file).await;
    let run = async |verb: &str, more_of_verb: &str| {
        place.fabric(&format!("infra {verb} -f {} {more} {more_of_verb}", file.display())).await
    };
    let before = run("plan", "-o json").await.ends_with(2).json();
    assert_planned(example, &before);
    run("apply", "").await.ends_with(0);
    let drift = run("drift", "-o json").await.ends_with(0).json();
    assert_eq!(kinds(&drift, "create"), BTreeSet::new(), "{example}");
    run("delete", "--yes").await.ends_with(0);
    let after = run("plan", "-o json").await.ends_with(2).json();
    assert_eq!(
        before["items"], after["items"],
        "{example}: something was left, or of what was given something is gone"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_documents_say_what_happens_on_the_embedded_cloud() {
    for document in DOCUMENTS {
        let differences = Place::embedded().await.read(document).await;
        assert!(differences.is_empty(), "{}", differences.join("\n\n"));
    }
}

#[test]
fn the_guide_shows_every_command() {
    let guide = fs::read_to_string(root().join(DOCUMENTS[1])).unwrap();
    let commands: Vec<String> = console::steps(&guide).into_iter().map(|step| step.command).collect();
    for verb in ["validate", "plan", "apply", "status", "drift", "topology", "delete"] {
        let shown = format!("infra {verb}");
        assert!(commands.iter().any(|command| command.contains(&shown)), "no console block shows {shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_example_fits_the_lab() {
    let Some(place) = Place::lab() else { return };
    // The bare configs are the same, and were asked about on the embedded cloud.
    let files = all(&place, &["2", "40"]).await;
    let validate = format!("infra validate --dynamic{files} --cloud mycloud -o json");
    assert_no_findings(&place.fabric(&validate).await.ends_with(0).json(), GIVEN.len());
    for (example, _) in &GIVEN[5..] {
        let file = place.render(&format!("40-shoot-byo-{example}.yaml")).await;
        let plan = format!("infra plan -f {} --cloud mycloud -o json", file.display());
        assert_planned(example, &place.fabric(&plan).await.ends_with(2).json());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pattern_1_is_made_kept_and_taken_away_on_the_lab() {
    round_on_the_lab("1-managed", "40-shoot-byo-1-managed.yaml", "").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pattern_2_is_made_kept_and_taken_away_on_the_lab() {
    round_on_the_lab("2-network", "40-shoot-byo-2-network.yaml", "").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pattern_4_is_made_kept_and_taken_away_on_the_lab() {
    // The README's shoot is the other one of this pattern; both may run at once.
    let name = "--name shoot--dev--alone";
    round_on_the_lab("4-subnet", "30-infrastructure-config-4-subnet.yaml", name).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pattern_5_is_made_kept_and_taken_away_on_the_lab() {
    round_on_the_lab("5-security-group", "40-shoot-byo-5-security-group.yaml", "").await;
}

async fn round_on_the_lab(example: &str, file: &str, more: &str) {
    let Some(place) = Place::lab() else { return };
    let more = format!("--cloud mycloud {more}");
    let outcome = AssertUnwindSafe(round(&place, example, file, &more)).catch_unwind().await;
    swept(&place, &[file], &more, outcome).await;
}

/// The guide takes pattern 3 through its life.
#[tokio::test(flavor = "multi_thread")]
async fn the_documents_say_what_happens_on_the_lab() {
    let Some(place) = Place::lab() else { return };
    for document in DOCUMENTS {
        let read = async {
            let differences = place.read(document).await;
            assert!(differences.is_empty(), "{}", differences.join("\n\n"));
        };
        let outcome = AssertUnwindSafe(read).catch_unwind().await;
        let shoots = ["40-shoot-byo-3-router.yaml", "40-shoot-byo-4-subnet.yaml"];
        swept(&place, &shoots, "--cloud mycloud", outcome).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_guide_to_admission_says_what_happens_on_the_lab() {
    let Some(place) = Place::kube() else { return };
    let differences = place.read(ADMISSION).await;
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

/// Deletes what a failed test made, then fails.
async fn swept(place: &Place, files: &[&str], more: &str, outcome: std::thread::Result<()>) {
    let Err(panic) = outcome else { return };
    for file in files {
        let file = place.render(file).await;
        place.fabric(&format!("infra delete -f {} {more} --yes", file.display())).await;
    }
    std::panic::resume_unwind(panic);
}
