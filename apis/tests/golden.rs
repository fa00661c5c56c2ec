//! What goes onto the wire, byte for byte: other controllers read it strictly.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // all of this file is tests

use std::path::Path;

use fabric_apis::decode::Kinded;
use fabric_apis::openstack::v1alpha1::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Compares with `tests/golden/<name>.json`; `UPDATE_GOLDEN=1` writes the file instead.
fn holds<T: Serialize + DeserializeOwned + Kinded + PartialEq + std::fmt::Debug>(name: &str, object: &T) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.json"));
    let text = serde_json::to_string_pretty(object).unwrap() + "\n";
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    let golden = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    assert_eq!(text, golden, "{name}");
    let documents = fabric_apis::decode::documents(name, golden.as_bytes()).unwrap();
    assert_eq!(&documents[0].strict::<T>().unwrap(), object, "{name} does not read back");
}

fn subnet(purpose: Purpose, id: &str, cidr: &str) -> Subnet {
    Subnet { purpose, id: id.into(), cidr: cidr.into() }
}

fn status() -> InfrastructureStatus {
    let mut status = InfrastructureStatus {
        node: NodeStatus { key_name: "shoot--p--a".into() },
        security_groups: vec![SecurityGroup {
            purpose: Purpose::Nodes,
            id: "group".into(),
            name: "shoot--p--a".into(),
        }],
        ..Default::default()
    };
    status.networks.id = "network".into();
    status.networks.name = "shoot--p--a".into();
    status.networks.floating_pool = FloatingPoolStatus { id: "external".into(), name: "fip".into() };
    status.networks.router = RouterStatus {
        id: "router".into(),
        ip: "192.0.2.1".into(),
        external_fixed_ips: vec!["192.0.2.1".into(), "2001:db8::1".into()],
    };
    status.networks.set_subnets(vec![subnet(Purpose::Nodes, "subnet", "10.250.0.0/19")]);
    status
}

#[test]
fn status_of_a_single_stack_shoot() {
    holds("status-single-stack", &status());
}

#[test]
fn status_of_a_dual_stack_shoot_lists_subnets_in_the_readers_order() {
    let mut status = status();
    status.networks.set_subnets(vec![
        subnet(Purpose::Services, "svc", ""),
        subnet(Purpose::Pods, "pod", ""),
        subnet(Purpose::NodesIpv6, "six", ""),
        subnet(Purpose::Nodes, "subnet", "10.250.0.0/19"),
    ]);
    holds("status-dual-stack", &status);
}

#[test]
fn status_with_a_share_network() {
    let mut status = status();
    status.networks.share_network = Some(ShareNetworkStatus { id: "share".into(), name: "shoot--p--a".into() });
    holds("status-share-network", &status);
}

#[test]
fn an_empty_status_still_holds_every_list() {
    holds("status-empty", &InfrastructureStatus::default());
}

#[test]
fn state_is_a_map_of_texts() {
    let mut state = InfrastructureState::default();
    state.set(key::NETWORK, "network");
    state.set(key::ROUTER, "router");
    state.set_deleted(key::SHARE_NETWORK);
    assert_eq!(state.get(key::NETWORK), Some("network"));
    assert_eq!((state.get(key::SHARE_NETWORK), state.is_deleted(key::SHARE_NETWORK)), (None, true));
    state.set(key::SUBNET, "");
    assert_eq!((state.get(key::SUBNET), state.is_deleted(key::SUBNET)), (None, false));
    state.remove(key::SUBNET);
    holds("state", &state);
}

#[test]
fn config_of_a_fully_given_network() {
    let mut config = InfrastructureConfig { floating_pool_name: "fip".into(), ..Default::default() };
    config.networks = Networks {
        id: Some("network".into()),
        subnet_id: Some("subnet".into()),
        router: Some(Router { id: "router".into() }),
        security_group_id: Some("group".into()),
        share_network_id: Some("share".into()),
        ipv6: Some(Ipv6Config {
            node_subnet_id: Some("six".into()),
            pod_cidr: "fd00::/56".into(),
            service_cidr: "fd01::/112".into(),
            ..Default::default()
        }),
        ..Default::default()
    };
    holds("config-given", &config);
}

#[test]
fn config_of_a_managed_network() {
    let mut config = InfrastructureConfig {
        floating_pool_name: "fip".into(),
        floating_pool_subnet_name: Some("fip-*".into()),
        ..Default::default()
    };
    config.networks = Networks {
        subnet_pool: Some(SubnetPool { id: "pool".into(), prefix_length: 24 }),
        share_network: Some(ShareNetwork { enabled: true }),
        ipv6: Some(Ipv6Config { subnet_pool_id: Some("pool6".into()), ..Default::default() }),
        ..Default::default()
    };
    holds("config-managed", &config);
}
