//! Runs that end in the middle: after any call, by any failure, by the user.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use fabric_flow::{Event, Events, Options, TaskState};
use fabric_infrastructure::{
    Failure, State,
    reconcile::{delete, reconcile},
};
use fabric_openstack_sim::{Action, Fault, When};
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cloud_that_fails_now_and_then_is_managed_all_the_same() {
    let unavailable = json!({"message": "busy"});
    let answer = |status| Action::Answer { status, body: Some(unavailable.clone()), headers: vec![] };
    let later = Action::Answer {
        status: 429,
        body: Some(unavailable.clone()),
        headers: vec![("Retry-After".to_owned(), "0".to_owned())],
    };
    let (clean, networks) = specified("shares").await;
    let input = clean.input(networks);
    clean.reconcile(&input, State::default(), &Memory::default()).await.unwrap();
    let clean_calls = clean.cloud.calls().total();
    for chance in [0.05, 0.3] {
        let mut calls = 0;
        let rounds = 10;
        for round in 0..rounds {
            let (world, networks) = specified("shares").await;
            let before = world.content();
            let input = world.input(networks);
            let memory = Memory::default();
            for action in
                [answer(500), answer(503), later.clone(), Action::Reset, Action::DoneButReset, Action::CutBody]
            {
                // Each of the six takes its share of the chance.
                let fault = Fault::on("", "", action).when(When::Chance(chance / 6.0));
                world.cloud.faults().add(fault).unwrap();
            }
            let mut tries = 0;
            while let Err(error) = world.reconcile(&input, memory.last(), &memory).await {
                tries += 1;
                assert!(tries < 40, "chance {chance}, round {round}: {error}");
            }
            calls += world.cloud.calls().total();
            while let Err(error) = world.delete(&input, memory.last(), &memory).await {
                tries += 1;
                assert!(tries < 80, "deletion, chance {chance}, round {round}: {error}");
            }
            world.cloud.faults().clear();
            assert_same(&world.content(), &before, &format!("chance {chance}, round {round}"));
        }
        assert!(chance > 0.1 || calls <= 3 * clean_calls * rounds, "{calls} calls, {clean_calls} in a clean run");
    }
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
