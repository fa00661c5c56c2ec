//! Everything of ours, changed behind our back.

use fabric_infrastructure::plan::Verb;
use fabric_test_openstack::{Service, World, unsettled};
use serde_json::{Value, json};

const OTHER_KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEaQ8Ue8pqGVU7zEjXWvwGQvJ3kQ4YJb0s3SzZJ0t1rG somebody";

pub(crate) async fn every_attribute_changed_behind_our_back_is_found_and_put_right(world: World) {
    let mut shoot = world.shoot("dr", json!({"workers": "10.250.0.0/19", "shareNetwork": {"enabled": true}}));
    shoot.profile(json!({"dnsServers": ["9.9.9.9", "1.1.1.1", "2620:fe::fe"]}));
    let status = serde_json::to_value(shoot.applied().await.result.provider_status).unwrap();
    let id = |pointer: &str| status.pointer(pointer).unwrap().as_str().unwrap().to_owned();
    let (network, router) = (id("/networks/id"), id("/networks/router/id"));
    let (subnet, group) = (id("/networks/subnets/0/id"), id("/securityGroups/0/id"));
    let share = id("/networks/shareNetwork/id");
    let before = world.snapshot().await;

    let me = world.gardener().await;
    let put = |path: String, body: Value| {
        let me = &me;
        async move { me.put(Service::Network, &path, body).await }
    };
    put(
        format!("networks/{network}"),
        json!({"network": {
            "name": "renamed", "admin_state_up": false, "port_security_enabled": false,
        }}),
    )
    .await;
    put(format!("networks/{network}/tags"), json!({"tags": []})).await;
    put(format!("routers/{router}/remove_router_interface"), json!({"subnet_id": subnet})).await;
    put(
        format!("subnets/{subnet}"),
        json!({"subnet": {
            "name": "renamed", "description": "nobody's", "dns_nameservers": ["8.8.8.8"], "gateway_ip": null,
            "enable_dhcp": false, "allocation_pools": [{"start": "10.250.0.9", "end": "10.250.0.20"}],
            "host_routes": [{"destination": "10.99.0.0/16", "nexthop": "10.250.0.7"}],
        }}),
    )
    .await;
    put(
        format!("routers/{router}"),
        json!({"router": {
            "name": "renamed", "description": "", "admin_state_up": false, "external_gateway_info": null,
        }}),
    )
    .await;
    let rules = world.look(&format!("security-groups/{group}")).await.unwrap()["security_group_rules"].take();
    let rule = |key: &str, value: Value| {
        let found = rules.as_array().unwrap().iter().find(|rule| rule[key] == value).unwrap();
        format!("security-group-rules/{}", found["id"].as_str().unwrap())
    };
    for path in [rule("protocol", json!("tcp")), rule("ethertype", json!("IPv6"))] {
        me.delete(Service::Network, &path).await;
    }
    put(
        format!("security-groups/{group}"),
        json!({"security_group": {
            "name": "renamed", "description": "nobody's", "stateful": false,
        }}),
    )
    .await;
    me.delete(Service::Compute, &format!("os-keypairs/{}", shoot.id())).await;
    let pair = json!({"keypair": {"name": shoot.id(), "public_key": OTHER_KEY}});
    me.post(Service::Compute, "os-keypairs", pair).await;
    me.put(Service::Share, &format!("share-networks/{share}"), json!({"share_network": {"name": "renamed"}})).await;

    let name = shoot.id();
    let expected = [
        format!("change network {name} [name,port_security_enabled,admin_state_up]"),
        format!(
            "change subnet {name} [name,description,dns_nameservers,gateway_ip,enable_dhcp,allocation_pools,host_routes]"
        ),
        format!("change router {name} [name,description,admin_state_up,external_gateway_info]"),
        format!("create router interface {name} []"),
        format!("change security group {name} [name,description,stateful]"),
        "create security group rule ipv6: allow all outgoing traffic []".to_owned(),
        "create security group rule ipv4: allow all incoming tcp traffic with port range 30000-32767 []".to_owned(),
        format!("change key pair {name} [public_key]"),
        format!("change share network {name} [name]"),
        format!("change network tags {name} [tags]"),
    ];
    assert_eq!(unsettled(&shoot.plan().await.unwrap()), expected);
    shoot.applied().await;
    assert_eq!(unsettled(&shoot.plan().await.unwrap()), [""; 0]);
    shoot.assert_settled("repaired").await;
    // New ones took the place of what was deleted; all that was only changed is as it was, but for the addresses
    // that the router got anew.
    before.assert_kept_but(&world.snapshot().await, &["ports", "routers", "security_groups"], "repaired");

    // The rest, which could not be told apart from the first half if it came at once: only tags prove a description,
    // only a description proves tags; and an interface must be there to be switched off.
    let port = format!("ports?device_id={router}&device_owner=network:router_interface");
    let port = me.list(Service::Network, &port, "ports").await[0]["id"].as_str().unwrap().to_owned();
    put(format!("networks/{network}"), json!({"network": {"description": "nobody's"}})).await;
    for path in [format!("subnets/{subnet}"), format!("routers/{router}"), format!("security-groups/{group}")] {
        put(format!("{path}/tags"), json!({"tags": ["somebody's"]})).await;
    }
    put(format!("ports/{port}"), json!({"port": {"admin_state_up": false}})).await;
    let path = format!("ports/{port}");
    world.until("the port is down", || async { world.look(&path).await.unwrap()["status"] == "DOWN" }).await;
    let name = shoot.id();
    let expected = [
        format!("change network {name} [description]"),
        format!("change router interface {name} [admin_state_up,status]"),
        format!("change router tags {name} [tags]"),
        format!("change subnet tags {name} [tags]"),
        format!("change security group tags {name} [tags]"),
    ];
    assert_eq!(unsettled(&shoot.plan().await.unwrap()), expected);
    shoot.applied().await;
    shoot.assert_settled("repaired again").await;
    assert_eq!(world.look(&path).await.unwrap()["status"], "ACTIVE");
    let tags = world.look(&format!("routers/{router}")).await.unwrap()["tags"].as_array().unwrap().len();
    assert_eq!(tags, 3, "tags of others stay");
    shoot.deleted().await;
}

pub(crate) async fn what_others_add_is_told_and_what_cannot_be_put_right_is_named(world: World) {
    let given = world.given().await;
    let beside = world.subnet(&given.network, "beside", "10.251.0.0/24").await;
    let mut shoot = world.shoot(
        "ot",
        json!({
            "id": given.network, "subnetId": given.subnet, "router": {"id": given.router},
            "shareNetwork": {"enabled": true},
        }),
    );
    let status = shoot.applied().await.result.provider_status;
    let group = &status.security_groups[0].id;
    let ssh = json!({"security_group_rule": {
        "security_group_id": group, "direction": "ingress", "ethertype": "IPv4", "protocol": "tcp",
        "port_range_min": 22, "port_range_max": 22, "remote_ip_prefix": "203.0.113.7/32",
    }});
    world.owner.post(Service::Network, "security-group-rules", ssh).await;
    world.routes(&given.router, &[("100.96.1.0/24", "10.250.0.10")]).await;
    let items = shoot.plan().await.unwrap();
    assert_eq!(unsettled(&items), [""; 0], "rules of others and routes are no drift");
    let told: Vec<&str> =
        items.iter().filter(|item| item.verb == Verb::Report).map(|item| item.name.as_str()).collect();
    assert_eq!(told, ["IPv4 ingress tcp port 22 203.0.113.7/32"]);
    let before = world.snapshot().await;
    shoot.assert_settled("with what others added").await;
    before.assert_same(&world.snapshot().await, "with what others added");

    // Somebody puts the share network, marked as ours, on another subnet.
    let share = status.networks.share_network.unwrap().id;
    world.owner.delete(Service::Share, &format!("share-networks/{share}")).await;
    let fields = json!({"share_network": {
        "name": shoot.id(), "neutron_net_id": given.network, "neutron_subnet_id": beside,
        "description": format!("osf:{}/{}", shoot.id(), shoot.input.shoot.uid),
    }});
    world.owner.post(Service::Share, "share-networks", fields).await;
    let lines = unsettled(&shoot.plan().await.unwrap());
    assert_eq!(lines, [format!("unrepairable share network {} [network/subnet]", shoot.id())]);
    shoot.deleted().await;
    assert_eq!(world.snapshot().await.count("share network"), 0);
}
