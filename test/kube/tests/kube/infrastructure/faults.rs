//! The program under faults: killed at any call, paused, without its apiserver. What each case is, the numbers of the
//! reliability targets say (R1, R8, R16).

use std::path::Path;
use std::time::{Duration, Instant};

use fabric_openstack_sim::{Action, Fault, Service, When};
use fabric_test_kube::{second, until};
use fabric_test_openstack::World;
use fabric_test_program::{Property, cases, is_soaked};
use serde_json::{Value, json};

use super::scenarios::changing;
use super::seed::{Seed, WORKERS, in_seed, in_seed_on_embedded, in_seed_on_openstack, is_ready};
use super::way::Way;
use crate::program::Program;

/// Shapes of specifications in a world with given things.
async fn specifications(world: &World) -> Vec<(&'static str, Value)> {
    let given = world.given().await;
    let group = world.group("nodes").await;
    let v6 = world.subnet(&given.network, "nodes-v6", "fd00:250::/64").await;
    world.interface(&given.router, &v6).await;
    // Where the shoot makes its subnet there is nothing yet.
    let (empty, free) = (world.network("empty").await, json!({"id": world.router("free").await}));
    let (network, router) = (json!(given.network), json!({"id": given.router}));
    let subnet = |more: Value| {
        let mut all = json!({"id": network, "subnetId": given.subnet, "router": router});
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    vec![
        ("managed", json!({"workers": WORKERS, "shareNetwork": {"enabled": true}})),
        ("network", json!({"id": empty, "workers": WORKERS})),
        ("network and router", json!({"id": empty, "router": free, "workers": WORKERS})),
        ("subnet", subnet(json!({"shareNetwork": {"enabled": true}}))),
        ("security group", subnet(json!({"securityGroupId": group}))),
        (
            "dual-stack given",
            subnet(json!({"ipv6": {"nodeSubnetId": v6, "podCIDR": "fd00::/56", "serviceCIDR": "fd01::/112"}})),
        ),
        (
            "dual-stack own",
            json!({"workers": WORKERS, "ipv6": {
            "nodeCIDR": "fd00:10::/64", "podCIDR": "fd00:20::/56", "serviceCIDR": "fd00:30::/112"}}),
        ),
    ]
}

const ALONE: [&str; 2] = ["--leader-election", "false"];

/// Starts the program into a cloud whose `n`-th call hangs, kills it there, and starts it again. Whether it came so far.
async fn killed_at(seed: &Seed<World>, n: u64, is_done: impl Fn(&Value) -> bool) -> (bool, Program) {
    let faults = seed.cloud.embedded().unwrap().faults();
    // Every other call is carried out, and its answer is lost.
    let action = if n.is_multiple_of(2) { Action::DoneButStall } else { Action::Stall };
    let fault = faults.add(Fault::on("", "", action).when(When::From(n))).unwrap();
    let program = seed.controller(&ALONE).await;
    let was_hit = until("a call hangs, or all is done", async || {
        let hit = faults.hits(fault) > 0;
        (hit || is_done(&seed.object().await)).then_some(hit)
    })
    .await;
    program.kill().await;
    faults.clear();
    (was_hit, seed.controller(&ALONE).await)
}

/// Whether its making or its deletion was cut at the `n`-th call.
async fn killed_twice(seed: &Seed<World>, networks: &Value, n: u64, whole: usize) -> bool {
    let before = seed.cloud.snapshot().await;
    seed.create(seed.infrastructure(networks.clone())).await;
    let (making, program) = killed_at(seed, n, is_ready).await;
    seed.ready().await;
    assert_eq!(seed.cloud.snapshot().await.0.len(), whole, "nothing is there twice");
    program.kill().await;
    seed.api().delete("openstack", &Default::default()).await.unwrap();
    let (deletion, program) = killed_at(seed, n, Value::is_null).await;
    seed.see("gone", Value::is_null).await;
    program.kill().await;
    before.assert_same(&seed.cloud.snapshot().await, "nothing is left");
    making || deletion
}

#[test]
fn r1_killed_at_any_call_it_is_finished_by_the_next_one() {
    in_seed_on_embedded(async |seed: Seed<World>| {
        let mut property = Property::new("R1", "kill_points");
        let whole = is_soaked("R1");
        for (name, networks) in specifications(&seed.cloud).await {
            if !whole && !["managed", "subnet"].contains(&name) {
                continue;
            }
            let families: &[&str] = if name.starts_with("dual") { &["IPv4", "IPv6"] } else { &["IPv4"] };
            seed.families(families).await;
            // How many things there are in the middle of an undisturbed life.
            let program = seed.controller(&ALONE).await;
            seed.create(seed.infrastructure(networks.clone())).await;
            seed.ready().await;
            let count = seed.cloud.snapshot().await.0.len();
            seed.api().delete("openstack", &Default::default()).await.unwrap();
            seed.see("gone", Value::is_null).await;
            program.kill().await;
            let points: Vec<u64> = if whole { (1..200).collect() } else { vec![5, 14] };
            for n in points {
                let mut goes_on = true;
                let case = async { goes_on = killed_twice(&seed, &networks, n, count).await };
                property.case(format!("{name}, call {n}"), case).await;
                if !goes_on {
                    break;
                }
            }
        }
        property.end();
    });
}

/// On the lab nothing says which call is the n-th one: the program is killed after a while, shorter than it takes.
/// Its call may still be under way in the service then, and be done later. The next one leads when the lease has
/// run out, and by then it sees what came of it: so election stays on here.
#[test]
fn r1_killed_at_some_point_on_the_lab_it_is_finished_by_the_next_one() {
    in_seed_on_openstack(async |seed: Seed<World>| {
        let mut property = Property::new("R1", "kill_points_real");
        let points = cases("R1", 2, 12);
        for point in 0..points {
            let pause = Duration::from_millis(300 + 1500 * point as u64 / points as u64);
            let life = async {
                let before = seed.cloud.snapshot().await;
                seed.create(seed.infrastructure(json!({"workers": WORKERS}))).await;
                killed_after(&seed, pause).await;
                let program = seed.controller(&[]).await;
                seed.ready().await;
                let made = seed.cloud.snapshot().await;
                for kind in ["networks", "subnets", "routers", "security_groups"] {
                    assert_eq!(made.count(kind), before.count(kind) + 1, "{kind}");
                }
                program.stop().await;
                seed.api().delete("openstack", &Default::default()).await.unwrap();
                killed_after(&seed, pause).await;
                let program = seed.controller(&[]).await;
                seed.see("gone", Value::is_null).await;
                program.stop().await;
                before.assert_same(&seed.cloud.snapshot().await, "nothing is left");
            };
            property.case(format!("after {pause:?}"), life).await;
        }
        property.end();
    });
}

async fn killed_after(seed: &Seed<World>, pause: Duration) {
    let program = seed.controller(&[]).await;
    tokio::time::sleep(pause).await;
    program.kill().await;
}

/// Takes a rule out of the shoot's group; whoever leads puts it back.
fn lose_a_rule(seed: &Seed) -> String {
    let rules = seed.cloud.list("security_group_rules");
    let rule = rules.iter().find(|rule| rule["port_range_min"] == 30000).unwrap();
    let id = rule["id"].as_str().unwrap().to_owned();
    let path = format!("/v2.0/security-group-rules/{id}");
    assert_eq!(seed.cloud.user("demo").unwrap().delete(Service::Network, &path).status, 204);
    id
}

async fn put_back(seed: &Seed, rules: usize) {
    until("the rule is back", async || (seed.cloud.list("security_group_rules").len() == rules).then_some(())).await;
}

/// Of two replicas, the leader goes; the other one has to take over within 20 s, and no two may write.
#[test]
fn r8_another_takes_over_and_two_never_write() {
    in_seed(async |seed: Seed| {
        let mut property = Property::new("R8", "takeovers");
        let flags = ["--drift-interval", "0.3s", "--repair-drift"];
        let mut leader = seed.controller(&flags).await;
        seed.create(seed.infrastructure(json!({"workers": WORKERS}))).await;
        seed.ready().await;
        let rules = seed.cloud.list("security_group_rules").len();
        for round in 0..cases("R8", 2, 20) {
            let killed = round % 2 == 1;
            let other = seed.controller(&flags).await;
            lose_a_rule(&seed);
            put_back(&seed, rules).await;
            // Long enough for the other one to have seen a renewal.
            tokio::time::sleep(Duration::from_secs(3)).await;
            let takeover = async {
                assert_eq!(changing(&other).await, 0, "who waits writes nothing");
                let written = changing(&leader).await;
                leader.signal("STOP").await;
                let stopped = Instant::now();
                lose_a_rule(&seed);
                put_back(&seed, rules).await;
                let took = stopped.elapsed();
                assert!(took <= Duration::from_secs(20), "taken over after {took:?}");
                assert!(changing(&other).await > 0);
                if !killed {
                    // It wakes up in the belief that nothing happened.
                    leader.signal("CONT").await;
                    for _ in 0..5 {
                        lose_a_rule(&seed);
                        put_back(&seed, rules).await;
                    }
                    assert_eq!(changing(&leader).await, written, "who lost the lease writes nothing");
                }
            };
            property.case(format!("round {round}, killed: {killed}"), takeover).await;
            leader.kill().await;
            leader = other;
        }
        leader.stop().await;
        property.end();
    });
}

/// Changes while nobody hears of them: connections that are cut, that hang, an apiserver that was away.
#[test]
fn r16_what_happened_while_the_watch_was_lost_is_seen_within_half_a_minute() {
    in_seed(async |seed: Seed| {
        let mut property = Property::new("R16", "lost_watches");
        let way = Way::to_the_apiserver(&seed.garden).await;
        let program = seed.controller_by(way.kubeconfig(), &["--drift-interval", "0s"]).await;
        seed.create(seed.infrastructure(json!({"workers": WORKERS}))).await;
        seed.ready().await;
        let mut malformed = seed.infrastructure(json!({}));
        malformed["metadata"]["name"] = json!("odd");
        malformed["spec"]["providerConfig"] = json!({"networks": 7});
        seed.create(malformed).await;
        for round in 0..cases("R16", 3, 30) {
            let (name, away) = [("cut", 0), ("away", 4), ("hanging", 0)][round % 3];
            let heard = async {
                match name {
                    "cut" => way.cut(),
                    "away" => way.close(),
                    _ => way.hang(),
                }
                seed.ask("reconcile").await;
                tokio::time::sleep(Duration::from_secs(away)).await;
                way.open();
                let begun = Instant::now();
                seed.see("reconciled", is_ready).await;
                let took = begun.elapsed();
                assert!(took <= Duration::from_secs(30), "seen after {took:?}");
            };
            property.case(format!("round {round}, {name}"), heard).await;
        }
        program.stop().await;
        property.end();
    });
}

/// etcd and the apiserver are restarted under load, while the controller works, and while it is paused: then the version
/// that its watch goes on from is too old (410 Gone).
#[test]
fn r16_a_cluster_that_is_restarted_loses_nothing() {
    in_seed(async |seed: Seed| {
        let (Some(second), Some(folder)) = (seed.garden.twin().await, second()) else { return };
        let mut property = Property::new("R16", "restarted_clusters");
        let there = seed.at(second.clone()).await;
        let program = there.controller(&["--drift-interval", "0s"]).await;
        there.create(there.infrastructure(json!({"workers": WORKERS}))).await;
        there.ready().await;
        for round in 0..cases("R16", 2, 10) {
            let paused = round % 2 == 1;
            let restarted = async {
                if paused {
                    program.signal("STOP").await;
                }
                there.ask("reconcile").await;
                // Others make versions come and go.
                for _ in 0..20 {
                    there.patch(json!({"metadata": {"labels": {"round": uuid::Uuid::new_v4().to_string()}}})).await;
                }
                restart(&folder).await;
                if paused {
                    program.signal("CONT").await;
                }
                there.see_within(Duration::from_secs(60), "reconciled", is_ready).await;
                there.ask("reconcile").await;
                there.see_within(Duration::from_secs(30), "reconciled again", is_ready).await;
            };
            property.case(format!("round {round}, paused: {paused}"), restarted).await;
        }
        there.api().delete("openstack", &Default::default()).await.unwrap();
        there.see("gone", Value::is_null).await;
        program.stop().await;
        second.leave().await;
        property.end();
    });
}

/// The second cluster goes down and comes up again, with what it knew.
async fn restart(folder: &Path) {
    for action in ["down", "up"] {
        let mut lab = tokio::process::Command::new(fabric_test_kube::root().join("hack/lab"));
        let told = lab.args([action, "kube"]).env("FABRIC_LAB_STATE", folder).output().await.unwrap();
        assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    }
}
