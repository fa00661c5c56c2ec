//! The rules that look into the cloud, asked by a real kube-apiserver about a real Neutron.

use std::time::{Duration, Instant};

use fabric_openstack_types::credentials::{AuthMethod, UserRef};
use fabric_test_kube::{Garden, Output, documents, on_lab, root};
use fabric_test_openstack::{NODES, World};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::admission::{apply, counts, furnish_with, placed};
use crate::program::{Front, Program};
use crate::relay::{Neutron, Relay};

const PROFILE: &str = "20-cloudprofile.yaml";
const SECRET: &str = "25-secret-password.yaml";
const SHOOT: &str = "40-shoot-byo-4-subnet.yaml";
const ABSENT: &str = "5d0a9c2f-4e17-4c11-8a86-6d3b6e0f9a3c";
const UNCHECKED: &str = "not checked against the cloud";

/// An example with what the lab's user could hand over.
async fn rendered(garden: &Garden, name: &str) -> Vec<Value> {
    let mut command = Command::new(root().join("hack/lab"));
    let output = command.arg("render").arg(root().join("examples").join(name)).output().await.expect("hack/lab");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    documents(&text).into_iter().map(|object| placed(garden, object)).collect()
}

/// A case with the garden's program in this mode; without the lab's OpenStack it says so and is done.
async fn with_cloud(garden: Garden, mode: &str, case: impl AsyncFnOnce(&Garden, Value)) {
    if std::env::var_os("FABRIC_LAB_FACTS").is_none_or(|path| path.is_empty()) {
        eprintln!("SKIPPED: no OpenStack in the lab; hack/lab up all && eval \"$(hack/lab env)\", or hack/test kube");
        return;
    }
    let (profile, secret) = (rendered(&garden, PROFILE).await, rendered(&garden, SECRET).await);
    let shoot = rendered(&garden, SHOOT).await.remove(0);
    with_program(&garden, mode, profile, secret, async || case(&garden, shoot).await).await;
}

async fn with_program(garden: &Garden, mode: &str, profile: Vec<Value>, secret: Vec<Value>, case: impl AsyncFnOnce()) {
    let front = Front::new().await;
    let more = ["--dynamic-validation", mode, "--dynamic-validation-timeout", "6"];
    let program = Program::admission(garden, &front, &more).await;
    front.leads_to(&[&program]);
    program.ready().await;
    furnish_with(garden, profile, secret).await;
    counts(garden).await;
    case().await;
    let log = program.stop().await;
    assert!(!log.contains("panicked"), "{log}");
}

/// A case in a garden and in a project of the lab that are its own, and go with it.
fn in_world<F: Future<Output = ()> + Send + 'static>(case: impl FnOnce(Garden, World) -> F + Send + 'static) {
    on_lab(async move |garden| {
        // A world brings a runtime of its own.
        let blocking = move || fabric_test_openstack::on_lab(move |world| case(garden, world));
        if let Err(failure) = tokio::task::spawn_blocking(blocking).await {
            std::panic::resume_unwind(failure.into_panic());
        }
    });
}

/// The profile with this way to Keystone, and the login of the world's user.
async fn login(garden: &Garden, world: &World, auth_url: &str) -> (Vec<Value>, Vec<Value>) {
    let (mut profile, mut secret) = (rendered(garden, PROFILE).await, rendered(garden, SECRET).await);
    profile[0]["spec"]["providerConfig"]["keystoneURL"] = json!(auth_url);
    let AuthMethod::Password { user: UserRef::Name { name, .. }, password, .. } = world.credentials().method else {
        panic!("a world's user logs in by name and password");
    };
    let data = &mut secret[0]["stringData"];
    data["authURL"] = json!(auth_url);
    data["tenantName"] = json!(world.prefix);
    data["username"] = json!(name);
    data["password"] = json!(password.expose_secret());
    (profile, secret)
}

/// A Shoot in what is given.
async fn shoot_in(garden: &Garden, network: &str, subnet: &str, router: &str) -> Value {
    let mut shoot = rendered(garden, SHOOT).await.remove(0);
    let networks = networks(&mut shoot);
    networks["id"] = json!(network);
    networks["subnetId"] = json!(subnet);
    networks["router"]["id"] = json!(router);
    shoot
}

async fn dry(garden: &Garden, shoot: &Value) -> Output {
    garden.kubectl_with(["apply", "--dry-run=server", "-f", "-"], &shoot.to_string()).await
}

fn networks(shoot: &mut Value) -> &mut Value {
    &mut shoot["spec"]["provider"]["infrastructureConfig"]["networks"]
}

#[test]
fn what_the_cloud_does_not_hold_is_refused_when_enforced() {
    on_lab(async |garden| {
        with_cloud(garden, "enforce", async |garden, shoot| {
            let told = apply(garden, &shoot).await;
            assert_eq!(told.code, 0, "what is given fits: {}", told.stderr);
            assert!(!told.stderr.contains("not checked"), "{}", told.stderr);
            for field in ["id", "subnetId", "router"] {
                let mut lost = shoot.clone();
                lost["metadata"]["name"] = json!("lost");
                let value = if field == "router" { json!({"id": ABSENT}) } else { json!(ABSENT) };
                networks(&mut lost)[field] = value;
                let told = dry(garden, &lost).await;
                assert_eq!(told.code, 1, "{field}: {}", told.stderr);
                assert!(told.stderr.contains(&format!("infrastructureConfig.networks.{field}")), "{}", told.stderr);
                assert!(told.stderr.contains(ABSENT), "{}", told.stderr);
            }
            let mut sixth = shoot.clone();
            sixth["metadata"]["name"] = json!("sixth");
            sixth["spec"]["networking"]["ipFamilies"] = json!(["IPv4", "IPv6"]);
            let nodes = networks(&mut sixth)["subnetId"].clone();
            let ipv6 = json!({"nodeSubnetId": nodes, "podCIDR": "fd00::/56", "serviceCIDR": "fd01::/112"});
            networks(&mut sixth)["ipv6"] = ipv6;
            let told = dry(garden, &sixth).await;
            assert!(told.code == 1 && told.stderr.contains("networks.ipv6.nodeSubnetId"), "{}", told.stderr);
        })
        .await;
    });
}

#[test]
fn what_the_cloud_does_not_hold_is_a_warning_when_not_enforced() {
    on_lab(async |garden| {
        with_cloud(garden, "warn", async |garden, mut shoot| {
            networks(&mut shoot)["id"] = json!(ABSENT);
            let told = apply(garden, &shoot).await;
            assert_eq!(told.code, 0, "{}", told.stderr);
            assert!(
                told.stderr.contains("Warning: spec.provider.infrastructureConfig.networks.id: Not found"),
                "{}",
                told.stderr
            );
        })
        .await;
    });
}

/// What is given each exists, and does not belong together: what the person is told about it.
async fn mismatches(garden: Garden, world: World, mode: &str) {
    let given = world.given().await;
    let network = world.network("other").await;
    let subnet = world.subnet(&network, "other", NODES).await;
    // A warning ends where an apiserver would cut it, which is within the network's id.
    let elsewhere = format!("subnet {subnet:?} not found in network \"{}", &given.network[..8]);
    let unconnected = "interface".to_owned();
    let cases = [
        ("subnetId", elsewhere, shoot_in(&garden, &given.network, &subnet, &given.router).await),
        ("router", unconnected, shoot_in(&garden, &network, &subnet, &given.router).await),
    ];
    let fits = shoot_in(&garden, &given.network, &given.subnet, &given.router).await;
    let (profile, secret) = login(&garden, &world, &world.facts.auth_url).await;
    with_program(&garden, mode, profile, secret, async || {
        let told = dry(&garden, &fits).await.ends_with(0);
        assert!(!told.stderr.contains("networks.router") && !told.stderr.contains(UNCHECKED), "{}", told.stderr);
        for (field, why, shoot) in cases {
            let told = dry(&garden, &shoot).await;
            let path = format!("spec.provider.infrastructureConfig.networks.{field}");
            let line = told.stderr.lines().find(|line| line.contains(&path) && line.contains(&why));
            let line = line.unwrap_or_else(|| panic!("{path}: {why}: {}", told.stderr));
            assert_eq!(line.starts_with("Warning: "), mode == "warn", "{line}");
            assert_eq!(told.code, i32::from(mode == "enforce"), "{}", told.stderr);
            assert!(!told.stderr.contains(UNCHECKED), "{}", told.stderr);
        }
    })
    .await;
}

#[test]
fn what_does_not_belong_together_is_refused_when_enforced() {
    in_world(|garden, world| mismatches(garden, world, "enforce"));
}

#[test]
fn what_does_not_belong_together_is_a_warning_when_not_enforced() {
    in_world(|garden, world| mismatches(garden, world, "warn"));
}

/// Keystone answers the login, and nobody the questions that follow: allowed in time, and each is named.
async fn stopped(garden: Garden, world: World, mode: &str, neutron: Neutron) {
    let given = world.given().await;
    let relay = Relay::stopping(&world.facts, neutron).await;
    let (profile, secret) = login(&garden, &world, &relay.auth_url).await;
    let shoot = shoot_in(&garden, &given.network, &given.subnet, &given.router).await;
    with_program(&garden, mode, profile, secret, async || {
        assert!(!relay.has_stopped(), "nobody logged in yet");
        let begun = Instant::now();
        let told = apply(&garden, &shoot).await.ends_with(0);
        // An apiserver gives a webhook 10 s; what it then says would be no word of ours.
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
        assert!(relay.has_stopped(), "the login was answered");
        for field in ["id", "subnetId", "router"] {
            let start = format!("Warning: spec.provider.infrastructureConfig.networks.{field}: {UNCHECKED}: ");
            assert!(told.stderr.lines().any(|line| line.starts_with(&start)), "{field}: {}", told.stderr);
        }
        if neutron == Neutron::Hangs {
            assert!(relay.connections() > 0, "Neutron was asked");
            relay.goes_on();
            let told = dry(&garden, &shoot_named(&shoot, "later")).await.ends_with(0);
            assert!(!told.stderr.contains(UNCHECKED), "it is looked at again: {}", told.stderr);
        }
    })
    .await;
}

fn shoot_named(shoot: &Value, name: &str) -> Value {
    let mut shoot = shoot.clone();
    shoot["metadata"]["name"] = json!(name);
    shoot
}

#[test]
fn a_cloud_that_hangs_after_the_login_refuses_nothing_when_enforced() {
    in_world(|garden, world| stopped(garden, world, "enforce", Neutron::Hangs));
}

#[test]
fn a_cloud_that_is_gone_after_the_login_refuses_nothing_when_enforced() {
    in_world(|garden, world| stopped(garden, world, "enforce", Neutron::Refuses));
}

#[test]
fn a_cloud_that_hangs_after_the_login_is_a_warning_when_not_enforced() {
    in_world(|garden, world| stopped(garden, world, "warn", Neutron::Hangs));
}
