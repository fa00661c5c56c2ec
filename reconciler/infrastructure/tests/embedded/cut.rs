//! Runs that end in the middle: after any call, by any failure, by the user.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use fabric_flow::{Event, Events, Options, TaskState};
use fabric_infrastructure::{
    Failure, State,
    reconcile::{delete, reconcile},
};
use fabric_openstack_sim::{Action, Fault, When};
use fabric_test_program::{Property, cases, is_soaked};
use serde_json::{Value, json};

use crate::world::{Memory, TIMING, World, assert_same, specifications};

/// The shapes with most to do.
const CUT: [&str; 3] = ["shares", "3 network and router", "dual-stack by ranges"];

async fn specified(name: &str) -> (World, Value) {
    let world = World::start().await;
    let networks = specifications(&world).into_iter().find(|(known, _)| *known == name).unwrap().1;
    (world, networks)
}

/// Everything from the `n`-th call on fails.
fn break_from(world: &World, n: u64, action: Action) {
    world.cloud.faults().add(Fault::on("", "", action).when(When::From(n))).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_cut_after_any_call_continues_without_a_leak_or_a_double() {
    for name in CUT {
        let (clean, networks) = specified(name).await;
        let before = clean.content();
        let input = clean.input(networks);
        let made = clean.reconcile(&input, State::default(), &Memory::default()).await.unwrap();
        let (calls, whole) = (clean.cloud.calls().total(), clean.counts());
        clean.cloud.calls().clear();
        clean.delete(&input, made.state, &Memory::default()).await.unwrap();
        let deletion_calls = clean.cloud.calls().total();
        for lost_answer in [false, true] {
            for n in 2..=calls.max(deletion_calls) {
                let action = || if lost_answer { Action::DoneButReset } else { Action::Reset };
                cut_at(name, n, action, &before, &whole).await;
            }
        }
    }
}

async fn cut_at(name: &str, n: u64, action: impl Fn() -> Action, before: &Value, whole: &[(String, usize)]) {
    let (world, networks) = specified(name).await;
    let input = world.input(networks);
    let memory = Memory::default();
    break_from(&world, n, action());
    // Late cuts fall behind the end of the run.
    let _ = world.reconcile(&input, State::default(), &memory).await;
    world.cloud.faults().clear();
    let made = world.reconcile(&input, memory.last(), &memory).await;
    let made = made.unwrap_or_else(|error| {
        let calls: Vec<String> = world
            .cloud
            .calls()
            .all()
            .iter()
            .map(|call| format!("{} {} {}", call.method, call.path, call.status))
            .collect();
        panic!("{name}, cut at {n}: {error}\n{}", calls.join("\n"))
    });
    assert_eq!(world.counts(), whole, "{name}, cut at {n}: nothing is there twice");
    break_from(&world, n, action());
    let _ = world.delete(&input, made.state, &memory).await;
    world.cloud.faults().clear();
    let left = world.delete(&input, memory.last(), &memory).await;
    let left = left.unwrap_or_else(|error| panic!("{name}, deletion cut at {n}: {error}"));
    assert!(left.is_empty(), "{name}, deletion cut at {n}: {left:?}");
    assert_same(&world.content(), before, &format!("{name}, cut at {n}: nothing is left"));
}

/// The flow is dropped where it stands while a call is on its way: one that never arrives, or one that was carried out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r1_a_flow_dropped_at_any_call_is_taken_up_again() {
    let mut property = Property::new("R1", "dropped_flows");
    let all: Vec<&str> = specifications(&World::start().await).into_iter().map(|(name, _)| name).collect();
    for name in if is_soaked("R1") { all } else { vec!["1 managed", "4 subnet"] } {
        let (clean, networks) = specified(name).await;
        let before = clean.content();
        let input = clean.input(networks);
        let made = clean.reconcile(&input, State::default(), &Memory::default()).await.unwrap();
        let (calls, whole) = (clean.cloud.calls().total(), clean.counts());
        clean.cloud.calls().clear();
        clean.delete(&input, made.state, &Memory::default()).await.unwrap();
        for n in 1..=calls.max(clean.cloud.calls().total()) {
            for done in [false, true] {
                let place = format!("{name}, call {n}, carried out: {done}");
                property.case(&place, dropped_at(name, n, done, &before, &whole)).await;
            }
        }
    }
    property.end();
}

async fn dropped_at(name: &str, n: u64, done: bool, before: &Value, whole: &[(String, usize)]) {
    let (world, networks) = specified(name).await;
    let (input, memory) = (world.input(networks), Memory::default());
    let action = || if done { Action::DoneButStall } else { Action::Stall };
    until_a_stall(&world, n, action(), world.reconcile(&input, State::default(), &memory)).await;
    let made = world.reconcile(&input, memory.last(), &memory).await.unwrap();
    assert_eq!(world.counts(), whole, "nothing is there twice");
    until_a_stall(&world, n, action(), world.delete(&input, made.state, &memory)).await;
    let left = world.delete(&input, memory.last(), &memory).await.unwrap();
    assert!(left.is_empty(), "{left:?}");
    assert_same(&world.content(), before, "nothing is left");
}

/// Runs until the `n`-th call hangs, and no further. Late calls may lie behind the end of the run.
async fn until_a_stall<T>(world: &World, n: u64, action: Action, run: impl Future<Output = T>) {
    let fault = world.cloud.faults().add(Fault::on("", "", action).when(When::Nth(n))).unwrap();
    let hit = async {
        while world.cloud.faults().hits(fault) == 0 {
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
        // What is carried out all the same has its effect by then.
        tokio::time::sleep(Duration::from_millis(3)).await;
    };
    tokio::select! {
        _ = run => {}
        () = hit => {}
    }
    world.cloud.faults().clear();
}

const BUSY: &str = "busy";

fn answer(status: u16) -> Action {
    Action::Answer { status, body: Some(json!({"message": BUSY})), headers: vec![] }
}

fn later() -> Action {
    let headers = vec![("Retry-After".to_owned(), "0".to_owned())];
    Action::Answer { status: 429, body: Some(json!({"message": BUSY})), headers }
}

/// Everything that a cloud may do to a call now and then. A stall ends with the client's own patience.
fn troubles() -> Vec<Action> {
    let mut all: Vec<Action> = [401, 409, 500, 502, 503].map(answer).into();
    all.extend([later(), Action::Reset, Action::DoneButReset, Action::CutBody, Action::Stall]);
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r4_a_cloud_that_fails_now_and_then_is_managed_all_the_same() {
    let mut property = Property::new("R4", "flaky_cloud");
    let (clean, networks) = specified("shares").await;
    let input = clean.input(networks);
    clean.reconcile(&input, State::default(), &Memory::default()).await.unwrap();
    let clean_calls = clean.cloud.calls().total();
    for chance in [0.05, 0.3] {
        let rounds = cases("R4", 8, 500);
        let mut calls = 0;
        for round in 0..rounds {
            property.case(format!("chance {chance}, round {round}"), async { calls += flaky(chance).await }).await;
        }
        let limit = 3 * clean_calls * rounds as u64;
        let in_limit = async { assert!(calls <= limit, "{calls} calls, {clean_calls} in a clean run") };
        if chance < 0.1 {
            property.case("calls at 5 %", in_limit).await;
        }
    }
    property.end();
}

/// The calls that a creation took.
async fn flaky(chance: f64) -> u64 {
    let (world, networks) = specified("shares").await;
    let before = world.content();
    let (input, memory) = (world.input(networks), Memory::default());
    let troubles = troubles();
    let share = chance / troubles.len() as f64;
    for action in troubles {
        world.cloud.faults().add(Fault::on("", "", action).when(When::Chance(share))).unwrap();
    }
    let mut tries = 0;
    while let Err(error) = world.reconcile(&input, memory.last(), &memory).await {
        tries += 1;
        assert!(tries < 40, "{error}");
    }
    let calls = world.cloud.calls().total();
    while let Err(error) = world.delete(&input, memory.last(), &memory).await {
        tries += 1;
        assert!(tries < 80, "deletion: {error}");
    }
    world.cloud.faults().clear();
    assert_same(&world.content(), &before, "in the end");
    calls
}

#[tokio::test]
async fn r4_a_cloud_that_goes_on_failing_is_told_with_the_right_code() {
    let mut property = Property::new("R4", "codes");
    let retried = "ERR_RETRYABLE_INFRA_DEPENDENCIES";
    for (place, action, code) in [
        ("401 of Keystone", answer(401), "ERR_INFRA_UNAUTHENTICATED"),
        ("409", answer(409), retried),
        ("429", later(), retried),
        ("500", answer(500), retried),
        ("502", answer(502), retried),
        ("503", answer(503), retried),
        ("reset", Action::Reset, retried),
        ("stall", Action::Stall, retried),
        ("cut JSON", Action::CutBody, retried),
        ("403", answer(403), "ERR_INFRA_UNAUTHORIZED"),
    ] {
        let told = async {
            let (world, networks) = specified("1 managed").await;
            let fault = match place {
                "401 of Keystone" => Fault::on("POST", "/auth/tokens", action),
                // A creation with a cut answer is looked for, and found.
                "cut JSON" => Fault::on("GET", "/v2.0/networks", action),
                _ => Fault::on("POST", "/v2.0/networks", action),
            };
            world.cloud.faults().add(fault).unwrap();
            let failed = world.reconcile(&world.input(networks), State::default(), &Memory::default()).await;
            let failure = failed.expect_err("it fails");
            let codes: Vec<&str> = failure.codes().iter().map(|code| code.as_str()).collect();
            assert_eq!(codes, [code], "{failure}");
        };
        property.case(place, told).await;
    }
    property.end();
}

#[tokio::test]
async fn a_cancelled_run_saves_what_it_did_and_goes_on_later() {
    for limit in 1..6 {
        let (world, networks) = specified("shares").await;
        let before = world.content();
        let input = world.input(networks);
        let memory = Memory::default();
        let options = Options::default();
        let (cancel, seen) = (options.cancel.clone(), Arc::new(AtomicUsize::new(0)));
        let events = Events::to(move |event: Event| {
            if event.state == TaskState::Succeeded && seen.fetch_add(1, Ordering::SeqCst) + 1 >= limit {
                cancel.cancel();
            }
        });
        let client = world.client().await;
        let options = Options { events, ..options };
        let ended = reconcile(&client, &input, State::default(), &memory, TIMING, options).await;
        assert!(matches!(ended, Err(Failure::Apply(_))), "limit {limit}: stopped before the end");
        assert!(memory.saves() > 0, "limit {limit}");
        let made = world.reconcile(&input, memory.last(), &memory).await.unwrap();
        delete(&client, &input, made.state, &memory, TIMING, Options::default()).await.unwrap();
        assert_same(&world.content(), &before, &format!("limit {limit}"));
    }
}
