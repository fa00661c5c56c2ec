//! One shoot through its life, each step a process of its own, on the embedded cloud that persists between them.

use std::fs;

use fabric_openstack_sim::{Cloud, Config};
use serde_json::{Value, json};

use crate::{Desk, OWN, golden};

const SHOOT: &str = "-f own.yaml --cloud demo --name shoot--dev--web";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("own.yaml", OWN);
    desk
}

/// Changes the demo cloud behind everybody's back.
fn behind(desk: &Desk, change: impl FnOnce(&Cloud)) {
    let file = desk.path("states/openstack-fabric/demo-cloud.json");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let cloud = Cloud::start(Config::default()).await.unwrap();
        cloud.load(&file).unwrap();
        change(&cloud);
        cloud.save(&file).unwrap();
    });
}

/// Ids and addresses differ from run to run.
fn steady(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        // How many calls it takes is the reconciler's to decide, and to test.
        let line = line.split_once(" (").filter(|(_, rest)| rest.contains("API call")).map_or(line, |(line, _)| line);
        let words: Vec<String> = line.split(' ').map(steady_word).collect();
        out.push_str(words.join(" ").trim_end());
        out.push('\n');
    }
    out
}

fn steady_word(word: &str) -> String {
    let core = word.trim_end_matches([',', ';']);
    let rest = &word[core.len()..];
    let is_id = core.len() == 36 && core.split('-').map(str::len).eq([8, 4, 4, 4, 12]);
    let is_random = core.starts_with("172.24.") || core.starts_with("2001:db8:");
    let text = if is_id {
        "<id>"
    } else if is_random {
        "<address>"
    } else {
        core
    };
    format!("{text}{rest}")
}

#[test]
fn plan_apply_status_drift_repair_delete() {
    let desk = desk();
    let plan = desk.run(&format!("infra plan {SHOOT}")).ends(2);
    golden("plan.txt", &steady(&plan.out));
    assert!(!desk.path("states/openstack-fabric/demo/shoot--dev--web.json").exists(), "a plan changes nothing");

    let applied = desk.run(&format!("infra apply {SHOOT}")).ends(0);
    assert!(applied.err.contains("✓ ensure network") && !applied.err.contains('\u{1b}'), "{}", applied.err);
    let state = fs::read_to_string(desk.path("states/openstack-fabric/demo/shoot--dev--web.json")).unwrap();
    let state: Value = serde_json::from_str(&state).unwrap();
    assert_eq!(state["kind"], "InfrastructureState");
    assert!(state["data"]["Network"].is_string());

    assert_eq!(desk.run(&format!("infra plan {SHOOT} -o json")).ends(0).json()["settled"], true);
    golden(
        "status.txt",
        &steady(&desk.run(&format!("infra status {SHOOT}")).ends(0).out)
            .replace(&desk.path("").display().to_string(), "HOME/"),
    );
    let status = desk.run(&format!("infra status {SHOOT} -o json")).ends(0).json();
    assert_eq!(status["state"], state, "what is told is what is saved");
    assert_eq!(status["providerStatus"]["networks"]["id"], state["data"]["Network"]);

    behind(&desk, |cloud| {
        let rules = cloud.list("security_group_rules");
        let tcp = rules.iter().find(|it| it["protocol"] == "tcp").unwrap();
        cloud.remove("security_group_rules", tcp["id"].as_str().unwrap()).unwrap();
        cloud.patch("networks", "shoot--dev--web", &json!({"admin_state_up": false})).unwrap();
    });
    let drift = desk.run(&format!("infra drift {SHOOT}")).ends(2);
    golden("drift.txt", &steady(&drift.out));
    assert!(desk.run(&format!("infra status {SHOOT}")).ends(0).out.contains("Not as it should be."));
    desk.run(&format!("infra drift {SHOOT} --repair")).ends(0);
    desk.run(&format!("infra drift {SHOOT}")).ends(0);

    let refused = desk.run(&format!("infra delete {SHOOT}")).ends(64);
    assert!(refused.err.contains("--yes"), "{}", refused.err);
    let deleted = desk.run(&format!("infra delete {SHOOT} --yes")).ends(0);
    golden("delete.txt", &steady(&deleted.out));
    assert_eq!(fs::read_dir(desk.path("states/openstack-fabric/demo")).unwrap().count(), 0, "no state, no lock");
    let nothing = desk.run(&format!("infra status {SHOOT}")).ends(1);
    assert!(nothing.err.contains("run `apply` first"), "{}", nothing.err);
}

#[test]
fn apply_as_json_gives_what_gardener_reads() {
    let desk = desk();
    let done = desk.run(&format!("infra apply {SHOOT} --pods 100.96.0.0/11 -o json")).ends(0).json();
    let keys: Vec<&String> = done.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["providerStatus", "networking", "egressCIDRs", "state"]);
    assert_eq!(done["providerStatus"]["kind"], "InfrastructureStatus");
    assert_eq!(done["networking"]["pods"], json!(["100.96.0.0/11"]));
    assert!(done["egressCIDRs"][0].as_str().unwrap().ends_with("/32"));
    let yaml = desk.run(&format!("infra status {SHOOT} -o yaml")).ends(0).out;
    assert!(yaml.starts_with("providerStatus:\n"), "{yaml}");
}

#[test]
fn a_lost_state_is_found_again_without_making_anything() {
    let desk = desk();
    desk.run(&format!("infra apply {SHOOT}")).ends(0);
    let path = desk.path("states/openstack-fabric/demo/shoot--dev--web.json");
    let before: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    fs::remove_file(&path).unwrap();
    let drift = desk.run(&format!("infra drift {SHOOT}"));
    assert!(drift.out.contains("there is no state at"), "{}", drift.out);
    let plan = desk.run(&format!("infra plan {SHOOT} -o json")).json();
    assert_eq!(plan["summary"]["create"], Value::Null, "{plan}");
    desk.run(&format!("infra apply {SHOOT}")).ends(0);
    let after: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    for key in ["Network", "Subnet", "Router", "SecurityGroup", "KeyPair"] {
        assert_eq!(before["data"][key], after["data"][key], "{key}");
    }
    desk.run(&format!("infra drift {SHOOT}")).ends(0);
}

#[test]
fn topology_draws_what_is_there_three_ways() {
    let desk = desk();
    let planned = desk.run(&format!("infra topology {SHOOT}")).ends(0);
    assert!(planned.out.contains("router shoot--dev--web (planned)"), "{}", planned.out);
    desk.run(&format!("infra apply {SHOOT}")).ends(0);
    let drawn = desk.run(&format!("infra topology {SHOOT} --svg drawn.svg")).ends(0);
    golden("topology.txt", &steady(&drawn.out));
    assert!(fs::read_to_string(desk.path("drawn.svg")).unwrap().starts_with("<svg"));
    assert!(desk.run(&format!("infra topology {SHOOT} --svg -")).ends(0).out.ends_with("</svg>\n"));
    let chart = desk.run(&format!("infra topology {SHOOT} --mermaid")).ends(0).out;
    assert!(chart.starts_with("flowchart TB\n") && chart.contains(":::owned"), "{chart}");
    let model = desk.run(&format!("infra topology {SHOOT} -o json")).ends(0).json();
    assert_eq!((&model["router"]["owner"], &model["subnets"][0]["cidr"]), (&json!("owned"), &json!("10.250.0.0/16")));
}

#[test]
fn a_state_in_use_is_named_with_its_user() {
    let desk = desk();
    desk.write("mine.json.lock", "apply, process 4711, since 2026-01-01T00:00:00Z");
    let lock = fs::File::options().read(true).write(true).open(desk.path("mine.json.lock")).unwrap();
    lock.lock().unwrap();
    let ended = desk.run(&format!("infra apply {SHOOT} --state mine.json")).ends(1);
    assert!(ended.err.contains("in use by: apply, process 4711"), "{}", ended.err);
    desk.run(&format!("infra plan {SHOOT} --state mine.json")).ends(2);
    lock.unlock().unwrap();
    desk.run(&format!("infra apply {SHOOT} --state mine.json")).ends(0);
    assert!(!desk.path("mine.json.lock").exists() && desk.path("mine.json").exists());
}

#[test]
fn a_state_that_is_none_stops_before_anything_is_done() {
    let desk = desk();
    fs::create_dir(desk.path("folder")).unwrap();
    desk.write("other.json", "{}");
    desk.write("broken.json", "{\"apiVersion\": ");
    for state in ["folder", "broken.json", "other.json"] {
        let ended = desk.run(&format!("infra apply {SHOOT} --state {state}")).ends(1);
        assert!(ended.err.contains(&format!("state {state}")) && ended.err.contains("next:"), "{}", ended.err);
    }
    assert_eq!(fs::read_to_string(desk.path("other.json")).unwrap(), "{}");
    desk.run(&format!("infra plan {SHOOT}")).ends(2);
}

#[test]
fn the_state_of_another_shoot_is_neither_used_nor_forgotten() {
    let desk = desk();
    desk.run(&format!("infra apply {SHOOT} --state web.json")).ends(0);
    for verb in ["plan", "apply", "drift", "status", "topology", "delete --yes"] {
        let line = format!("infra {verb} -f own.yaml --cloud demo --name shoot--dev--shop --state web.json");
        let ended = desk.run(&line).ends(1);
        assert!(ended.err.contains("it is of shoot--dev--web, not of shoot--dev--shop"), "{}", ended.err);
    }
    desk.run(&format!("infra drift {SHOOT} --state web.json")).ends(0);
}

#[test]
fn findings_stop_a_plan_in_every_form() {
    let desk = desk();
    desk.write("bad.yaml", &OWN.replace("10.250.0.0/16", "10.250.0.1/16"));
    let ended = desk.run("infra plan -f bad.yaml --cloud demo --name shoot--dev--web -o json").ends(1);
    let message = ended.json()["errors"][0]["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("networks.workers: Invalid value"), "{message}");
}

#[test]
fn a_bare_config_needs_a_name_and_several_shoots_a_choice() {
    let desk = desk();
    let ended = desk.run("infra plan -f own.yaml --cloud demo").ends(64);
    assert!(ended.err.contains("give --name shoot--PROJECT--NAME"), "{}", ended.err);
    for name in ["../up", "UPPER", "-x"] {
        desk.run(&format!("infra plan -f own.yaml --cloud demo --name={name}")).ends(64);
    }
    let shoot = |name: &str| {
        let config: String = OWN.lines().map(|line| format!("      {line}\n")).collect();
        format!(
            "apiVersion: core.gardener.cloud/v1beta1\nkind: Shoot\nmetadata: {{name: {name}, namespace: garden-dev}}\nspec:\n  \
             region: RegionOne\n  provider:\n    type: openstack\n    workers: [{{name: p, zones: [nova]}}]\n    \
             controlPlaneConfig: {{apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1, kind: ControlPlaneConfig, \
             loadBalancerProvider: amphora}}\n    infrastructureConfig:\n{config}  \
             networking: {{nodes: 10.250.0.0/16, pods: 100.96.0.0/11}}\n"
        )
    };
    desk.write("two.yaml", &format!("{}---\n{}", shoot("a"), shoot("b")));
    let ended = desk.run("infra plan -f two.yaml --cloud demo").ends(64);
    assert!(ended.err.contains("shoot--dev--a, shoot--dev--b"), "{}", ended.err);
    let plan = desk.run("infra plan -f two.yaml --cloud demo --name b -o json").ends(2).json();
    assert_eq!(plan["shoot"], "shoot--dev--b");
}

#[test]
fn invalid_objects_stop_before_the_cloud_is_asked() {
    let desk = Desk::new();
    desk.write("own.yaml", &OWN.replace("10.250.0.0/16", "10.250.0.0/40"));
    let ended = desk.run("infra apply -f own.yaml --cloud nowhere --name shoot--dev--web").ends(1);
    assert!(ended.err.contains("networks.workers") && ended.err.contains("nothing was done"), "{}", ended.err);
}

#[test]
fn a_key_must_be_the_public_half() {
    let desk = desk();
    desk.write("key", "-----BEGIN OPENSSH PRIVATE KEY-----\nhush\n-----END OPENSSH PRIVATE KEY-----\n");
    let ended = desk.run(&format!("infra plan {SHOOT} --ssh-key key")).ends(1);
    assert!(ended.err.contains("that is a private key") && !ended.err.contains("hush"), "{}", ended.err);
    desk.write("key.pub", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJWmTb4XvpVGnFT2xD3B1rjsZDDyZKxTTLxXhJQ1w3cp me\n");
    desk.run(&format!("infra apply {SHOOT} --ssh-key key.pub")).ends(0);
    desk.run(&format!("infra drift {SHOOT} --ssh-key key.pub")).ends(0);
}

#[test]
fn an_infrastructure_brings_its_state_and_its_cluster_the_facts() {
    let desk = desk();
    let config: String = OWN.lines().map(|line| format!("    {line}\n")).collect();
    let infrastructure = |more: &str| {
        format!(
            "apiVersion: extensions.gardener.cloud/v1alpha1\nkind: Infrastructure\nmetadata: {{name: web, namespace: shoot--dev--web}}\n\
             spec:\n  type: openstack\n  region: RegionOne\n  secretRef: {{name: cloudprovider, namespace: shoot--dev--web}}\n  \
             providerConfig:\n{config}{more}"
        )
    };
    let shoot = "spec: {networking: {pods: 100.96.0.0/11, nodes: 10.250.0.0/16}}, status: {technicalID: shoot--dev--web, uid: 1a2b}";
    desk.write(
        "cluster.yaml",
        &format!(
            "apiVersion: extensions.gardener.cloud/v1alpha1\nkind: Cluster\nmetadata: {{name: shoot--dev--web}}\nspec:\n  \
             cloudProfile: {{}}\n  shoot: {{{shoot}}}\n"
        ),
    );
    desk.write("infra.yaml", &infrastructure(""));
    let line = "-f infra.yaml -f cluster.yaml --cloud demo";
    let done = desk.run(&format!("infra apply {line} -o json")).ends(0).json();
    assert_eq!(done["networking"]["pods"], json!(["100.96.0.0/11"]));
    assert_eq!(done["state"]["data"]["fabric.UID"], Value::Null, "the shoot's own uid needs no memory");
    // On another machine the object's status is all that is known.
    desk.write("infra.yaml", &infrastructure(&format!("status:\n  state: {}\n", done["state"])));
    let elsewhere = format!("{line} --state elsewhere.json");
    let drift = desk.run(&format!("infra drift {elsewhere}")).ends(0);
    assert!(drift.out.contains("No drift") && !drift.out.contains("was it applied?"), "{}", drift.out);
    desk.run(&format!("infra delete {elsewhere} --yes")).ends(0);
    assert_eq!(desk.run(&format!("infra plan {line} -o json")).ends(2).json()["summary"]["keep"], Value::Null);
}
