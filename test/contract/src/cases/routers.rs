use fabric_openstack::{Client, Query, RouterInterface, api::Network};
use fabric_openstack_types::{
    ErrorClass,
    ids::{RouterId, SubnetId},
    network::{ExternalGateway, NewRouter, Route, Router, RouterUpdate},
};
use reqwest::Method;
use serde_json::json;

use super::{ABSENT, failure, made};
use crate::{Stage, raw, wait};

fn new_router(stage: &Stage, enable_snat: Option<bool>) -> NewRouter {
    NewRouter {
        name: stage.name("router"),
        description: stage.marker().description(),
        admin_state_up: true,
        external_gateway_info: Some(ExternalGateway {
            network_id: stage.facts.external_network_id.clone(),
            enable_snat,
            external_fixed_ips: Vec::new(),
        }),
    }
}

async fn router(stage: &Stage, client: &Client) -> Router {
    client.create_router(&new_router(stage, None)).await.unwrap()
}

/// A router gets addresses on the external network, an interface whose port becomes ACTIVE, and lets go of both.
pub async fn a_router_and_its_interface_live_and_go(stage: &Stage) {
    let client = &stage.member;
    let network = stage.network("net").await;
    let subnet = stage.subnet(&network.id, "sub", "10.91.0.0/24").await;
    let made_router = router(stage, client).await;
    assert_eq!(made_router.status, "ACTIVE");
    assert!(!made_router.external_ips().is_empty(), "{made_router:?}");
    let gateway = made_router.external_gateway_info.as_ref().unwrap();
    assert_eq!(gateway.network_id, stage.facts.external_network_id);
    let id = made(made_router.id.clone());
    let interface = made(RouterInterface { router: made_router.id.clone(), subnet: subnet.id.clone() });
    let port = client.add_router_interface(&interface).await.unwrap();
    // A second time finds the same port.
    assert_eq!(client.add_router_interface(&interface).await.unwrap(), port);
    let active = wait::until("interface ACTIVE", || async {
        let port = client.port(&port).await.unwrap();
        (port.status == "ACTIVE").then_some(port)
    })
    .await;
    assert!(active.is_router_interface() && active.is_on(&subnet.id));
    assert_eq!(active.device_id, made_router.id.as_str());
    let on_network = client.ports(&Query::network(&network.id)).await.unwrap();
    assert_eq!(on_network, [active]);
    let own = client.ports(&Query::device(made_router.id.as_str())).await.unwrap();
    assert!(own.iter().any(|port| port.is_on(&subnet.id)), "{own:?}");

    let (class, _, kind) = failure(client.delete_router(&id).await);
    assert_eq!((class, kind.as_str()), (ErrorClass::InUse, "RouterInUse"));
    let renamed = RouterUpdate { name: Some(stage.name("renamed")), ..RouterUpdate::default() };
    assert_eq!(client.update_router(&id, &renamed).await.unwrap().name, stage.name("renamed"));

    client.remove_router_interface(&interface).await.unwrap();
    client.remove_router_interface(&interface).await.unwrap();
    client.delete_router(&id).await.unwrap();
    client.delete_router(&id).await.unwrap();
    // The router is gone: its interface is too.
    client.remove_router_interface(&interface).await.unwrap();
    let (class, _, kind) = failure(client.router(&made_router.id).await);
    assert_eq!((class, kind.as_str()), (ErrorClass::NotFound, "RouterNotFound"));
}

/// What an interface cannot be on is told from one that is there already.
pub async fn an_interface_that_cannot_be_is_refused(stage: &Stage) {
    let client = &stage.member;
    let network = stage.network("net").await;
    let subnet = stage.subnet(&network.id, "sub", "10.91.0.0/24").await;
    let other = stage.network("other").await;
    let overlap = stage.subnet(&other.id, "overlap", "10.91.0.0/25").await;
    let router = router(stage, client).await;
    let at =
        |router: &RouterId, subnet: &SubnetId| made(RouterInterface { router: router.clone(), subnet: subnet.clone() });
    client.add_router_interface(&at(&router.id, &subnet.id)).await.unwrap();
    let overlapping = client.add_router_interface(&at(&router.id, &overlap.id)).await;
    let (class, status, kind) = failure(overlapping);
    assert_eq!((class, status, kind.as_str()), (ErrorClass::Invalid, Some(400), "BadRequest"));
    let absent = client.add_router_interface(&at(&router.id, &ABSENT.into())).await;
    assert_eq!(failure(absent).0, ErrorClass::NotFound);
    let absent = client.add_router_interface(&at(&ABSENT.into(), &subnet.id)).await;
    let (class, _, kind) = failure(absent);
    assert_eq!((class, kind.as_str()), (ErrorClass::NotFound, "RouterNotFound"));
}

/// Routes: exactly those named go, also twice; one holds the interface of its next hop.
pub async fn routes_go_one_by_one(stage: &Stage) {
    let client = &stage.member;
    let network = stage.network("net").await;
    let subnet = stage.subnet(&network.id, "sub", "10.91.0.0/24").await;
    let router = router(stage, client).await;
    let interface = made(RouterInterface { router: router.id.clone(), subnet: subnet.id });
    client.add_router_interface(&interface).await.unwrap();
    let route =
        |destination: &str| Route { destination: destination.parse().unwrap(), nexthop: "10.91.0.9".parse().unwrap() };
    let (ours, theirs) = (route("10.9.0.0/24"), route("10.8.0.0/24"));
    let path = format!("/v2.0/routers/{}/add_extraroutes", router.id);
    let body = json!({"router": {"routes": [ours, theirs]}});
    raw::call(client, "network", Method::PUT, &path, Some(body)).await;

    let (class, _, kind) = failure(client.remove_router_interface(&interface).await);
    assert_eq!((class, kind.as_str()), (ErrorClass::InUse, "RouterInterfaceInUseByRoute"));
    let gone = [made(ours)];
    client.remove_routes(&router.id, &gone).await.unwrap();
    let left = client.router(&router.id).await.unwrap().routes;
    assert_eq!(left, std::slice::from_ref(&theirs));
    client.remove_routes(&router.id, &gone).await.unwrap();
    client.remove_routes(&router.id, &[made(theirs)]).await.unwrap();
    assert!(client.router(&router.id).await.unwrap().routes.is_empty());
    client.remove_routes(&ABSENT.into(), &gone).await.unwrap();
    client.remove_routes(&router.id, &[]).await.unwrap();
}

/// Source NAT is the policy's to grant: a plain member is forbidden, by type; `netadmin` is not.
pub async fn snat_needs_the_policys_consent(stage: &Stage) {
    let new = new_router(stage, Some(false));
    let (class, status, kind) = failure(stage.member.create_router(&new).await);
    assert_eq!((class, status, kind.as_str()), (ErrorClass::Forbidden, Some(403), "PolicyNotAuthorized"));
    let router = stage.netadmin.create_router(&new).await.unwrap();
    let gateway = router.external_gateway_info.unwrap();
    assert_eq!(gateway.enable_snat, Some(false));
    let on = RouterUpdate {
        external_gateway_info: Some(ExternalGateway { enable_snat: Some(true), ..gateway }),
        ..RouterUpdate::default()
    };
    let changed = stage.netadmin.update_router(&made(router.id), &on).await.unwrap();
    assert_eq!(changed.external_gateway_info.unwrap().enable_snat, Some(true));
}

/// While the data plane is held an interface stays DOWN; afterwards it becomes ACTIVE.
pub async fn an_interface_stays_down_while_held(stage: &Stage) {
    let client = &stage.member;
    let network = stage.network("net").await;
    let subnet = stage.subnet(&network.id, "sub", "10.91.0.0/24").await;
    let router = router(stage, client).await;
    let interface = made(RouterInterface { router: router.id, subnet: subnet.id });
    let held = stage.hold();
    let port = client.add_router_interface(&interface).await.unwrap();
    // Longer than any data plane here takes.
    let until = tokio::time::Instant::now() + std::time::Duration::from_secs(1);
    while tokio::time::Instant::now() < until {
        assert_eq!(client.port(&port).await.unwrap().status, "DOWN");
    }
    drop(held);
    wait::until("interface ACTIVE", || async { (client.port(&port).await.unwrap().status == "ACTIVE").then_some(()) })
        .await;
}
