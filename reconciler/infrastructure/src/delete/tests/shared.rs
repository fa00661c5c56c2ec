//! On a shared subnet and a shared router only what is this shoot's goes.

use std::collections::BTreeSet;

use super::scene::{ID, Mix, Scene, objects};
use crate::testing::{PROJECT, Saves};

/// Ours, a shoot's whose name begins with ours, and strangers'.
fn crowded(pattern: u8) -> Scene {
    let mut scene = Mix::pattern(pattern).scene();
    let subnet = scene.mix.subnet_id();
    for (id, name, on, project) in [
        ("lb-ours", format!("kube_service_{ID}_default_web"), subnet.as_str(), PROJECT),
        ("lb-longer", format!("kube_service_{ID}b_default_web"), &subnet, PROJECT),
        ("lb-dashed", format!("kube_service_{ID}-b_default_web"), &subnet, PROJECT),
        ("lb-stranger", "shop".to_owned(), &subnet, PROJECT),
        ("lb-elsewhere", format!("kube_service_{ID}_default_web"), "another-subnet", PROJECT),
        ("lb-of-others", format!("kube_service_{ID}_default_web"), &subnet, "another-project"),
    ] {
        scene.add_balancer(id, &name, on, project);
    }
    scene.add_server("shoot--dev--a-worker-1", "10.250.0.12");
    scene.add_server("shoot--dev--ab-worker-1", "10.250.0.13");
    scene.add_server("vpn", "10.250.0.14");
    for (destination, nexthop) in [
        ("100.96.1.0/24", "10.250.0.11"),
        ("100.96.2.0/24", "10.250.0.12"),
        ("100.96.3.0/24", "10.250.0.13"),
        ("100.96.4.0/24", "10.250.0.14"),
        ("100.64.0.0/24", "10.250.0.11"),
        ("100.96.5.0/24", "10.9.0.5"),
        ("100.64.0.0/10", "10.250.0.11"),
        ("0.0.0.0/0", "10.250.0.11"),
    ] {
        scene.route(destination, nexthop);
    }
    scene
}

#[tokio::test(start_paused = true)]
async fn load_balancers_go_by_full_name_project_and_subnet() {
    let scene = crowded(4);
    let cloud = scene.cloud();
    scene.delete(&cloud, &Saves::default()).await.unwrap();
    let calls = cloud.calls();
    let deleted: Vec<&String> = calls.iter().filter(|it| it.starts_with("DELETE balancers")).collect();
    assert_eq!(deleted, ["DELETE balancers lb-ours"]);
    let left: BTreeSet<String> =
        objects(&cloud.world(), "lb-").iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect();
    let others = ["lb-longer", "lb-dashed", "lb-stranger", "lb-elsewhere", "lb-of-others"];
    assert_eq!(left, others.map(str::to_owned).into());
}

#[tokio::test(start_paused = true)]
async fn routes_go_by_destination_next_hop_and_its_holder() {
    let scene = crowded(4);
    let cloud = scene.cloud();
    scene.delete(&cloud, &Saves::default()).await.unwrap();
    let calls = cloud.calls();
    let gone: Vec<&String> = calls.iter().filter(|it| it.starts_with("UNROUTE")).collect();
    assert_eq!(
        gone,
        ["UNROUTE given-router 100.96.1.0/24 10.250.0.11", "UNROUTE given-router 100.96.2.0/24 10.250.0.12"]
    );
    assert_eq!(cloud.world()["routers"][0]["routes"].as_array().unwrap().len(), 6);
}

#[tokio::test]
async fn routes_through_a_subnet_that_the_router_left_are_others() {
    let mut scene = crowded(4);
    scene.drop("ports", "interface-given-subnet");
    assert!(matches!(scene.plan().await.routes, Ok(None)));
}

#[tokio::test]
async fn dual_stack_pods_lose_their_routes_too() {
    let mut scene = Mix { ipv6: super::scene::Owner::Given, ..Mix::pattern(4) }.scene();
    scene.route("fd00:2::/64", "fd00:1::5");
    scene.route("fd00:9::/64", "fd00:1::5");
    let routes = scene.plan().await.routes.unwrap().unwrap().routes;
    let lost: Vec<String> = routes.iter().map(|it| it.get().destination.to_string()).collect();
    assert_eq!(lost, ["fd00:2::/64"]);
}

#[tokio::test]
async fn what_no_route_makes_matter_is_not_needed() {
    let scene = Mix::pattern(4).scene();
    let mut cloud = scene.cloud();
    cloud.broken = ["servers", "ports"].into();
    let plan = scene.plan_on(&cloud).await.unwrap();
    assert!(matches!(plan.routes, Ok(None)), "{:?}", plan.routes);
}

/// Another's share network is a near miss, whatever its name.
#[tokio::test]
async fn a_share_network_goes_only_if_found_by_name_network_and_subnet() {
    use serde_json::json;

    use super::scene::Owner::Own;
    for (name, network, subnet, project, ours) in [
        (ID, "given-network", "given-subnet", PROJECT, true),
        ("users", "given-network", "given-subnet", PROJECT, false),
        (ID, "given-network", "another-subnet", PROJECT, false),
        (ID, "another-network", "given-subnet", PROJECT, false),
        (ID, "given-network", "given-subnet", "another-project", false),
    ] {
        let mut scene = Mix::pattern(4).scene();
        scene.target.share_network = Mix { share: Own, ..scene.mix }.target().share_network;
        scene.put(
            "shares",
            json!({"id": "found", "name": name, "project_id": project,
            "share_network_subnets": [{"neutron_net_id": network, "neutron_subnet_id": subnet}]}),
        );
        let found = scene.plan().await.share_network.unwrap().owned().is_some();
        assert_eq!(found, ours, "{name} {network} {subnet} {project}");
    }
}
