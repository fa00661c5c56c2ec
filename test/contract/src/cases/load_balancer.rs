use fabric_openstack::{
    Query,
    api::{LoadBalancers, Network},
};
use fabric_openstack_types::{
    ErrorClass,
    ids::{LoadBalancerId, SubnetId},
};
use reqwest::Method;
use serde_json::json;

use super::{ABSENT, failure, made};
use crate::{Stage, raw, wait};

async fn create(stage: &Stage, subnet: &SubnetId, what: &str) -> LoadBalancerId {
    let path = "/v2/lbaas/loadbalancers";
    let body = json!({"loadbalancer": {"name": stage.name(what), "vip_subnet_id": subnet}});
    let answer = raw::call(&stage.member, "load-balancer", Method::POST, path, Some(body)).await;
    LoadBalancerId::new(answer["loadbalancer"]["id"].as_str().unwrap())
}

/// Load balancers are found by the subnet of their address, hold it, and go with all that hangs on them.
pub async fn load_balancers_hold_a_subnet_until_they_go(stage: &Stage) {
    let client = &stage.member;
    let network = stage.network("net").await;
    let subnet = stage.subnet(&network.id, "sub", "10.91.0.0/24").await;
    let other = stage.subnet(&network.id, "other", "10.92.0.0/24").await;
    let id = create(stage, &subnet.id, "lb").await;
    create(stage, &other.id, "elsewhere").await;
    let query = Query::all().and("vip_subnet_id", subnet.id.as_str());
    let active = wait::until("load balancer ACTIVE", || async {
        let found = client.load_balancers(&query).await.unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        found.into_iter().find(|one| one.provisioning_status == "ACTIVE")
    })
    .await;
    assert_eq!((&active.id, &active.name), (&id, &stage.name("lb")));
    assert_eq!(active.project_id, stage.facts.project_id);
    let port = client.port(active.vip_port_id.as_ref().unwrap()).await.unwrap();
    assert_eq!(port.device_owner, "Octavia");
    let listener = json!({"listener": {
        "name": stage.name("listener"), "loadbalancer_id": id, "protocol": "TCP", "protocol_port": 80}});
    let path = "/v2/lbaas/listeners";
    raw::call(client, "load-balancer", Method::POST, path, Some(listener)).await;
    let (class, _, kind) = failure(client.delete_subnet(&made(subnet.id.clone())).await);
    assert_eq!((class, kind.as_str()), (ErrorClass::InUse, "SubnetInUse"));
    // The listener makes it immutable for a moment: a conflict, which the caller waits out.
    let owned = made(id.clone());
    wait::until("deletion accepted", || async {
        match client.delete_load_balancer(&owned).await {
            Ok(()) => Some(()),
            Err(error) => {
                assert_eq!((error.class, error.status), (ErrorClass::Conflict, Some(409)), "{error}");
                None
            }
        }
    })
    .await;
    // While it goes, and after it went, a second deletion finds the work done.
    client.delete_load_balancer(&owned).await.unwrap();
    wait::until("load balancer gone", || async {
        let found = client.load_balancers(&query).await.unwrap();
        found.is_empty().then_some(())
    })
    .await;
    client.delete_load_balancer(&owned).await.unwrap();
    client.delete_load_balancer(&made(ABSENT.into())).await.unwrap();
    wait::until("subnet free", || async { client.delete_subnet(&made(subnet.id.clone())).await.ok() }).await;
}
