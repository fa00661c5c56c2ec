//! The embedded OpenStack as a process of its own.

use std::time::Duration;

use anyhow::ensure;
use fabric_openstack_sim::{Cloud, Config, Service};
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

/// Starts it with a network, a subnet and a router that a user could hand over, and so many application credentials of
/// that user; tells their ids, and at each SIGUSR1 what it has counted.
pub(crate) async fn run(latency: Duration, tenants: usize) -> anyhow::Result<()> {
    let cloud = Cloud::start(Config { delay: Duration::ZERO, latency, ..Config::default() }).await?;
    let demo = cloud.user("demo")?;
    let made = |path: &str, body: Value, id: &str| {
        let answer = demo.post(Service::Network, path, body);
        ensure!(answer.status < 300, "{path}: {answer:?}");
        Ok(answer.text(id))
    };
    let network = made("/v2.0/networks", json!({"network": {"name": "office"}}), "/network/id")?;
    let subnet = json!({"subnet": {"network_id": network, "ip_version": 4, "cidr": "10.250.0.0/24",
                                   "dns_nameservers": ["192.0.2.53"]}});
    let subnet = made("/v2.0/subnets", subnet, "/subnet/id")?;
    let gateway = json!({"network_id": cloud.id("networks", "public")?});
    let router = json!({"router": {"name": "office", "external_gateway_info": gateway}});
    let router = made("/v2.0/routers", router, "/router/id")?;
    let path = format!("/v2.0/routers/{router}/add_router_interface");
    let joined = demo.put(Service::Network, &path, json!({"subnet_id": subnet}));
    ensure!(joined.status == 200, "{path}: {joined:?}");
    let user = cloud.id("users", "demo")?;
    let path = format!("/v3/users/{user}/application_credentials");
    let mut logins = Vec::new();
    for number in 0..tenants {
        let wanted = json!({"application_credential": {"name": format!("bench-{number}")}});
        let made = demo.post(Service::Identity, &path, wanted);
        ensure!(made.status == 201, "{path}: {made:?}");
        let text = |name: &str| made.text(&format!("/application_credential/{name}"));
        logins.push(json!({"applicationCredentialID": text("id"), "applicationCredentialSecret": text("secret")}));
    }
    drop(demo);
    for (service, resource) in [
        (Service::Network, "security_group"),
        (Service::Network, "security_group_rule"),
        (Service::Compute, "key_pairs"),
    ] {
        cloud.set_quota(service, "demo", resource, -1)?;
    }
    println!(
        "{}",
        json!({"auth_url": cloud.auth_url(), "region": cloud.region(), "network": network, "subnet": subnet,
               "router": router, "tenants": logins})
    );
    let mut asked = signal(SignalKind::user_defined1())?;
    while asked.recv().await.is_some() {
        let calls = cloud.calls();
        println!(
            "{}",
            json!({"tokens": cloud.tokens_issued(), "calls": calls.total(), "mutations": calls.mutation_count()})
        );
    }
    Ok(())
}
