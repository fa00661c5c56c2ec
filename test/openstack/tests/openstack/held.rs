//! The data plane does not answer. The hold stops the whole lab, so these tests run alone (`hack/nextest.toml`).

use std::time::Duration;

use fabric_infrastructure::codes::Code;
use fabric_test_openstack::{Service, World};
use serde_json::json;

pub(crate) async fn a_held_port_is_a_clear_time_out_and_the_next_run_continues(world: World) {
    let (network, router) = tokio::join!(world.network("net"), world.router("router"));
    let before = world.snapshot().await;
    let mut shoot = world.shoot("held", json!({"id": network, "router": {"id": router}, "workers": "10.250.0.0/19"}));
    shoot.timing.ready = Duration::from_secs(2);
    let error = {
        let _hold = world.hold();
        shoot.apply().await.result.err().unwrap()
    };
    let path = format!("ports?device_id={router}&device_owner=network:router_interface");
    let port = &world.owner.list(Service::Network, &path, "ports").await[0];
    let port = port["id"].as_str().unwrap();
    let said = format!(
        "router interface port {port} is not ACTIVE after 2 s: the cloud's data plane does not answer; it is tried again"
    );
    assert!(error.to_string().ends_with(&said), "{error}");
    assert_eq!(error.codes(), [Code::RetryableDependencies]);
    let data = shoot.state.data();
    for key in ["Subnet", "SecurityGroup", "KeyPair"] {
        assert!(data.contains_key(key), "{key} was made and is saved: {data:?}");
    }
    let (middle, run) = (world.snapshot().await, shoot.applied().await);
    assert_eq!(middle.count("ports"), world.snapshot().await.count("ports"), "nothing is made twice");
    assert!(run.calls.changing <= 1, "{:?}", run.calls);
    shoot.deleted().await;
    before.assert_same(&world.snapshot().await, "after the deletion");
}

pub(crate) async fn a_held_load_balancer_is_waited_for_and_the_next_deletion_continues(world: World) {
    let given = world.given().await;
    let group = world.group("nodes").await;
    let before = world.snapshot().await;
    let networks = json!({
        "id": given.network, "subnetId": given.subnet, "router": {"id": given.router}, "securityGroupId": group,
    });
    let mut shoot = world.shoot("lb", networks);
    shoot.timing.ready = Duration::from_secs(2);
    shoot.applied().await;
    let name = format!("kube_service_{}_default_web", shoot.id());
    {
        let _hold = world.hold();
        let id = world.young_load_balancer(&name, &given.subnet).await;
        let error = shoot.delete().await.result.err().unwrap();
        let said = format!("load balancer {name} ({id}, PENDING_CREATE) is not deleted after 2 s");
        assert!(error.contains(&said), "{error}");
    }
    shoot.timing.ready = Duration::from_secs(30);
    shoot.deleted().await;
    before.assert_same(&world.snapshot().await, "after the second deletion");
}
