//! Takes away everything whose name begins with a stage's prefix, by raw calls: the sweep must not depend on what is
//! tested.

use fabric_openstack::Client;
use reqwest::{Method, StatusCode};
use serde_json::Value;

use crate::{raw, stage::Stage, wait};

/// Returns what could not be deleted.
pub(crate) async fn sweep(stage: &Stage) -> Vec<String> {
    let mut left = Vec::new();
    for client in [&stage.member, &stage.other, &stage.netadmin] {
        // Who never logged in made nothing.
        if client.stats().tokens > 0 {
            left.extend(sweep_project(client, &stage.prefix).await);
        }
    }
    left
}

async fn sweep_project(client: &Client, prefix: &str) -> Vec<String> {
    load_balancers(client, prefix).await;
    for router in named(client, "network", "/v2.0/routers", "routers", prefix).await {
        empty_router(client, router["id"].as_str().unwrap()).await;
    }
    let mut left = Vec::new();
    for (service, path, key) in [
        ("network", "/v2.0/routers", "routers"),
        ("network", "/v2.0/ports", "ports"),
        ("network", "/v2.0/networks", "networks"),
        ("network", "/v2.0/subnetpools", "subnetpools"),
        ("network", "/v2.0/security-groups", "security_groups"),
        ("sharev2", "/share-networks", "share_networks"),
    ] {
        for found in named(client, service, path, key, prefix).await {
            let one = format!("{path}/{}", found["id"].as_str().unwrap());
            let status = raw::status(client, service, Method::DELETE, &one).await;
            if !(status.is_success() || status == StatusCode::NOT_FOUND) {
                left.push(format!("{one}: {status}"));
            }
        }
    }
    for pair in list(client, "compute", "/os-keypairs", "keypairs").await {
        let name = pair["keypair"]["name"].as_str().unwrap().to_owned();
        if name.starts_with(prefix) {
            let path = format!("/os-keypairs/{name}");
            raw::status(client, "compute", Method::DELETE, &path).await;
        }
    }
    left
}

async fn load_balancers(client: &Client, prefix: &str) {
    let found = || async {
        let path = "/v2/lbaas/loadbalancers";
        named(client, "load-balancer", path, "loadbalancers", prefix).await
    };
    wait::until("load balancers swept", || async {
        let left = found().await;
        for balancer in &left {
            let path = format!("/v2/lbaas/loadbalancers/{}?cascade=true", balancer["id"].as_str().unwrap());
            raw::status(client, "load-balancer", Method::DELETE, &path).await;
        }
        left.is_empty().then_some(())
    })
    .await;
}

async fn empty_router(client: &Client, id: &str) {
    let routes = serde_json::json!({"router": {"routes": []}});
    let path = format!("/v2.0/routers/{id}");
    raw::call(client, "network", Method::PUT, &path, Some(routes)).await;
    let ports = format!("/v2.0/ports?device_id={id}");
    for port in list(client, "network", &ports, "ports").await {
        if port["device_owner"] == "network:router_interface" {
            let body = serde_json::json!({"port_id": port["id"]});
            let path = format!("{path}/remove_router_interface");
            raw::call(client, "network", Method::PUT, &path, Some(body)).await;
        }
    }
}

async fn named(client: &Client, service: &str, path: &str, key: &str, prefix: &str) -> Vec<Value> {
    let mut all = list(client, service, path, key).await;
    all.retain(|one| one["name"].as_str().is_some_and(|name| name.starts_with(prefix)));
    all
}

async fn list(client: &Client, service: &str, path: &str, key: &str) -> Vec<Value> {
    let answer = raw::call(client, service, Method::GET, path, None).await;
    answer[key].as_array().cloned().unwrap_or_default()
}
