use fabric_openstack::{
    Query,
    api::{Compute, Network, SharedFileSystem},
};
use fabric_openstack_types::{
    ErrorClass,
    network::{ExternalGateway, NewRouter, NewSecurityGroup},
    share::NewShareNetwork,
};
use futures::FutureExt;
use reqwest::Method;
use serde_json::json;

use super::{ABSENT, compute::KEY, failure};
use crate::{Stage, raw};

/// A used-up quota is "quota" in every service, whatever status it gives it; the project is `other`'s.
pub async fn a_used_up_quota_is_told_in_every_service(stage: &Stage) {
    let project = &stage.facts.other_project_id;
    // The first list of groups makes the default one, which uses up a quota of one.
    stage.other.security_groups(&Query::project(project)).await.unwrap();
    set(
        stage,
        "network",
        &format!("/v2.0/quotas/{project}"),
        json!({"quota": {
        "network": 0, "router": 0, "security_group": 1}}),
    )
    .await;
    set(stage, "compute", &format!("/os-quota-sets/{project}"), json!({"quota_set": {"key_pairs": 0}})).await;
    set(stage, "sharev2", &format!("/os-quota-sets/{project}"), json!({"quota_set": {"share_networks": 0}})).await;
    let result = std::panic::AssertUnwindSafe(try_all(stage)).catch_unwind().await;
    raw::call(&stage.admin, "network", Method::DELETE, &format!("/v2.0/quotas/{project}"), None).await;
    raw::call(&stage.admin, "compute", Method::DELETE, &format!("/os-quota-sets/{project}"), None).await;
    raw::call(&stage.admin, "sharev2", Method::DELETE, &format!("/os-quota-sets/{project}"), None).await;
    if let Err(panic) = result {
        std::panic::resume_unwind(panic);
    }
}

async fn set(stage: &Stage, service: &str, path: &str, body: serde_json::Value) {
    raw::call(&stage.admin, service, Method::PUT, path, Some(body)).await;
}

async fn try_all(stage: &Stage) {
    let client = &stage.other;
    let description = stage.marker().description();
    let neutron = (ErrorClass::Quota, Some(409), "OverQuota".to_owned());
    let network = client.create_network(&stage.new_network("x")).await;
    assert_eq!(failure(network), neutron);
    let router = NewRouter {
        name: stage.name("x"),
        description: description.clone(),
        admin_state_up: true,
        external_gateway_info: Some(ExternalGateway {
            network_id: stage.facts.external_network_id.clone(),
            enable_snat: None,
            external_fixed_ips: Vec::new(),
        }),
    };
    assert_eq!(failure(client.create_router(&router).await), neutron);
    let group = NewSecurityGroup { name: stage.name("x"), description: description.clone() };
    assert_eq!(failure(client.create_security_group(&group).await), neutron);
    let pair = client.create_key_pair(&stage.name("x"), KEY).await;
    assert_eq!(failure(pair), (ErrorClass::Quota, Some(403), "forbidden".to_owned()));
    let shares = NewShareNetwork {
        name: stage.name("x"),
        description,
        neutron_net_id: ABSENT.into(),
        neutron_subnet_id: ABSENT.into(),
    };
    let shares = client.create_share_network(&shares).await;
    assert_eq!(failure(shares), (ErrorClass::Quota, Some(413), "overLimit".to_owned()));
}
