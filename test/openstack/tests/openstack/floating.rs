//! Where a router of ours takes its addresses from, and whether it hides inner ones.

use fabric_infrastructure::codes::Code;
use fabric_test_openstack::{Service, World};
use serde_json::{Value, json};

/// A floating pool of this test's own: `ext-a` has no address left, `ext-b` has, `int` does not match.
async fn pool(world: &World) -> (String, String) {
    let name = world.name("ext");
    let fields = json!({"name": name, "router:external": true});
    let network = world.outside(Service::Network, "networks", "network", fields).await;
    let subnet = |name: &str, cidr: &str, first: &str, last: &str| {
        json!({"name": name, "network_id": network, "ip_version": 4, "cidr": cidr, "enable_dhcp": false,
               "allocation_pools": [{"start": first, "end": last}]})
    };
    let mut ids = Vec::new();
    for fields in [
        subnet("int", "172.30.0.0/24", "172.30.0.10", "172.30.0.99"),
        subnet("ext-a", "172.30.1.0/24", "172.30.1.10", "172.30.1.10"),
        subnet("ext-b", "172.30.2.0/24", "172.30.2.10", "172.30.2.11"),
    ] {
        ids.push(world.outside(Service::Network, "subnets", "subnet", fields).await);
    }
    let taken = json!({"network_id": network, "fixed_ips": [{"subnet_id": ids[1]}]});
    world.outside(Service::Network, "ports", "port", taken).await;
    (name, ids[2].clone())
}

fn gateway_of(router: &Value) -> &Value {
    &router["external_gateway_info"]
}

pub(crate) async fn an_exhausted_external_subnet_gives_way_to_the_next_and_snat_is_switched_in_place(world: World) {
    world.empower().await;
    let (name, free) = pool(&world).await;
    let network = world.network("net").await;
    let mut shoot = world.shoot("fl", json!({"id": network, "workers": "10.250.0.0/19"}));
    shoot.input.config.floating_pool_name = name;
    shoot.input.config.floating_pool_subnet_name = Some("ext-*".to_owned());
    shoot.profile(json!({"useSNAT": false}));
    let before = world.snapshot().await;

    let status = shoot.applied().await.result.provider_status;
    let path = format!("routers/{}", status.networks.router.id);
    let router = world.look(&path).await.unwrap();
    let fixed = gateway_of(&router)["external_fixed_ips"].clone();
    assert_eq!(fixed[0]["subnet_id"], free.as_str());
    assert_eq!(gateway_of(&router)["enable_snat"], false);
    shoot.assert_settled("second run").await;

    shoot.profile(json!({"useSNAT": true}));
    let run = shoot.applied().await;
    let router = world.look(&path).await.unwrap();
    assert_eq!(gateway_of(&router)["enable_snat"], true);
    assert_eq!(gateway_of(&router)["external_fixed_ips"], fixed, "the addresses stay");
    assert_eq!(run.calls.changing, 1);
    shoot.assert_settled("switched").await;

    // With both exhausted nothing is left: Gardener tries again later.
    let mut second = world.shoot("fl2", json!({"workers": "10.251.0.0/19"}));
    second.input.shoot.nodes = None;
    second.input.config.floating_pool_name = shoot.input.config.floating_pool_name.clone();
    second.input.config.floating_pool_subnet_name = Some("~ext-(a|b)".to_owned());
    let fixed = json!([{"subnet_id": free}]);
    let port = json!({"network_id": gateway_of(&router)["network_id"], "fixed_ips": fixed});
    world.outside(Service::Network, "ports", "port", port).await;
    let error = second.apply().await.result.err().unwrap();
    assert_eq!(error.codes(), [Code::ResourcesDepleted], "{error}");
    second.input.config.floating_pool_subnet_name = Some("none-*".to_owned());
    let error = second.apply().await.result.err().unwrap();
    assert_eq!(error.codes(), [Code::ConfigurationProblem], "{error}");
    assert!(error.to_string().contains("ext-b"), "names what there is: {error}");
    second.input.config.floating_pool_subnet_name = None;
    second.deleted().await;

    shoot.deleted().await;
    before.assert_same(&world.snapshot().await, "after the deletion");
}

pub(crate) async fn a_plain_member_may_neither_choose_the_external_subnet_nor_switch_snat(world: World) {
    let network = world.network("net").await;
    let before = world.snapshot().await;
    let mut shoot = world.shoot("no", json!({"id": network, "workers": "10.250.0.0/19"}));
    shoot.input.config.floating_pool_subnet_name = Some("public-v4*".to_owned());
    let error = shoot.apply().await.result.err().unwrap();
    assert_eq!(error.codes(), [Code::Unauthorized], "{error}");
    assert!(error.to_string().contains("403"), "{error}");
    shoot.input.config.floating_pool_subnet_name = None;
    shoot.profile(json!({"useSNAT": false}));
    let error = shoot.apply().await.result.err().unwrap();
    assert_eq!(error.codes(), [Code::Unauthorized], "{error}");
    shoot.deleted().await;
    before.assert_same(&world.snapshot().await, "after the deletion");
}
