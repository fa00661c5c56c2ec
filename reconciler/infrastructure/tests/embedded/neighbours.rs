//! Other shoots beside ours: on one network, under like names, at the same time.

use fabric_flow::Options;
use fabric_infrastructure::{
    Input, State, apply_delete,
    reconcile::{finish, prepare, prepare_delete},
};
use serde_json::{Value, json};

use crate::world::{Memory, TIMING, World, assert_same};

fn shoot(world: &World, name: &str, networks: Value) -> Input {
    let mut input = world.input(networks);
    input.shoot.technical_id = name.to_owned();
    input.shoot.uid = format!("uid-of-{name}");
    input
}

/// Applies all at once, then deletes all but the first at once, then the first.
async fn together(world: &World, shoots: &[Input], lose_state: bool, when: &str) {
    let memories: Vec<Memory> = shoots.iter().map(|_| Memory::default()).collect();
    let applied = shoots.iter().zip(&memories).map(|(input, memory)| world.reconcile(input, State::default(), memory));
    for result in futures::future::join_all(applied).await {
        result.unwrap_or_else(|error| panic!("{when}: {error}"));
    }
    let state = |memory: &Memory| if lose_state { State::default() } else { memory.last() };
    let all = shoots.iter().zip(&memories);
    let deleted = all.clone().skip(1).map(|(input, memory)| world.delete(input, state(memory), memory));
    for result in futures::future::join_all(deleted).await {
        result.unwrap_or_else(|error| panic!("{when}: {error}"));
    }
    world.cloud.calls().clear();
    for (input, memory) in all.take(1) {
        world.reconcile(input, state(memory), memory).await.unwrap();
        let writes = world.cloud.calls().mutations();
        assert!(writes.is_empty(), "{when}: the first lost something: {writes:#?}");
        world.delete(input, state(memory), memory).await.unwrap();
    }
}

#[tokio::test]
async fn shoots_with_like_names_live_side_by_side_and_go_alone() {
    let long = "x".repeat(55);
    let long: Vec<String> = ["a", "b", "c"].iter().map(|end| format!("{long}{end}")).collect();
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    for names in [vec!["shoot--dev--a", "shoot--dev--ab", "shoot--dev--a-b", "shoot--dev--a-ipv6"], long] {
        for lose_state in [false, true] {
            let world = World::start().await;
            let all = world.content();
            let (net, sub, rt) = (&world.network, &world.subnet, &world.router);
            let given = json!({"id": net, "subnetId": sub, "router": {"id": rt}, "shareNetwork": {"enabled": true}});
            let when = format!("{names:?}, state lost: {lose_state}");
            let shoots: Vec<Input> = names.iter().map(|name| shoot(&world, name, given.clone())).collect();
            together(&world, &shoots, lose_state, &format!("{when}, on one given subnet")).await;
            let own = |index: usize| {
                json!({"id": net, "workers": format!("10.24{index}.0.0/19"),
                    "ipv6": {"nodeCIDR": format!("2001:db8:1{index}::/64"), "podCIDR": format!("2001:db8:2{index}::/56"),
                        "serviceCIDR": format!("2001:db8:3{index}::/112")}})
            };
            let shoots: Vec<Input> =
                names.iter().enumerate().map(|(index, name)| shoot(&world, name, own(index))).collect();
            together(&world, &shoots, lose_state, &format!("{when}, in one given network")).await;
            assert_same(&world.content(), &all, &when);
        }
    }
}

#[tokio::test]
async fn a_guest_in_our_network_is_not_deleted_with_it() {
    let world = World::start().await;
    let all = world.content();
    let host = shoot(&world, "shoot--dev--a", json!({"workers": "10.240.0.0/19"}));
    let memory = Memory::default();
    let made = world.reconcile(&host, State::default(), &memory).await.unwrap();
    let guest =
        shoot(&world, "shoot--dev--b", json!({"id": made.provider_status.networks.id, "workers": "10.241.0.0/19"}));
    let guests = Memory::default();
    world.reconcile(&guest, State::default(), &guests).await.unwrap();
    let text = world.delete(&host, memory.last(), &memory).await.unwrap_err().to_string();
    assert!(text.contains("cannot be deleted while others use it: subnet shoot--dev--b"), "{text}");
    world.cloud.calls().clear();
    world.reconcile(&guest, guests.last(), &guests).await.unwrap();
    assert!(world.cloud.calls().mutations().is_empty(), "the guest lost nothing");
    world.delete(&guest, guests.last(), &guests).await.unwrap();
    world.delete(&host, memory.last(), &memory).await.unwrap();
    assert_same(&world.content(), &all, "in the end");
}

#[tokio::test]
async fn a_subnet_that_came_after_the_plan_is_not_deleted_with_our_network() {
    let world = World::start().await;
    let host = shoot(&world, "shoot--dev--a", json!({"workers": "10.240.0.0/19"}));
    let memory = Memory::default();
    let made = world.reconcile(&host, State::default(), &memory).await.unwrap();
    let client = world.client().await;
    let (target, plan) = prepare_delete(&client, &host, &memory.last()).await.unwrap();
    // The plan is shown, and somebody works on meanwhile.
    let body = json!({"subnet": {"network_id": made.provider_status.networks.id, "ip_version": 4,
        "cidr": "10.251.0.0/24", "name": "guest"}});
    let answer = world.cloud.user("demo").unwrap().post(fabric_openstack_sim::Service::Network, "/v2.0/subnets", body);
    assert_eq!(answer.status, 201);
    let guest = answer.text("/subnet/id");
    let ended = apply_delete(plan, &target, &client, memory.last(), &memory, TIMING, Options::default());
    let text = ended.await.unwrap_err().to_string();
    assert!(text.contains("subnet guest"), "{text}");
    assert!(world.cloud.get("subnets", &guest).is_some(), "the guest's subnet is still there");
}

#[tokio::test]
async fn one_shoot_run_twice_at_once_is_told_and_each_run_takes_away_its_own() {
    let world = World::start().await;
    let all = world.content();
    let input = shoot(&world, "shoot--dev--a", json!({"id": world.network, "workers": "10.240.0.0/19"}));
    let (one, two) = (Memory::default(), Memory::default());
    // The command locks its state and a controller never does this: two states are two machines.
    let client = world.client().await;
    let none = State::default();
    let (target, plan) = prepare(&client, &input, &none).await.unwrap().ready().unwrap();
    let (_, twin) = prepare(&client, &input, &none).await.unwrap().ready().unwrap();
    let (first, second) = futures::join!(
        finish(&client, &target, plan, none.clone(), &one, TIMING, Options::default()),
        finish(&client, &target, twin, none.clone(), &two, TIMING, Options::default()),
    );
    assert!(first.is_err() || second.is_err(), "one range fits once into a network");
    let text = world.reconcile(&input, none, &Memory::default()).await.unwrap_err().to_string();
    assert!(text.contains("could be this shoot's"), "{text}");
    // What both hold goes with whoever comes first.
    world.delete(&input, one.last(), &one).await.unwrap();
    world.delete(&input, two.last(), &two).await.unwrap();
    assert_same(&world.content(), &all, "in the end");
}
