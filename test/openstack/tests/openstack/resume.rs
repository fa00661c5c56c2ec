//! Runs that are cut, and states that are lost.

use std::time::Duration;

use fabric_flow::Options;
use fabric_infrastructure::State;
use fabric_test_openstack::{Snapshot, StopAt, World, unsettled};
use serde_json::json;

/// What a whole pattern 1 adds to a project, a kind each. The router's gateway port is not the project's.
const WHOLE: [(&str, usize); 5] =
    [("networks", 1), ("subnets", 1), ("routers", 1), ("ports", 1), ("key pair of the shoot's user", 1)];

fn assert_one_of_each(snapshot: &Snapshot, groups: usize) {
    for (kind, count) in WHOLE {
        assert_eq!(snapshot.count(kind), count, "{kind}: {:#?}", snapshot.0.keys());
    }
    assert_eq!(snapshot.count("security_groups"), groups + 1);
}

/// A service finishes a request whose client is gone: waits until nothing moves any longer.
async fn quiet(world: &World) {
    let mut last = world.snapshot().await;
    let pause = Duration::from_millis(500);
    for _ in 0..20 {
        tokio::time::sleep(pause).await;
        let now = world.snapshot().await;
        if now == last {
            return;
        }
        last = now;
    }
    panic!("the project does not come to rest");
}

pub(crate) async fn a_process_killed_at_every_save_converges_with_nothing_doubled(world: World) {
    let before = world.snapshot().await;
    let groups = before.count("security_groups");
    let mut shoot = world.shoot("cut", json!({"workers": "10.250.0.0/19"}));
    let mut cuts = 0;
    loop {
        let store = StopAt::save(1);
        let ended = tokio::select! {
            result = shoot.apply_against(&store, Options::default()) => Some(result),
            () = store.reached() => None,
        };
        match ended {
            Some(result) => {
                result.unwrap();
                break;
            }
            None => cuts += 1,
        }
        // Every third time the state is lost as well.
        shoot.state = if cuts % 3 == 0 { State::default() } else { store.saves.last().unwrap() };
        assert!(cuts < 24, "does not converge");
        quiet(&world).await;
    }
    assert!(cuts >= 3, "cut {cuts} times only");
    shoot.applied().await;
    assert_one_of_each(&world.snapshot().await, groups);
    shoot.assert_settled("after all").await;

    // The deletion likewise.
    let mut cuts = 0;
    loop {
        let store = StopAt::save(1);
        let ended = tokio::select! {
            result = shoot.delete_against(&store) => Some(result),
            () = store.reached() => None,
        };
        match ended {
            Some(result) => break assert!(result.is_ok(), "{result:?}"),
            None => cuts += 1,
        }
        shoot.state = if cuts % 3 == 0 { State::default() } else { store.saves.last().unwrap() };
        assert!(cuts < 24, "the deletion does not converge");
        quiet(&world).await;
    }
    assert!(cuts >= 3, "the deletion was cut {cuts} times only");
    before.assert_same(&world.snapshot().await, "after the deletion");
}

pub(crate) async fn an_interrupted_run_ends_its_steps_saves_and_is_continued(world: World) {
    let mut shoot = world.shoot("stop", json!({"workers": "10.250.0.0/19"}));
    let before = world.snapshot().await;
    let cancel = tokio_util::sync::CancellationToken::new();
    let stop = cancel.clone();
    let events = fabric_flow::Events::to(move |event| {
        if event.done == 1 {
            stop.cancel();
        }
    });
    let store = fabric_test_openstack::Saves::default();
    let stopped = shoot.apply_against(&store, Options { events, cancel }).await.unwrap_err();
    assert!(stopped.to_string().contains("stopped before its end"), "{stopped}");
    shoot.state = store.last().unwrap();
    let middle = world.snapshot().await;
    shoot.applied().await;
    let after = world.snapshot().await;
    middle.assert_there(&after, "what was made is continued");
    assert_one_of_each(&after, before.count("security_groups"));
    shoot.deleted().await;
    before.assert_same(&world.snapshot().await, "after the deletion");
}

pub(crate) async fn a_lost_state_is_found_again_without_making_anything(world: World) {
    let mut shoot = world.shoot(
        "lost",
        json!({
            "workers": "10.250.0.0/19", "shareNetwork": {"enabled": true},
            "ipv6": {"nodeCIDR": "fd00:10::/64", "podCIDR": "fd00:20::/56", "serviceCIDR": "fd00:30::/108"},
        }),
    );
    shoot.applied().await;
    let known = shoot.state.clone();
    let before = world.snapshot().await;
    shoot.state = State::default();
    let run = shoot.applied().await;
    assert_eq!(run.calls.changing, 0, "nothing is made or changed");
    assert_eq!(shoot.state, known, "the state is the same again");
    before.assert_same(&world.snapshot().await, "after the state was lost");
    // Deletion also finds all without it.
    shoot.state = State::default();
    shoot.deleted().await;
    let left = world.snapshot().await;
    for kind in ["networks", "subnets", "routers", "ports", "share network", "key pair of the shoot's user"] {
        assert_eq!(left.count(kind), 0, "{kind}: {:#?}", left.0);
    }
}

pub(crate) async fn what_an_earlier_life_of_the_shoot_left_is_told_and_taken_over(world: World) {
    let before = world.snapshot().await;
    let mut shoot = world.shoot("again", json!({"workers": "10.250.0.0/19"}));
    shoot.applied().await;
    let first = world.snapshot().await;
    // The same shoot, deleted by force and made anew: another uid, no state.
    shoot.input.shoot.uid = "00000000-0000-4000-8000-00000000000a".to_owned();
    shoot.state = State::default();
    let lines = unsettled(&shoot.plan().await.unwrap());
    let adopted = ["network", "subnet", "router", "security group", "key pair"];
    assert_eq!(lines, adopted.map(|kind| format!("adopt {kind} {} []", shoot.id())));
    shoot.applied().await;
    first.assert_there(&world.snapshot().await, "taken over");
    assert_one_of_each(&world.snapshot().await, before.count("security_groups"));
    shoot.assert_settled("taken over").await;
    shoot.state = State::default();
    shoot.deleted().await;
    before.assert_same(&world.snapshot().await, "after the deletion");
}
