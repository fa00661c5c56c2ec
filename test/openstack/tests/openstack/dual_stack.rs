//! Both address families: three IPv6 subnets of ours, or the user's one; ranges from pools.

use fabric_infrastructure::Reconciled;
use fabric_test_openstack::{Service, Shoot, World};
use serde_json::{Value, json};

/// Purpose and range of each subnet in the status, as Neutron has them.
async fn subnets(world: &World, result: &Reconciled) -> Vec<(String, Value)> {
    let status = serde_json::to_value(&result.provider_status).unwrap();
    let mut all = Vec::new();
    for subnet in status["networks"]["subnets"].as_array().unwrap() {
        let found = world.look(&format!("subnets/{}", subnet["id"].as_str().unwrap())).await.unwrap();
        let range = if subnet["purpose"] == "nodes" { found["cidr"].clone() } else { json!("") };
        assert_eq!(subnet["cidr"], range, "only the IPv4 one tells its range");
        all.push((subnet["purpose"].as_str().unwrap().to_owned(), found));
    }
    all
}

fn purposes(subnets: &[(String, Value)]) -> Vec<&str> {
    subnets.iter().map(|(purpose, _)| purpose.as_str()).collect()
}

/// The addresses that the router has on the IPv6 side.
async fn router_is_on(world: &World, result: &Reconciled, subnet: &Value) -> bool {
    let router = &result.provider_status.networks.router.id;
    let ports = world.owner.list(Service::Network, &format!("ports?device_id={router}"), "ports").await;
    ports.iter().flat_map(|port| port["fixed_ips"].as_array().unwrap()).any(|ip| ip["subnet_id"] == subnet["id"])
}

async fn deleted_without_trace(world: &World, shoot: &mut Shoot, before: &fabric_test_openstack::Snapshot) {
    shoot.assert_settled("second run").await;
    shoot.deleted().await;
    before.assert_same(&world.snapshot().await, "after the deletion");
}

pub(crate) async fn three_ipv6_subnets_with_the_ranges_asked_for(world: World) {
    let before = world.snapshot().await;
    let mut shoot = world.shoot(
        "ds",
        json!({
            "workers": "10.250.0.0/19",
            "ipv6": {"nodeCIDR": "fd00:10::/64", "podCIDR": "fd00:20::/56", "serviceCIDR": "fd00:30::/108"},
        }),
    );
    let result = shoot.applied().await.result;
    let found = subnets(&world, &result).await;
    assert_eq!(purposes(&found), ["nodes", "nodes-ipv6", "pods", "services"]);
    let ranges: Vec<&str> = found.iter().map(|(_, subnet)| subnet["cidr"].as_str().unwrap()).collect();
    assert_eq!(ranges, ["10.250.0.0/19", "fd00:10::/64", "fd00:20::/56", "fd00:30::/108"]);
    let suffixes = ["", "-ipv6", "-ipv6-pod", "-ipv6-svc"];
    for ((_, subnet), suffix) in found.iter().zip(suffixes) {
        assert_eq!(subnet["name"], format!("{}{suffix}", shoot.id()));
    }
    let modes: Vec<&Value> = found.iter().map(|(_, subnet)| &subnet["ipv6_ra_mode"]).collect();
    assert_eq!(modes, [&Value::Null, &json!("slaac"), &Value::Null, &Value::Null]);
    assert!(router_is_on(&world, &result, &found[1].1).await);
    assert!(!router_is_on(&world, &result, &found[2].1).await, "a reservation has no interface");
    assert_eq!(result.networking.nodes, ["10.250.0.0/16", "fd00:10::/64"]);
    assert_eq!(result.networking.pods, ["100.96.0.0/11", "fd00:20::/56"]);
    assert_eq!(result.networking.services, ["100.64.0.0/13", "fd00:30::/112"]);
    let group = format!("security-groups/{}", result.provider_status.security_groups[0].id);
    let rules = async || world.look(&group).await.unwrap()["security_group_rules"].as_array().unwrap().clone();
    assert_eq!(rules().await.len(), 8);

    // Without an overlay pods' addresses show on the wire: one rule each family, in one call; and away again.
    shoot.input.shoot.overlay_off = true;
    assert_eq!(shoot.applied().await.calls.changing, 1);
    let prefixes: Vec<Value> = rules().await.iter().map(|rule| rule["remote_ip_prefix"].clone()).collect();
    assert_eq!(prefixes.len(), 10);
    assert!(["100.96.0.0/11", "fd00:20::/56"].iter().all(|pods| prefixes.contains(&json!(pods))), "{prefixes:?}");
    shoot.input.shoot.overlay_off = false;
    assert_eq!(shoot.applied().await.calls.changing, 2);
    assert_eq!(rules().await.len(), 8);
    deleted_without_trace(&world, &mut shoot, &before).await;
}

pub(crate) async fn ranges_of_both_families_come_from_pools_into_a_given_network(world: World) {
    let pool = |name: &str, prefix: &str, length: u8| {
        let pool = json!({"name": world.name(name), "prefixes": [prefix], "default_prefixlen": length});
        let world = world.clone();
        async move {
            let made = world.owner.post(Service::Network, "subnetpools", json!({"subnetpool": pool})).await;
            made["subnetpool"]["id"].as_str().unwrap().to_owned()
        }
    };
    let (v4, v6, network, router) = tokio::join!(
        pool("v4", "10.40.0.0/16", 24),
        pool("v6", "fd00:40::/48", 64),
        world.network("net"),
        world.router("router"),
    );
    let before = world.snapshot().await;
    let mut shoot = world.shoot(
        "pool",
        json!({
            "id": network, "router": {"id": router},
            "subnetPool": {"id": v4, "prefixLength": 26}, "ipv6": {"subnetPoolID": v6},
        }),
    );
    let result = shoot.applied().await.result;
    let found = subnets(&world, &result).await;
    assert_eq!(purposes(&found), ["nodes", "nodes-ipv6", "pods", "services"]);
    let range = |index: usize| found[index].1["cidr"].as_str().unwrap().to_owned();
    assert!(range(0).starts_with("10.40.") && range(0).ends_with("/26"), "{}", range(0));
    assert!((1..4).all(|index| range(index).starts_with("fd00:40:") && range(index).ends_with("/64")));
    assert_eq!(result.networking.nodes, ["10.250.0.0/16".to_owned(), range(0), range(1)]);
    assert_eq!(result.networking.pods, ["100.96.0.0/11".to_owned(), range(2)]);
    assert_eq!(result.networking.services, ["100.64.0.0/13".to_owned(), range(3).replace("/64", "/112")]);
    deleted_without_trace(&world, &mut shoot, &before).await;
}

pub(crate) async fn a_shared_pool_of_another_project_gives_a_range(world: World) {
    let pools = world.owner.list(Service::Network, "subnetpools?name=shared-v4", "subnetpools").await;
    let (network, router) = tokio::join!(world.network("net"), world.router("router"));
    let before = world.snapshot().await;
    let mut shoot = world.shoot(
        "shared",
        json!({"id": network, "router": {"id": router}, "subnetPool": {"id": pools[0]["id"], "prefixLength": 24}}),
    );
    let result = shoot.applied().await.result;
    let found = subnets(&world, &result).await;
    assert_eq!(found[0].1["subnetpool_id"], pools[0]["id"]);
    deleted_without_trace(&world, &mut shoot, &before).await;
}

pub(crate) async fn a_given_ipv6_subnet_is_used_and_the_ranges_are_passed_on_as_they_are(world: World) {
    let given = world.given().await;
    let v6 = world.subnet(&given.network, "nodes-v6", "fd00:250::/64").await;
    world.interface(&given.router, &v6).await;
    let group = world.group("nodes").await;
    let before = world.snapshot().await;
    let mut shoot = world.shoot(
        "given",
        json!({
            "id": given.network, "subnetId": given.subnet, "router": {"id": given.router},
            "securityGroupId": group,
            "ipv6": {"nodeSubnetId": v6, "podCIDR": "fd00::/56", "serviceCIDR": "fd01::/108"},
        }),
    );
    let result = shoot.applied().await.result;
    let found = subnets(&world, &result).await;
    assert_eq!(purposes(&found), ["nodes", "nodes-ipv6"]);
    assert_eq!(result.networking.nodes, ["10.250.0.0/16", "10.250.0.0/19", "fd00:250::/64"]);
    assert_eq!(result.networking.pods, ["100.96.0.0/11", "fd00::/56"]);
    assert_eq!(result.networking.services, ["100.64.0.0/13", "fd01::/108"]);
    before.assert_kept(&world.snapshot().await, "while the shoot lives");
    deleted_without_trace(&world, &mut shoot, &before).await;
}
