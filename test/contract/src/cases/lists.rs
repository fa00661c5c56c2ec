use fabric_openstack::{Client, Options, Query, api::Network};
use fabric_openstack_types::ErrorClass;

use super::{failure, made};
use crate::Stage;

/// Lists follow pages to the end, and find the same with pages of one as at once.
pub async fn lists_follow_every_page(stage: &Stage) {
    let mut ids = Vec::new();
    for what in ["a", "b", "c"] {
        ids.push(stage.network(what).await.id);
    }
    let paged = Options { page_size: Some(1), ..Options::default() };
    let paged = Client::connect(stage.credentials.clone(), paged).await.unwrap();
    let description = stage.marker().description();
    let query = Query::project(&stage.facts.project_id).and("description", description);
    let mut at_once: Vec<_> = stage.member.networks(&query).await.unwrap();
    let mut by_page: Vec<_> = paged.networks(&query).await.unwrap();
    at_once.sort_by(|a, b| a.id.cmp(&b.id));
    by_page.sort_by(|a, b| a.id.cmp(&b.id));
    ids.sort();
    assert_eq!(at_once.iter().map(|n| n.id.clone()).collect::<Vec<_>>(), ids);
    assert_eq!(at_once, by_page);
    assert!(paged.stats().calls >= 3, "{:?}", paged.stats());
}

/// Filters: a key twice means either, tags mean both, an unknown one is refused.
pub async fn filters_narrow_a_list(stage: &Stage) {
    let (a, b) = (stage.network("a").await, stage.network("b").await);
    stage.network("c").await;
    let names = |query: Query| async move {
        let found = stage.member.networks(&query).await.unwrap();
        let mut names: Vec<_> = found.into_iter().map(|network| network.name).collect();
        names.sort();
        names
    };
    let either = Query::all().and("name", &a.name).and("name", &b.name);
    assert_eq!(names(either).await, [a.name.clone(), b.name.clone()]);
    let either = Query::id(a.id.as_str()).and("id", b.id.as_str());
    assert_eq!(names(either).await, [a.name.clone(), b.name.clone()]);
    assert_eq!(names(Query::id(super::ABSENT)).await, Vec::<String>::new());
    let tagged = made(fabric_openstack::Taggable::Network(a.id.clone()));
    let tags = stage.marker().tags();
    stage.member.add_tags(&tagged, &tags).await.unwrap();
    let by_tag = Query::all().and("tags", tags.join(","));
    assert_eq!(names(by_tag).await, [a.name]);
    assert!(names(Query::external()).await.contains(&stage.facts.external_network));
    let unknown = stage.member.networks(&Query::all().and("colour", "red")).await;
    let (class, status, _) = failure(unknown);
    assert_eq!((class, status), (ErrorClass::Invalid, Some(400)));
}
