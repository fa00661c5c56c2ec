//! The cloud's own switches: time, faults, journal, files, backdoor.

use std::time::{Duration, Instant};

use fabric_openstack_sim::{Action, Cloud, Config, Fault, Service, SimError, When};
use serde_json::{Value, json};

use crate::client::{call, send, token};
use crate::cloud;

pub(crate) use Service::{LoadBalancer, Network};

/// A network with a subnet of the member, and a router in between.
pub(crate) struct Ground {
    pub(crate) network: String,
    pub(crate) subnet: String,
    pub(crate) router: String,
}

pub(crate) fn ground(cloud: &Cloud) -> Ground {
    let demo = cloud.user("demo").unwrap();
    let network = demo.post(Network, "/v2.0/networks", json!({"network": {"name": "ground"}})).text("/network/id");
    let subnet = demo.post(
        Network,
        "/v2.0/subnets",
        json!({"subnet": {"network_id": network, "ip_version": 4, "cidr": "10.20.0.0/24"}}),
    );
    let external = cloud.id("networks", "public").unwrap();
    let router = demo.post(
        Network,
        "/v2.0/routers",
        json!({"router": {"name": "ground", "external_gateway_info": {"network_id": external}}}),
    );
    assert_eq!((subnet.status, router.status), (201, 201), "{} {}", subnet.body, router.body);
    Ground { network, subnet: subnet.text("/subnet/id"), router: router.text("/router/id") }
}

#[tokio::test]
async fn a_status_changes_after_the_delay_and_never_while_held() {
    let cloud = cloud().await;
    cloud.hold(true);
    let g = ground(&cloud);
    let demo = cloud.user("demo").unwrap();
    let path = format!("/v2.0/routers/{}/add_router_interface", g.router);
    let port = demo.put(Network, &path, json!({"subnet_id": g.subnet})).text("/port_id");
    let status = || demo.get(Network, &format!("/v2.0/ports/{port}")).text("/port/status");
    assert_eq!(status(), "DOWN");
    let before = cloud.get("ports", &port).unwrap()["revision_number"].clone();
    cloud.hold(false);
    assert_eq!(status(), "ACTIVE");
    assert_ne!(cloud.get("ports", &port).unwrap()["revision_number"], before, "a change of status is a revision");
}

#[tokio::test]
async fn faults_hit_the_calls_that_they_name() {
    let cloud = cloud().await;
    let faults = cloud.faults();
    let busy = Action::Answer {
        status: 429,
        body: Some(json!({"busy": true})),
        headers: vec![("Retry-After".to_owned(), "1".to_owned())],
    };
    let second = faults.add(Fault::on("GET", "/v2.0/networks", busy).when(When::Nth(2))).unwrap();
    let list = || call(&cloud, "demo", "GET", Network, "/v2.0/networks", Value::Null);
    assert_eq!(list().await.status, 200);
    let hit = list().await;
    assert_eq!((hit.status, hit.header("Retry-After")), (429, Some("1")));
    assert_eq!(list().await.status, 200);
    assert_eq!(faults.hits(second), 1);
    assert_eq!(call(&cloud, "demo", "GET", Network, "/v2.0/routers", Value::Null).await.status, 200);
    assert!(matches!(faults.add(Fault::on("GET", "(", Action::Stall)), Err(SimError::Pattern(_))));
}

#[tokio::test]
async fn a_call_may_be_carried_out_although_its_answer_is_lost() {
    let cloud = cloud().await;
    let headers = [("X-Auth-Token".to_owned(), token(&cloud, "demo").await)];
    let base = cloud.base_url(Network);
    let cases = [
        (Action::Reset, 0),
        (Action::DoneButReset, 1),
        (Action::CutBody, 1),
        (Action::DoneButAnswer { status: 502, body: None }, 1),
        (Action::Answer { status: 503, body: None, headers: Vec::new() }, 0),
    ];
    for (at, (action, made)) in cases.into_iter().enumerate() {
        let name = format!("lost-{at}");
        cloud.faults().add(Fault::on("POST", "/networks$", action.clone()).service(Network)).unwrap();
        let body = json!({"network": {"name": name}}).to_string();
        let answer = send(&base, "POST", "/v2.0/networks", &headers, Some(body)).await;
        match &action {
            Action::DoneButAnswer { .. } | Action::Answer { .. } => assert!(answer.unwrap().status >= 500),
            _ => assert!(answer.is_err(), "{action:?} gave an answer"),
        }
        let found = cloud.list("networks").iter().filter(|n| n["name"] == name.as_str()).count();
        assert_eq!(found, made, "{action:?}");
        cloud.faults().clear();
    }
}

#[tokio::test]
async fn a_stalled_call_ends_with_the_cloud_and_latency_is_waited_for() {
    let cloud = cloud().await;
    cloud.faults().add(Fault::on("GET", "^/v2.0/routers", Action::Stall)).unwrap();
    let wait = Duration::from_millis(120);
    cloud.faults().add(Fault::on("GET", "^/v2.0/ports", Action::Latency(wait))).unwrap();
    let start = Instant::now();
    assert_eq!(call(&cloud, "demo", "GET", Network, "/v2.0/ports", Value::Null).await.status, 200);
    assert!(start.elapsed() >= wait);
    let headers = [("X-Auth-Token".to_owned(), token(&cloud, "demo").await)];
    let base = cloud.base_url(Network);
    let stalled = tokio::spawn(async move { send(&base, "GET", "/v2.0/routers", &headers, None).await.is_err() });
    let deadline = Instant::now() + Duration::from_secs(5);
    while !cloud.calls().all().iter().any(|c| c.path == "/v2.0/routers") {
        assert!(Instant::now() < deadline, "the call never came");
        tokio::task::yield_now().await;
    }
    cloud.stop().await;
    assert!(stalled.await.unwrap(), "a stalled call got an answer");
}

#[tokio::test]
async fn the_journal_tells_reading_from_changing_and_keeps_no_secrets() {
    let cloud = cloud().await;
    call(&cloud, "demo", "GET", Network, "/v2.0/networks?name=x", Value::Null).await;
    call(&cloud, "demo", "POST", Network, "/v2.0/networks", json!({"network": {"name": "x"}})).await;
    let calls = cloud.calls();
    assert_eq!((calls.total(), calls.mutation_count(), cloud.tokens_issued()), (4, 1, 2));
    let changed = calls.mutations();
    assert_eq!((changed[0].path.as_str(), changed[0].status), ("/v2.0/networks", 201));
    assert_eq!(changed[0].body, Some(json!({"network": {"name": "x"}})));
    assert!(calls.all().iter().filter(|c| c.service == Service::Identity).all(|c| c.body.is_none()));
    assert_eq!(calls.since(2)[0].query, "");
    calls.clear();
    assert_eq!(calls.total(), 0);
}

#[tokio::test]
async fn a_saved_cloud_comes_back_equal_in_another_one() {
    let first = cloud().await;
    ground(&first);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cloud.json");
    first.save(&file).unwrap();
    let second = Cloud::start(Config::default()).await.unwrap();
    assert_ne!(first.snapshot(), second.snapshot());
    second.load(&file).unwrap();
    assert_eq!(first.snapshot().to_string(), second.snapshot().to_string());
    let (one, two) = (ground(&first), ground(&second));
    assert_eq!(one.network, two.network, "the loaded cloud goes on where the saved one stopped");
    assert_eq!(call(&second, "ci", "GET", Network, "/v2.0/networks?name=ground", Value::Null).await.status, 200);
    std::fs::write(&file, "{").unwrap();
    assert!(matches!(second.load(&file), Err(SimError::Damaged { .. })));
    std::fs::write(&file, r#"{"form": 99}"#).unwrap();
    assert!(matches!(second.load(&file), Err(SimError::Form { found: 99, .. })));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside the file");
}

#[tokio::test]
async fn a_snapshot_has_no_secrets_and_is_equal_when_nothing_changed() {
    let cloud = cloud().await;
    ground(&cloud);
    let before = cloud.snapshot().to_string();
    call(&cloud, "demo", "GET", Network, "/v2.0/networks", Value::Null).await;
    assert_eq!(cloud.snapshot().to_string(), before);
    assert!(!before.contains("ci-secret") && !before.contains("_password"), "{before}");
    let shown = format!("{cloud:?} {:?}", Config::default());
    assert!(!shown.contains("ci-secret\""), "a secret is shown");
}

#[tokio::test]
async fn expired_and_revoked_tokens_are_refused_by_every_service() {
    let cloud = cloud().await;
    cloud.set_token_lifetime(Duration::ZERO);
    let expired = token(&cloud, "demo").await;
    cloud.set_token_lifetime(Duration::from_secs(60));
    let revoked = token(&cloud, "demo").await;
    cloud.revoke_tokens();
    for (service, path) in [
        (Service::Identity, "/v3/auth/projects"),
        (Network, "/v2.0/networks"),
        (Service::Compute, "/v2.1/limits"),
        (Service::SharedFileSystem, "/v2/share-networks"),
        (LoadBalancer, "/v2/lbaas/loadbalancers"),
    ] {
        for token in [&expired, &revoked] {
            let headers = [("X-Auth-Token".to_owned(), token.clone())];
            let answer = send(&cloud.base_url(service), "GET", path, &headers, None).await.unwrap();
            assert_eq!((answer.status, &answer.body["error"]["code"]), (401, &json!(401)), "{path}");
        }
    }
}

#[tokio::test]
async fn the_backdoor_changes_things_behind_everybodys_back() {
    let cloud = cloud().await;
    let g = ground(&cloud);
    let before = cloud.get("networks", "ground").unwrap();
    cloud.patch("networks", "ground", &json!({"name": "moved", "description": null})).unwrap();
    let after = cloud.get("networks", &g.network).unwrap();
    assert_eq!(after["name"], "moved");
    assert_eq!(after["revision_number"].as_i64(), before["revision_number"].as_i64().map(|r| r + 1));
    let demo = cloud.user("demo").unwrap();
    cloud.insert("servers", json!({"name": "shoot--a--b-worker", "tenant_id": demo.project_id(), "status": "ACTIVE"}));
    let servers = demo.get(Service::Compute, "/v2.1/servers/detail?name=%5Eshoot--a");
    assert_eq!(servers.text("/servers/0/name"), "shoot--a--b-worker");
    cloud.remove("networks", "moved").unwrap();
    assert!(matches!(cloud.remove("networks", "moved"), Err(SimError::Absent { .. })));
    cloud.set_quota(Network, "demo", "network", 0).unwrap();
    let refused = demo.post(Network, "/v2.0/networks", json!({"network": {"name": "x"}}));
    assert_eq!(refused.text("/NeutronError/type"), "OverQuota");
}

#[tokio::test]
async fn a_seeded_cloud_is_the_same_in_every_run() {
    let (first, second) = (cloud().await, cloud().await);
    assert_eq!(ground(&first).subnet, ground(&second).subnet);
    let hidden = Config { hidden: vec![LoadBalancer], ..Config::default() };
    let third = Cloud::start(hidden).await.unwrap();
    let listed = call(&third, "demo", "GET", Service::Identity, "/v3/auth/catalog", Value::Null).await;
    assert!(!listed.body.to_string().contains("load-balancer") && listed.body.to_string().contains("sharev2"));
}

#[tokio::test]
async fn a_taken_port_is_named() {
    let first = cloud().await;
    let port: u16 = first.base_url(Network).rsplit(':').next().unwrap().parse().unwrap();
    let config = Config { ports: [0, port, 0, 0, 0], ..Config::default() };
    match Cloud::start(config).await {
        Err(SimError::Listen { service: "neutron", port: named, .. }) => assert_eq!(named, port),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn hundreds_of_calls_at_once_are_all_answered() {
    let cloud = cloud().await;
    cloud.set_quota(Network, "demo", "network", -1).unwrap();
    let headers = [("X-Auth-Token".to_owned(), token(&cloud, "demo").await)];
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..400 {
        let (base, headers) = (cloud.base_url(Network), headers.clone());
        let body = json!({"network": {"name": format!("many-{number}")}}).to_string();
        calls.spawn(async move { send(&base, "POST", "/v2.0/networks", &headers, Some(body)).await });
    }
    let mut made = std::collections::BTreeSet::new();
    while let Some(answer) = calls.join_next().await {
        let answer = answer.unwrap().unwrap();
        assert_eq!(answer.status, 201, "{}", answer.body);
        made.insert(answer.body["network"]["id"].as_str().unwrap().to_owned());
    }
    assert_eq!(made.len(), 400);
    assert_eq!(cloud.calls().mutation_count(), 400);
}
