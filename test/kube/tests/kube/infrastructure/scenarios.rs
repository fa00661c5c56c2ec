//! The life of an Infrastructure on the lab's OpenStack: the scenarios of upstream's integration test (contract §5.3)
//! and those that are ours, each with others around.

use fabric_apis::openstack::v1alpha1::InfrastructureConfig;
use fabric_test_openstack::{Service, Snapshot, World};
use serde_json::{Value, json};

use super::contract::told;
use super::seed::{DNS, SSH_KEY, Seed, UID, WORKERS, in_seed_on_openstack, is_ready};
use crate::program::Program;

type Lab = Seed<World>;

/// Requests that may have changed something.
pub(super) async fn changing(program: &Program) -> u64 {
    let (_, text) = program.get("/metrics").await;
    let counted = text.lines().filter(|line| line.starts_with("openstack_request_duration_seconds_count"));
    let changing = counted.filter(|line| !line.contains("method=\"GET\"") && !line.contains("service=\"identity\""));
    changing.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
}

/// What may happen to others' things while the shoot lives.
#[derive(Clone, Copy, PartialEq)]
enum Around {
    /// Nothing.
    Untouched,
    /// A subnet of ours in a given network, or an interface on a given router, shows there.
    Inside,
}

/// Create, reconcile, forget, reconcile, delete.
async fn life(seed: Lab, networks: Value, around: Around) {
    let before = seed.cloud.snapshot().await;
    let controller = seed.controller(&[]).await;
    seed.create(seed.infrastructure(networks)).await;
    let made = seed.ready().await;
    assert_eq!(made["status"]["lastOperation"]["type"], "Create");
    fits(&seed, &made).await;
    if around == Around::Untouched {
        before.assert_kept(&seed.cloud.snapshot().await, "while the shoot lives");
    }
    nothing_more_to_do(&seed, &controller, &made).await;
    taken_away(&seed, &before).await;
    controller.stop().await;
}

/// The status says what is in the cloud.
async fn fits(seed: &Lab, made: &Value) {
    let config: InfrastructureConfig = serde_json::from_value(made["spec"]["providerConfig"].clone()).unwrap();
    let egress: Vec<String> = serde_json::from_value(made["status"]["egressCIDRs"].clone()).unwrap();
    seed.cloud.assert_status(&config, (seed.name(), UID), &made["status"]["providerStatus"], &egress).await;
}

/// A second reconcile, and one after everything was forgotten, find all of it and change nothing.
async fn nothing_more_to_do(seed: &Lab, controller: &Program, made: &Value) {
    let (content, calls) = (seed.cloud.snapshot().await, changing(controller).await);
    let mut expected = told(made);
    expected["lastOperation"]["type"] = json!("Reconcile");
    let reconciled = |object: &Value| is_ready(object) && object["status"]["lastOperation"]["type"] == "Reconcile";
    seed.ask("reconcile").await;
    assert_eq!(told(&seed.see("reconciled", reconciled).await), expected);
    seed.patch_status(json!({"state": null, "providerStatus": null})).await;
    seed.ask("reconcile").await;
    let found = seed.see("found", |object| reconciled(object) && !object["status"]["state"].is_null()).await;
    assert_eq!(told(&found), expected, "R2");
    assert_eq!(changing(controller).await, calls, "neither run changes anything");
    content.assert_same(&seed.cloud.snapshot().await, "after both runs");
}

async fn taken_away(seed: &Lab, before: &Snapshot) {
    seed.api().delete("openstack", &Default::default()).await.unwrap();
    seed.see("gone", Value::is_null).await;
    before.assert_same(&seed.cloud.snapshot().await, "after the deletion");
}

#[test]
fn minimum() {
    in_seed_on_openstack(async |seed: Lab| {
        // Somebody's network of the shoot's name.
        let twin = json!({"network": {"name": seed.name()}});
        let twin = seed.cloud.owner.post(Service::Network, "networks", twin).await;
        seed.cloud.subnet(twin["network"]["id"].as_str().unwrap(), "somebodys", "10.9.0.0/24").await;
        life(seed, json!({"workers": WORKERS}), Around::Untouched).await;
    });
}

#[test]
fn existing_router() {
    in_seed_on_openstack(async |seed: Lab| {
        let router = seed.cloud.router("router").await;
        life(seed, json!({"router": {"id": router}, "workers": WORKERS}), Around::Inside).await;
    });
}

#[test]
fn existing_network() {
    in_seed_on_openstack(async |seed: Lab| {
        let network = seed.cloud.network("net").await;
        let other = seed.cloud.subnet(&network, "other", "10.251.0.0/24").await;
        seed.cloud.port(&network, &other, "10.251.0.9").await;
        life(seed, json!({"id": network, "workers": WORKERS}), Around::Inside).await;
    });
}

#[test]
fn existing_network_and_router() {
    in_seed_on_openstack(async |seed: Lab| {
        let network = seed.cloud.network("net").await;
        let other = seed.cloud.subnet(&network, "other", "10.251.0.0/24").await;
        let router = seed.cloud.router("router").await;
        seed.cloud.interface(&router, &other).await;
        let networks = json!({"id": network, "router": {"id": router}, "workers": WORKERS});
        life(seed, networks, Around::Inside).await;
    });
}

#[test]
fn subnet_pool() {
    in_seed_on_openstack(async |seed: Lab| {
        let pool = json!({"name": seed.cloud.name("v4"), "prefixes": ["10.40.0.0/16"], "default_prefixlen": 24});
        let pool = seed.cloud.owner.post(Service::Network, "subnetpools", json!({"subnetpool": pool})).await;
        let networks = json!({"subnetPool": {"id": pool["subnetpool"]["id"], "prefixLength": 26}});
        life(seed, networks, Around::Untouched).await;
    });
}

/// A network, a subnet and a router, with others on each of them.
async fn surrounded(seed: &Lab) -> Value {
    let given = seed.cloud.given().await;
    seed.cloud.bystanders(&given, seed.name()).await;
    json!({"id": given.network, "subnetId": given.subnet, "router": {"id": given.router}})
}

#[test]
fn existing_network_subnet_and_router() {
    in_seed_on_openstack(async |seed: Lab| {
        let networks = surrounded(&seed).await;
        life(seed, networks, Around::Untouched).await;
    });
}

#[test]
fn existing_security_group() {
    in_seed_on_openstack(async |seed: Lab| {
        let mut networks = surrounded(&seed).await;
        networks["securityGroupId"] = json!(seed.cloud.group("nodes").await);
        life(seed, networks, Around::Untouched).await;
    });
}

#[test]
fn existing_subnets_of_both_families() {
    in_seed_on_openstack(async |seed: Lab| {
        seed.families(&["IPv4", "IPv6"]).await;
        let given = seed.cloud.given().await;
        let v6 = seed.cloud.subnet(&given.network, "nodes-v6", "fd00:250::/64").await;
        seed.cloud.interface(&given.router, &v6).await;
        let networks = json!({
            "id": given.network, "subnetId": given.subnet, "router": {"id": given.router},
            "securityGroupId": seed.cloud.group("nodes").await,
            "ipv6": {"nodeSubnetId": v6, "podCIDR": "fd00::/56", "serviceCIDR": "fd01::/108"},
        });
        life(seed, networks, Around::Untouched).await;
    });
}

#[test]
fn share_network_made_adopted_or_given() {
    in_seed_on_openstack(async |seed: Lab| {
        let given = seed.cloud.given().await;
        let group = seed.cloud.group("nodes").await;
        let hers = seed.cloud.share_network("the platform team's", &given.network, &given.subnet).await;
        let networks = json!({
            "id": given.network, "subnetId": given.subnet, "router": {"id": given.router}, "securityGroupId": group,
        });
        let with = |key: &str, value: Value| {
            let mut networks = networks.clone();
            networks[key] = value;
            networks
        };
        let shares = async || seed.cloud.snapshot().await.count("share network");
        let controller = seed.controller(&[]).await;

        let before = seed.cloud.snapshot().await;
        seed.create(seed.infrastructure(with("shareNetwork", json!({"enabled": true})))).await;
        let made = seed.ready().await;
        assert_eq!(shares().await, 2);
        nothing_more_to_do(&seed, &controller, &made).await;
        taken_away(&seed, &before).await;

        // Adopted: the user made it under the shoot's name, and hands it over so.
        let adopted = seed.cloud.share_network(seed.name(), &given.network, &given.subnet).await;
        seed.create(seed.infrastructure(with("shareNetwork", json!({"enabled": true})))).await;
        let made = seed.ready().await;
        assert_eq!(made["status"]["providerStatus"]["networks"]["shareNetwork"]["id"], json!(adopted));
        nothing_more_to_do(&seed, &controller, &made).await;
        taken_away(&seed, &before).await;

        seed.create(seed.infrastructure(with("shareNetworkId", json!(hers)))).await;
        let made = seed.ready().await;
        let told = &made["status"]["providerStatus"]["networks"]["shareNetwork"];
        assert_eq!(*told, json!({"id": hers, "name": "the platform team's"}));
        nothing_more_to_do(&seed, &controller, &made).await;
        before.assert_kept(&seed.cloud.snapshot().await, "a given one");
        taken_away(&seed, &before).await;
        controller.stop().await;
    });
}

#[test]
fn existing_cluster_of_upstream() {
    in_seed_on_openstack(async |seed: Lab| {
        let empty = seed.cloud.snapshot().await;
        let data = seed.cloud.cluster_of_upstream(seed.name(), SSH_KEY, &[DNS]).await;
        let before = seed.cloud.snapshot().await;
        // As upstream leaves it: our controller first hears of it when gardenlet asks.
        let mut object = seed.infrastructure(json!({"workers": WORKERS}));
        object["metadata"]["annotations"] = json!({"gardener.cloud/operation": "wait-for-state"});
        object["metadata"]["finalizers"] = json!(["extensions.gardener.cloud/infrastructure"]);
        seed.create(object).await;
        seed.patch_status(json!({
            "observedGeneration": 1,
            "lastOperation": {
                "type": "Create", "state": "Succeeded", "progress": 100, "lastUpdateTime": "2026-01-01T00:00:00Z",
                "description": "Successfully reconciled infrastructure",
            },
            "state": {
                "apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "InfrastructureState",
                "data": data,
            },
        }))
        .await;
        let controller = seed.controller(&[]).await;
        seed.ask("reconcile").await;
        let taken_over = seed.ready().await;
        assert_eq!(taken_over["status"]["lastOperation"]["type"], "Reconcile");
        for key in ["Network", "Router", "Subnet", "SecurityGroup"] {
            assert_eq!(taken_over["status"]["state"]["data"][key], data[key]);
        }
        assert_eq!(changing(&controller).await, 0);
        before.assert_same(&seed.cloud.snapshot().await, "taken over");
        nothing_more_to_do(&seed, &controller, &taken_over).await;
        taken_away(&seed, &empty).await;
        controller.stop().await;
    });
}
