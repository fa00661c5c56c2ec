//! What single services and the things before them do.

use fabric_openstack_types::{
    ErrorClass,
    ids::{NetworkId, RouterId, SubnetId},
};
use prometheus_client::registry::Registry;
use serde_json::json;

use super::{
    client, credentials, owned,
    server::{Act, Server},
};
use crate::{
    Client, Metrics, Options, Query, RouterInterface, Taggable,
    api::{Compute, Identity, Network, SharedFileSystem},
};

#[tokio::test]
async fn a_redirection_is_an_error_and_the_token_stays_home() {
    let elsewhere = Server::bare(|_| Act::Json(200, json!({"networks": []}))).await;
    let location: &'static str = format!("location: {}/v2.0/networks", elsewhere.url).leak();
    let server = Server::start(move |_| Act::With(302, location, String::new())).await;
    let (client, _) = client(&server.url).await;
    let error = client.networks(&Query::all()).await.unwrap_err();
    assert_eq!((error.class, error.status), (ErrorClass::Malformed, Some(302)));
    assert!(error.message.contains("redirect"), "{error}");
    assert!(elsewhere.log().is_empty());
}

#[tokio::test]
async fn of_a_page_link_only_the_query_is_used() {
    let elsewhere = Server::bare(|_| Act::Json(200, json!({"networks": []}))).await;
    let href = format!("{}/inner/networks?marker=n1&limit=1", elsewhere.url);
    let server = Server::start(move |seen| {
        let links = json!([{"rel": "next", "href": href}, {"rel": "previous", "href": "x"}]);
        if seen.path.contains("marker=n1") {
            // A last page that names itself again.
            let page = json!({"networks": [{"id": "n2"}], "networks_links": links});
            return Act::Json(200, page);
        }
        Act::Json(200, json!({"networks": [{"id": "n1"}], "networks_links": links}))
    })
    .await;
    let (client, _) = client(&server.url).await;
    let found = client.networks(&Query::all()).await.unwrap();
    let ids: Vec<_> = found.iter().map(|network| network.id.as_str()).collect();
    assert_eq!(ids, ["n1", "n2"]);
    assert_eq!(server.lines(), ["GET /v2.0/networks", "GET /v2.0/networks"]);
    assert!(elsewhere.log().is_empty());
}

#[tokio::test]
async fn a_404_that_is_not_the_services_own_is_no_success_of_a_deletion() {
    for (body, gone) in [
        (r#"{"NeutronError": {"type": "NetworkNotFound", "message": "m", "detail": ""}}"#, true),
        (r#"{"NeutronError": {"type": "HTTPNotFound", "message": "m", "detail": ""}}"#, false),
        (r#"{"message": "m", "code": "404 Not Found", "title": "Not Found"}"#, false),
        ("<html><h1>404 Not Found</h1></html>", false),
    ] {
        let server = Server::start(move |_| Act::With(404, "x-a: b", body.to_owned())).await;
        let (client, _) = client(&server.url).await;
        let result = client.delete_network(&owned(NetworkId::from("n1"))).await;
        assert_eq!(result.is_ok(), gone, "{body}");
    }
}

#[tokio::test]
async fn an_interface_that_is_there_is_found_by_its_port() {
    let port = json!({"id": "p1", "network_id": "n", "device_owner": "network:router_interface_distributed",
        "fixed_ips": [{"subnet_id": "s", "ip_address": "10.0.0.1"}]});
    let server = Server::start(move |seen| match seen.method.as_str() {
        "PUT" => Act::Json(400, json!({"NeutronError": {"type": "BadRequest", "message": "m", "detail": ""}})),
        _ => Act::Json(200, json!({"ports": [port]})),
    })
    .await;
    let (client, _) = client(&server.url).await;
    let at = |subnet: &str| owned(RouterInterface { router: RouterId::from("r"), subnet: SubnetId::from(subnet) });
    assert_eq!(client.add_router_interface(&at("s")).await.unwrap().as_str(), "p1");
    let error = client.add_router_interface(&at("another")).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Invalid);
}

#[tokio::test]
async fn nova_403_is_a_quota_only_when_the_limit_is_reached() {
    for (limit, class) in [(2, ErrorClass::Quota), (3, ErrorClass::Forbidden), (-1, ErrorClass::Forbidden)] {
        let server = Server::start(move |seen| match seen.line().as_str() {
            "POST /v2.1/os-keypairs" => Act::Json(403, json!({"forbidden": {"code": 403, "message": "m"}})),
            "GET /v2.1/limits" => {
                let limits = json!({"limits": {"rate": [], "absolute": {"maxTotalKeypairs": limit}}});
                Act::Json(200, limits)
            }
            _ => Act::Json(200, json!({"keypairs": [{"keypair": {}}, {"keypair": {}}]})),
        })
        .await;
        let (client, _) = client(&server.url).await;
        let error = client.create_key_pair("k", "ssh-ed25519 AAAA").await.unwrap_err();
        assert_eq!(error.class, class, "{limit}");
    }
}

#[tokio::test]
async fn an_older_manila_is_spoken_to_in_its_newest_version() {
    let server = Server::start(|seen| match seen.line().as_str() {
        "GET /v2/" => Act::Json(200, json!({"versions": [{"id": "v2.0", "version": "2.40"}]})),
        _ if seen.head.contains("x-openstack-manila-api-version: 2.40") => {
            let old = json!({"id": "s", "name": null, "neutron_net_id": "n", "neutron_subnet_id": "t"});
            Act::Json(200, json!({"share_networks": [old]}))
        }
        _ => Act::Json(406, json!({"computeFault": {"code": 406, "message": "m"}})),
    })
    .await;
    let (client, _) = client(&server.url).await;
    let found = client.share_networks().await.unwrap();
    assert!(found[0].is_on(&"n".into(), &"t".into()));
    client.share_networks().await.unwrap();
    // Asked once, remembered.
    let detail = "GET /v2/share-networks/detail";
    assert_eq!(server.lines(), [detail, "GET /v2/", detail, detail]);
}

#[tokio::test]
async fn tags_go_one_by_one_where_neutron_knows_no_other_way() {
    let server = Server::start(|seen| match seen.method.as_str() {
        "POST" => Act::With(405, "x-a: b", String::new()),
        _ => Act::With(201, "x-a: b", String::new()),
    })
    .await;
    let (client, _) = client(&server.url).await;
    let tagged = owned(Taggable::Network(NetworkId::from("n")));
    let tags = ["osf:shoot=a".to_owned(), "osf:uid=b/c".to_owned()];
    client.add_tags(&tagged, &tags).await.unwrap();
    client.add_tags(&tagged, &tags).await.unwrap();
    let one = ["PUT /v2.0/networks/n/tags/osf:shoot=a", "PUT /v2.0/networks/n/tags/osf:uid=b%2Fc"];
    let all = ["POST /v2.0/networks/n/tags", one[0], one[1], one[0], one[1]];
    assert_eq!(server.lines(), all);
}

#[tokio::test]
async fn servers_are_filtered_here_too() {
    let server = Server::start(|_| {
        Act::Json(200, json!({"servers": [{"id": "1", "name": "a-1"}, {"id": "2", "name": "ab-1"}]}))
    })
    .await;
    let (client, _) = client(&server.url).await;
    let names = client.servers("a-").await.unwrap();
    assert_eq!(names.len(), 1);
    assert!(server.log().pop().unwrap().path.ends_with("/servers?name=%5Ea-"));
    client.servers("a.b").await.unwrap();
    assert!(server.log().pop().unwrap().path.ends_with("/servers"));
}

#[tokio::test]
async fn an_override_wins_over_the_catalog() {
    let elsewhere = Server::bare(|_| Act::Json(200, json!({"networks": []}))).await;
    let server = Server::start(|seen| panic!("{seen:?}")).await;
    let mut credentials = credentials(&server.url);
    credentials.endpoint_overrides.insert("network".to_owned(), elsewhere.url.clone());
    let client = Client::connect(credentials, Options::default()).await.unwrap();
    client.networks(&Query::all()).await.unwrap();
    assert_eq!(elsewhere.lines(), ["GET /v2.0/networks"]);
}

#[tokio::test]
async fn every_request_is_measured_by_service_method_and_outcome() {
    let server = Server::start(|seen| match seen.path.as_str() {
        "/v2.0/networks" => Act::Json(200, json!({"networks": []})),
        _ => Act::Json(404, json!({"NeutronError": {"type": "SubnetNotFound", "message": "m"}})),
    })
    .await;
    let mut registry = Registry::default();
    let options = Options { metrics: Some(Metrics::register(&mut registry)), ..Options::default() };
    let client = Client::connect(credentials(&server.url), options).await.unwrap();
    client.project_id().await.unwrap();
    client.networks(&Query::all()).await.unwrap();
    client.subnet(&SubnetId::from("s")).await.unwrap_err();
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
    for (service, method, outcome) in
        [("identity", "POST", "ok"), ("network", "GET", "ok"), ("network", "GET", "not-found")]
    {
        let labels = format!("service=\"{service}\",method=\"{method}\",outcome=\"{outcome}\"");
        let line = format!("openstack_request_duration_seconds_count{{{labels}}} 1");
        assert!(text.contains(&line), "{line}\n{text}");
    }
}

#[tokio::test]
async fn null_for_a_text_or_a_list_is_understood() {
    let network = json!({"id": "n", "name": null, "description": null, "tags": null, "status": null, "subnets": null});
    let server = Server::start(move |_| Act::Json(200, json!({"networks": [network]}))).await;
    let (client, _) = client(&server.url).await;
    let found = client.networks(&Query::all()).await.unwrap();
    assert_eq!((found[0].name.as_str(), found[0].tags.len()), ("", 0));
}
