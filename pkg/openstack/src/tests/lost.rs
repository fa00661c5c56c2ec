//! Answers that do not come, or come broken.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use fabric_openstack_types::{
    ErrorClass,
    ids::{NetworkId, SecurityGroupId},
    network::{Direction, EtherType, IpVersion, NewNetwork, NewSecurityGroupRule, NewSubnet, RuleShape},
    share::NewShareNetwork,
};
use serde_json::{Value, json};

use super::{
    client, credentials, owned,
    server::{Act, Seen, Server},
};
use crate::{
    Client, Options, Query, RetryPolicy,
    api::{Compute, Network, SharedFileSystem},
};

fn new_network() -> NewNetwork {
    NewNetwork { name: "n".to_owned(), description: "osf:n/1".to_owned(), admin_state_up: true }
}

fn network() -> Value {
    json!({"id": "n1", "name": "n", "description": "osf:n/1", "project_id": "p1"})
}

/// Answers the n-th request of a line by `script(line, n)`, counting from one.
fn counted(script: impl Fn(&str, usize) -> Act + Send + Sync + 'static) -> impl Fn(&Seen) -> Act {
    let counts = std::sync::Mutex::new(std::collections::BTreeMap::<String, usize>::new());
    move |seen| {
        let line = seen.line();
        let number = {
            let mut counts = counts.lock().unwrap();
            let count = counts.entry(line.clone()).or_default();
            *count += 1;
            *count
        };
        script(&line, number)
    }
}

#[tokio::test]
async fn a_post_that_arrived_is_found_and_not_sent_again() {
    let lost: [fn() -> Act; 4] = [
        || Act::Drop,
        || Act::Json(503, json!({"message": "m", "title": "Service Unavailable"})),
        || Act::Cut(201, "{\"network\": {".to_owned()),
        || Act::With(201, "x-a: b", "{\"network\": {".to_owned()),
    ];
    for lost in lost {
        let server = Server::start(counted(move |line, _| match line {
            "POST /v2.0/networks" => lost(),
            _ => Act::Json(200, json!({"networks": [network()]})),
        }))
        .await;
        let (client, _) = client(&server.url).await;
        let made = client.create_network(&new_network()).await.unwrap();
        assert_eq!(made.id.as_str(), "n1");
        assert_eq!(server.lines(), ["POST /v2.0/networks", "GET /v2.0/networks"]);
        let look = server.log().pop().unwrap().path;
        for filter in ["project_id=p1", "name=n", "description=osf%3An%2F1"] {
            assert!(look.contains(filter), "{look}");
        }
    }
}

#[tokio::test]
async fn a_post_that_did_not_arrive_is_sent_again_after_a_look() {
    let server = Server::start(counted(|line, number| match (line, number) {
        ("POST /v2.0/networks", 1) => Act::Drop,
        ("POST /v2.0/networks", _) => Act::Json(201, json!({"network": network()})),
        _ => Act::Json(200, json!({"networks": []})),
    }))
    .await;
    let (client, clock) = client(&server.url).await;
    client.create_network(&new_network()).await.unwrap();
    let post = "POST /v2.0/networks";
    assert_eq!(server.lines(), [post, "GET /v2.0/networks", post]);
    assert_eq!(clock.waits().len(), 1);
}

#[tokio::test]
async fn a_post_is_not_sent_again_while_nobody_can_look() {
    let server = Server::start(counted(|line, _| match line {
        "POST /v2.0/networks" => Act::Drop,
        _ => Act::Json(403, json!({"NeutronError": {"type": "PolicyNotAuthorized", "message": "m"}})),
    }))
    .await;
    let (client, _) = client(&server.url).await;
    let error = client.create_network(&new_network()).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Connect);
    assert_eq!(server.lines(), ["POST /v2.0/networks", "GET /v2.0/networks"]);
}

#[tokio::test]
async fn a_refused_post_is_sent_again_without_a_look() {
    let server = Server::start(counted(|_, number| match number {
        1 => Act::With(429, "retry-after: 7", String::new()),
        _ => Act::Json(201, json!({"network": network()})),
    }))
    .await;
    let (client, clock) = client(&server.url).await;
    client.create_network(&new_network()).await.unwrap();
    assert_eq!(clock.waits(), [Duration::from_secs(7)]);
    assert_eq!(server.lines().len(), 2);
}

#[tokio::test]
async fn a_lost_subnet_is_told_from_its_sisters() {
    let subnet = |id: &str, cidr: &str, network: &str| {
        json!({"id": id, "name": "n", "description": "osf:n/1", "network_id": network,
               "ip_version": 4, "cidr": cidr})
    };
    let listed = json!({"subnets": [
        subnet("other-range", "10.1.0.0/24", "n1"),
        subnet("other-network", "10.0.0.0/24", "n2"),
        subnet("it", "10.0.0.0/24", "n1"),
    ]});
    let server = Server::start(counted(move |line, _| match line {
        "POST /v2.0/subnets" => Act::Drop,
        _ => Act::Json(200, listed.clone()),
    }))
    .await;
    let (client, _) = client(&server.url).await;
    let new = NewSubnet {
        name: "n".to_owned(),
        description: "osf:n/1".to_owned(),
        network_id: NetworkId::from("n1"),
        ip_version: IpVersion::V4,
        cidr: Some("10.0.0.7/24".parse().unwrap()),
        subnetpool_id: None,
        prefixlen: None,
        dns_nameservers: Vec::new(),
        ipv6_address_mode: None,
        ipv6_ra_mode: None,
    };
    assert_eq!(client.create_subnet(&new).await.unwrap().id.as_str(), "it");
}

#[tokio::test]
async fn lost_rules_key_pairs_and_share_networks_are_found() {
    let rule = json!({"id": "r1", "security_group_id": "g", "description": "d", "direction": "ingress",
        "ethertype": "IPv4", "protocol": null, "port_range_min": null, "port_range_max": null,
        "remote_ip_prefix": null, "remote_group_id": "g"});
    let shares = json!({"id": "s1", "name": "n", "description": "d",
        "share_network_subnets": [{"neutron_net_id": "n1", "neutron_subnet_id": "s1"}]});
    let server = Server::start(move |seen| match (seen.method.as_str(), seen.line().as_str()) {
        ("POST", _) => Act::Drop,
        (_, "GET /v2.0/security-group-rules") => Act::Json(200, json!({"security_group_rules": [rule]})),
        (_, "GET /v2.1/os-keypairs/k") => {
            Act::Json(200, json!({"keypair": {"name": "k", "public_key": "ssh-ed25519 AAAA me\n"}}))
        }
        (_, "GET /v2/share-networks/detail") => Act::Json(200, json!({"share_networks": [shares]})),
        (_, line) => panic!("{line}"),
    })
    .await;
    let (client, _) = client(&server.url).await;
    let group = SecurityGroupId::from("g");
    let new = NewSecurityGroupRule {
        security_group_id: group.clone(),
        description: "d".to_owned(),
        shape: RuleShape {
            direction: Direction::Ingress,
            ethertype: EtherType::IPv4,
            protocol: None,
            port_range_min: None,
            port_range_max: None,
            remote_ip_prefix: None,
            remote_group_id: Some(group.clone()),
            remote_address_group_id: None,
        },
    };
    let rules = client.create_security_group_rules(&owned(group), &[new]).await.unwrap();
    assert_eq!(rules[0].id.as_str(), "r1");
    assert_eq!(client.create_key_pair("k", "ssh-ed25519 AAAA").await.unwrap().name, "k");
    let new = NewShareNetwork {
        name: "n".to_owned(),
        description: "d".to_owned(),
        neutron_net_id: "n1".into(),
        neutron_subnet_id: "s1".into(),
    };
    assert_eq!(client.create_share_network(&new).await.unwrap().id.as_str(), "s1");
    let posts = server.lines().into_iter().filter(|line| line.starts_with("POST"));
    assert_eq!(posts.count(), 3);
}

#[tokio::test]
async fn reading_is_repeated_until_it_succeeds() {
    let broken: [fn() -> Act; 4] = [
        || Act::Drop,
        || Act::Cut(200, "{\"networks\":".to_owned()),
        || Act::Json(500, json!({"computeFault": {"code": 500, "message": "m"}})),
        || Act::With(503, "retry-after: 3", "busy".to_owned()),
    ];
    for broken in broken {
        let server = Server::start(counted(move |_, number| match number {
            1 | 2 => broken(),
            _ => Act::Json(200, json!({"networks": []})),
        }))
        .await;
        let (client, clock) = client(&server.url).await;
        client.networks(&Query::all()).await.unwrap();
        assert_eq!((server.lines().len(), clock.waits().len()), (3, 2));
    }
}

#[tokio::test]
async fn what_never_passes_ends_with_its_last_error() {
    for (act, class, status) in [
        ((|| Act::Drop) as fn() -> Act, ErrorClass::Connect, None),
        (|| Act::With(502, "x-a: b", "<html><h1>Bad Gateway</h1></html>".to_owned()), ErrorClass::Server, Some(502)),
    ] {
        let server = Server::start(move |_| act()).await;
        let (client, _) = client(&server.url).await;
        let error = client.networks(&Query::all()).await.unwrap_err();
        assert_eq!((error.class, error.status), (class, status), "{error}");
        assert_eq!(server.lines().len(), 5);
    }
    let server = Server::start(|_| Act::With(501, "x-a: b", String::new())).await;
    let (client, _) = client(&server.url).await;
    client.networks(&Query::all()).await.unwrap_err();
    assert_eq!(server.lines().len(), 1, "501 never passes");
}

#[tokio::test]
async fn an_answer_of_another_form_is_malformed_and_not_quoted() {
    for body in ["{\"networks\": [{\"id\": \"secret", "{\"other\": []}", "{\"networks\": 7}", "hello", ""] {
        let server = Server::start(move |_| Act::With(200, "x-openstack-request-id: req-7", body.to_owned())).await;
        let (client, _) = client(&server.url).await;
        let error = client.networks(&Query::all()).await.unwrap_err();
        assert_eq!((error.class, error.status), (ErrorClass::Malformed, Some(200)), "{body}");
        assert_eq!(error.request_id.as_deref(), Some("req-7"));
        assert!(!error.message.contains("secret"), "{error}");
        assert_eq!(server.lines().len(), 1, "{body}");
    }
}

#[tokio::test]
async fn no_answer_in_time_is_a_timeout() {
    let server = Server::start(|_| Act::Stall).await;
    let options = Options {
        request_timeout: Duration::from_millis(200),
        retry: RetryPolicy { attempts: 2, base: Duration::ZERO, ..RetryPolicy::default() },
        ..Options::default()
    };
    let client = Client::connect(credentials(&server.url), options).await.unwrap();
    let error = client.networks(&Query::all()).await.unwrap_err();
    assert_eq!((error.class, error.status), (ErrorClass::Timeout, None));
    assert_eq!(server.lines().len(), 2);
}

#[tokio::test]
async fn nobody_there_is_no_connection() {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (client, clock) = client(&format!("http://{gone}")).await;
    let error = client.networks(&Query::all()).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Connect);
    assert!(error.message.contains(&gone.to_string()) && error.message.contains("refused"), "{error}");
    assert_eq!(clock.waits().len(), 4);
}

#[tokio::test]
async fn a_deletion_waits_for_the_last_user_only_when_told_to() {
    let in_use = json!({"NeutronError": {"type": "NetworkInUse", "message": "m", "detail": ""}});
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = asked.clone();
    let server = Server::start(move |_| match counter.fetch_add(1, Ordering::SeqCst) {
        0..=2 => Act::Json(409, in_use.clone()),
        _ => Act::With(204, "x-a: b", String::new()),
    })
    .await;
    let (client, _) = client(&server.url).await;
    let network = owned(NetworkId::from("n1"));
    let error = client.delete_network(&network).await.unwrap_err();
    assert_eq!((error.class, asked.load(Ordering::SeqCst)), (ErrorClass::InUse, 1));
    let patient = RetryPolicy { in_use: Duration::from_secs(60), ..client.retry() };
    client.with_retry(patient).delete_network(&network).await.unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), 4);
}
