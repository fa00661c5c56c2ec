use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::MemoryCluster;
use super::super::rotation::Why;
use super::*;

const NAME: &str = "admission.garden.svc";

struct Replica {
    keeper: Keeper,
    serving: Arc<Serving>,
    leads: Arc<AtomicBool>,
}

#[derive(Clone)]
struct World {
    cluster: Arc<MemoryCluster>,
    now: Arc<Mutex<Timestamp>>,
}

impl World {
    fn new() -> Self {
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        Self { cluster: Arc::default(), now: Arc::new(Mutex::new(now)) }
    }

    fn replica(&self, leads: bool, names: &[&str]) -> Replica {
        let serving = Serving::new();
        let leads = Arc::new(AtomicBool::new(leads));
        let (flag, now) = (Arc::clone(&leads), Arc::clone(&self.now));
        let keeper = Keeper::new(
            "admission",
            names.iter().map(ToString::to_string).collect(),
            (self.cluster.clone(), self.cluster.clone()),
            Arc::clone(&serving),
            Arc::new(move || flag.load(Ordering::Relaxed)),
        )
        .with_clock(Arc::new(move || *now.lock().unwrap()));
        Replica { keeper, serving, leads }
    }

    fn pass(&self, hours: i64) {
        *self.now.lock().unwrap() += jiff::SignedDuration::from_hours(hours);
    }

    async fn data(&self, secret: Secret) -> BTreeMap<String, Vec<u8>> {
        self.cluster.read(secret).await.unwrap().unwrap().data
    }

    /// As a caller sees it: the bundle it knows, and a server with the pair in the secret.
    async fn trusts(&self, name: &str) -> bool {
        let bundle = pair::certificates(self.cluster.bundle().unwrap().as_bytes()).unwrap();
        let data = self.data(Secret::Server).await;
        let pair = Pair::read(&data["tls.crt"], &data["tls.key"]).unwrap();
        pair.has_names(&[name.to_owned()]) && pair.signed_by(&bundle) != rotation::SignedBy::Unknown
    }

    fn authorities(&self) -> usize {
        pair::certificates(self.cluster.bundle().unwrap().as_bytes()).unwrap().len()
    }
}

#[tokio::test]
async fn the_first_round_makes_everything_and_the_next_nothing() {
    let world = World::new();
    let mut one = world.replica(true, &[NAME, "10.0.0.1"]);
    let done = one.keeper.round().await.unwrap();
    assert_eq!((done.authority, done.server, done.swapped), (Some(Why::Missing), Some(Why::Missing), true));
    assert!(world.trusts(NAME).await && world.trusts("10.0.0.1").await && !world.trusts("elsewhere").await);
    for _ in 0..10 {
        assert_eq!(one.keeper.round().await.unwrap(), Done::default());
    }
    assert_eq!((world.cluster.writes(), world.cluster.publishes()), (2, 1), "a settled object writes nothing");
    assert!(one.serving.check(*world.now.lock().unwrap()).is_ok());
}

#[tokio::test]
async fn secrets_that_somebody_made_to_be_filled_in_are_filled_in() {
    let world = World::new();
    for secret in [Secret::Authority, Secret::Server] {
        world.cluster.put(secret, Some(BTreeMap::new()));
    }
    let done = world.replica(true, &[NAME]).keeper.round().await.unwrap();
    assert_eq!((done.authority, done.server), (Some(Why::Missing), Some(Why::Missing)));
    assert!(world.trusts(NAME).await);
}

#[tokio::test]
async fn a_follower_serves_what_the_leader_made_and_writes_nothing() {
    let world = World::new();
    let mut follower = world.replica(false, &[NAME]);
    assert_eq!(follower.keeper.round().await.unwrap(), Done::default());
    assert!(follower.serving.check(*world.now.lock().unwrap()).unwrap_err().contains("no certificate yet"));
    world.replica(true, &[NAME]).keeper.round().await.unwrap();
    assert!(follower.keeper.round().await.unwrap().swapped);
    assert!(follower.serving.until().is_some());
    assert_eq!(world.cluster.writes(), 2);
}

#[tokio::test]
async fn two_leaders_at_once_agree() {
    let world = World::new();
    let (mut one, mut two) = (world.replica(true, &[NAME]), world.replica(true, &[NAME]));
    let (first, second) = tokio::join!(one.keeper.round(), two.keeper.round());
    first.unwrap();
    second.unwrap();
    one.keeper.round().await.unwrap();
    assert!(world.trusts(NAME).await);
    assert_eq!((world.cluster.writes(), one.serving.until()), (2, two.serving.until()));
}

#[tokio::test]
async fn a_rotation_takes_its_steps_one_after_the_other() {
    let world = World::new();
    let mut one = world.replica(true, &[NAME]);
    one.keeper.round().await.unwrap();
    world.pass(20 * 24);
    let done = one.keeper.round().await.unwrap();
    assert_eq!((done.authority, done.server), (Some(Why::Aged), None), "first the bundle");
    assert_eq!(world.authorities(), 2);
    world.pass(1);
    let done = one.keeper.round().await.unwrap();
    assert_eq!((done.authority, done.server, done.swapped), (None, Some(Why::NewerAuthority), true), "then the server");
    assert!(world.trusts(NAME).await);
    world.pass(23);
    assert_eq!(one.keeper.round().await.unwrap(), Done::default());
    world.pass(1);
    let done = one.keeper.round().await.unwrap();
    assert_eq!((done.pruned, world.authorities()), (true, 1), "the old CA leaves last");
    assert!(world.trusts(NAME).await);
}

#[tokio::test]
async fn without_a_published_bundle_nothing_moves_but_everything_serves() {
    let world = World::new();
    let mut one = world.replica(true, &[NAME]);
    one.keeper.round().await.unwrap();
    world.pass(20 * 24);
    world.cluster.refuse_bundles(true);
    for _ in 0..5 {
        assert!(one.keeper.round().await.unwrap_err().to_string().contains("publishing the CA bundle"));
        world.pass(24);
        assert!(world.trusts(NAME).await, "callers know only the old bundle");
    }
    world.cluster.refuse_bundles(false);
    one.keeper.round().await.unwrap();
    world.pass(1);
    assert_eq!(one.keeper.round().await.unwrap().server, Some(Why::NewerAuthority));
}

#[tokio::test]
async fn a_new_leader_waits_for_itself() {
    let world = World::new();
    let (mut one, mut two) = (world.replica(true, &[NAME]), world.replica(false, &[NAME]));
    one.keeper.round().await.unwrap();
    world.pass(20 * 24);
    one.keeper.round().await.unwrap();
    world.pass(1);
    one.leads.store(false, Ordering::Relaxed);
    two.leads.store(true, Ordering::Relaxed);
    assert_eq!(two.keeper.round().await.unwrap().server, None, "it can't know since when the bundle is known");
    world.pass(1);
    assert_eq!(two.keeper.round().await.unwrap().server, Some(Why::NewerAuthority));
    assert!(one.keeper.round().await.unwrap().swapped);
    assert_eq!(one.serving.until(), two.serving.until());
}

#[tokio::test]
async fn damaged_secrets_are_replaced() {
    let world = World::new();
    let mut one = world.replica(true, &[NAME]);
    one.keeper.round().await.unwrap();
    let (authority, server) = (world.data(Secret::Authority).await, world.data(Secret::Server).await);
    let with = |data: &BTreeMap<String, Vec<u8>>, key: &str, value: &[u8]| {
        let mut data = data.clone();
        data.insert(key.into(), value.into());
        data
    };
    type Damage = (&'static str, Secret, Option<BTreeMap<String, Vec<u8>>>, (Option<Why>, Option<Why>));
    let table: Vec<Damage> = vec![
        ("server gone", Secret::Server, None, (None, Some(Why::Missing))),
        ("certificate nonsense", Secret::Server, Some(with(&server, "tls.crt", b"x")), (None, Some(Why::Missing))),
        (
            "another key",
            Secret::Server,
            Some(with(&server, "tls.key", &authority["ca.key"])),
            (None, Some(Why::Missing)),
        ),
        ("empty", Secret::Server, Some(BTreeMap::new()), (None, Some(Why::Missing))),
        (
            "CA nonsense",
            Secret::Authority,
            Some(with(&authority, "ca.crt", b"\xff")),
            (Some(Why::Missing), Some(Why::Stranger)),
        ),
        ("CA gone", Secret::Authority, None, (Some(Why::Missing), Some(Why::Stranger))),
        ("CA key lost", Secret::Authority, Some(with(&authority, "ca.key", b"")), (Some(Why::NoKey), None)),
    ];
    for (name, secret, data, expected) in table {
        world.cluster.put(Secret::Authority, Some(authority.clone()));
        world.cluster.put(Secret::Server, Some(server.clone()));
        world.cluster.put(secret, data);
        let mut fresh = world.replica(true, &[NAME]);
        let done = fresh.keeper.round().await.unwrap();
        assert_eq!((done.authority, done.server), expected, "{name}");
        assert!(world.trusts(NAME).await, "{name}");
        assert!(fresh.serving.until().is_some(), "{name}");
    }
}

#[tokio::test]
async fn a_new_name_is_in_the_next_certificate() {
    let world = World::new();
    world.replica(true, &[NAME]).keeper.round().await.unwrap();
    let done = world.replica(true, &[NAME, "admission.example.org"]).keeper.round().await.unwrap();
    assert_eq!((done.authority, done.server), (None, Some(Why::Names)));
    assert!(world.trusts("admission.example.org").await);
}

#[test]
fn a_bundle_is_written_as_it_was_read() {
    let policy = Policy::default();
    let now = Timestamp::from_second(1_800_000_000).unwrap();
    let issued = issue::authority("c", now, &policy).unwrap();
    let read = pair::certificates(issued.certificate.as_bytes()).unwrap();
    let plain = |pem: &str| pem.replace('\r', "");
    assert_eq!(plain(&to_pem(&read)), plain(&issued.certificate));
    let validity = pair::validity(&read[0]).unwrap();
    assert_eq!((validity.since, validity.until), (now - policy.skew, now + policy.validity));
}

#[test]
fn nothing_shows_a_key() {
    let data = BTreeMap::from([("ca.key".to_owned(), b"PRIVATE".to_vec())]);
    let shown = format!("{:?}", Stored { version: "1".into(), data });
    assert!(shown.contains("ca.key") && !shown.contains("PRIVATE") && !shown.contains("80, 82"), "{shown}");
}
