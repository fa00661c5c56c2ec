//! Patterns 1 to 5, each with others around: apply, nothing to do, delete, and all others as they were.

use fabric_infrastructure::Reconciled;
use fabric_test_openstack::{Given, Service, Shoot, World};
use serde_json::{Value, json};

/// Apply, nothing to do, delete. `foreign_network`: nothing of ours comes into what was given, so that nothing given
/// may change even for a moment.
async fn life(world: &World, shoot: &mut Shoot, nothing_inside: bool) {
    let before = world.snapshot().await;
    let run = shoot.applied().await;
    assert!(run.saves > 0 && run.calls.tokens == 1, "{:?}", run.calls);
    status_is_what_gardener_expects(world, shoot, &run.result).await;
    shoot.assert_settled("second run").await;
    if nothing_inside {
        before.assert_kept(&world.snapshot().await, "while the shoot lives");
    }
    shoot.deleted().await;
    before.assert_same(&world.snapshot().await, "after the deletion");
}

async fn status_is_what_gardener_expects(world: &World, shoot: &Shoot, result: &Reconciled) {
    let status = serde_json::to_value(&result.provider_status).unwrap();
    let networks = &status["networks"];
    let id = |value: &Value| value["id"].as_str().unwrap().to_owned();
    let router_path = format!("routers/{}", id(&networks["router"]));
    let network_path = format!("networks/{}", id(networks));
    let subnet_path = format!("subnets/{}", id(&networks["subnets"][0]));
    let group_path = format!("security-groups/{}", id(&status["securityGroups"][0]));
    let (router, network, subnet, group) = tokio::join!(
        world.look(&router_path),
        world.look(&network_path),
        world.look(&subnet_path),
        world.look(&group_path)
    );
    let (router, network, subnet, group) = (router.unwrap(), network.unwrap(), subnet.unwrap(), group.unwrap());

    assert_eq!(router["status"], "ACTIVE");
    let fixed = router["external_gateway_info"]["external_fixed_ips"].as_array().unwrap();
    let ips: Vec<Value> = fixed.iter().map(|ip| ip["ip_address"].clone()).collect();
    assert_eq!(networks["router"]["externalFixedIP"], Value::from(ips.clone()));
    assert_eq!(networks["router"]["ip"], ips[0]);
    let host = |ip: &Value| {
        let ip = ip.as_str().unwrap();
        format!("{ip}/{}", if ip.contains(':') { 128 } else { 32 })
    };
    assert_eq!(result.egress_cidrs, ips.iter().map(host).collect::<Vec<_>>());
    assert_eq!(networks["name"], network["name"]);
    assert_eq!(subnet["network_id"], network["id"]);
    let wanted = json!([{"purpose": "nodes", "id": subnet["id"], "cidr": subnet["cidr"]}]);
    assert_eq!(networks["subnets"], wanted);
    assert_eq!(networks["floatingPool"]["name"], world.facts.external_network.as_str());
    assert_eq!(networks["floatingPool"]["id"], world.facts.external_network_id.as_str());
    assert_eq!(status["securityGroups"], json!([{"purpose": "nodes", "id": group["id"], "name": group["name"]}]));
    assert_eq!(status["node"]["keyName"], shoot.id());
    let pairs = world.gardener().await.list(Service::Compute, "os-keypairs", "keypairs").await;
    assert_eq!(pairs.len(), 1);
    assert_eq!(pairs[0]["keypair"]["name"], shoot.id());

    for (kind, resource, ours) in [
        ("network", &network, shoot.input.config.networks.id.is_none()),
        ("subnet", &subnet, shoot.input.config.networks.subnet_id.is_none()),
        ("router", &router, shoot.input.config.networks.router.is_none()),
        ("group", &group, shoot.input.config.networks.security_group_id.is_none()),
    ] {
        let uid = &shoot.input.shoot.uid;
        let marker = format!("osf:{}/{uid}", shoot.id());
        let marked = resource["description"].as_str().unwrap().ends_with(&marker);
        let mut tags: Vec<&str> =
            resource["tags"].as_array().unwrap().iter().map(|tag| tag.as_str().unwrap()).collect();
        tags.sort_unstable();
        let tagged = tags == [format!("osf:shoot={}", shoot.id()), format!("osf:uid={uid}")];
        assert_eq!((marked, tagged, resource["name"] == shoot.id()), (ours, ours, ours), "{kind}: {resource}");
    }
    if shoot.input.config.networks.security_group_id.is_none() {
        assert_eq!(rules(&group), RULES, "{group}");
    }
}

/// A rule a line, sorted.
fn rules(group: &Value) -> Vec<String> {
    let rules = group["security_group_rules"].as_array().unwrap();
    let mut lines: Vec<String> = rules
        .iter()
        .map(|rule| {
            let own = if rule["remote_group_id"] == group["id"] { "group" } else { "" };
            let word = |key: &str| rule[key].as_str().map_or_else(|| rule[key].to_string(), str::to_owned);
            let words = ["direction", "ethertype", "protocol", "port_range_min", "port_range_max", "remote_ip_prefix"];
            format!("{}{own}", words.map(word).join(" ").replace("null", "-"))
        })
        .collect();
    lines.sort();
    lines
}

const RULES: [&str; 5] = [
    "egress IPv4 - - - -",
    "egress IPv6 - - - -",
    "ingress IPv4 - - - -group",
    "ingress IPv4 tcp 30000 32767 0.0.0.0/0",
    "ingress IPv4 udp 30000 32767 0.0.0.0/0",
];

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
