//! Switches, faults and rules that no recording shows.

use std::time::{Duration, Instant};

use fabric_openstack_sim::{Action, Cloud, Config, Fault, Service, SimError, When};
use serde_json::{Value, json};

use crate::client::{call, send, token};
use crate::cloud;

use Service::{LoadBalancer, Network};

/// A network with a subnet of the member, and a router in between.
struct Ground {
    network: String,
    subnet: String,
    router: String,
}

fn ground(cloud: &Cloud) -> Ground {
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
async fn lists_are_filtered_sorted_and_cut_into_pages() {
    let cloud = cloud().await;
    let demo = cloud.user("demo").unwrap();
    for name in ["c", "a", "b"] {
        demo.post(Network, "/v2.0/networks", json!({"network": {"name": name, "description": "page"}}));
    }
    let names = |path: &str| -> Vec<String> {
        let found = demo.get(Network, path);
        assert_eq!(found.status, 200, "{path}: {}", found.body);
        let rows = found.body["networks"].as_array().unwrap();
        rows.iter().map(|n| n["name"].as_str().unwrap().to_owned()).collect()
    };
    for (query, expected) in [
        ("description=page&sort_key=name", vec!["a", "b", "c"]),
        ("description=page&sort_key=name&sort_dir=desc", vec!["c", "b", "a"]),
        ("name=a&name=b&sort_key=name", vec!["a", "b"]),
        ("name=a&description=other", vec![]),
        ("router:external=true", vec!["public"]),
        ("shared=False&description=page&sort_key=name&limit=2", vec!["a", "b"]),
    ] {
        assert_eq!(names(&format!("/v2.0/networks?{query}")), expected, "{query}");
    }
    let mut path = "/v2.0/networks?description=page&sort_key=name&limit=2".to_owned();
    let mut seen = names(&path);
    let base = cloud.base_url(Network);
    while let Some(next) = demo.get(Network, &path).body["networks_links"]
        .as_array()
        .and_then(|links| links.iter().find(|l| l["rel"] == "next").and_then(|l| l["href"].as_str()).map(str::to_owned))
    {
        path = next.trim_start_matches(&base).to_owned();
        seen.extend(names(&path));
    }
    assert_eq!(seen, ["a", "b", "c"]);
}

#[tokio::test]
async fn tags_are_a_set_with_a_limit_and_refused_in_a_post() {
    let cloud = cloud().await;
    let g = ground(&cloud);
    let demo = cloud.user("demo").unwrap();
    let tags = format!("/v2.0/networks/{}/tags", g.network);
    let refused = demo.post(Network, "/v2.0/networks", json!({"network": {"name": "x", "tags": ["a"]}}));
    assert_eq!((refused.status, refused.text("/NeutronError/type").as_str()), (400, "HTTPBadRequest"));
    let long = "x".repeat(61);
    assert_eq!(demo.put(Network, &tags, json!({"tags": [long]})).status, 200);
    cloud.set_tag_limit(60);
    let refused = demo.put(Network, &tags, json!({"tags": [long]}));
    assert_eq!((refused.status, refused.text("/NeutronError/type").as_str()), (400, "InvalidInput"));
    assert_eq!(demo.put(Network, &tags, json!({"tags": ["a", "b"]})).status, 200);
    assert_eq!(demo.put(Network, &format!("{tags}/osf:uid=1%2F2"), Value::Null).status, 201);
    let count =
        |query: &str| demo.get(Network, &format!("/v2.0/networks?{query}")).body["networks"].as_array().map(Vec::len);
    assert_eq!(count("tags=a,b"), Some(1));
    assert_eq!(count("tags=a,z"), Some(0));
    assert_eq!(count("tags-any=a,z"), Some(1));
    assert_eq!(count("tags=osf:uid%3D1/2"), Some(1));
    let revision = cloud.get("networks", &g.network).unwrap()["revision_number"].clone();
    demo.put(Network, &format!("{tags}/a"), Value::Null);
    assert_eq!(cloud.get("networks", &g.network).unwrap()["revision_number"], revision, "nothing changed");
}

#[tokio::test]
async fn rules_are_compared_in_normal_form_and_created_in_bulk_as_a_whole() {
    let cloud = cloud().await;
    let demo = cloud.user("demo").unwrap();
    let group = demo.post(Network, "/v2.0/security-groups", json!({"security_group": {"name": "g"}}));
    let group = group.text("/security_group/id");
    let path = "/v2.0/security-group-rules";
    let rule = |ethertype: &str, protocol: Value, prefix: Value| {
        json!({
            "security_group_id": group, "direction": "ingress", "ethertype": ethertype, "protocol": protocol,
            "remote_ip_prefix": prefix,
        })
    };
    let several = json!({"security_group_rules": [
        rule("IPv4", json!("tcp"), json!("10.1.0.7/24")),
        rule("IPv6", json!("icmp"), Value::Null),
        rule("IPv4", json!("udp"), json!("10.2.0.1")),
    ]});
    let made = demo.post(Network, path, several);
    assert_eq!(made.status, 201, "{}", made.body);
    assert_eq!(made.text("/security_group_rules/0/remote_ip_prefix"), "10.1.0.7/24");
    assert_eq!(made.text("/security_group_rules/0/normalized_cidr"), "10.1.0.0/24");
    assert_eq!(made.text("/security_group_rules/1/protocol"), "ipv6-icmp");
    assert_eq!(made.text("/security_group_rules/2/remote_ip_prefix"), "10.2.0.1/32");
    let before = cloud.snapshot();
    let twin = json!({"security_group_rules": [
        rule("IPv4", json!("sctp"), Value::Null),
        rule("IPv4", json!(6), json!("10.1.0.7/24")),
    ]});
    let refused = demo.post(Network, path, twin);
    assert_eq!((refused.status, refused.text("/NeutronError/type").as_str()), (409, "SecurityGroupRuleExists"));
    assert_eq!(cloud.snapshot(), before, "half of a bulk request was carried out");
    let everybody = json!({"security_group_rule": {
        "security_group_id": group, "direction": "egress", "ethertype": "IPv4", "remote_ip_prefix": "0.0.0.0/0",
    }});
    assert_eq!(demo.post(Network, path, everybody).status, 409, "a new group lets everything out already");
}

#[tokio::test]
async fn ipv6_subnets_of_one_network_share_a_router_port() {
    let cloud = cloud().await;
    let g = ground(&cloud);
    let demo = cloud.user("demo").unwrap();
    let pool = cloud.id("subnetpools", "shared-v6").unwrap();
    let subnet = |name: &str| {
        let body = json!({"subnet": {
            "name": name, "network_id": g.network, "ip_version": 6, "subnetpool_id": pool,
            "ipv6_ra_mode": "slaac", "ipv6_address_mode": "slaac",
        }});
        let made = demo.post(Network, "/v2.0/subnets", body);
        assert_eq!(made.status, 201, "{}", made.body);
        (made.text("/subnet/id"), made.text("/subnet/cidr"))
    };
    let three = [subnet("a"), subnet("b"), subnet("c")];
    assert_eq!(
        three.each_ref().map(|s| s.1.as_str()),
        ["2001:db8:a000::/64", "2001:db8:a000:1::/64", "2001:db8:a000:2::/64"]
    );
    let add = format!("/v2.0/routers/{}/add_router_interface", g.router);
    let four = demo.put(Network, &add, json!({"subnet_id": g.subnet})).text("/port_id");
    let first = demo.put(Network, &add, json!({"subnet_id": three[0].0})).text("/port_id");
    let second = demo.put(Network, &add, json!({"subnet_id": three[1].0}));
    assert_ne!(four, first);
    assert_eq!(second.text("/port_id"), first);
    assert_eq!(second.body["subnet_ids"].as_array().map(Vec::len), Some(2));
    let remove = format!("/v2.0/routers/{}/remove_router_interface", g.router);
    assert_eq!(demo.put(Network, &remove, json!({"subnet_id": three[0].0})).status, 200);
    assert_eq!(cloud.get("ports", &first).unwrap()["fixed_ips"].as_array().map(Vec::len), Some(1));
    assert_eq!(demo.put(Network, &remove, json!({"subnet_id": three[1].0})).status, 200);
    assert!(cloud.get("ports", &first).is_none());
}

#[tokio::test]
async fn an_exhausted_external_subnet_is_told_by_type_and_leaves_nothing() {
    let cloud = cloud().await;
    let netadmin = cloud.user("netadmin").unwrap();
    let external = cloud.id("networks", "public").unwrap();
    let subnet = cloud.id("subnets", "public-v4").unwrap();
    let one = json!({"allocation_pools": [{"start": "172.24.4.9", "end": "172.24.4.9"}]});
    cloud.patch("subnets", "public-v4", &one).unwrap();
    let body = json!({"router": {"name": "r", "external_gateway_info": {
        "network_id": external, "enable_snat": false, "external_fixed_ips": [{"subnet_id": subnet}],
    }}});
    assert_eq!(netadmin.post(Network, "/v2.0/routers", body.clone()).status, 201);
    let before = cloud.snapshot();
    let refused = netadmin.post(Network, "/v2.0/routers", body);
    assert_eq!((refused.status, refused.text("/NeutronError/type").as_str()), (409, "IpAddressGenerationFailure"));
    assert_eq!(cloud.snapshot(), before);
    // Without a wish the other subnet of the network is taken.
    let any = json!({"router": {"name": "r2", "external_gateway_info": {"network_id": external}}});
    assert_eq!(netadmin.post(Network, "/v2.0/routers", any).status, 201);
}

#[tokio::test]
async fn others_see_what_is_shared_with_them_and_nothing_else() {
    let cloud = cloud().await;
    let g = ground(&cloud);
    let (demo, other) = (cloud.user("demo").unwrap(), cloud.user("other").unwrap());
    let network = format!("/v2.0/networks/{}", g.network);
    assert_eq!(other.get(Network, &network).status, 404);
    let policy = json!({"rbac_policy": {
        "object_type": "network", "object_id": g.network, "action": "access_as_shared",
        "target_tenant": other.project_id(),
    }});
    assert_eq!(demo.post(Network, "/v2.0/rbac-policies", policy).status, 201);
    assert_eq!(other.get(Network, &network).body["network"]["shared"], json!(true));
    assert_eq!(other.get(Network, &format!("/v2.0/subnets/{}", g.subnet)).status, 200);
    assert_eq!(other.delete(Network, &network).status, 403);
    let subnet = json!({"subnet": {"network_id": g.network, "ip_version": 4, "cidr": "10.21.0.0/24"}});
    assert_eq!(other.post(Network, "/v2.0/subnets", subnet).status, 403);
    let port = other.post(Network, "/v2.0/ports", json!({"port": {"network_id": g.network}})).text("/port/id");
    let blocked = demo.delete(Network, &network);
    assert_eq!((blocked.status, blocked.text("/NeutronError/type").as_str()), (409, "NetworkInUse"));
    assert!(blocked.text("/NeutronError/message").contains(&port), "{}", blocked.body);
}

#[tokio::test]
async fn a_load_balancer_holds_its_subnet_until_it_is_gone() {
    let cloud = cloud().await;
    let g = ground(&cloud);
    let demo = cloud.user("demo").unwrap();
    let body = json!({"loadbalancer": {"name": "kube_service_a_b_c", "vip_subnet_id": g.subnet}});
    let id = demo.post(LoadBalancer, "/v2/lbaas/loadbalancers", body).text("/loadbalancer/id");
    let path = format!("/v2/lbaas/loadbalancers/{id}");
    assert_eq!(demo.get(LoadBalancer, &path).text("/loadbalancer/provisioning_status"), "ACTIVE");
    let listener = json!({"listener": {"protocol": "TCP", "protocol_port": 80, "loadbalancer_id": id}});
    assert_eq!(demo.post(LoadBalancer, "/v2/lbaas/listeners", listener).status, 201);
    let subnet = format!("/v2.0/subnets/{}", g.subnet);
    assert_eq!(demo.delete(Network, &subnet).status, 409);
    assert_eq!(demo.delete(LoadBalancer, &path).status, 400);
    assert_eq!(demo.delete(LoadBalancer, &format!("{path}?cascade=true")).status, 204);
    assert_eq!(demo.get(LoadBalancer, &path).status, 404);
    assert!(cloud.list("listeners").is_empty() && cloud.get("ports", &format!("octavia-lb-{id}")).is_none());
    assert_eq!(demo.delete(Network, &subnet).status, 204);
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
