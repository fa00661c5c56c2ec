use fabric_openstack::{Query, api::Network};
use fabric_openstack_types::ErrorClass;

use super::{failure, made};
use crate::Stage;

/// Another project's objects do not exist for us: neither listed, nor read, nor hit by a deletion.
pub async fn another_projects_objects_do_not_exist(stage: &Stage) {
    let network = stage.network("net").await;
    let subnet = stage.subnet(&network.id, "sub", "10.91.0.0/24").await;
    let stranger = &stage.other;
    assert!(stranger.networks(&Query::id(network.id.as_str())).await.unwrap().is_empty());
    let by_project = Query::project(&stage.facts.project_id).and("name", &network.name);
    assert!(stranger.networks(&by_project).await.unwrap().is_empty());
    let (class, status, _) = failure(stranger.subnet(&subnet.id).await);
    assert_eq!((class, status), (ErrorClass::NotFound, Some(404)));
    stranger.delete_network(&made(network.id.clone())).await.unwrap();
    let still = stage.member.networks(&Query::id(network.id.as_str())).await.unwrap();
    assert_eq!(still.len(), 1);
    let external = stranger.networks(&Query::external()).await.unwrap();
    assert!(external.iter().any(|one| one.id == stage.facts.external_network_id));
}

/// A reader reads and is forbidden to write, by type.
pub async fn a_reader_may_not_write(stage: &Stage) {
    let network = stage.network("net").await;
    let read = stage.reader.networks(&Query::id(network.id.as_str())).await.unwrap();
    assert_eq!(read, std::slice::from_ref(&network));
    let create = stage.reader.create_network(&stage.new_network("x")).await;
    let (class, status, kind) = failure(create);
    assert_eq!((class, status, kind.as_str()), (ErrorClass::Forbidden, Some(403), "PolicyNotAuthorized"));
    let (class, _, _) = failure(stage.reader.delete_network(&made(network.id)).await);
    assert_eq!(class, ErrorClass::Forbidden);
}
