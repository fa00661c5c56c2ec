//! The rules that look into the cloud.

use std::time::{Duration, Instant};

use fabric_openstack_sim::{Action, Fault, Service as OpenStack, When};
use fabric_validation::openstack::admission::{Lookup, ReferenceKind, Webhook};
use fabric_webhooks::dynamic::Mode;
use serde_json::{Value, json};

use crate::world::{BOX, PASSWORD, Seen, World};

const ABSENT: &str = "11111111-2222-4333-8444-555555555555";
const UNCHECKED: &str = "not checked against the cloud";

/// Configs that the static rules like and the cloud does not: what is wrong, the path that says so, and a word of it.
fn findings(world: &World) -> Vec<(&'static str, Value, &'static str, &'static str)> {
    let (net, sub, rt) = (&world.network, &world.subnet, &world.router);
    let (other_net, other_sub) = (&world.lonely.0, &world.lonely.1);
    let ipv6 = json!({"nodeSubnetId": sub, "podCIDR": "fd00::/56", "serviceCIDR": "fd01::/112"});
    vec![
        ("no network", json!({"id": ABSENT, "workers": "10.250.1.0/24"}), "networks.id", "Not found"),
        (
            "a subnet of another network",
            json!({"id": net, "subnetId": other_sub, "router": {"id": rt}}),
            "networks.subnetId",
            "not found in network",
        ),
        (
            "a router without interface",
            json!({"id": other_net, "subnetId": other_sub, "router": {"id": rt}}),
            "networks.router",
            "interface",
        ),
        (
            "IPv4 where IPv6 is wanted",
            json!({"id": net, "subnetId": sub, "router": {"id": rt}, "ipv6": ipv6}),
            "networks.ipv6.nodeSubnetId",
            "IP",
        ),
        (
            "no security group",
            json!({"id": net, "subnetId": sub, "router": {"id": rt}, "securityGroupId": ABSENT}),
            "networks.securityGroupId",
            "Not found",
        ),
    ]
}

fn dual(mut shoot: Value) -> Value {
    if shoot.pointer("/spec/provider/infrastructureConfig/networks/ipv6").is_some() {
        shoot["spec"]["networking"]["ipFamilies"] = json!(["IPv4", "IPv6"]);
    }
    shoot
}

async fn ask(world: &World, networks: &Value) -> Seen {
    world.create(Webhook::Validate, &dual(world.shoot(networks))).await
}

#[tokio::test]
async fn findings_refuse_when_enforced_and_are_told_when_not() {
    for mode in [Mode::Warn, Mode::Enforce] {
        let world = World::start(mode).await;
        let seen = ask(&world, &world.given()).await;
        assert!(seen.allowed && !seen.warns(&[UNCHECKED]), "{mode:?}: what is given fits: {seen:?}");
        for (name, networks, field, word) in findings(&world) {
            let seen = ask(&world, &networks).await;
            let path = format!("spec.provider.infrastructureConfig.{field}: ");
            if mode == Mode::Enforce {
                assert_eq!((seen.allowed, seen.code), (false, 403), "{name}: {seen:?}");
                assert!(seen.message.contains(&path) && seen.message.contains(word), "{name}: {}", seen.message);
            } else {
                assert!(seen.allowed, "{name}: {seen:?}");
                assert!(seen.warns(&[&path, word, "can't be reconciled like this"]), "{name}: {seen:?}");
            }
        }
        assert_eq!(world.cloud.calls().mutation_count(), 0, "nothing was changed");
        let metrics = world.metrics().await;
        assert!(metrics.contains("admission_dynamic_check_duration_seconds_count{outcome=\"found\"} 5"), "{metrics}");
    }
}

#[tokio::test]
async fn the_seed_is_told_the_same_about_the_infrastructure() {
    let world = World::start(Mode::Enforce).await;
    let seen = world.create(Webhook::Infrastructure, &world.infrastructure(&world.given())).await;
    assert!(seen.allowed && seen.warnings.is_empty(), "{seen:?}");
    let lost = world.infrastructure(&json!({"id": ABSENT, "workers": "10.250.1.0/24"}));
    let seen = world.create(Webhook::Infrastructure, &lost).await;
    assert!(!seen.allowed && seen.message.starts_with("spec.providerConfig.networks.id: Not found"), "{seen:?}");
}

#[tokio::test]
async fn a_cloud_that_is_slow_or_gone_is_a_warning_in_time() {
    let faults = [
        ("slow", Action::Latency(Duration::from_secs(5))),
        ("silent", Action::Stall),
        ("gone", Action::Reset),
        ("broken", Action::Answer { status: 503, body: None, headers: Vec::new() }),
    ];
    for (name, action) in faults {
        let world = World::start(Mode::Enforce).await;
        world.cloud.faults().add(Fault::on("", ".", action)).unwrap();
        let begun = Instant::now();
        let seen = ask(&world, &world.given()).await;
        assert!(begun.elapsed() < BOX + Duration::from_millis(500), "{name}: {:?}", begun.elapsed());
        assert!(seen.allowed, "{name}: {seen:?}");
        assert!(seen.warns(&["spec.provider.infrastructureConfig: ", UNCHECKED]), "{name}: {seen:?}");
        let metrics = world.metrics().await;
        assert!(metrics.contains("{outcome=\"unchecked\"} 1"), "{name}: {metrics}");
    }
}

#[tokio::test]
async fn a_cloud_that_stops_in_the_middle_costs_only_what_it_did_not_answer() {
    let world = World::start(Mode::Enforce).await;
    let stop = Fault::on("GET", "/v2.0/subnets", Action::Stall).service(OpenStack::Network).when(When::Always);
    world.cloud.faults().add(stop).unwrap();
    let seen = ask(&world, &world.given()).await;
    assert!(seen.allowed && seen.warns(&["networks.subnetId: ", UNCHECKED]), "{seen:?}");
    assert!(!seen.warns(&["networks.id: "]), "the network was seen: {seen:?}");
    // What was seen still refuses.
    let seen = ask(&world, &json!({"id": ABSENT, "subnetId": world.subnet, "router": {"id": world.router}})).await;
    assert!(!seen.allowed && seen.message.contains("networks.id: Not found"), "{seen:?}");
    assert!(seen.warns(&[UNCHECKED]), "{seen:?}");
}

#[tokio::test]
async fn one_service_that_hangs_does_not_hide_what_another_says() {
    let world = World::start(Mode::Enforce).await;
    let hang = Fault::on("", ".", Action::Stall).service(OpenStack::SharedFileSystem);
    world.cloud.faults().add(hang).unwrap();
    let mut networks = json!({"id": world.network, "subnetId": world.lonely.1, "router": {"id": world.router}});
    networks["shareNetworkId"] = json!(world.share);
    let seen = ask(&world, &networks).await;
    assert!(!seen.allowed && seen.message.contains("networks.subnetId"), "{seen:?}");
    assert!(seen.warns(&["networks.shareNetworkId: ", UNCHECKED]), "{seen:?}");
}

#[tokio::test]
async fn listings_are_asked_for_once_in_a_delivery_and_never_stand_in_the_way_of_a_repair() {
    let world = World::start(Mode::Enforce).await;
    assert!(ask(&world, &world.given()).await.allowed);
    let first = world.cloud.calls().total();
    let given = world.given();
    let (a, b) = tokio::join!(ask(&world, &given), ask(&world, &given));
    assert!(a.allowed && b.allowed);
    assert_eq!(world.cloud.calls().total(), first, "{:?}", world.cloud.calls().since(first));
    assert_eq!(world.cloud.tokens_issued(), 1, "one login");
    // The router's ports are known from the first look, and have changed since.
    world.connect(&world.lonely.1);
    let beside = json!({"id": world.lonely.0, "subnetId": world.lonely.1, "router": {"id": world.router}});
    let seen = ask(&world, &beside).await;
    assert!(seen.allowed && seen.warnings.is_empty(), "{seen:?}");
    assert!(world.cloud.calls().total() > first);
}

#[tokio::test]
async fn many_reviews_at_once_ask_one_cloud_for_each_listing_once() {
    let world = World::start(Mode::Warn).await;
    world.cloud.faults().add(Fault::on("GET", ".", Action::Latency(Duration::from_millis(20)))).unwrap();
    let given = world.given();
    let all = futures::future::join_all((0..40).map(|_| ask(&world, &given))).await;
    assert!(all.iter().all(|seen| seen.allowed && seen.warnings.is_empty()), "{:?}", all.first());
    let calls = world.cloud.calls().all();
    let mut questions: Vec<String> =
        calls.iter().map(|call| format!("{} {}?{}", call.method, call.path, call.query)).collect();
    let all = questions.len();
    questions.sort();
    questions.dedup();
    assert_eq!(questions.len(), all, "each question once: {calls:?}");
}

#[tokio::test]
async fn only_a_change_that_matters_makes_anybody_look() {
    let world = World::start(Mode::Enforce).await;
    let old = world.shoot(&world.given());
    let mut new = old.clone();
    new["spec"]["provider"]["workers"][0]["maximum"] = json!(9);
    assert!(world.review(Webhook::Validate, "UPDATE", Some(&new), Some(&old)).await.allowed);
    let mut leaving = world.shoot(&json!({"id": ABSENT, "workers": "10.250.1.0/24"}));
    leaving["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    assert!(world.create(Webhook::Validate, &leaving).await.allowed);
    assert_eq!(world.cloud.calls().total(), 0);
    new["spec"]["networking"]["pods"] = json!("100.128.0.0/11");
    assert!(world.review(Webhook::Validate, "UPDATE", Some(&new), Some(&old)).await.allowed);
    assert!(world.cloud.calls().total() > 0);
}

#[tokio::test]
async fn a_login_that_fails_is_told_without_the_login() {
    let world = World::start(Mode::Enforce).await;
    world.login(PASSWORD, &[]);
    let seen = ask(&world, &world.given()).await;
    assert!(seen.allowed && seen.warns(&[UNCHECKED, "could not authenticate"]), "{seen:?}");
    assert!(!seen.text.contains(PASSWORD), "{}", seen.text);
    assert!(!world.metrics().await.contains(PASSWORD));
}

#[tokio::test]
async fn a_secret_can_not_send_the_program_to_another_host() {
    let world = World::start(Mode::Enforce).await;
    let trap = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    trap.set_nonblocking(true).unwrap();
    let url = format!("http://{}/v3", trap.local_addr().unwrap());
    world.login("demo", &[("authURL", url.as_str()), ("insecure", "true")]);
    // The seed's rules about the secret itself are not what is asked here.
    let seen = world.create(Webhook::Infrastructure, &world.infrastructure(&world.given())).await;
    assert!(seen.allowed && !seen.warns(&[UNCHECKED]), "{seen:?}");
    let knock = trap.accept().err().map(|error| error.kind());
    assert_eq!(knock, Some(std::io::ErrorKind::WouldBlock), "nobody came");
}

#[tokio::test]
async fn what_is_missing_for_a_look_is_named() {
    let world = World::start(Mode::Enforce).await;
    let mut nameless = world.shoot(&world.given());
    nameless["spec"].as_object_mut().unwrap().remove("credentialsBindingName");
    let seen = world.create(Webhook::Validate, &nameless).await;
    assert!(seen.allowed && seen.warns(&[UNCHECKED, "names no credentials"]), "{seen:?}");
    let infrastructure = world.infrastructure(&world.given());
    world.garden.put(ReferenceKind::Secret, "shoot--dev--a", "cloudprovider", Lookup::NotFound);
    let seen = world.create(Webhook::Infrastructure, &infrastructure).await;
    assert!(seen.allowed && seen.warns(&[UNCHECKED, "there is no Secret shoot--dev--a/cloudprovider"]), "{seen:?}");
}
