//! A specification or a state that is not the one that the infrastructure was made with: edited, copied, or from
//! another controller. Nothing that was given or is another shoot's changes, and nothing of ours is forgotten.

use std::collections::BTreeMap;

use fabric_infrastructure::{Input, State, state::Key};
use fabric_openstack_sim::Service;
use serde_json::{Value, json};

use crate::{
    given::given,
    world::{Memory, NAME, World, assert_same, specifications},
};

const PATTERNS: [&str; 5] = ["1 managed", "2 network", "3 network and router", "4 subnet", "5 security group"];

/// Every pattern into every other, and what else may be given or not.
fn edits() -> Vec<(&'static str, &'static str)> {
    let pairs = PATTERNS.into_iter().flat_map(|was| PATTERNS.map(|is| (was, is)));
    let mut all: Vec<_> = pairs.filter(|(was, is)| was != is).collect();
    all.extend([
        ("shares on a given subnet", "given share network"),
        ("given share network", "shares on a given subnet"),
        ("dual-stack given", "dual-stack by ranges"),
        ("dual-stack by ranges", "dual-stack given"),
        ("dual-stack by ranges", "1 managed"),
    ]);
    all
}

fn specified(world: &World, name: &str) -> Input {
    let networks = specifications(world).into_iter().find(|(known, _)| *known == name).unwrap().1;
    world.input(networks)
}

#[tokio::test]
async fn an_edited_specification_takes_nothing_and_forgets_nothing() {
    for (before, after) in edits() {
        let world = World::start().await;
        let (all, users) = (world.content(), given(&world));
        let (was, is) = (specified(&world, before), specified(&world, after));
        let memory = Memory::default();
        world.reconcile(&was, State::default(), &memory).await.unwrap();
        let _ = world.reconcile(&is, memory.last(), &memory).await;
        assert_same(&given(&world), &users, &format!("{before} applied as {after}"));
        let _ = world.delete(&is, memory.last(), &memory).await;
        assert_same(&given(&world), &users, &format!("{before} deleted as {after}"));
        let ended = world.delete(&was, memory.last(), &memory).await;
        ended.unwrap_or_else(|error| panic!("{before} edited to {after}: {error}"));
        assert_same(&world.content(), &all, &format!("{before} edited to {after} and back"));
    }
}

#[tokio::test]
async fn an_id_of_a_given_resource_that_was_edited_is_refused_and_changes_nothing() {
    let world = World::start().await;
    let other = world.network_of("lab", "10.251.0.0/19");
    let all = world.content();
    let was = world.input(json!({"id": world.network, "router": {"id": world.router}, "workers": "10.240.0.0/19"}));
    let is = world.input(json!({"id": other, "router": {"id": world.router}, "workers": "10.240.0.0/19"}));
    let memory = Memory::default();
    world.reconcile(&was, State::default(), &memory).await.unwrap();
    let made = world.content();
    for text in [
        world.reconcile(&is, memory.last(), &memory).await.unwrap_err().to_string(),
        world.delete(&is, memory.last(), &memory).await.unwrap_err().to_string(),
    ] {
        assert!(text.contains("networks.id: field is immutable"), "{text}");
    }
    assert_same(&world.content(), &made, "refused");
    world.delete(&was, memory.last(), &memory).await.unwrap();
    assert_same(&world.content(), &all, "afterwards");
}

/// The state as upstream's extension keeps it: its keys alone, so nothing says what was given.
fn upstream(state: &State) -> State {
    let known = |key: &str| !key.starts_with("fabric.");
    let data: BTreeMap<String, String> =
        state.data().iter().filter(|(key, _)| known(key)).map(|(key, value)| (key.clone(), value.clone())).collect();
    State::from_data(data)
}

/// Takes our marks from everything, as if upstream's extension had made it.
fn unmark(world: &World) {
    for table in ["networks", "subnets", "routers", "security_groups", "security_group_rules", "share_networks"] {
        for row in world.cloud.list(table) {
            let id = row["id"].as_str().unwrap();
            let description = row["description"].as_str().unwrap_or_default();
            if let Some((human, _)) = description.split_once("osf:") {
                world.cloud.patch(table, id, &json!({"description": human.trim_end(), "tags": []})).unwrap();
            }
        }
    }
}

#[tokio::test]
async fn what_upstreams_extension_made_is_taken_over_unchanged_and_taken_away_completely() {
    for (index, (name, _)) in specifications(&World::start().await).into_iter().enumerate() {
        for lost in [false, true] {
            let world = World::start().await;
            let all = world.content();
            let input = world.input(specifications(&world).swap_remove(index).1);
            let made = world.reconcile(&input, State::default(), &Memory::default()).await.unwrap();
            unmark(&world);
            let before = world.content();
            let state = if lost { State::default() } else { upstream(&made.state) };
            let taken = world.reconcile(&input, state, &Memory::default()).await;
            let taken = taken.unwrap_or_else(|error| panic!("{name}, state lost: {lost}: {error}"));
            assert_same(&world.content(), &before, &format!("{name}, state lost: {lost}: taken over"));
            assert_eq!(json!(taken.provider_status), json!(made.provider_status), "{name}, state lost: {lost}");
            assert_eq!(taken.networking, made.networking, "{name}, state lost: {lost}");
            world.delete(&input, taken.state, &Memory::default()).await.unwrap();
            assert_same(&world.content(), &all, &format!("{name}, state lost: {lost}: deleted"));
        }
    }
}

#[tokio::test]
async fn a_given_resource_in_a_state_that_does_not_tell_given_from_owned_is_not_taken() {
    for before in ["5 security group", "given share network", "dual-stack given"] {
        for after in ["1 managed", "2 network", "3 network and router"] {
            let world = World::start().await;
            let users = given(&world);
            let was = specified(&world, before);
            let made = world.reconcile(&was, State::default(), &Memory::default()).await.unwrap();
            unmark(&world);
            let (all, state) = (world.content(), upstream(&made.state));
            let is = specified(&world, after);
            let text = world.reconcile(&is, state.clone(), &Memory::default()).await.unwrap_err().to_string();
            assert!(text.contains("is in the state, but neither carries this shoot's mark nor its name"), "{text}");
            assert_same(&world.content(), &all, &format!("{before} applied as {after}"));
            let _ = world.delete(&is, state, &Memory::default()).await;
            assert_same(&given(&world), &users, &format!("{before} deleted as {after}"));
        }
    }
}

/// The shoot under another name, with a uid of its own.
fn named(input: &Input, name: &str) -> Input {
    let mut other = input.clone();
    other.shoot.technical_id = name.to_owned();
    other.shoot.uid = format!("uid of {name}").replace(' ', "-");
    other
}

/// The rows of every table that mention this shoot's name, and no longer one.
fn rows_of(world: &World, name: &str) -> Value {
    let all = world.content();
    let is_of = |row: &&Value| row["name"].as_str().is_some_and(|known| known == name);
    let rows: Vec<Value> = all
        .as_object()
        .unwrap()
        .values()
        .flat_map(|table| table.as_array().into_iter().flatten().filter(is_of).cloned().collect::<Vec<_>>())
        .collect();
    json!(rows)
}

#[tokio::test]
async fn a_copied_state_gives_no_hold_on_another_shoot() {
    for unmarked in [false, true] {
        for name in ["1 managed", "3 network and router", "shares on a given subnet"] {
            let world = World::start().await;
            let ours = specified(&world, name);
            let theirs = named(&ours, "shoot--dev--b");
            let made = world.reconcile(&theirs, State::default(), &Memory::default()).await.unwrap();
            let mut copied = made.state;
            if unmarked {
                unmark(&world);
                copied = upstream(&copied);
            }
            let before = rows_of(&world, "shoot--dev--b");
            assert!(before.as_array().unwrap().len() >= 2, "{before}");
            let memory = Memory::default();
            let _ = world.reconcile(&ours, copied.clone(), &memory).await;
            assert_same(&rows_of(&world, "shoot--dev--b"), &before, &format!("{name} {unmarked}: applied"));
            let _ = world.delete(&ours, copied, &memory).await;
            assert_same(&rows_of(&world, "shoot--dev--b"), &before, &format!("{name} {unmarked}: deleted"));
        }
    }
}

#[tokio::test]
async fn a_new_uid_takes_over_the_earlier_life_and_ends_it() {
    for index in 0..specifications(&World::start().await).len() {
        let world = World::start().await;
        let (name, networks) = specifications(&world).swap_remove(index);
        let all = world.content();
        let input = world.input(networks);
        world.reconcile(&input, State::default(), &Memory::default()).await.unwrap();
        let before = world.content();
        let mut reborn = input.clone();
        reborn.shoot.uid = "another".to_owned();
        let made = world.reconcile(&reborn, State::default(), &Memory::default()).await.unwrap();
        assert_same(&world.content(), &before, &format!("{name}: taken over"));
        world.delete(&reborn, made.state, &Memory::default()).await.unwrap();
        assert_same(&world.content(), &all, &format!("{name}: deleted"));
    }
}

#[tokio::test]
async fn what_is_given_stays_though_it_carries_our_marks() {
    let marker = fabric_openstack_types::Marker::new(NAME, "0f6d1c7e-8a5b-4f0e-9c53-6d0c7f1f2a11");
    for name in ["5 security group", "given share network", "dual-stack given"] {
        let world = World::start().await;
        for (table, id) in world.users() {
            // A share network that has our marks and is not given is ours.
            if table != "share_networks" || name == "given share network" {
                let marks = json!({"description": marker.description(), "tags": marker.tags(), "name": NAME});
                world.cloud.patch(table, id, &marks).unwrap();
            }
        }
        let all = world.content();
        let mut input = specified(&world, name);
        input.config.networks.security_group_id = Some(world.group.clone());
        let made = world.reconcile(&input, State::default(), &Memory::default()).await.unwrap();
        world.delete(&input, made.state, &Memory::default()).await.unwrap();
        assert_same(&world.content(), &all, name);
    }
}

#[tokio::test]
async fn an_ipv6_side_that_the_specification_no_longer_has_goes_too() {
    for lost in [false, true] {
        let world = World::start().await;
        let all = world.content();
        let ipv6 =
            json!({"nodeCIDR": "2001:db8:1::/64", "podCIDR": "2001:db8:2::/56", "serviceCIDR": "2001:db8:3::/112"});
        let mut input = world.input(
            json!({"id": world.network, "router": {"id": world.router}, "workers": "10.240.0.0/19", "ipv6": ipv6}),
        );
        let made = world.reconcile(&input, State::default(), &Memory::default()).await.unwrap();
        // The shoot's own list of families is what counts, and it may be told differently at the end.
        input.shoot.ip_families = Some(vec![fabric_apis::gardener::IpFamily::Ipv4]);
        let state = if lost { State::default() } else { made.state };
        world.delete(&input, state, &Memory::default()).await.unwrap();
        assert_same(&world.content(), &all, &format!("state lost: {lost}"));
    }
}

#[tokio::test]
async fn a_rule_of_the_user_that_we_would_make_too_stays_theirs() {
    let world = World::start().await;
    let mut input = specified(&world, "4 subnet");
    let memory = Memory::default();
    let made = world.reconcile(&input, State::default(), &memory).await.unwrap();
    let group = made.provider_status.security_groups[0].id.clone();
    let rule = json!({"security_group_rule": {"security_group_id": group, "direction": "ingress",
        "ethertype": "IPv4", "remote_ip_prefix": "100.96.0.0/11", "description": "ours since 2019"}});
    let answer = world.cloud.user("demo").unwrap().post(
        fabric_openstack_sim::Service::Network,
        "/v2.0/security-group-rules",
        rule,
    );
    assert_eq!(answer.status, 201, "{answer:?}");
    let before = world.content();
    for overlay_off in [true, false] {
        input.shoot.overlay_off = overlay_off;
        world.reconcile(&input, memory.last(), &memory).await.unwrap();
        assert_same(&world.content(), &before, &format!("overlay off: {overlay_off}"));
    }
    assert_eq!(memory.last().get(Key::SecurityGroup), Some(group.as_str()));
}

/// Found by R3: share networks switched on, off again, and the state lost.
#[tokio::test]
async fn a_share_network_that_nobody_wants_and_no_state_remembers_goes_by_its_mark_alone() {
    let world = World::start().await;
    let managed = |more: Value| {
        let mut networks = json!({"workers": "10.240.0.0/19"});
        networks.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        world.input(networks)
    };
    // Somebody's, of the shoot's name, elsewhere.
    let other = json!({"share_network": {
        "name": NAME, "neutron_net_id": world.network, "neutron_subnet_id": world.subnet,
    }});
    let demo = world.cloud.user("demo").unwrap();
    assert!(demo.post(Service::SharedFileSystem, "/v2/share-networks", other).status < 300);
    drop(demo);
    let all = world.content();
    let memory = Memory::default();
    let wanted = managed(json!({"shareNetwork": {"enabled": true}}));
    let made = world.reconcile(&wanted, State::default(), &memory).await.unwrap();
    let bare = managed(json!({}));
    world.reconcile(&bare, made.state, &memory).await.unwrap();
    let lost = world.reconcile(&bare, State::default(), &memory).await.unwrap();
    world.delete(&bare, lost.state, &memory).await.unwrap();
    assert_same(&world.content(), &all, "the shoot's is gone, somebody's is not");
}

/// A request that was given up and carried out all the same, after the next one was made.
#[tokio::test]
async fn what_was_made_twice_disturbs_nothing_and_goes_with_the_rest() {
    let world = World::start().await;
    let input = world.input(json!({"workers": "10.240.0.0/19", "shareNetwork": {"enabled": true}}));
    let all = world.content();
    let memory = Memory::default();
    let made = world.reconcile(&input, State::default(), &memory).await.unwrap();
    let demo = world.cloud.user("demo").unwrap();
    let again = |table: &str, service: Service, path: &str, fields: &[&str]| {
        let row = world.cloud.list(table).into_iter().find(|row| row["name"] == NAME).unwrap();
        let body: serde_json::Map<String, Value> =
            fields.iter().map(|it| ((*it).to_owned(), row[it].clone())).collect();
        let answer = demo.post(service, path, json!({table.trim_end_matches('s'): body}));
        assert!(answer.status < 300, "{table}: {answer:?}");
        answer.text(&format!("/{}/id", table.trim_end_matches('s')))
    };
    let marks = ["name", "description"];
    let network = again("networks", Service::Network, "/v2.0/networks", &marks);
    again("routers", Service::Network, "/v2.0/routers", &marks);
    again("security_groups", Service::Network, "/v2.0/security-groups", &marks);
    let share = ["name", "description", "neutron_net_id", "neutron_subnet_id"];
    again("share_networks", Service::SharedFileSystem, "/v2/share-networks", &share);
    let doubled = world.content();
    let kept = world.reconcile(&input, made.state, &memory).await.unwrap();
    assert_same(&world.content(), &doubled, "what is in use stays in use");

    let port = json!({"port": {"name": "somebody's", "network_id": network}});
    let port = demo.post(Service::Network, "/v2.0/ports", port).text("/port/id");
    let refused = world.delete(&input, kept.state, &memory).await.unwrap_err().to_string();
    assert!(refused.contains(&network) && refused.contains("somebody's"), "{refused}");
    assert_eq!(demo.delete(Service::Network, &format!("/v2.0/ports/{port}")).status, 204);
    drop(demo);
    world.delete(&input, memory.last(), &memory).await.unwrap();
    assert_same(&world.content(), &all, "nothing is left");
}
