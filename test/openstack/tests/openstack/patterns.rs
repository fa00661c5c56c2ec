//! Patterns 1 to 5, each with others around: apply, nothing to do, delete, and all others as they were.

use fabric_test_openstack::{Given, Service, Shoot, World};
use serde_json::json;

/// Apply, nothing to do, delete. `foreign_network`: nothing of ours comes into what was given, so that nothing given
/// may change even for a moment.
async fn life(world: &World, shoot: &mut Shoot, nothing_inside: bool) {
    let before = world.snapshot().await;
    let run = shoot.applied().await;
    assert!(run.saves > 0 && run.calls.tokens == 1, "{:?}", run.calls);
    let status = serde_json::to_value(&run.result.provider_status).unwrap();
    let of = (shoot.id(), &*shoot.input.shoot.uid);
    world.assert_status(&shoot.input.config, of, &status, &run.result.egress_cidrs).await;
    shoot.assert_settled("second run").await;
    if nothing_inside {
        before.assert_kept(&world.snapshot().await, "while the shoot lives");
    }
    shoot.deleted().await;
    before.assert_same(&world.snapshot().await, "after the deletion");
}

async fn surrounded(world: &World, name: &str) -> Given {
    let given = world.given().await;
    world.bystanders(&given, &format!("shoot--{}--{name}", world.prefix)).await;
    given
}

pub(crate) async fn pattern_1_makes_all_beside_a_users_network_of_the_same_name_and_takes_all_away(world: World) {
    // Ours by name, but somebody's subnet lies in it; and a group that is marked for another shoot.
    let name = format!("shoot--{}--p1", world.prefix);
    let twin = world.owner.post(Service::Network, "networks", json!({"network": {"name": name}})).await;
    world.subnet(twin["network"]["id"].as_str().unwrap(), "somebodys", "10.9.0.0/24").await;
    let group = json!({"name": name, "description": format!("Cluster Nodes osf:{name}x/another-uid")});
    world.owner.post(Service::Network, "security-groups", json!({"security_group": group})).await;
    world.key_pair(&name).await;
    let mut shoot = world.shoot("p1", json!({"workers": "10.250.0.0/19"}));
    life(&world, &mut shoot, true).await;
}

pub(crate) async fn pattern_2_makes_subnet_and_router_in_the_given_network(world: World) {
    let network = world.network("net").await;
    let other = world.subnet(&network, "other", "10.251.0.0/24").await;
    world.port(&network, &other, "10.251.0.9").await;
    let mut shoot = world.shoot("p2", json!({"id": network, "workers": "10.250.0.0/19"}));
    life(&world, &mut shoot, false).await;
}

pub(crate) async fn pattern_3_makes_the_subnet_and_its_interface_on_the_given_router(world: World) {
    let network = world.network("net").await;
    let (router, other) = tokio::join!(world.router("router"), world.subnet(&network, "other", "10.251.0.0/24"));
    world.interface(&router, &other).await;
    let mut shoot = world.shoot("p3", json!({"id": network, "router": {"id": router}, "workers": "10.250.0.0/19"}));
    life(&world, &mut shoot, false).await;
}

pub(crate) async fn pattern_4_makes_group_and_key_pair_alone(world: World) {
    let given = surrounded(&world, "p4").await;
    let networks = json!({"id": given.network, "subnetId": given.subnet, "router": {"id": given.router}});
    let mut shoot = world.shoot("p4", networks);
    life(&world, &mut shoot, true).await;
}

pub(crate) async fn pattern_5_makes_the_key_pair_alone(world: World) {
    let given = surrounded(&world, "p5").await;
    let group = world.group("nodes").await;
    let mut shoot = world.shoot(
        "p5",
        json!({
            "id": given.network, "subnetId": given.subnet, "router": {"id": given.router},
            "securityGroupId": group,
        }),
    );
    life(&world, &mut shoot, true).await;
}

pub(crate) async fn without_ssh_access_a_key_of_nobody_is_made_and_kept(world: World) {
    let given = world.given().await;
    let group = world.group("nodes").await;
    let networks = json!({
        "id": given.network, "subnetId": given.subnet, "router": {"id": given.router}, "securityGroupId": group,
    });
    let mut shoot = world.shoot("key", networks);
    // As Gardener's robots log in: by an application credential of the same user.
    shoot.credentials = world.application_credential("robot").await;
    let key = async || {
        let pairs = world.gardener().await.list(Service::Compute, "os-keypairs", "keypairs").await;
        assert_eq!(pairs.len(), 1);
        pairs[0]["keypair"]["public_key"].as_str().unwrap().to_owned()
    };
    let known = shoot.input.shoot.ssh_public_key.take();
    shoot.applied().await;
    let nobodys = key().await;
    assert!(nobodys.starts_with("ssh-ed25519 ") && Some(&nobodys) != known.as_ref());
    shoot.assert_settled("without SSH access").await;
    // Access is opened, and closed again: the key that is there stays.
    shoot.input.shoot.ssh_public_key = known.clone();
    assert_eq!(shoot.applied().await.calls.changing, 2);
    assert_eq!(Some(key().await), known);
    shoot.input.shoot.ssh_public_key = None;
    assert_eq!(shoot.applied().await.calls.changing, 0);
    shoot.deleted().await;
}
