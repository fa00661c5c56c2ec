//! What is given stays, whatever it looks like.

use fabric_openstack_types::Marker;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::scene::{
    GIVEN, ID, Mix,
    Owner::{self, Given, Own},
    deleted, objects,
};
use crate::{
    delete::plan_delete,
    error::Error,
    plan::Verb,
    state::{Key, State},
    target::{Source, Target},
    testing::Saves,
};

#[tokio::test]
async fn each_pattern_loses_what_was_made_and_keeps_what_was_given() {
    for (pattern, stays) in [
        (1, vec![]),
        (2, vec!["given-network"]),
        (3, vec!["given-network", "given-router"]),
        (4, vec!["given-subnet", "given-network", "given-router"]),
        (5, vec!["given-subnet", "given-network", "given-router", "given-group"]),
    ] {
        let scene = Mix::pattern(pattern).scene();
        let plan = scene.plan().await;
        assert_eq!(deleted(&plan, &scene.target), scene.mix.expected(), "pattern {pattern}");
        let items = plan.items(&scene.target);
        let kept = items.iter().filter(|it| it.verb == Verb::Use).filter_map(|it| it.id.as_deref());
        assert_eq!(kept.collect::<Vec<_>>(), stays, "pattern {pattern}");
        assert!(plan.problems().is_empty() && plan.blockers.is_empty(), "pattern {pattern}: {plan:?}");
    }
}

#[tokio::test]
async fn dual_stack_loses_three_subnets_of_ours_and_no_given_one() {
    let own = Mix { ipv6: Own, ..Mix::pattern(2) };
    let given = Mix { ipv6: Given, ..Mix::pattern(4) };
    let (own, given) = (own.scene(), given.scene());
    let lost = deleted(&own.plan().await, &own.target);
    for id in ["own-subnet-ipv6", "own-subnet-pod", "own-subnet-svc", "interface shoot--dev--a-ipv6"] {
        assert!(lost.contains(id), "{id} {lost:?}");
    }
    assert_eq!(deleted(&given.plan().await, &given.target), given.mix.expected());
}

#[tokio::test]
async fn the_users_own_is_not_deleted_by_editing_the_specification() {
    let scene = Mix::pattern(4).scene();
    let cloud = scene.cloud();
    let target = Target { network: Source::Own, ..scene.target.clone() };
    let errors = plan_delete(&target, &scene.seen(&cloud).await, &scene.state).unwrap_err();
    assert!(matches!(errors.as_slice(), [Error::Configuration { field: "networks.id", .. }]), "{errors:?}");
}

#[tokio::test]
async fn a_given_resource_that_vanished_is_no_obstacle() {
    let mut scene = Mix::pattern(3).scene();
    scene.drop("routers", "given-router");
    scene.drop("ports", "interface-own-subnet");
    let cloud = scene.cloud();
    let state = scene.delete(&cloud, &Saves::default()).await.unwrap();
    assert!(state.is_empty());
    assert_eq!(objects(&cloud.world(), "own"), Vec::<Value>::new());
}

fn owner() -> impl Strategy<Value = Owner> {
    prop_oneof![Just(Own), Just(Given)]
}

/// Mixes that the static rules admit.
fn mix() -> impl Strategy<Value = Mix> {
    let any = prop_oneof![Just(Owner::None), Just(Own), Just(Given)];
    (owner(), owner(), owner(), any.clone(), owner(), any).prop_map(|(network, router, subnet, ipv6, group, share)| {
        let subnet = if network == Given && router == Given { subnet } else { Own };
        let needs = |wanted: Owner, holds: bool| if wanted == Given && !holds { Own } else { wanted };
        Mix {
            network,
            router,
            subnet,
            ipv6: needs(ipv6, subnet == Given),
            group: needs(group, network == Given),
            share: needs(share, network == Given),
        }
    })
}

/// How well the shoot is remembered.
#[derive(Clone, Copy, Debug)]
enum Memory {
    All,
    /// The state is lost.
    Marker,
    /// An earlier controller made it: no marker.
    State,
    /// Likewise, and the state is lost.
    Shape,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_mix_loses_exactly_the_specifications_list(
        mix in mix(),
        memory in prop_oneof![Just(Memory::All), Just(Memory::Marker), Just(Memory::State), Just(Memory::Shape)],
    ) {
        let mut scene = mix.scene();
        if matches!(memory, Memory::Marker | Memory::Shape) {
            scene.state = State::default();
        }
        if matches!(memory, Memory::State | Memory::Shape) {
            scene.unmark();
        }
        let (plan, after, end) = run(|| async {
            let cloud = scene.cloud();
            let plan = scene.plan().await;
            let end = scene.delete(&cloud, &Saves::default()).await;
            let world = cloud.world().clone();
            (plan, world, end)
        });
        prop_assert_eq!(deleted(&plan, &scene.target), mix.expected());
        let state = end.unwrap();
        prop_assert!(state.is_empty(), "{:?}", state);
        prop_assert_eq!(objects(&after, "own"), Vec::<Value>::new());
        prop_assert_eq!(objects(&after, "given"), objects(&scene.world, "given"));
    }

    /// The user's things carry our names and marks, and our state names them as ours.
    #[test]
    fn nothing_given_goes_however_much_it_looks_like_ours(
        mix in mix(),
        named in any::<bool>(),
        marked in any::<bool>(),
        believed in proptest::collection::vec((0..6usize, 0..6usize), 0..4),
    ) {
        let mut scene = mix.scene();
        scene.state.clear(Key::Given);
        let keys =
            [Key::Network, Key::Router, Key::Subnet, Key::SubnetIpv6, Key::SecurityGroup, Key::ShareNetwork];
        for (key, id) in believed {
            scene.state.set(keys[key], GIVEN[id]);
        }
        let mark = Marker::new(ID, "uid-1");
        for it in scene.world.values_mut().flatten() {
            if it["id"].as_str().is_some_and(|id| id.starts_with("given")) {
                let suffix = if it["id"] == "given-subnet-ipv6" { "-ipv6" } else { "" };
                if named {
                    it["name"] = json!(format!("{ID}{suffix}"));
                }
                if marked {
                    it["description"] = json!(mark.description());
                    it["tags"] = json!(mark.tags());
                }
            }
        }
        let (plan, after) = run(|| async {
            let cloud = scene.cloud();
            // Either may be refused, or end in an error; what counts is what it left alone.
            let plan = scene.plan_on(&cloud).await;
            if plan.is_ok() {
                let _ = scene.delete(&cloud, &Saves::default()).await;
            }
            let world = cloud.world().clone();
            (plan, world)
        });
        let lost = plan.map(|plan| deleted(&plan, &scene.target)).unwrap_or_default();
        prop_assert!(lost.iter().all(|id| !id.starts_with("given")), "{:?}", lost);
        prop_assert_eq!(objects(&after, "given"), objects(&scene.world, "given"));
    }
}

fn run<T, F: Future<Output = T>>(story: impl FnOnce() -> F) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(story())
}
