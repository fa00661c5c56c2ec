//! Rules of the services that no recording shows, or shows only in part.

use fabric_openstack_sim::Service;
use serde_json::{Value, json};

use crate::behaviour::{Ground, ground};
use crate::cloud;

use Service::{LoadBalancer, Network};

fn attach(cloud: &fabric_openstack_sim::Cloud, g: &Ground, body: Value) -> fabric_openstack_sim::Answer {
    let path = format!("/v2.0/routers/{}/add_router_interface", g.router);
    cloud.user("demo").unwrap().put(Network, &path, body)
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
    let doubled = json!({"security_group_rules": [
        rule("IPv4", json!("tcp"), Value::Null),
        rule("IPv4", json!(6), json!("0.0.0.0/0")),
    ]});
    let refused = demo.post(Network, path, doubled);
    assert_eq!(refused.text("/NeutronError/type"), "DuplicateSecurityGroupRuleInPost");
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
async fn a_users_own_port_becomes_an_interface_and_goes_with_it() {
    let cloud = cloud().await;
    let g = ground(&cloud);
    let demo = cloud.user("demo").unwrap();
    let body = json!({"port": {"network_id": g.network, "fixed_ips": [{"ip_address": "10.20.0.200"}]}});
    let port = demo.post(Network, "/v2.0/ports", body).text("/port/id");
    let added = attach(&cloud, &g, json!({"port_id": port}));
    assert_eq!((added.status, added.text("/subnet_id")), (200, g.subnet.clone()));
    assert_eq!(cloud.get("ports", &port).unwrap()["device_owner"], "network:router_interface");
    assert_eq!(attach(&cloud, &g, json!({"port_id": port})).text("/NeutronError/type"), "PortInUse");
    assert_eq!(demo.delete(Network, &format!("/v2.0/ports/{port}")).status, 409);
    let remove = format!("/v2.0/routers/{}/remove_router_interface", g.router);
    let wrong = json!({"port_id": port, "subnet_id": "11111111-2222-4333-8444-555555555555"});
    assert_eq!(demo.put(Network, &remove, wrong).text("/NeutronError/type"), "SubnetMismatchForPort");
    assert_eq!(demo.put(Network, &remove, json!({"port_id": port})).status, 200);
    assert!(cloud.get("ports", &port).is_none());
}

#[tokio::test]
async fn ports_are_found_by_their_subnet_device_and_group() {
    let cloud = cloud().await;
    let g = ground(&cloud);
    let demo = cloud.user("demo").unwrap();
    attach(&cloud, &g, json!({"subnet_id": g.subnet}));
    demo.post(Network, "/v2.0/ports", json!({"port": {"name": "plain", "network_id": g.network}}));
    let group = demo.get(Network, "/v2.0/security-groups?name=default").text("/security_groups/0/id");
    for (query, count) in [
        (format!("network_id={}", g.network), 2),
        (format!("fixed_ips=subnet_id%3D{}", g.subnet), 2),
        (format!("fixed_ips=subnet_id={}&device_owner=network:router_interface", g.subnet), 1),
        ("fixed_ips=ip_address%3D10.20.0.1".to_owned(), 1),
        (format!("device_id={}&device_owner=a&device_owner=network:router_interface", g.router), 1),
        (format!("device_id={}&device_owner=network:router_gateway", g.router), 0),
        (format!("security_groups={group}"), 1),
        ("name=plain&admin_state_up=true&status=DOWN".to_owned(), 1),
    ] {
        let found = demo.get(Network, &format!("/v2.0/ports?{query}"));
        assert_eq!(found.body["ports"].as_array().map(Vec::len), Some(count), "{query}");
    }
}

#[tokio::test]
async fn routes_need_a_next_hop_on_the_router_and_go_one_by_one() {
    let cloud = cloud().await;
    let g = ground(&cloud);
    let demo = cloud.user("demo").unwrap();
    attach(&cloud, &g, json!({"subnet_id": g.subnet}));
    let act = |verb: &str, routes: Value| {
        let path = format!("/v2.0/routers/{}/{verb}_extraroutes", g.router);
        demo.put(Network, &path, json!({"router": {"routes": routes}}))
    };
    let route = |destination: &str, hop: &str| json!({"destination": destination, "nexthop": hop});
    let (a, b) = (route("10.96.0.0/24", "10.20.0.10"), route("10.96.1.0/24", "10.20.0.11"));
    assert_eq!(act("add", json!([a, b])).status, 200);
    for hop in ["10.30.0.1", "10.20.0.1"] {
        let refused = act("add", json!([route("10.96.2.0/24", hop)]));
        assert_eq!((refused.status, refused.text("/NeutronError/type").as_str()), (400, "InvalidRoutes"), "{hop}");
    }
    assert_eq!(act("add", json!([a])).body["router"]["routes"], json!([a, b]), "what is there stays once");
    assert_eq!(act("remove", json!([a, route("10.97.0.0/24", "10.20.0.1")])).body["router"]["routes"], json!([b]));
}

#[tokio::test]
async fn addresses_that_ports_make_themselves_hold_no_subnet() {
    let cloud = cloud().await;
    let g = ground(&cloud);
    let demo = cloud.user("demo").unwrap();
    let port = demo.post(Network, "/v2.0/ports", json!({"port": {"network_id": g.network}})).text("/port/id");
    let six = json!({"subnet": {
        "network_id": g.network, "ip_version": 6, "cidr": "fd00:1::/64", "ipv6_ra_mode": "slaac",
        "ipv6_address_mode": "slaac",
    }});
    let six = demo.post(Network, "/v2.0/subnets", six).text("/subnet/id");
    let addresses = || cloud.get("ports", &port).unwrap()["fixed_ips"].as_array().map(Vec::len);
    assert_eq!(addresses(), Some(2), "a port that was there made itself an address");
    assert_eq!(demo.delete(Network, &format!("/v2.0/subnets/{}", g.subnet)).status, 409);
    assert_eq!(demo.delete(Network, &format!("/v2.0/subnets/{six}")).status, 204);
    assert_eq!(addresses(), Some(1));
}

#[tokio::test]
async fn a_change_back_of_snat_needs_no_policy_and_shows_in_the_snapshot() {
    let cloud = cloud().await;
    let g = ground(&cloud);
    let (demo, netadmin) = (cloud.user("demo").unwrap(), cloud.user("netadmin").unwrap());
    let path = format!("/v2.0/routers/{}", g.router);
    let external = cloud.id("networks", "public").unwrap();
    let gateway = |snat: Option<bool>| {
        let mut info = json!({"network_id": external});
        if let Some(snat) = snat {
            info["enable_snat"] = json!(snat);
        }
        json!({"router": {"external_gateway_info": info}})
    };
    let address = demo.get(Network, &path).body["router"]["external_gateway_info"]["external_fixed_ips"].clone();
    assert_eq!(demo.put(Network, &path, gateway(Some(false))).status, 403);
    let off = netadmin.put(Network, &path, gateway(Some(false)));
    assert_eq!(off.body["router"]["external_gateway_info"]["enable_snat"], json!(false));
    assert_eq!(cloud.get("routers", &g.router).unwrap()["enable_snat"], json!(false));
    let back = demo.put(Network, &path, gateway(None));
    assert_eq!(back.body["router"]["external_gateway_info"]["enable_snat"], json!(true));
    assert_eq!(back.body["router"]["external_gateway_info"]["external_fixed_ips"], address);
}
