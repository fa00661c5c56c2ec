//! What upstream's extension made before us: unmarked, with its state or with its state lost.

use fabric_infrastructure::State;
use fabric_test_openstack::World;
use serde_json::json;

pub(crate) async fn an_existing_cluster_does_not_notice_the_change_with_its_state_and_without(world: World) {
    let empty = world.snapshot().await;
    let mut shoot = world.shoot("up", json!({"workers": "10.250.0.0/19"}));
    let name = shoot.id().to_owned();
    let data = world.cluster_of_upstream(&name, fabric_test_openstack::SSH_KEY, &[]).await;
    let before = world.snapshot().await;

    // Its state lost: found by shape, told as adopted, touched by nothing.
    let lines = fabric_test_openstack::unsettled(&shoot.plan().await.unwrap());
    assert!(lines.iter().all(|line| line.starts_with("adopt ")), "{lines:#?}");
    assert_eq!(lines.len(), 5, "{lines:#?}");
    let run = shoot.applied().await;
    assert_eq!(run.calls.changing, 0, "with its state lost");
    let found = shoot.state.clone();

    // With its state.
    shoot.state = State::from_data(serde_json::from_value(data).unwrap());
    let run = shoot.applied().await;
    assert_eq!(run.calls.changing, 0, "with its state");
    assert_eq!(shoot.state, found, "both ways lead to one state");
    shoot.assert_settled("afterwards").await;
    before.assert_same(&world.snapshot().await, "takeover");

    shoot.state = State::default();
    shoot.deleted().await;
    empty.assert_same(&world.snapshot().await, "the deletion takes all of it, also without the state");
}
