use std::time::Duration;

use fabric_openstack_types::{ErrorClass, Service};
use futures::future::join_all;
use serde_json::json;

use super::{
    client,
    server::{Act, Seen, Server},
};
use crate::{
    Query, Stats,
    api::{Identity, Network},
};

fn networks(_: &Seen) -> Act {
    Act::Json(200, json!({"networks": []}))
}

fn refused() -> Act {
    let error = json!({"error": {"code": 401, "title": "Unauthorized", "message": "no"}});
    Act::Json(401, error)
}

#[tokio::test]
async fn many_calls_at_once_need_one_login_and_pass_a_gate_of_eight() {
    let server = Server::start(networks).await;
    let (client, _) = client(&server.url).await;
    let query = Query::all();
    let calls = (0..24).map(|_| client.networks(&query));
    for result in join_all(calls).await {
        result.unwrap();
    }
    assert_eq!((server.logins(), server.lines().len()), (1, 24));
    assert!(server.busiest() <= 8, "{}", server.busiest());
    assert_eq!(client.stats(), Stats { calls: 24, tokens: 1 });
}

#[tokio::test]
async fn a_refused_token_is_renewed_once_however_many_calls_it_fails() {
    let server = Server::start(|seen| match seen.token() {
        "token-1" => refused(),
        _ => networks(seen),
    })
    .await;
    let (client, _) = client(&server.url).await;
    let query = Query::all();
    for result in join_all((0..10).map(|_| client.networks(&query))).await {
        result.unwrap();
    }
    assert_eq!(server.logins(), 2);
}

#[tokio::test]
async fn a_token_refused_twice_is_final() {
    let server = Server::start(|_| refused()).await;
    let (client, clock) = client(&server.url).await;
    let error = client.networks(&Query::all()).await.unwrap_err();
    assert_eq!((error.class, error.service), (ErrorClass::Unauthenticated, Service::Network));
    assert_eq!((server.logins(), server.lines().len()), (2, 2));
    assert!(clock.waits().is_empty());
}

#[tokio::test]
async fn a_refused_login_is_asked_once_and_shared_by_all_who_waited() {
    let server = Server::bare(|_| refused()).await;
    let (client, _) = client(&server.url).await;
    let query = Query::all();
    for result in join_all((0..10).map(|_| client.networks(&query))).await {
        assert_eq!(result.unwrap_err().class, ErrorClass::Unauthenticated);
    }
    assert_eq!(server.logins(), 1);
    // Whoever comes later tries again: the account may have been put right.
    client.networks(&query).await.unwrap_err();
    assert_eq!(server.logins(), 2);
}

#[tokio::test]
async fn a_token_is_renewed_a_minute_before_its_end_and_not_earlier() {
    let server = Server::start(networks).await;
    let (client, clock) = client(&server.url).await;
    client.project_id().await.unwrap();
    clock.jump(Duration::from_secs(3539));
    client.project_id().await.unwrap();
    assert_eq!(server.logins(), 1);
    clock.jump(Duration::from_secs(2));
    client.project_id().await.unwrap();
    assert_eq!(server.logins(), 2);
}

#[tokio::test]
async fn a_keystone_that_fails_is_asked_again() {
    let failures = std::sync::atomic::AtomicUsize::new(0);
    let server = Server::bare(move |_| {
        let number = failures.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        match number {
            0 => Act::Drop,
            1 => Act::With(500, "content-type: text/plain", "Internal Server Error".to_owned()),
            _ => super::server::login("http://127.0.0.1:1", number),
        }
    })
    .await;
    let (client, clock) = client(&server.url).await;
    assert_eq!(client.project_id().await.unwrap().as_str(), "p1");
    assert_eq!(clock.waits().len(), 2);
}
