//! What the static rules answer through the webhook, and what happens when they can't be asked.

use fabric_validation::openstack::admission::{Lookup, ReferenceKind, Webhook};
use fabric_webhooks::dynamic::Mode;
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn a_sound_shoot_passes_and_a_broken_one_is_told_everything() {
    let world = World::start(Mode::Off).await;
    let seen = world.create(Webhook::Validate, &world.shoot(&world.given())).await;
    assert!(seen.allowed && seen.warnings.is_empty(), "{seen:?}");
    let broken = world.shoot(&json!({"subnetId": "x", "foo": 1, "workers": "10.250.0.0/24"}));
    let seen = world.create(Webhook::Validate, &broken).await;
    assert_eq!((seen.allowed, seen.code), (false, 403));
    for path in ["networks.subnetId", "networks.foo"] {
        assert!(seen.message.contains(&format!("spec.provider.infrastructureConfig.{path}")), "{}", seen.message);
    }
    assert_eq!(world.cloud.calls().total(), 0, "nobody asked for the cloud");
}

#[tokio::test]
async fn a_change_of_what_is_immutable_is_refused() {
    let world = World::start(Mode::Off).await;
    let old = world.shoot(&world.given());
    let new = world.shoot(&json!({"id": world.network, "router": {"id": world.router}, "workers": "10.250.0.0/24"}));
    let seen = world.review(Webhook::Validate, "UPDATE", Some(&new), Some(&old)).await;
    assert!(
        !seen.allowed && seen.message.contains("networks.subnetId") && seen.message.contains("immutable"),
        "{seen:?}"
    );
}

#[tokio::test]
async fn what_could_not_be_read_fails_the_request_and_is_named() {
    let world = World::start(Mode::Off).await;
    let unreadable = Lookup::Unreadable("secrets \"keys\" is forbidden (403)".into());
    world.garden.put(ReferenceKind::Secret, "garden-keys", "keys", unreadable);
    let seen = world.create(Webhook::Validate, &world.shoot(&world.given())).await;
    assert_eq!((seen.allowed, seen.code), (false, 503), "{seen:?}");
    assert!(seen.message.contains("Secret garden-keys/keys could not be read"), "{}", seen.message);
    assert!(seen.message.contains("spec.credentialsBindingName"), "{}", seen.message);
}

#[tokio::test]
async fn a_secret_is_refused_without_its_values() {
    let world = World::start(Mode::Off).await;
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys", "namespace": "garden-keys"},
        "data": {"domainName": "ZGVtbw==", "password": "aHVudGVyMgo="},
    });
    let seen = world.create(Webhook::Secrets, &secret).await;
    assert_eq!((seen.allowed, seen.code), (false, 403));
    assert!(seen.message.contains("tenantName"), "{}", seen.message);
    assert!(!seen.text.contains("hunter2") && !seen.text.contains("aHVudGVyMgo"), "{}", seen.text);
}

#[tokio::test]
async fn a_new_shoot_gets_what_it_leaves_open() {
    let world = World::start(Mode::Off).await;
    let seen = world.create(Webhook::Mutate, &world.shoot(&world.given())).await;
    assert!(seen.allowed && seen.patch.is_some(), "{seen:?}");
    let mut gone = world.shoot(&world.given());
    gone["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let seen = world.create(Webhook::Mutate, &gone).await;
    assert!(seen.allowed && seen.patch.is_none(), "{seen:?}");
}

#[tokio::test]
async fn an_infrastructure_is_judged_in_the_seed_and_others_pass() {
    let world = World::start(Mode::Off).await;
    let seen = world.create(Webhook::Infrastructure, &world.infrastructure(&world.given())).await;
    assert!(seen.allowed, "{seen:?}");
    let broken = world.infrastructure(&json!({"subnetId": world.subnet}));
    let seen = world.create(Webhook::Infrastructure, &broken).await;
    assert!(!seen.allowed && seen.message.contains("spec.providerConfig.networks.subnetId"), "{seen:?}");
    let mut other = broken;
    other["spec"]["type"] = json!("aws");
    let seen = world.create(Webhook::Infrastructure, &other).await;
    assert!(seen.allowed, "{seen:?}");
}

#[tokio::test]
async fn what_no_line_of_the_table_is_for_is_refused_with_a_reason() {
    let world = World::start(Mode::Off).await;
    let shoot = world.shoot(&world.given());
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}});
    let number = json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot", "spec": 7});
    for (operation, new, old, part) in [
        ("DELETE", None, Some(&shoot), "has no rule for DELETE of core.gardener.cloud/v1beta1/Shoot"),
        ("CREATE", Some(&pod), None, "has no rule for CREATE of v1/Pod"),
        ("CREATE", Some(&number), None, "spec"),
    ] {
        let seen = world.review(Webhook::Validate, operation, new, old).await;
        assert!(!seen.allowed && seen.message.contains(part), "{operation}: {seen:?}");
        assert!([400, 403].contains(&seen.code), "{seen:?}");
    }
}
