//! Manila share networks: made, adopted, given.

use fabric_test_openstack::{Service, World};
use serde_json::{Value, json};

pub(crate) async fn a_share_network_is_made_adopted_or_given_and_near_misses_are_left_alone(world: World) {
    let given = world.given().await;
    let (group, other) = tokio::join!(world.group("nodes"), world.network("other"));
    let beside = world.subnet(&given.network, "beside", "10.251.0.0/24");
    let elsewhere = world.subnet(&other, "elsewhere", "10.250.0.0/19");
    let (beside, elsewhere) = tokio::join!(beside, elsewhere);
    let networks = |more: Value| {
        let mut networks = json!({
            "id": given.network, "subnetId": given.subnet, "router": {"id": given.router},
            "securityGroupId": group,
        });
        networks.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        networks
    };
    let enabled = || networks(json!({"shareNetwork": {"enabled": true}}));
    let mut makes = world.shoot("makes", enabled());
    let mut adopts = world.shoot("adopts", enabled());

    // Near misses of the first: another subnet, another network, another project.
    world.share_network(makes.id(), &given.network, &beside).await;
    world.share_network(makes.id(), &other, &elsewhere).await;
    let stranger = json!({"name": makes.id(), "neutron_net_id": given.network, "neutron_subnet_id": given.subnet});
    world.outside(Service::Share, "share-networks", "share_network", stranger).await;
    let kept = world.share_network("the platform team's", &given.network, &given.subnet).await;
    let before = world.snapshot().await;

    let made = makes.applied().await.result.provider_status.networks.share_network.unwrap();
    let after = world.snapshot().await;
    assert_eq!(after.count("share network"), before.count("share network") + 1, "a near miss is not adopted");
    let made = world.owner.get(Service::Share, &format!("share-networks/{}", made.id)).await;
    let marker = format!("osf:{}/{}", makes.id(), makes.input.shoot.uid);
    assert_eq!(made["share_network"]["description"], marker);
    makes.assert_settled("made").await;

    // The second one's stands there already, made by the user under the shoot's name.
    let hers = world.share_network(adopts.id(), &given.network, &given.subnet).await;
    let run = adopts.applied().await;
    assert_eq!(run.result.provider_status.networks.share_network.unwrap().id, hers);
    adopts.assert_settled("adopted").await;

    let mut uses = world.shoot("uses", networks(json!({"shareNetworkId": kept})));
    let run = uses.applied().await;
    let used = run.result.provider_status.networks.share_network.unwrap();
    assert_eq!((used.id, used.name.as_str()), (kept, "the platform team's"));
    uses.assert_settled("given").await;

    for shoot in [&mut makes, &mut adopts, &mut uses] {
        shoot.deleted().await;
    }
    before.assert_same(&world.snapshot().await, "made and adopted ones are gone, all others are not");
}
