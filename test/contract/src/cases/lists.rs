use fabric_openstack::{Client, Options, Query, api::Network};
use fabric_openstack_types::{
    ErrorClass,
    network::{ExternalGateway, NewRouter, NewSecurityGroup},
};

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

/// What was created is found by project, name and description, which is how a lost answer is made good.
pub async fn creations_are_found_by_name_and_marker(stage: &Stage) {
    let client = &stage.member;
    let network = stage.network("it").await;
    let subnet = stage.subnet(&network.id, "it", "10.91.0.0/24").await;
    let description = stage.marker().description();
    let group = NewSecurityGroup { name: stage.name("it"), description: description.clone() };
    let group = client.create_security_group(&group).await.unwrap();
    let router = NewRouter {
        name: stage.name("it"),
        description: description.clone(),
        admin_state_up: true,
        external_gateway_info: Some(ExternalGateway {
            network_id: stage.facts.external_network_id.clone(),
            enable_snat: None,
            external_fixed_ips: Vec::new(),
        }),
    };
    let router = client.create_router(&router).await.unwrap();
    let by = |description: &str| {
        Query::project(&stage.facts.project_id).and("name", stage.name("it")).and("description", description)
    };
    let (ours, others) = (by(&description), by("osf:another/uid"));
    assert_eq!(client.networks(&ours).await.unwrap()[0].id, network.id);
    assert_eq!(client.subnets(&ours).await.unwrap()[0].id, subnet.id);
    assert_eq!(client.routers(&ours).await.unwrap()[0].id, router.id);
    assert_eq!(client.security_groups(&ours).await.unwrap()[0].id, group.id);
    assert!(client.networks(&others).await.unwrap().is_empty());
    assert!(client.subnets(&others).await.unwrap().is_empty());
    assert!(client.routers(&others).await.unwrap().is_empty());
    assert!(client.security_groups(&others).await.unwrap().is_empty());
}
