use fabric_openstack::{Query, RetryPolicy, Taggable, api::Network};
use fabric_openstack_types::{ErrorClass, ids::NetworkId, network::NetworkUpdate};

use super::{ABSENT, failure, made};
use crate::Stage;

/// A network is created with our marker, changed, and deleted with its subnets; a second time finds the work done.
pub async fn a_network_lives_and_goes(stage: &Stage) {
    let new = stage.new_network("net");
    let network = stage.member.create_network(&new).await.unwrap();
    assert_eq!((&network.name, &network.description), (&new.name, &new.description));
    assert_eq!(network.project_id, stage.facts.project_id);
    assert_eq!((network.external, network.shared, network.admin_state_up), (false, false, true));
    let id = made(network.id.clone());
    let change =
        NetworkUpdate { name: Some(stage.name("renamed")), admin_state_up: Some(false), ..NetworkUpdate::default() };
    let changed = stage.member.update_network(&id, &change).await.unwrap();
    assert_eq!((changed.name, changed.admin_state_up), (stage.name("renamed"), false));
    assert_eq!(changed.description, new.description);
    stage.subnet(&network.id, "sub", "10.91.0.0/24").await;
    stage.member.delete_network(&id).await.unwrap();
    stage.member.delete_network(&id).await.unwrap();
    assert!(stage.member.networks(&Query::id(network.id.as_str())).await.unwrap().is_empty());
    assert!(stage.member.subnets(&Query::network(&network.id)).await.unwrap().is_empty());
    let absent = made(NetworkId::from(ABSENT));
    stage.member.delete_network(&absent).await.unwrap();
    let (class, status, kind) = failure(stage.member.update_network(&absent, &change).await);
    assert_eq!((class, status, kind.as_str()), (ErrorClass::NotFound, Some(404), "NetworkNotFound"));
}

/// Tags are added to those that are there, also twice; one that is too long is refused.
pub async fn tags_are_added_and_nothing_is_lost(stage: &Stage) {
    let network = stage.network("net").await;
    let tagged = made(Taggable::Network(network.id.clone()));
    let ours = stage.marker().tags();
    stage.member.add_tags(&tagged, &["team=blue".to_owned()]).await.unwrap();
    stage.member.add_tags(&tagged, &ours).await.unwrap();
    stage.member.add_tags(&tagged, &ours).await.unwrap();
    let read = stage.member.networks(&Query::id(network.id.as_str())).await.unwrap();
    let mut tags = read[0].tags.clone();
    tags.sort();
    assert_eq!(tags, [ours[0].as_str(), ours[1].as_str(), "team=blue"]);
    let long = stage.member.add_tags(&tagged, &["x".repeat(256)]).await;
    let (class, status, _) = failure(long);
    assert_eq!((class, status), (ErrorClass::Invalid, Some(400)));
    // Of an object that does not exist Neutron 29 says 500; we only hold that it is no success.
    let once = RetryPolicy { attempts: 1, ..RetryPolicy::default() };
    let absent = made(Taggable::Network(NetworkId::from(ABSENT)));
    let (class, _, _) = failure(stage.member.with_retry(once).add_tags(&absent, &ours).await);
    assert!(matches!(class, ErrorClass::Server | ErrorClass::NotFound), "{class}");
}

/// What is in use says so by type; it is not tried again.
pub async fn a_network_in_use_stays(stage: &Stage) {
    let network = stage.network("net").await;
    let subnet = stage.subnet(&network.id, "sub", "10.91.0.0/24").await;
    let port = serde_json::json!({"port": {"name": stage.name("port"), "network_id": network.id}});
    let path = "/v2.0/ports";
    crate::raw::call(&stage.member, "network", reqwest::Method::POST, path, Some(port)).await;
    let before = stage.member.stats().calls;
    let (class, _, kind) = failure(stage.member.delete_network(&made(network.id)).await);
    assert_eq!((class, kind.as_str()), (ErrorClass::InUse, "NetworkInUse"));
    let (class, _, kind) = failure(stage.member.delete_subnet(&made(subnet.id)).await);
    assert_eq!((class, kind.as_str()), (ErrorClass::InUse, "SubnetInUse"));
    assert_eq!(stage.member.stats().calls - before, 2);
}
