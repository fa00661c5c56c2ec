//! What goes wrong is told by type, with its Gardener code; nothing given changes, and a second run continues.

use fabric_flow::Options;
use fabric_infrastructure::{Failure, Input, State, codes::Code, reconcile::reconcile};
use fabric_openstack::Client;
use fabric_openstack_sim::{Action, Fault, Service};
use serde_json::json;

use crate::world::{Memory, TIMING, World, assert_same, specifications};

async fn fails(world: &World, client: &Client, input: &Input) -> (Vec<Code>, String) {
    let memory = Memory::default();
    let before = world.content();
    let failure = match reconcile(client, input, State::default(), &memory, TIMING, Options::default()).await {
        Ok(_) => panic!("expected a failure"),
        Err(failure) => failure,
    };
    if !matches!(failure, Failure::Apply(_)) {
        assert_same(&world.content(), &before, "a run that did not come to its plan changes nothing");
    }
    (failure.codes(), failure.to_string())
}

#[tokio::test]
async fn a_wrong_password_is_unauthenticated_and_never_printed() {
    let world = World::start().await;
    let input = world.input(json!({"workers": "10.240.0.0/19"}));
    let client = world.client_of("demo", "not-the-password").await;
    let (codes, text) = fails(&world, &client, &input).await;
    assert_eq!(codes, [Code::Unauthenticated]);
    assert!(text.contains("<nil>: Internal error: could not authenticate"), "{text}");
    assert!(!text.contains("not-the-password"), "{text}");
}

#[tokio::test]
async fn a_used_up_quota_stops_with_its_code_and_a_second_run_continues() {
    for (service, resource, name) in [
        (Service::Network, "network", "1 managed"),
        (Service::Network, "router", "1 managed"),
        (Service::Network, "security_group", "4 subnet"),
        (Service::Network, "security_group_rule", "1 managed"),
        (Service::SharedFileSystem, "share_networks", "shares"),
        (Service::Compute, "key_pairs", "1 managed"),
    ] {
        let world = World::start().await;
        let project = world.cloud.id("projects", "demo").unwrap();
        world.cloud.set_quota(service, &project, resource, 0).unwrap();
        let networks = specifications(&world).into_iter().find(|(known, _)| *known == name).unwrap().1;
        let input = world.input(networks);
        let client = world.client().await;
        let (codes, text) = fails(&world, &client, &input).await;
        assert_eq!(codes, [Code::QuotaExceeded], "{resource}: {text}");
        world.cloud.set_quota(service, &project, resource, 100).unwrap();
        world.reconcile(&input, State::default(), &Memory::default()).await.unwrap();
    }
}

#[tokio::test]
async fn a_given_resource_that_is_missing_is_a_configuration_problem_under_its_field() {
    let world = World::start().await;
    let absent = "00000000-0000-4000-8000-000000000000";
    let (net, sub, rt) = (&world.network, &world.subnet, &world.router);
    for (networks, field) in [
        (json!({"id": absent, "workers": "10.240.0.0/19"}), "networks.id: Not found"),
        (json!({"id": net, "subnetId": absent, "router": {"id": rt}}), "networks.subnetId: Invalid value"),
        (json!({"id": net, "subnetId": sub, "router": {"id": absent}}), "networks.router.id: Not found"),
        (
            json!({"id": net, "subnetId": sub, "router": {"id": rt}, "securityGroupId": absent}),
            "networks.securityGroupId: Not found",
        ),
        (
            json!({"id": net, "subnetId": sub, "router": {"id": rt}, "shareNetworkId": absent}),
            "networks.shareNetworkId: Not found",
        ),
    ] {
        let client = world.client().await;
        let (codes, text) = fails(&world, &client, &world.input(networks)).await;
        assert_eq!(codes, [Code::ConfigurationProblem], "{text}");
        assert!(text.contains(field), "{field}: {text}");
    }
}

#[tokio::test]
async fn a_cloud_that_does_not_answer_is_retried_by_gardener() {
    for action in [
        Action::Stall,
        Action::Reset,
        Action::Answer { status: 503, body: None, headers: vec![] },
        Action::Answer {
            status: 409,
            body: Some(json!({"NeutronError": {"type": "Conflict", "message": "busy", "detail": ""}})),
            headers: vec![],
        },
    ] {
        let world = World::start().await;
        let input = world.input(json!({"workers": "10.240.0.0/19"}));
        world.cloud.faults().add(Fault::on("POST", "/v2.0/routers", action.clone())).unwrap();
        let client = world.client().await;
        let memory = Memory::default();
        let ended = reconcile(&client, &input, State::default(), &memory, TIMING, Options::default()).await;
        let failure = ended.err().unwrap_or_else(|| panic!("{action:?}: expected a failure"));
        assert_eq!(failure.codes(), [Code::RetryableDependencies], "{action:?}: {failure}");
        assert!(failure.to_string().contains("ensure router"), "{action:?}: {failure}");
        world.cloud.faults().clear();
        world.reconcile(&input, memory.last(), &memory).await.unwrap();
    }
}

#[tokio::test]
async fn a_port_that_never_carries_traffic_is_named_and_waited_for_again() {
    let world = World::start().await;
    let before = world.content();
    let input = world.input(json!({"workers": "10.240.0.0/19"}));
    world.cloud.hold(true);
    let memory = Memory::default();
    let timing = fabric_infrastructure::Timing { ready: std::time::Duration::from_millis(50), ..TIMING };
    let client = world.client().await;
    let ended = reconcile(&client, &input, State::default(), &memory, timing, Options::default()).await;
    let failure = ended.expect_err("the port stays down");
    assert!(failure.to_string().contains("router interface port"), "{failure}");
    assert_eq!(failure.codes(), [Code::RetryableDependencies]);
    world.cloud.hold(false);
    let made = world.reconcile(&input, memory.last(), &memory).await.unwrap();
    world.delete(&input, made.state, &memory).await.unwrap();
    assert_same(&world.content(), &before, "afterwards");
}
