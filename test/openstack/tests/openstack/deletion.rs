//! What goes with a shoot and what stays, on shared ground.

use fabric_test_openstack::{Service, World};
use serde_json::json;

pub(crate) async fn load_balancers_and_routes_of_this_shoot_alone_go_from_a_given_subnet_and_router(world: World) {
    let given = world.given().await;
    world.port(&given.network, &given.subnet, "10.250.0.77").await;
    let networks = json!({"id": given.network, "subnetId": given.subnet, "router": {"id": given.router}});
    let mut shoot = world.shoot("lb", networks);
    let id = shoot.id().to_owned();
    // Another shoot whose name begins with ours, and a stranger; routes to elsewhere, and through a stranger's port.
    let longer = format!("kube_service_{id}x_default_web");
    let ours = format!("kube_service_{id}_default_web");
    tokio::join!(
        world.load_balancer(&longer, &given.subnet),
        world.load_balancer("a-strangers", &given.subnet),
        world.routes(&given.router, &[("100.96.9.0/24", "10.250.0.77"), ("192.168.7.0/24", "10.250.0.9")]),
    );
    let before = world.snapshot().await;

    shoot.applied().await;
    tokio::join!(
        world.load_balancer(&ours, &given.subnet),
        world.routes(&given.router, &[("100.96.1.0/24", "10.250.0.10"), ("100.97.0.0/24", "10.250.0.11")]),
    );
    // Routes and load balancers are the cloud controller's: no drift.
    shoot.assert_settled("with routes and load balancers").await;
    shoot.deleted().await;
    before.assert_same(&world.snapshot().await, "after the deletion");
}

pub(crate) async fn foreign_ports_and_subnets_in_our_network_are_named_and_block_nothing_else(world: World) {
    let before = world.snapshot().await;
    let mut shoot = world.shoot("bl", json!({"workers": "10.250.0.0/19"}));
    let networks = shoot.applied().await.result.provider_status.networks;
    let port = world.port(&networks.id, &networks.subnets[0].id, "10.250.0.99").await;
    let error = shoot.delete().await.result.err().unwrap();
    assert!(error.contains(&port) && error.contains("10.250.0.99"), "{error}");
    let left = world.snapshot().await;
    let kinds = ["routers", "networks", "ports", "key pair of the shoot's user"].map(|kind| left.count(kind));
    assert_eq!(kinds, [0, 1, 1, 0], "all but the network went: {:#?}", left.0.keys());

    // Neutron would take a subnet without ports along with its network, whosever it is.
    world.owner.delete(Service::Network, &format!("ports/{port}")).await;
    let subnet = world.subnet(&networks.id, "somebodys", "10.252.0.0/24").await;
    let error = shoot.delete().await.result.err().unwrap();
    assert!(error.contains(&subnet) && error.contains("10.252.0.0/24"), "{error}");
    assert!(world.look(&format!("subnets/{subnet}")).await.is_some());

    world.owner.delete(Service::Network, &format!("subnets/{subnet}")).await;
    shoot.deleted().await;
    before.assert_same(&world.snapshot().await, "after the last deletion");
}

pub(crate) async fn one_of_two_shoots_on_a_network_and_router_leaves_and_the_other_does_not_notice(world: World) {
    let (network, router) = tokio::join!(world.network("net"), world.router("router"));
    let networks = |workers: &str| json!({"id": network, "router": {"id": router}, "workers": workers});
    let mut stays = world.shoot("a", networks("10.250.0.0/24"));
    // Its name begins with the other's.
    let mut leaves = world.shoot("ab", networks("10.250.1.0/24"));
    stays.applied().await;
    world.routes(&router, &[("100.96.1.0/24", "10.250.0.10")]).await;
    let before = world.snapshot().await;
    leaves.applied().await;
    world.routes(&router, &[("100.96.2.0/24", "10.250.1.10")]).await;
    stays.assert_settled("beside the other").await;
    // Neither the state nor the name leads the one to the other's.
    leaves.state = fabric_infrastructure::State::default();
    leaves.deleted().await;
    before.assert_same(&world.snapshot().await, "after the other has left");
    stays.deleted().await;
}

pub(crate) async fn on_our_subnet_in_a_given_network_a_strangers_load_balancer_is_named_and_stays(world: World) {
    let (network, router) = tokio::join!(world.network("net"), world.router("router"));
    let before = world.snapshot().await;
    let mut shoot = world.shoot("own", json!({"id": network, "router": {"id": router}, "workers": "10.250.0.0/19"}));
    let subnet = shoot.applied().await.result.provider_status.networks.subnets[0].id.clone();
    let ours = format!("kube_service_{}_default_web", shoot.id());
    let (_, strangers) = tokio::join!(world.load_balancer(&ours, &subnet), world.load_balancer("strangers", &subnet));
    let error = shoot.delete().await.result.err().unwrap();
    assert!(error.contains(&strangers), "names who is in the way: {error}");
    assert_eq!(world.snapshot().await.count("load balancer"), 1, "ours went, the stranger's did not");
    world.owner.delete(Service::LoadBalancer, &format!("loadbalancers/{strangers}?cascade=true")).await;
    world.until("the stranger has left", || async { world.snapshot().await.count("load balancer") == 0 }).await;
    shoot.deleted().await;
    before.assert_same(&world.snapshot().await, "after the second deletion");
}
