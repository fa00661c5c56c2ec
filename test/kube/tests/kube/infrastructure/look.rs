//! What happens between two reconciles: drift, dry runs, repairs.

use fabric_openstack_sim::Service;
use fabric_test_kube::until;
use serde_json::{Value, json};

use super::seed::{Seed, WORKERS, in_seed, is_ready};
use crate::program::Program;

const PLAN: &str = "fabric.extensions.gardener.cloud/plan";
const REPAIR: &str = "fabric.extensions.gardener.cloud/repair";

fn condition<'a>(object: &'a Value, type_: &str) -> &'a Value {
    let all = object["status"]["conditions"].as_array();
    all.and_then(|all| all.iter().find(|it| it["type"] == type_)).unwrap_or(&Value::Null)
}

/// Takes a rule out of the shoot's security group, as somebody with a console would.
fn lose_a_rule(seed: &Seed) -> String {
    let rules = seed.content()["security_group_rules"].clone();
    let rule = rules.as_array().unwrap().iter().find(|rule| rule["port_range_min"] == 30000).unwrap()["id"].clone();
    let path = format!("/v2.0/security-group-rules/{}", rule.as_str().unwrap());
    assert_eq!(seed.cloud.user("demo").unwrap().delete(Service::Network, &path).status, 204);
    rule.as_str().unwrap().to_owned()
}

async fn count(program: &Program, line: &str) -> f64 {
    let (_, text) = program.get("/metrics").await;
    let found = text.lines().find_map(|it| it.strip_prefix(line)?.trim().parse().ok());
    found.unwrap_or_default()
}

async fn events(seed: &Seed) -> String {
    seed.garden.kubectl(["get", "events.events.k8s.io", "-o", "json"]).await.ends_with(0).stdout
}

#[test]
fn drift_is_told_once_and_repaired_when_somebody_asks() {
    in_seed(async |seed: Seed| {
        let controller = seed.controller(&["--drift-interval", "0.3s"]).await;
        seed.create(seed.infrastructure(json!({ "workers": WORKERS }))).await;
        seed.ready().await;
        let clean = "fabric_infrastructure_drift_rounds_total{result=\"clean\"}";
        until("rounds", async || (count(&controller, clean).await >= 2.0).then_some(())).await;
        let calm = seed.object().await;
        until("rounds", async || (count(&controller, clean).await >= 4.0).then_some(())).await;
        assert_eq!(
            seed.object().await["metadata"]["resourceVersion"],
            calm["metadata"]["resourceVersion"],
            "rounds write nothing"
        );

        lose_a_rule(&seed);
        let drifted = seed.see("drift", |it| condition(it, "InfrastructureDrift")["status"] == "True").await;
        let told = condition(&drifted, "InfrastructureDrift")["message"].as_str().unwrap();
        assert!(told.contains("create") && told.contains("rule"), "{told}");
        assert_eq!(count(&controller, "fabric_infrastructure_drifted").await, 1.0);
        assert!(events(&seed).await.contains("InfrastructureDrift"));
        let calls = seed.cloud.calls().mutation_count();
        let drifts = "fabric_infrastructure_drift_rounds_total{result=\"drifted\"}";
        let so_far = count(&controller, drifts).await;
        until("more rounds", async || (count(&controller, drifts).await >= so_far + 2.0).then_some(())).await;
        let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
        assert_eq!(version(&seed.object().await), version(&drifted), "a drift is told once");
        assert_eq!(seed.cloud.calls().mutation_count(), calls, "nobody asked for a repair");

        seed.patch(json!({ "metadata": { "annotations": { REPAIR: "true" } } })).await;
        let repaired =
            seed.see("repaired", |it| is_ready(it) && condition(it, "InfrastructureDrift")["status"] == "False").await;
        assert_eq!(repaired["metadata"]["annotations"].get(REPAIR), None, "asked for once");
        assert_eq!(repaired["status"]["lastOperation"]["type"], "Reconcile");
        assert_eq!(count(&controller, "fabric_infrastructure_drifted").await, 0.0);
        controller.stop().await;
    });
}

#[test]
fn a_dry_run_tells_the_plan_and_changes_nothing() {
    in_seed(async |seed: Seed| {
        let controller = seed.controller(&["--drift-interval", "0s"]).await;
        seed.create(seed.infrastructure(json!({ "workers": WORKERS }))).await;
        seed.ready().await;
        let (content, calls) = (seed.content(), seed.cloud.calls().mutation_count());
        let wanted = json!({ "metadata": { "annotations": { PLAN: "true" } },
            "spec": { "providerConfig": { "networks": { "shareNetwork": { "enabled": true } } } } });
        seed.patch(wanted).await;
        let planned = seed.see("planned", |it| condition(it, "InfrastructurePlan")["status"] == "True").await;
        let told = condition(&planned, "InfrastructurePlan")["message"].as_str().unwrap();
        assert!(told.contains("create share network"), "{told}");
        assert_eq!(condition(&planned, "InfrastructureDrift"), &Value::Null, "what is new is no drift");
        seed.see("asked for once", |it| it["metadata"]["annotations"].get(PLAN).is_none()).await;
        assert!(events(&seed).await.contains("InfrastructurePlan"));
        assert_eq!(seed.cloud.calls().mutation_count(), calls);
        assert_eq!(seed.content(), content);
        controller.stop().await;
    });
}

#[test]
fn with_the_flag_drift_is_repaired_by_itself() {
    in_seed(async |seed: Seed| {
        let controller = seed.controller(&["--drift-interval", "0.3s", "--repair-drift"]).await;
        seed.create(seed.infrastructure(json!({ "workers": WORKERS }))).await;
        seed.ready().await;
        let before = seed.content()["security_group_rules"].as_array().unwrap().len();
        let lost = lose_a_rule(&seed);
        until("repaired", async || {
            let rules = seed.content()["security_group_rules"].clone();
            let rules = rules.as_array().unwrap();
            (rules.len() == before && rules.iter().all(|rule| rule["id"] != lost)).then_some(())
        })
        .await;
        seed.see("told", |it| is_ready(it) && condition(it, "InfrastructureDrift")["status"] == "False").await;
        controller.stop().await;
    });
}
