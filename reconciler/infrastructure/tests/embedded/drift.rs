//! What changes behind our back, or in the specification, comes right in one run.

use fabric_apis::openstack::v1alpha1::CloudProfileConfig;
use fabric_flow::Options;
use fabric_infrastructure::{Input, Reconciled, State, reconcile::reconcile};
use fabric_openstack_sim::Service;
use serde_json::{Value, json};

use crate::world::{Memory, TIMING, World, assert_same, specifications};

/// A run that has something to do, then one that has not.
async fn converges(world: &World, input: &Input, memory: &Memory, when: &str) -> Reconciled {
    let once = world.reconcile(input, memory.last(), memory).await;
    once.unwrap_or_else(|error| panic!("{when}: {error}"));
    let before = world.content();
    let twice = world.reconcile(input, memory.last(), memory).await;
    let twice = twice.unwrap_or_else(|error| panic!("{when}, again: {error}"));
    assert_same(&world.content(), &before, &format!("{when}: the second run changes nothing"));
    twice
}

/// Removes what it can, as the user would.
fn remove(world: &World, made: &Reconciled, what: &str) {
    let user = world.cloud.user("demo").unwrap();
    let networks = &made.provider_status.networks;
    let router = format!("/v2.0/routers/{}", networks.router.id);
    let detach = |subnet: &str| {
        user.put(Service::Network, &format!("{router}/remove_router_interface"), json!({"subnet_id": subnet}))
    };
    match what {
        "share network" => {
            let share = &networks.share_network.as_ref().unwrap().id;
            user.delete(Service::SharedFileSystem, &format!("/v2/share-networks/{share}"));
        }
        "key pair" => {
            user.delete(Service::Compute, "/v2.1/os-keypairs/shoot--dev--a");
        }
        "security group" => {
            let group = &made.provider_status.security_groups[0].id;
            user.delete(Service::Network, &format!("/v2.0/security-groups/{group}"));
        }
        "interfaces" => {
            for subnet in &networks.subnets[..2] {
                detach(&subnet.id);
            }
        }
        "router" => {
            for subnet in &networks.subnets[..2] {
                detach(&subnet.id);
            }
            assert_eq!(user.delete(Service::Network, &router).status, 204);
        }
        "one subnet" => {
            detach(&networks.subnets[0].id);
            user.delete(Service::Network, &format!("/v2.0/subnets/{}", networks.subnets[0].id));
        }
        "network" => {
            for subnet in &networks.subnets[..2] {
                detach(&subnet.id);
            }
            assert_eq!(user.delete(Service::Network, &format!("/v2.0/networks/{}", networks.id)).status, 204);
        }
        _ => panic!("{what}"),
    }
}

#[tokio::test]
async fn whatever_was_deleted_behind_our_back_is_made_again_and_taken_away() {
    let parts = ["share network", "key pair", "security group", "interfaces", "router", "one subnet", "network"];
    for chosen in 1..1_u32 << parts.len() {
        let gone: Vec<&str> =
            parts.iter().enumerate().filter(|(bit, _)| chosen & (1 << bit) != 0).map(|(_, part)| *part).collect();
        // One, two, or all of them.
        if gone.len() > 2 && gone.len() < parts.len() {
            continue;
        }
        // A share network does not move: where its subnet went it has to go too.
        if !gone.contains(&"share network") && (gone.contains(&"one subnet") || gone.contains(&"network")) {
            continue;
        }
        let world = World::start().await;
        let all = world.content();
        let input = world.input(json!({"workers": "10.240.0.0/19", "shareNetwork": {"enabled": true},
            "ipv6": {"nodeCIDR": "2001:db8:1::/64", "podCIDR": "2001:db8:2::/56", "serviceCIDR": "2001:db8:3::/112"}}));
        let memory = Memory::default();
        let made = world.reconcile(&input, State::default(), &memory).await.unwrap();
        let whole = world.counts();
        for part in &gone {
            remove(&world, &made, part);
        }
        let when = format!("without {gone:?}");
        if chosen % 3 == 0 {
            // Deleted before it is whole again.
            world.delete(&input, memory.last(), &memory).await.unwrap_or_else(|error| panic!("{when}: {error}"));
        } else {
            let again = converges(&world, &input, &memory, &when).await;
            assert_eq!(world.counts(), whole, "{when}");
            assert_eq!(again.provider_status.networks.subnets.len(), 4, "{when}");
            world.delete(&input, memory.last(), &memory).await.unwrap();
        }
        assert_same(&world.content(), &all, &when);
    }
}

#[tokio::test]
async fn what_may_change_in_a_shoot_is_changed_in_place() {
    let world = World::start().await;
    let all = world.content();
    let mut input = world.input(json!({"id": world.network, "workers": "10.240.0.0/19"}));
    let memory = Memory::default();
    let first = world.reconcile(&input, State::default(), &memory).await.unwrap();

    input.shoot.overlay_off = true;
    converges(&world, &input, &memory, "overlay off").await;
    input.shoot.overlay_off = false;
    converges(&world, &input, &memory, "overlay on").await;

    for servers in [json!(["9.9.9.9", "2001:4860:4860::8888"]), json!(["1.1.1.1"]), json!([])] {
        let profile = json!({"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1",
            "kind": "CloudProfileConfig", "constraints": {"floatingPools": [{"name": "public"}], "loadBalancerProviders": []},
            "machineImages": [], "dnsServers": servers});
        input.profile = Some(serde_json::from_value::<CloudProfileConfig>(profile).unwrap());
        let now = converges(&world, &input, &memory, "other resolvers").await;
        let subnet = world.cloud.get("subnets", &now.provider_status.networks.subnets[0].id).unwrap();
        let v4: Vec<Value> =
            servers.as_array().unwrap().iter().filter(|it| !it.as_str().unwrap().contains(':')).cloned().collect();
        assert_eq!(subnet["dns_nameservers"], json!(v4));
    }

    for key in ["AAAAC3NzaC1lZDI1NTE5AAAAIGuajrSVlbBEj6M4yKkzXLSFBWRnTbTFfpSyiSQqkXLN", ""] {
        input.shoot.ssh_public_key = (!key.is_empty()).then(|| format!("ssh-ed25519 {key}"));
        converges(&world, &input, &memory, "another key").await;
        assert_eq!(world.cloud.list("keypairs").len(), 1);
    }

    input.config.networks.share_network = serde_json::from_value(json!({"enabled": true})).unwrap();
    let last = converges(&world, &input, &memory, "with shares").await;
    assert!(last.provider_status.networks.share_network.is_some());
    assert_eq!(last.provider_status.networks.subnets, first.provider_status.networks.subnets);
    assert_eq!(last.provider_status.networks.router, first.provider_status.networks.router);
    world.delete(&input, memory.last(), &memory).await.unwrap();
    assert_same(&world.content(), &all, "in the end");
}

#[tokio::test]
async fn a_key_put_in_place_of_the_one_that_nobody_holds_is_replaced() {
    let world = World::start().await;
    let mut input = world.input(json!({"workers": "10.240.0.0/19"}));
    input.shoot.ssh_public_key = None;
    let memory = Memory::default();
    world.reconcile(&input, State::default(), &memory).await.unwrap();
    let user = world.cloud.user("demo").unwrap();
    user.delete(Service::Compute, "/v2.1/os-keypairs/shoot--dev--a");
    let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGuajrSVlbBEj6M4yKkzXLSFBWRnTbTFfpSyiSQqkXLN";
    let answer = user.post(
        Service::Compute,
        "/v2.1/os-keypairs",
        json!({"keypair": {"name": "shoot--dev--a", "public_key": key}}),
    );
    assert!(answer.status < 300, "{answer:?}");
    drop(user);
    converges(&world, &input, &memory, "somebody's key").await;
    let held = world.client().await;
    let pair = fabric_openstack::api::Compute::key_pair(&held, "shoot--dev--a").await.unwrap().unwrap();
    assert!(!pair.public_key.starts_with(key), "whoever made that key could enter the nodes");
}

#[tokio::test]
async fn a_gateway_that_is_put_back_takes_its_address_where_the_pattern_says() {
    for (pattern, range) in [("public-v4-b", "172.24.5."), ("~public-v4-.*", "172.24.5."), ("public-v4", "172.24.4.")] {
        let world = World::start().await;
        let mut input = world.input(json!({"workers": "10.240.0.0/19"}));
        input.config.floating_pool_subnet_name = Some(pattern.to_owned());
        let memory = Memory::default();
        // Only a network administrator may choose the external subnet.
        let client = world.client_of("netadmin", "demo").await;
        let run = |state| reconcile(&client, &input, state, &memory, TIMING, Options::default());
        let first = run(State::default()).await.unwrap().provider_status.networks.router;
        assert!(first.ip.starts_with(range), "{pattern}: {}", first.ip);
        let path = format!("/v2.0/routers/{}", first.id);
        let none = json!({"router": {"external_gateway_info": {}}});
        assert_eq!(world.cloud.user("demo").unwrap().put(Service::Network, &path, none).status, 200);
        let again = run(memory.last()).await.unwrap().provider_status.networks.router;
        assert_eq!(again.id, first.id, "{pattern}");
        assert!(again.ip.starts_with(range), "{pattern}: {}", again.ip);
        world.cloud.calls().clear();
        run(memory.last()).await.unwrap();
        assert!(world.cloud.calls().mutations().is_empty(), "{pattern}: settled");
    }
}

#[tokio::test]
async fn pods_with_addresses_of_a_pool_are_let_in_without_an_overlay() {
    let world = World::start().await;
    let pool = world.cloud.id("subnetpools", "shared-v6").unwrap();
    let mut input = world.input(json!({"workers": "10.240.0.0/19", "ipv6": {"subnetPoolID": pool}}));
    input.shoot.overlay_off = true;
    let memory = Memory::default();
    let made = world.reconcile(&input, State::default(), &memory).await.unwrap();
    let pods = made.networking.pods.last().unwrap();
    let rules = world.cloud.list("security_group_rules");
    assert!(rules.iter().any(|rule| rule["remote_ip_prefix"] == **pods), "{pods}: {rules:#?}");
    let before = world.content();
    for state in [memory.last(), State::default()] {
        world.reconcile(&input, state, &memory).await.unwrap();
        assert_same(&world.content(), &before, "settled");
    }
}

#[tokio::test]
async fn a_state_that_lost_any_key_is_made_whole_without_a_change() {
    for name in ["shares", "dual-stack by ranges", "dual-stack given", "5 security group", "pool"] {
        let world = World::start().await;
        let networks = specifications(&world).into_iter().find(|(known, _)| *known == name).unwrap().1;
        let input = world.input(networks);
        let made = world.reconcile(&input, State::default(), &Memory::default()).await.unwrap();
        world.cloud.calls().clear();
        for lost in made.state.data().keys() {
            for left in [None, Some(""), Some("<deleted>"), Some("00000000-0000-4000-8000-000000000000")] {
                let mut data = made.state.data().clone();
                match left {
                    None => data.remove(lost),
                    // What is only remembered is not looked up again: an id is all that can be wrong.
                    Some(text) if text.len() > 20 && data[lost].len() != text.len() => continue,
                    Some(text) => data.insert(lost.clone(), text.to_owned()),
                };
                // An id under which something was given is a fact that an edited file does not overrule.
                let again = world.reconcile(&input, State::from_data(data), &Memory::default()).await;
                match again {
                    Err(error) if left.is_some() => {
                        assert!(error.to_string().contains("field is immutable"), "{name}, {lost}: {error}");
                    }
                    again => assert_eq!(again.unwrap().state, made.state, "{name}, {lost}: {left:?}"),
                }
            }
        }
        assert!(world.cloud.calls().mutations().is_empty(), "{name}");
    }
}

#[tokio::test]
async fn a_renamed_reservation_is_found_again_by_mark_and_range() {
    let world = World::start().await;
    let all = world.content();
    let ipv6 = json!({"nodeCIDR": "2001:db8:1::/64", "podCIDR": "2001:db8:2::/56", "serviceCIDR": "2001:db8:3::/112"});
    let input = world.input(json!({"id": world.network, "workers": "10.240.0.0/19", "ipv6": ipv6}));
    let made = world.reconcile(&input, State::default(), &Memory::default()).await.unwrap();
    let whole = world.content();
    let rename = || {
        for subnet in &made.provider_status.networks.subnets {
            world.cloud.patch("subnets", &subnet.id, &json!({"name": "renamed"})).unwrap();
        }
    };
    rename();
    world.reconcile(&input, State::default(), &Memory::default()).await.unwrap();
    assert_same(&world.content(), &whole, "named again");
    rename();
    world.delete(&input, State::default(), &Memory::default()).await.unwrap();
    assert_same(&world.content(), &all, "deleted");
}
