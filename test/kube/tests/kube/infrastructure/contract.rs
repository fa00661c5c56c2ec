//! Gardener's contract (§3.1), as gardenlet sees it, on the embedded cloud.

use std::time::Duration;

use fabric_openstack_sim::{Action, Fault};
use fabric_test_program::{Property, cases};
use serde_json::{Value, json};

use super::seed::{OPERATION, Seed, WORKERS, has_failed, in_seed, is_ready};

const FINALIZER: &str = "extensions.gardener.cloud/infrastructure";

fn managed() -> Value {
    json!({ "workers": WORKERS })
}

/// The status, without times.
pub(super) fn told(object: &Value) -> Value {
    let mut status = object["status"].clone();
    status["lastOperation"].as_object_mut().unwrap().remove("lastUpdateTime");
    status
}

#[test]
fn an_infrastructure_is_made_kept_found_again_and_taken_away() {
    in_seed(async |seed: Seed| {
        let before = seed.content();
        let controller = seed.controller(&[]).await;
        seed.create(seed.infrastructure(managed())).await;
        let made = seed.ready().await;
        let status = &made["status"];
        assert_eq!(status["lastOperation"]["type"], "Create");
        assert_eq!(status["lastOperation"]["progress"], 100);
        assert_eq!(status["lastOperation"]["description"], "Successfully reconciled infrastructure");
        assert_eq!(made["metadata"]["finalizers"], json!([FINALIZER]));
        assert_eq!(status["networking"]["nodes"], json!([WORKERS]));
        assert_eq!(status["networking"]["pods"], json!(["100.96.0.0/11"]));
        let provider = &status["providerStatus"];
        let ips = provider["networks"]["router"]["externalFixedIP"].as_array().unwrap();
        let hosts = ips.iter().map(|ip| ip.as_str().unwrap());
        let hosts: Vec<String> = hosts.map(|ip| format!("{ip}/{}", if ip.contains(':') { 128 } else { 32 })).collect();
        assert!(!hosts.is_empty());
        assert_eq!(status["egressCIDRs"], json!(hosts));
        assert_eq!(provider["kind"], "InfrastructureStatus");
        assert_eq!(provider["networks"]["name"], seed.name());
        assert_eq!(provider["node"]["keyName"], seed.name());
        assert_eq!(status["state"]["kind"], "InfrastructureState");

        let beat =
            seed.garden.kubectl(["get", "lease", "gardener-extension-heartbeat", "-o", "jsonpath={.spec}"]).await;
        let beat: Value = serde_json::from_str(&beat.ends_with(0).stdout).unwrap();
        assert_eq!((&beat["holderIdentity"], &beat["leaseDurationSeconds"]), (&json!("openstack-fabric"), &json!(30)));

        // Once more: nothing is changed, neither there nor here but the operation.
        let (content, calls) = (seed.content(), seed.cloud.calls().mutation_count());
        seed.ask("reconcile").await;
        let again = seed
            .see("reconciled", |object| is_ready(object) && object["status"]["lastOperation"]["type"] == "Reconcile")
            .await;
        let mut expected = told(&made);
        expected["lastOperation"]["type"] = json!("Reconcile");
        assert_eq!(told(&again), expected);
        assert_eq!(seed.cloud.calls().mutation_count(), calls);
        assert_eq!(seed.content(), content);

        // R2: whatever was remembered is found again.
        seed.patch_status(json!({ "state": null, "providerStatus": null })).await;
        seed.ask("reconcile").await;
        let found = seed.see("found again", |object| is_ready(object) && !object["status"]["state"].is_null()).await;
        assert_eq!(found["status"]["providerStatus"], *provider);
        assert_eq!(seed.cloud.calls().mutation_count(), calls, "nothing is made twice");

        seed.api().delete("openstack", &Default::default()).await.unwrap();
        seed.see("gone", Value::is_null).await;
        assert_eq!(seed.content(), before, "what was there before is there, and nothing else");
        let log = controller.stop().await;
        assert!(!log.contains("panicked") && !log.contains("\"demo\""), "{log}");
    });
}

#[test]
fn a_wrong_specification_is_told_with_its_code_and_mended() {
    in_seed(async |seed: Seed| {
        let controller = seed.controller(&[]).await;
        let mut object = seed.infrastructure(managed());
        object["spec"]["providerConfig"]["floatingPoolName"] = json!("nowhere");
        seed.create(object).await;
        let broken = seed.see("failed", has_failed).await;
        let status = &broken["status"];
        let error = &status["lastError"];
        assert_eq!(error["codes"], json!(["ERR_CONFIGURATION_PROBLEM"]));
        let text = error["description"].as_str().unwrap();
        assert!(
            text.starts_with("Error checking infrastructure config: ") && text.contains("floatingPoolName"),
            "{text}"
        );
        assert_eq!(status["lastOperation"]["description"], error["description"]);
        assert_eq!(status["lastOperation"]["progress"], 50);
        assert_eq!(status["observedGeneration"], broken["metadata"]["generation"]);
        assert_eq!(seed.cloud.calls().mutations().iter().filter(|call| !call.path.contains("tokens")).count(), 0);

        let now = json!({ "metadata": { "annotations": { OPERATION: "reconcile" } },
            "spec": { "providerConfig": { "floatingPoolName": "public" } } });
        seed.patch(now).await;
        let mended = seed.ready().await;
        assert_eq!(mended["status"]["lastOperation"]["type"], "Create", "it never was made before");
        controller.stop().await;
    });
}

#[test]
fn what_was_never_made_goes_with_credentials_that_never_worked() {
    in_seed(async |seed: Seed| {
        let controller = seed.controller(&[]).await;
        let wrong = json!({ "stringData": { "password": "wrong" } }).to_string();
        let told = seed.garden.kubectl(["patch", "secret", "cloudprovider", "-p", &wrong]).await;
        assert_eq!(told.code, 0, "{}", told.stderr);
        seed.create(seed.infrastructure(managed())).await;
        let broken = seed.see("failed", has_failed).await;
        assert_eq!(broken["status"]["lastError"]["codes"], json!(["ERR_INFRA_UNAUTHENTICATED"]));
        seed.api().delete("openstack", &Default::default()).await.unwrap();
        seed.see("gone", Value::is_null).await;
        controller.stop().await;
    });
}

#[test]
fn r6_a_control_plane_moves_without_a_call_that_changes_the_cloud() {
    in_seed(async |seed: Seed| {
        let mut property = Property::new("R6", "moved_control_planes");
        let Some(second) = seed.garden.twin().await else { return };
        let next = seed.at(second.clone()).await;
        let shares = json!({ "workers": WORKERS, "shareNetwork": { "enabled": true } });
        for round in 0..cases("R6", 1, 20) {
            let networks = if round % 2 == 0 { managed() } else { shares.clone() };
            property.case(format!("round {round}"), moved(&seed, &next, &networks)).await;
        }
        second.leave().await;
        property.end();
    });
}

/// Made in one seed, moved to another one on an apiserver of its own, deleted there.
async fn moved(seed: &Seed, next: &Seed<()>, networks: &Value) {
    let before = seed.content();
    let controller = seed.controller(&[]).await;
    seed.create(seed.infrastructure(networks.clone())).await;
    let made = seed.ready().await;
    let (content, calls, total) = (seed.content(), seed.cloud.calls().mutation_count(), seed.cloud.calls().total());
    seed.ask("migrate").await;
    let left =
        seed.see("migrated", |object| object["status"]["lastOperation"]["type"] == "Migrate" && is_ready(object)).await;
    assert_eq!(left["metadata"].get("finalizers"), None);
    assert_eq!(left["status"]["state"], made["status"]["state"], "the state travels");
    // After a migration nobody but the next seed acts.
    seed.ask("reconcile").await;
    seed.api().delete("openstack", &Default::default()).await.unwrap();
    seed.see("gone", Value::is_null).await;
    controller.stop().await;
    assert_eq!(seed.cloud.calls().total(), total, "a migration asks the cloud nothing");

    // The next seed: gardenlet makes the object, writes the state, and asks.
    let controller = next.controller(&[]).await;
    let mut object = next.infrastructure(networks.clone());
    object["metadata"]["annotations"][OPERATION] = json!("wait-for-state");
    next.create(object).await;
    next.patch_status(json!({ "state": made["status"]["state"] })).await;
    next.ask("restore").await;
    let restored = next.ready().await;
    assert_eq!(restored["status"]["lastOperation"]["type"], "Restore");
    assert_eq!(restored["status"]["providerStatus"], made["status"]["providerStatus"]);
    let changed = &seed.cloud.calls().mutations()[usize::try_from(calls).unwrap()..];
    assert!(changed.iter().all(|call| call.path.ends_with("/auth/tokens")), "{changed:?}");
    assert_eq!(seed.content(), content);
    next.api().delete("openstack", &Default::default()).await.unwrap();
    next.see("gone", Value::is_null).await;
    controller.stop().await;
    assert_eq!(seed.content(), before);
}

#[test]
fn a_forced_deletion_lets_go_and_leaves_the_cloud_as_it_is() {
    in_seed(async |seed: Seed| {
        let controller = seed.controller(&[]).await;
        seed.create(seed.infrastructure(managed())).await;
        seed.ready().await;
        let (content, total) = (seed.content(), seed.cloud.calls().total());
        let forced = json!({ "spec": { "shoot": { "metadata": { "annotations": {
            "confirmation.gardener.cloud/force-deletion": "true" } } } } });
        let clusters = seed.garden.api("extensions.gardener.cloud", "clusters");
        let patch = kube::api::Patch::Merge(forced);
        clusters.patch(seed.name(), &Default::default(), &patch).await.unwrap();
        seed.api().delete("openstack", &Default::default()).await.unwrap();
        seed.see("gone", Value::is_null).await;
        assert_eq!(seed.content(), content);
        assert_eq!(seed.cloud.calls().total(), total);
        controller.stop().await;
    });
}

#[test]
fn a_stop_in_the_middle_keeps_what_was_done_and_the_next_one_goes_on() {
    in_seed(async |seed: Seed| {
        let before = seed.content();
        let slow = Action::Latency(Duration::from_secs(2));
        let slow = seed.cloud.faults().add(Fault::on("POST", "/v2.0/routers", slow)).unwrap();
        let first = seed.controller(&[]).await;
        seed.create(seed.infrastructure(managed())).await;
        seed.see("a state", |object| object["status"]["state"]["data"]["Network"].is_string()).await;
        let log = first.stop().await;
        assert!(!log.contains("panicked"), "{log}");
        let stopped = seed.object().await;
        assert_eq!(stopped["status"]["lastOperation"]["state"], "Processing", "it is for the next one to go on: {log}");
        let data = &stopped["status"]["state"]["data"];
        assert!(data["Router"].is_string(), "what ran has come to its end: {data}");
        seed.cloud.faults().remove(slow);
        let second = seed.controller(&[]).await;
        let made = seed.ready().await;
        assert_eq!(made["status"]["lastOperation"]["type"], "Create");
        let networks =
            seed.content()["networks"].as_array().unwrap().iter().filter(|it| it["name"] == seed.name()).count();
        assert_eq!(networks, 1);
        seed.api().delete("openstack", &Default::default()).await.unwrap();
        seed.see("gone", Value::is_null).await;
        assert_eq!(seed.content(), before);
        second.stop().await;
    });
}

#[test]
fn an_object_that_cannot_be_read_keeps_no_other_from_being_made() {
    in_seed(async |seed: Seed| {
        let mut odd = seed.infrastructure(managed());
        odd["metadata"]["name"] = json!("odd");
        odd["spec"]["providerConfig"]["networks"] = json!("all");
        seed.create(odd).await;
        seed.create(seed.infrastructure(managed())).await;
        let controller = seed.controller(&[]).await;
        seed.ready().await;
        let odd = fabric_test_kube::until("told", async || {
            let object = serde_json::to_value(seed.api().get("odd").await.unwrap()).unwrap();
            Some(object).filter(has_failed)
        })
        .await;
        let error = &odd["status"]["lastError"];
        assert_eq!(error["codes"], json!(["ERR_CONFIGURATION_PROBLEM"]));
        assert!(error["description"].as_str().unwrap().contains("spec.providerConfig.networks"), "{error}");
        for name in ["odd", "openstack"] {
            seed.api().delete(name, &Default::default()).await.unwrap();
        }
        seed.see("gone", Value::is_null).await;
        controller.stop().await;
    });
}
