//! What a person gets wrong, and what a cloud refuses: each with its Gardener code, the state saved, nothing given
//! changed, and a next run that continues.

use fabric_flow::Options;
use fabric_infrastructure::{Timing, codes::Code, prepare, reconcile::finish};
use fabric_openstack_types::credentials::AuthMethod;
use fabric_test_openstack::{Saves, Service, World};
use serde_json::json;

pub(crate) async fn wrong_credentials_and_an_unknown_region_change_nothing(world: World) {
    let before = world.snapshot().await;
    let mut shoot = world.shoot("bad", json!({"workers": "10.250.0.0/19"}));
    let right = shoot.credentials.clone();
    if let AuthMethod::Password { password, .. } = &mut shoot.credentials.method {
        *password = "a-wrong-secret".to_owned().into();
    }
    let run = shoot.apply().await;
    let error = run.result.err().unwrap();
    assert_eq!(error.codes(), [Code::Unauthenticated], "{error}");
    assert!(!format!("{error} {error:?}").contains("a-wrong-secret"));
    assert_eq!((run.calls.all, run.calls.tokens, run.saves), (0, 1, 0), "asked once, nothing done");

    shoot.credentials = right;
    shoot.credentials.region = Some("RegionNone".to_owned());
    let run = shoot.apply().await;
    let error = run.result.err().unwrap();
    assert_eq!(error.codes(), [Code::ConfigurationProblem], "{error}");
    assert!(error.to_string().contains("RegionNone"), "{error}");
    assert_eq!(run.calls.all, 0);
    before.assert_same(&world.snapshot().await, "nothing is done");
}

pub(crate) async fn a_given_resource_that_never_was_is_told_under_its_field(world: World) {
    let nowhere = "00000000-0000-4000-8000-000000000001";
    let before = world.snapshot().await;
    let mut shoot = world.shoot(
        "never",
        json!({"id": nowhere, "subnetId": nowhere, "router": {"id": nowhere}, "securityGroupId": nowhere}),
    );
    let error = shoot.apply().await.result.err().unwrap();
    assert_eq!(error.codes(), [Code::ConfigurationProblem], "{error}");
    for field in ["networks.id", "networks.subnetId", "networks.router.id", "networks.securityGroupId"] {
        assert!(error.to_string().contains(field), "{field}: {error}");
    }
    before.assert_same(&world.snapshot().await, "nothing is done");
}

pub(crate) async fn a_given_network_that_vanishes_half_way_stops_clearly_and_nothing_is_left_behind(world: World) {
    let (network, router) = tokio::join!(world.network("net"), world.router("router"));
    let networks = |network: &str| json!({"id": network, "router": {"id": router}, "workers": "10.250.0.0/19"});
    let mut shoot = world.shoot("van", networks(&network));
    let (client, _) = shoot.client().await;
    let (target, plan) = prepare(&client, &shoot.input, &shoot.state).await.unwrap().ready().unwrap();
    world.owner.delete(Service::Network, &format!("networks/{network}")).await;
    let store = Saves::default();
    let state = shoot.state.clone();
    let ended = finish(&client, &target, plan, state, &store, Timing::default(), Options::default()).await;
    let error = ended.err().unwrap();
    assert_eq!(error.codes(), [Code::ConfigurationProblem], "{error}");
    assert!(error.to_string().contains(&network), "{error}");
    shoot.state = store.last().unwrap();
    let middle = world.snapshot().await;
    assert_eq!(middle.count("key pair of the shoot's user"), 1, "what did not need it was made");

    // Another network is another shoot's: what was made for this one would be forgotten.
    let again = world.network("again").await;
    let config = shoot.input.config.clone();
    shoot.input.config = world.shoot("van", networks(&again)).input.config;
    let error = shoot.apply().await.result.err().unwrap();
    assert!(error.to_string().contains("networks.id: field is immutable"), "{error}");
    shoot.state = store.last().unwrap();

    // Taking it away needs no network, and then a new one may be named.
    shoot.input.config = config;
    shoot.deleted().await;
    assert_eq!(world.snapshot().await.count("key pair of the shoot's user"), 0);
    shoot.input.config = world.shoot("van", networks(&again)).input.config;
    shoot.applied().await;
    shoot.assert_settled("afterwards").await;
    shoot.deleted().await;
    let left = world.snapshot().await;
    assert_eq!((left.count("networks"), left.count("routers"), left.count("subnets")), (1, 1, 0));
}

pub(crate) async fn a_full_quota_is_told_by_each_service_and_the_next_run_continues(world: World) {
    let set = |service: Service, path: String, key: &'static str, kind: &'static str, count: i64| {
        let admin = world.admin.clone();
        async move { admin.put(service, &path, json!({key: {kind: count}})).await }
    };
    let project = &world.project;
    let quotas = |count: i64| {
        [
            set(Service::Network, format!("quotas/{project}"), "quota", "router", count),
            set(Service::Compute, format!("os-quota-sets/{project}"), "quota_set", "key_pairs", count),
            set(Service::Share, format!("quota-sets/{project}"), "quota_set", "share_networks", count),
        ]
    };
    futures::future::join_all(quotas(0)).await;
    let before = world.snapshot().await;
    let mut shoot = world.shoot("quota", json!({"workers": "10.250.0.0/19", "shareNetwork": {"enabled": true}}));
    let error = shoot.apply().await.result.err().unwrap();
    assert_eq!(error.codes(), [Code::QuotaExceeded], "{error}");
    for task in ["ensure router", "ensure ssh key pair", "ensure share network"] {
        assert!(error.to_string().contains(&format!("failed to {task:?}")), "{task}: {error}");
    }
    assert!(shoot.state.data().contains_key("Subnet"), "what was made is saved");
    futures::future::join_all(quotas(10)).await;
    shoot.applied().await;
    shoot.assert_settled("with quota").await;
    shoot.deleted().await;
    before.assert_same(&world.snapshot().await, "after the deletion");
}
