//! R3: whatever is specified, one after the other: a second run has nothing to do.

use fabric_test_openstack::{Given, SSH_KEY, Shoot, World};
use fabric_test_program::{Property, cases};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

/// What a sequence begins with.
const BASES: [&str; 7] = ["managed", "network", "router", "both", "subnet", "group", "dual-stack"];

/// What may change in a shoot that lives.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Edit {
    Share,
    Ssh,
    OtherKey,
    Overlay,
    Dns,
    Lose,
}

const EDITS: [Edit; 6] = [Edit::Share, Edit::Ssh, Edit::OtherKey, Edit::Overlay, Edit::Dns, Edit::Lose];
const OTHER_KEY: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl nobody@example.org";

fn base(name: &str, given: &Given, group: &str) -> Value {
    let (network, router) = (json!(given.network), json!({"id": given.router}));
    // Beside the given subnet, 10.250.0.0/19.
    let workers = "10.250.64.0/19";
    match name {
        "network" => json!({"id": network, "workers": workers}),
        "router" => json!({"router": router, "workers": workers}),
        "both" => json!({"id": network, "router": router, "workers": workers}),
        "subnet" => json!({"id": network, "subnetId": given.subnet, "router": router}),
        "group" => json!({"id": network, "subnetId": given.subnet, "router": router, "securityGroupId": group}),
        "dual-stack" => json!({"workers": workers, "ipv6": {
            "nodeCIDR": "fd00:10::/64", "podCIDR": "fd00:20::/56", "serviceCIDR": "fd00:30::/112"}}),
        _ => json!({"workers": workers}),
    }
}

fn edit(shoot: &mut Shoot, edit: Edit) {
    let known = shoot.input.shoot.ssh_public_key.take();
    let key = |key: &str| Some(key.to_owned());
    shoot.input.shoot.ssh_public_key = match edit {
        Edit::Ssh => known.is_none().then(|| SSH_KEY.to_owned()),
        Edit::OtherKey if known == key(SSH_KEY) => key(OTHER_KEY),
        Edit::OtherKey => key(SSH_KEY),
        _ => known,
    };
    match edit {
        Edit::Share => {
            let enabled = shoot.input.config.networks.share_network.as_ref().is_some_and(|share| share.enabled);
            let share = serde_json::from_value(json!({"enabled": !enabled})).unwrap();
            shoot.input.config.networks.share_network = Some(share);
        }
        Edit::Overlay => shoot.input.shoot.overlay_off ^= true,
        Edit::Dns => {
            let known = shoot.input.profile.as_ref().map_or(0, |profile| profile.dns_servers.len());
            let servers = &["1.1.1.1", "8.8.8.8", "9.9.9.9"][..(known + 1) % 4];
            shoot.profile(json!({"dnsServers": servers}));
        }
        Edit::Lose => shoot.state = fabric_infrastructure::State::default(),
        Edit::Ssh | Edit::OtherKey => {}
    }
}

async fn sequence(world: &World, name: &str, networks: Value, edits: &[Edit]) {
    let before = world.snapshot().await;
    let mut shoot = world.shoot(name, networks);
    shoot.applied().await;
    for change in std::iter::once(None).chain(edits.iter().map(Some)) {
        if let Some(change) = change {
            edit(&mut shoot, *change);
            shoot.applied().await;
        }
        let again = shoot.applied().await;
        assert_eq!(again.calls.changing, 0, "the second run after {change:?}");
    }
    shoot.deleted().await;
    before.assert_same(&world.snapshot().await, "after the deletion");
}

pub(crate) async fn r3_a_second_run_has_nothing_to_do_whatever_was_specified(world: World) {
    // One after the other, in one project: what a sequence leaves would show in the next.
    let mut property = Property::new("R3", world.place());
    let given = world.given().await;
    let group = world.group("nodes").await;
    let count = if world.is_embedded() { cases("R3", 200, 10_000) } else { cases("R3", 2, 50) };
    for number in 0..count {
        world.hurry();
        let mut random = StdRng::seed_from_u64(number as u64);
        let base_name = BASES[random.random_range(0..BASES.len())];
        let length = random.random_range(0..4);
        let edits: Vec<Edit> = (0..length).map(|_| EDITS[random.random_range(0..EDITS.len())]).collect();
        let networks = base(base_name, &given, &group);
        let (name, told) = (format!("s{number}"), format!("{number}: {base_name}, {edits:?}"));
        property.case(told, sequence(&world, &name, networks, &edits)).await;
    }
    property.end();
}
