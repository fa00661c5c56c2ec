//! What was given stays as it is, whatever is mixed with it and whatever fails.

use fabric_infrastructure::State;
use fabric_openstack_sim::{Action, Fault, When};
use fabric_test_program::{Property, cases};
use proptest::prelude::*;
use proptest::{strategy::ValueTree, test_runner::TestRunner};
use serde_json::{Value, json};

use crate::world::{Memory, World, assert_same};

#[derive(Clone, Debug)]
struct Mix {
    /// 0: all ours; 1: network; 2: and router; 3: and subnet.
    depth: u8,
    group: bool,
    share: u8,
    ipv6: bool,
    chance: f64,
    lose_state: bool,
}

fn mixes() -> impl Strategy<Value = Mix> {
    (0u8..4, any::<bool>(), 0u8..3, any::<bool>(), prop_oneof![Just(0.0), Just(0.1), Just(0.4)], any::<bool>())
        .prop_map(|(depth, group, share, ipv6, chance, lose_state)| Mix {
            depth,
            group,
            share,
            ipv6,
            chance,
            lose_state,
        })
}

fn networks(world: &World, mix: &Mix) -> Value {
    let mut networks = json!({});
    if mix.depth > 0 {
        networks["id"] = json!(world.network);
    }
    if mix.depth > 1 {
        networks["router"] = json!({"id": world.router});
    }
    if mix.depth > 2 {
        networks["subnetId"] = json!(world.subnet);
    } else {
        networks["workers"] = json!("10.240.0.0/19");
    }
    if mix.group && mix.depth > 0 {
        networks["securityGroupId"] = json!(world.group);
    }
    match mix.share {
        1 => networks["shareNetwork"] = json!({"enabled": true}),
        2 if mix.depth > 0 => networks["shareNetworkId"] = json!(world.share),
        _ => {}
    }
    if mix.ipv6 && mix.depth > 2 {
        networks["ipv6"] =
            json!({"nodeSubnetId": world.subnet_v6, "podCIDR": "fd00::/56", "serviceCIDR": "fd01::/112"});
    } else if mix.ipv6 {
        networks["ipv6"] = json!({"nodeCIDR": "2001:db8:1::/64", "podCIDR": "2001:db8:2::/56",
            "serviceCIDR": "2001:db8:3::/112"});
    }
    networks
}

/// The user's things, by content. An interface of ours on a given router is ours, and so no part of this.
pub fn given(world: &World) -> Value {
    let all = world.content();
    world
        .users()
        .iter()
        .map(|(table, id)| {
            let rows = all[*table].as_array().unwrap_or_else(|| panic!("no table {table}"));
            let mut row =
                rows.iter().find(|row| row["id"] == **id).unwrap_or_else(|| panic!("{table} {id} is gone")).clone();
            if *table == "networks" {
                // Subnets of ours in a given network are listed in it.
                row.as_object_mut().unwrap().remove("subnets");
            }
            row
        })
        .collect()
}

async fn play(mix: Mix) {
    let world = World::start().await;
    let (before, all_before) = (given(&world), world.content());
    let input = world.input(networks(&world, &mix));
    let memory = Memory::default();
    if mix.chance > 0.0 {
        for action in [Action::Reset, Action::DoneButReset] {
            world.cloud.faults().add(Fault::on("", "", action).when(When::Chance(mix.chance / 2.0))).unwrap();
        }
    }
    let _ = world.reconcile(&input, State::default(), &memory).await;
    assert_same(&given(&world), &before, &format!("after a reconcile of {mix:?}"));
    let state = if mix.lose_state { State::default() } else { memory.last() };
    let _ = world.delete(&input, state, &memory).await;
    assert_same(&given(&world), &before, &format!("after a deletion of {mix:?}"));
    world.cloud.faults().clear();
    world.delete(&input, memory.last(), &memory).await.unwrap_or_else(|error| panic!("{mix:?}: {error}"));
    assert_same(&world.content(), &all_before, &format!("in the end of {mix:?}"));
}

#[tokio::test]
async fn r5_what_was_given_is_the_same_in_every_mix() {
    let mut property = Property::new("R5", "given_unchanged");
    let mut runner = TestRunner::default();
    for _ in 0..cases("R5", 100, 5000) {
        let mix = mixes().new_tree(&mut runner).unwrap().current();
        property.case(format!("{mix:?}"), play(mix.clone())).await;
    }
    property.end();
}
