use fabric_openstack::{Client, Options, api::SharedFileSystem};
use fabric_openstack_types::{ids::ShareNetworkId, share::NewShareNetwork};

use super::{ABSENT, made};
use crate::Stage;

/// A share network is created on a subnet, found there, and goes; another project does not see it.
pub async fn a_share_network_lives_and_goes(stage: &Stage) {
    let client = &stage.member;
    let network = stage.network("net").await;
    let subnet = stage.subnet(&network.id, "sub", "10.91.0.0/24").await;
    let new = |what: &str| NewShareNetwork {
        name: stage.name(what),
        description: stage.marker().description(),
        neutron_net_id: network.id.clone(),
        neutron_subnet_id: subnet.id.clone(),
    };
    let made_one = client.create_share_network(&new("shares")).await.unwrap();
    assert_eq!((&made_one.name, &made_one.description), (&new("shares").name, &new("shares").description));
    assert!(made_one.is_on(&network.id, &subnet.id), "{made_one:?}");
    assert_eq!(made_one.project_id, stage.facts.project_id);
    client.create_share_network(&new("second")).await.unwrap();
    let ours = |all: Vec<fabric_openstack_types::share::ShareNetwork>| {
        let ours = all.into_iter().filter(|one| one.name.starts_with(&stage.prefix));
        let mut ours: Vec<_> = ours.collect();
        ours.sort_by(|a, b| a.name.cmp(&b.name));
        ours
    };
    let listed = ours(client.share_networks().await.unwrap());
    assert_eq!(listed.len(), 2);
    assert_eq!(listed[1], made_one.clone(), "{listed:?}");
    assert!(listed[1].is_on(&network.id, &subnet.id));
    let paged = Options { page_size: Some(1), ..Options::default() };
    let paged = Client::connect(stage.credentials.clone(), paged).await.unwrap();
    assert_eq!(ours(paged.share_networks().await.unwrap()), listed);
    assert!(ours(stage.other.share_networks().await.unwrap()).is_empty());
    client.delete_share_network(&made(made_one.id.clone())).await.unwrap();
    client.delete_share_network(&made(made_one.id)).await.unwrap();
    client.delete_share_network(&made(ShareNetworkId::from(ABSENT))).await.unwrap();
    assert_eq!(ours(client.share_networks().await.unwrap()).len(), 1);
}
