//! Whole deletions: their order, what stops them, and what they leave.

use fabric_openstack_types::Service;
use serde_json::{Value, json};

use super::scene::{
    Mix,
    Owner::{Given, Own},
    Scene, failures, objects,
};
use crate::{
    codes::Code,
    plan::Verb,
    reconcile::flow_codes,
    state::{Key, State},
    target::ShareNetwork,
    testing::{PROJECT, Saves, World},
};

const OUR_BALANCER: &str = "kube_service_shoot--dev--a_default_web";

fn full(mix: Mix) -> Scene {
    let mut scene = mix.scene();
    let subnet = scene.mix.subnet_id();
    scene.add_balancer("lb", OUR_BALANCER, &subnet, PROJECT);
    scene.route("100.96.1.0/24", "10.250.0.11");
    scene.add_port("dhcp", "network:dhcp", "agent", &subnet, "10.250.0.2");
    scene
}

#[tokio::test(start_paused = true)]
async fn everything_goes_in_the_order_of_its_dependencies() {
    let scene = full(Mix { ipv6: Own, share: Own, ..Mix::pattern(1) });
    let (cloud, saves) = (scene.cloud(), Saves::default());
    let state = scene.delete(&cloud, &saves).await.unwrap();
    for (first, then) in [
        ("UNROUTE own-router 100.96.1.0/24 10.250.0.11", "DETACH own-router own-subnet"),
        ("DELETE balancers lb", "DETACH own-router own-subnet"),
        ("DETACH own-router own-subnet", "DELETE networks own-network"),
        ("DETACH own-router own-subnet-ipv6", "DELETE networks own-network"),
        ("DELETE shares own-share", "DELETE networks own-network"),
        ("DETACH own-router own-subnet", "DELETE routers own-router"),
        ("DETACH own-router own-subnet-ipv6", "DELETE routers own-router"),
    ] {
        assert!(cloud.position(first) < cloud.position(then), "{first} before {then}: {:?}", cloud.calls());
    }
    assert!(!cloud.calls().iter().any(|it| it.starts_with("DELETE subnets")), "its network takes them along");
    assert_eq!(cloud.calls().len(), 9, "each thing once: {:?}", cloud.calls());
    assert_eq!(state.data().iter().collect::<Vec<_>>(), [(&"fabric.UID".to_owned(), &"uid-1".to_owned())]);
    assert_eq!(saves.all().last(), Some(&state));
    let world = cloud.world();
    assert!(world.iter().all(|(collection, all)| all.is_empty() || *collection == "networks"), "{world:?}");
}

#[tokio::test(start_paused = true)]
async fn in_a_given_network_each_subnet_goes_alone() {
    let scene = full(Mix { ipv6: Own, ..Mix::pattern(3) });
    let cloud = scene.cloud();
    scene.delete(&cloud, &Saves::default()).await.unwrap();
    for (first, then) in [
        ("DETACH given-router own-subnet", "DELETE subnets own-subnet"),
        ("DETACH given-router own-subnet-ipv6", "DELETE subnets own-subnet-ipv6"),
        ("DELETE balancers lb", "DELETE subnets own-subnet"),
    ] {
        assert!(cloud.position(first) < cloud.position(then), "{first} before {then}: {:?}", cloud.calls());
    }
    assert_eq!(objects(&cloud.world(), "own"), Vec::<Value>::new());
}

#[tokio::test]
async fn state_is_saved_after_each_task_without_what_is_gone() {
    let scene = Mix::pattern(1).scene();
    let saves = Saves::default();
    scene.delete(&scene.cloud(), &saves).await.unwrap();
    let saved = saves.all();
    let first = |key: Key| saved.iter().position(|state| state.get(key).is_none()).unwrap();
    assert!(first(Key::KeyPair) < first(Key::Network), "{saved:?}");
    // Tasks that end while a save is on its way share the next one.
    assert!(saved.len() >= 3, "{saved:?}");
    assert!(saved.last().unwrap().is_empty(), "{saved:?}");
}

#[tokio::test]
async fn nothing_there_calls_nothing_and_saves_nothing() {
    let mut scene = Mix::pattern(1).scene();
    scene.state = State::default();
    scene.world.clear();
    let (cloud, saves) = (scene.cloud(), Saves::default());
    assert!(scene.plan().await.is_empty());
    assert!(scene.delete(&cloud, &saves).await.unwrap().is_empty());
    assert!(cloud.calls().is_empty() && saves.all().is_empty());
}

#[tokio::test]
async fn a_state_that_outlived_its_things_is_cleared() {
    let mut scene = Mix::pattern(2).scene();
    scene.world.clear();
    let (cloud, saves) = (scene.cloud(), Saves::default());
    assert!(scene.delete(&cloud, &saves).await.unwrap().is_empty());
    assert!(cloud.calls().is_empty());
    assert!(saves.all().last().unwrap().is_empty());

    // Also when another task fails.
    let mut scene = Mix { ipv6: Own, ..Mix::pattern(1) }.scene();
    scene.world.clear();
    let mut cloud = scene.cloud();
    cloud.broken = ["groups"].into();
    let state = scene.delete(&cloud, &saves).await.unwrap_err().state;
    let ids = [Key::Network, Key::Router, Key::Subnet, Key::SubnetIpv6Pod, Key::KeyPair, Key::SecurityGroup];
    assert_eq!(ids.map(|key| state.get(key)), [None, None, None, None, None, Some("own-group")]);
}

#[tokio::test(start_paused = true)]
async fn a_foreign_port_blocks_its_network_alone_and_is_named() {
    let mut scene = full(Mix::pattern(1));
    scene.add_server("db", "10.250.0.77");
    let plan = scene.plan().await;
    let told: Vec<_> = plan.items(&scene.target).into_iter().filter(|it| it.verb == Verb::Report).collect();
    assert_eq!((told.len(), told[0].name.as_str()), (1, "port-db"));

    let (mut cloud, saves) = (scene.cloud(), Saves::default());
    cloud.lingers = 1;
    let error = scene.delete(&cloud, &saves).await.unwrap_err();
    let text = failures(&error);
    assert_eq!(
        text,
        ["failed to \"delete network\": network own-network cannot be deleted while others use it: port port-db \
          port-db (owner compute:nova, device id-db, 10.250.0.77); remove them, then delete again"]
    );
    assert_eq!(flow_codes(&error.failure), [Code::Dependencies]);
    assert_eq!(error.state.get(Key::Network), Some("own-network"));
    let left = |prefix| objects(&cloud.world(), prefix).len();
    assert_eq!((left("own-router"), left("own-group"), left("lb"), left("port-db")), (0, 0, 0, 1));

    // The other one leaves; the next run ends it.
    let mut scene = Scene { world: cloud.world().clone(), state: error.state, ..scene };
    scene.drop("ports", "port-db");
    let cloud = scene.cloud();
    assert!(scene.delete(&cloud, &saves).await.unwrap().is_empty());
    assert_eq!(cloud.calls(), ["DELETE networks own-network"]);
}

#[tokio::test]
async fn a_foreign_subnet_in_our_network_is_not_taken_along() {
    let mut scene = Mix::pattern(1).scene();
    scene.put(
        "subnets",
        json!({"id": "theirs", "name": "lab", "project_id": PROJECT, "network_id": "own-network",
        "ip_version": 4, "cidr": "10.9.0.0/24"}),
    );
    let cloud = scene.cloud();
    let error = scene.delete(&cloud, &Saves::default()).await.unwrap_err();
    assert!(failures(&error)[0].contains("subnet lab theirs (10.9.0.0/24)"), "{error}");
    assert_eq!(objects(&cloud.world(), "theirs").len(), 1);
    assert!(!cloud.calls().contains(&"DELETE networks own-network".to_owned()));
}

#[tokio::test]
async fn what_uses_our_group_router_or_interface_is_named() {
    let mut scene = Mix::pattern(2).scene();
    scene.add_server("db", "10.9.0.77");
    scene.edit("ports", "port-db", |it| {
        it["fixed_ips"][0]["subnet_id"] = json!("users-subnet");
        it["security_groups"] = json!(["own-group"]);
    });
    scene.add_port("users-interface", "network:router_interface", "own-router", "users-subnet", "10.9.0.1");
    let error = scene.delete(&scene.cloud(), &Saves::default()).await.unwrap_err();
    let text = failures(&error).join("\n");
    assert!(text.contains("security group own-group cannot be deleted while others use it: port port-db"), "{text}");
    assert!(text.contains("router own-router cannot be deleted while others use it: port users-interface"), "{text}");

    let mut scene = Mix::pattern(3).scene();
    scene.route("192.168.7.0/24", "10.250.0.9");
    let error = scene.delete(&scene.cloud(), &Saves::default()).await.unwrap_err();
    let text = failures(&error).join("\n");
    assert!(
        text.contains("on subnet own-subnet cannot be deleted while others use it: route 192.168.7.0/24"),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn while_only_ours_is_in_the_way_it_is_tried_again_for_a_minute() {
    let mut scene = Mix::pattern(1).scene();
    scene.add_server("shoot--dev--a-worker-1", "10.250.0.12");
    let started = tokio::time::Instant::now();
    let cloud = scene.cloud();
    let error = scene.delete(&cloud, &Saves::default()).await.unwrap_err();
    assert!((50..=60).contains(&started.elapsed().as_secs()), "{:?}", started.elapsed());
    assert!(cloud.calls().iter().filter(|it| *it == "DELETE networks own-network").count() > 10);
    assert_eq!(flow_codes(&error.failure), [Code::RetryableDependencies]);

    // It lets go while we wait.
    let cloud = scene.cloud();
    let saves = Saves::default();
    let (end, ()) = tokio::join!(scene.delete(&cloud, &saves), async {
        tokio::time::sleep(std::time::Duration::from_secs(5)).await;
        cloud.world().get_mut("ports").unwrap().clear();
    });
    assert!(end.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_load_balancer_that_is_being_changed_is_waited_for() {
    let mut scene = full(Mix::pattern(4));
    scene.edit("balancers", "lb", |it| {
        it["provisioning_status"] = json!("PENDING_UPDATE");
        it["countdown"] = json!(5);
    });
    let cloud = scene.cloud();
    scene.delete(&cloud, &Saves::default()).await.unwrap();
    assert_eq!(objects(&cloud.world(), "lb"), Vec::<Value>::new());

    scene.edit("balancers", "lb", |it| it["countdown"] = json!(1_000_000));
    let cloud = scene.cloud();
    let error = scene.delete(&cloud, &Saves::default()).await.unwrap_err();
    let text = failures(&error);
    let named = format!("load balancer {OUR_BALANCER} (lb, PENDING_UPDATE) is not deleted after 80 s");
    assert!(text.len() == 1 && text[0].contains(&named), "{text:?}");
    assert!(!cloud.calls().contains(&"DELETE balancers lb".to_owned()), "not deletable: not asked for");
}

#[tokio::test(start_paused = true)]
async fn a_failed_listing_stops_only_what_needs_it() {
    let broken: [(&str, &[&str], &[&str]); 4] = [
        ("balancers", &["delete kubernetes loadbalancers"], &["own-network", "own-subnet", "own-router"]),
        ("groups", &["delete security group"], &["own-group"]),
        ("shares", &["delete share network"], &["own-network", "own-share", "own-subnet"]),
        ("keypairs", &["delete ssh key pair"], &[]),
    ];
    for (collection, tasks, left) in broken {
        let scene = full(Mix { share: Own, ..Mix::pattern(1) });
        let mut cloud = scene.cloud();
        cloud.broken = [collection].into();
        let error = scene.delete(&cloud, &Saves::default()).await.unwrap_err();
        let text = failures(&error);
        assert_eq!(text.len(), tasks.len(), "{collection}: {text:?}");
        assert!(text[0].contains(tasks[0]) && text[0].contains("503"), "{collection}: {text:?}");
        let mut ids: Vec<String> =
            objects(&cloud.world(), "own").iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect();
        ids.sort();
        assert_eq!(
            ids,
            {
                let mut left = left.to_vec();
                left.sort();
                left
            },
            "{collection}"
        );
        assert!(!error.state.is_empty());
    }
}

/// Whatever call or listing fails, with the state kept or lost, and with or without a marker: the next run ends it.
#[tokio::test(start_paused = true)]
async fn a_run_that_is_cut_anywhere_is_continued() {
    for (pattern, ipv6, marked, remembered) in [
        (1, Own, true, true),
        (1, Own, true, false),
        (1, Own, false, true),
        (1, Own, false, false),
        (2, Own, true, false),
        (3, Own, false, false),
        (4, Given, true, true),
        (5, Given, false, false),
    ] {
        let mut scene = full(Mix { ipv6, share: Own, ..Mix::pattern(pattern) });
        if !marked {
            scene.unmark();
        }
        for cut in 1..20 {
            let mut cloud = scene.cloud();
            cloud.fails_at = Some(cut);
            let end = scene.delete(&cloud, &Saves::default()).await;
            let name = format!("pattern {pattern}, marked {marked}, remembered {remembered}, cut {cut}");
            let Err(error) = end else {
                assert!(cloud.calls().len() < cut, "{name}");
                break;
            };
            let world = cloud.world().clone();
            again(&scene, world, if remembered { error.state } else { State::default() }, &name).await;
        }
        for broken in ["networks", "subnets", "routers", "ports", "groups", "shares", "keypairs", "balancers"] {
            let mut cloud = scene.cloud();
            cloud.broken = [broken].into();
            let name = format!("pattern {pattern}, marked {marked}, remembered {remembered}, broken {broken}");
            let state = match scene.delete(&cloud, &Saves::default()).await {
                Ok(state) => state,
                Err(error) => error.state,
            };
            let world = cloud.world().clone();
            again(&scene, world, if remembered { state } else { State::default() }, &name).await;
        }
    }
}

async fn again(scene: &Scene, world: World, state: State, name: &str) {
    let next = Scene { mix: scene.mix, target: scene.target.clone(), world, state };
    let cloud = next.cloud();
    let end = next.delete(&cloud, &Saves::default()).await;
    assert!(end.as_ref().is_ok_and(State::is_empty), "{name}: {end:?}");
    for ours in ["own", "lb"] {
        assert_eq!(objects(&cloud.world(), ours), Vec::<Value>::new(), "{name}");
    }
    assert!(cloud.world()["keypairs"].is_empty(), "{name}");
    let (before, after) = (objects(&scene.world, "given"), objects(&cloud.world(), "given"));
    let bare = |all: Vec<Value>| -> Vec<Value> {
        all.into_iter()
            .map(|mut it| {
                it["routes"] = json!([]);
                it
            })
            .collect()
    };
    assert_eq!(bare(after), bare(before), "{name}");
}

#[tokio::test]
async fn whose_a_port_is_stays_open_without_the_servers() {
    let mut scene = Mix::pattern(1).scene();
    scene.add_server("db", "10.250.0.77");
    let mut cloud = scene.cloud();
    cloud.broken = ["servers"].into();
    assert!(scene.plan_on(&cloud).await.unwrap().blockers.is_empty());
    let error = scene.delete(&cloud, &Saves::default()).await.unwrap_err();
    let text = failures(&error);
    assert!(text.len() == 1 && text[0].contains("delete network") && text[0].contains("503"), "{text:?}");
}

#[tokio::test(start_paused = true)]
async fn services_that_the_cloud_lacks_are_missed_only_if_needed() {
    let mut scene = Mix { share: Own, ..Mix::pattern(1) }.scene();
    scene.world.remove("shares");
    scene.state.clear(Key::ShareNetwork);
    let mut cloud = scene.cloud();
    cloud.absent = vec![Service::LoadBalancer, Service::SharedFileSystem];
    assert!(scene.delete(&cloud, &Saves::default()).await.unwrap().is_empty());

    scene.state.set(Key::ShareNetwork, "own-share");
    let mut cloud = scene.cloud();
    cloud.absent = vec![Service::SharedFileSystem];
    let error = scene.delete(&cloud, &Saves::default()).await.unwrap_err();
    assert!(failures(&error)[0].contains("delete share network"), "{error}");
}

#[tokio::test]
async fn a_share_network_that_is_no_longer_wanted_goes_too() {
    let mut scene = Mix { share: Own, ..Mix::pattern(4) }.scene();
    scene.target.share_network = ShareNetwork::None;
    let cloud = scene.cloud();
    scene.delete(&cloud, &Saves::default()).await.unwrap();
    assert_eq!(objects(&cloud.world(), "own-share"), Vec::<Value>::new());
}

#[tokio::test]
async fn two_that_could_be_ours_stop_what_hangs_on_them() {
    let mut scene = Mix { group: Given, ..Mix::pattern(2) }.scene();
    scene.state.clear(Key::Router);
    let twin = scene.world["routers"][0].clone();
    scene.put("routers", twin);
    scene.edit("routers", "own-router", |it| it["id"] = json!("twin-router"));
    let cloud = scene.cloud();
    let error = scene.delete(&cloud, &Saves::default()).await.unwrap_err();
    assert!(failures(&error).iter().all(|it| it.contains("2 routers could be this shoot's")), "{error}");
    assert_eq!(cloud.calls(), ["DELETE keypairs shoot--dev--a"]);
}
