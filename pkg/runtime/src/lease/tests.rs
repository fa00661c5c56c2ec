use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::*;

/// The one object.
#[derive(Default)]
struct Cluster(Mutex<Option<Record>>);

impl Cluster {
    fn touch(&self) {
        let mut stored = self.0.lock().unwrap();
        let record = stored.as_mut().unwrap();
        record.version = Some(format!("{}+", record.version.as_deref().unwrap()));
    }

    fn holder(&self) -> String {
        self.0.lock().unwrap().as_ref().map(|record| record.holder.clone()).unwrap_or_default()
    }
}

const FINE: u8 = 0;
const REFUSES: u8 = 1;
const HANGS: u8 = 2;
/// Writes arrive, but their answers don't.
const FORGETS: u8 = 3;

/// One replica's way to the cluster.
struct Link {
    cluster: Arc<Cluster>,
    state: Arc<AtomicU8>,
}

#[async_trait]
impl LeaseStore for Link {
    async fn read(&self) -> Result<Option<Record>, LeaseError> {
        sleep(Duration::from_millis(20)).await;
        match self.state.load(Ordering::SeqCst) {
            REFUSES => Err(LeaseError::Unavailable("refused".into())),
            HANGS => std::future::pending().await,
            _ => Ok(self.cluster.0.lock().unwrap().clone()),
        }
    }

    async fn write(&self, record: &Record) -> Result<Record, LeaseError> {
        sleep(Duration::from_millis(20)).await;
        let written = {
            let mut stored = self.cluster.0.lock().unwrap();
            if stored.as_ref().and_then(|stored| stored.version.clone()) != record.version {
                return Err(LeaseError::Conflict);
            }
            let version = record.version.as_deref().map_or(0, str::len);
            let written = Record { version: Some("v".repeat(version + 1)), ..record.clone() };
            *stored = Some(written.clone());
            written
        };
        if self.state.load(Ordering::SeqCst) == FORGETS {
            return std::future::pending().await;
        }
        Ok(written)
    }
}

struct Replica {
    leadership: Leadership,
    link: Arc<AtomicU8>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

fn replica(cluster: &Arc<Cluster>, name: &str) -> Replica {
    skewed(cluster, name, 0)
}

/// A replica whose clock goes wrong by so many seconds, and runs with the test's time.
fn skewed(cluster: &Arc<Cluster>, name: &str, skew: i64) -> Replica {
    let (start, begun) = (Timestamp::from_second(1_800_000_000 + skew).unwrap(), Instant::now());
    let clock: Clock = Arc::new(move || start + begun.elapsed());
    let link = Arc::new(AtomicU8::new(FINE));
    let store = Link { cluster: Arc::clone(cluster), state: Arc::clone(&link) };
    let elector = Elector::new(Arc::new(store), name, Timing::default()).with_clock(clock);
    let leadership = elector.leadership();
    let (stop, stopped) = oneshot::channel::<()>();
    let task = tokio::spawn(elector.run(async {
        let _ = stopped.await;
    }));
    Replica { leadership, link, stop, task }
}

/// Lets time pass and holds, at each moment, that at most one believes; says how often each did.
async fn watch(replicas: &[&Replica], time: Duration) -> Vec<u32> {
    let end = Instant::now() + time;
    let mut counts = vec![0; replicas.len()];
    while Instant::now() < end {
        let held: Vec<bool> = replicas.iter().map(|replica| replica.leadership.is_held()).collect();
        assert!(held.iter().filter(|held| **held).count() <= 1, "two hold the lease at once");
        for (count, held) in counts.iter_mut().zip(held) {
            *count += u32::from(held);
        }
        sleep(Duration::from_millis(50)).await;
    }
    counts
}

#[test]
fn a_lease_is_taken_only_when_nobody_has_it_or_its_holder_is_silent() {
    let of = |holder: &str| Record { holder: holder.into(), duration: Duration::from_secs(15), ..Record::default() };
    let seconds = Duration::from_secs;
    for (record, silent, expected) in [
        (None, 0, Step::Take),
        (Some(of("")), 0, Step::Take),
        (Some(of("me")), 0, Step::Renew),
        (Some(of("me")), 60, Step::Renew),
        (Some(of("other")), 0, Step::Wait),
        (Some(of("other")), 14, Step::Wait),
        (Some(of("other")), 15, Step::Take),
    ] {
        assert_eq!(step("me", record.as_ref(), seconds(silent)), expected, "{record:?} silent for {silent} s");
    }
}

#[tokio::test(start_paused = true)]
async fn one_of_three_holds_it_as_long_as_it_renews() {
    let cluster = Arc::default();
    let replicas = [replica(&cluster, "a"), replica(&cluster, "b"), replica(&cluster, "c")];
    let all: Vec<&Replica> = replicas.iter().collect();
    watch(&all, Duration::from_secs(5)).await;
    let counts = watch(&all, Duration::from_secs(120)).await;
    let (most, moments) = (counts.iter().max().unwrap(), counts.iter().sum::<u32>());
    assert_eq!(*most, moments, "it never changes hands: {counts:?}");
    assert_eq!(moments, 2400, "and is never without a holder");
}

#[tokio::test(start_paused = true)]
async fn a_holder_without_a_cluster_stops_before_another_begins() {
    for trouble in [REFUSES, HANGS, FORGETS] {
        let cluster = Arc::default();
        let first = replica(&cluster, "a");
        watch(&[&first], Duration::from_secs(3)).await;
        assert!(first.leadership.is_held());
        let second = replica(&cluster, "b");
        watch(&[&first, &second], Duration::from_secs(5)).await;
        first.link.store(trouble, Ordering::SeqCst);
        let counts = watch(&[&first, &second], Duration::from_secs(60)).await;
        if trouble == FORGETS {
            // Its renewals arrive, so nobody may take it; it doesn't know that, so it doesn't believe.
            assert_eq!(counts[1], 0);
            assert!(!first.leadership.is_held());
        } else {
            assert!(!first.leadership.is_held() && second.leadership.is_held(), "trouble {trouble}");
        }
        first.link.store(FINE, Ordering::SeqCst);
        let counts = watch(&[&first, &second], Duration::from_secs(30)).await;
        assert_eq!(counts.iter().filter(|count| **count > 0).count(), 1, "and it stays where it is: {counts:?}");
    }
}

/// R8: no clock but the monotonic one decides.
#[tokio::test(start_paused = true)]
async fn clocks_that_differ_by_half_a_minute_change_nothing() {
    for (first_skew, second_skew) in [(30, -30), (-30, 30), (30, 0), (-30, 0)] {
        let cluster = Arc::default();
        let first = skewed(&cluster, "a", first_skew);
        watch(&[&first], Duration::from_secs(3)).await;
        let second = skewed(&cluster, "b", second_skew);
        let counts = watch(&[&first, &second], Duration::from_secs(120)).await;
        assert_eq!(counts, [2400, 0], "who renews keeps it");
        first.link.store(HANGS, Ordering::SeqCst);
        let lost = Instant::now();
        while !second.leadership.is_held() {
            watch(&[&first, &second], Duration::from_millis(100)).await;
            assert!(lost.elapsed() <= Duration::from_secs(20), "taken over within 20 s");
        }
        assert!(lost.elapsed() >= Duration::from_secs(10), "not before the first one has stopped");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_given_back_is_taken_at_once() {
    let cluster: Arc<Cluster> = Arc::default();
    let first = replica(&cluster, "a");
    watch(&[&first], Duration::from_secs(3)).await;
    let second = replica(&cluster, "b");
    watch(&[&first, &second], Duration::from_secs(5)).await;
    first.stop.send(()).unwrap();
    first.task.await.unwrap();
    assert_eq!(cluster.holder(), "");
    watch(&[&second], Duration::from_secs(5)).await;
    assert!(second.leadership.is_held(), "two pauses are enough");
}

#[tokio::test(start_paused = true)]
async fn another_writer_on_the_object_costs_the_holder_nothing() {
    let cluster: Arc<Cluster> = Arc::default();
    let first = replica(&cluster, "a");
    watch(&[&first], Duration::from_secs(3)).await;
    let touching = Arc::clone(&cluster);
    let toucher = tokio::spawn(async move {
        // Between a read and its write, again and again.
        for _ in 0..300 {
            touching.touch();
            sleep(Duration::from_millis(333)).await;
        }
    });
    let counts = watch(&[&first], Duration::from_secs(100)).await;
    toucher.await.unwrap();
    assert_eq!(counts, [2000]);
}

#[tokio::test(start_paused = true)]
async fn resigning_never_waits_for_a_cluster_that_does_not_answer() {
    let cluster = Arc::default();
    let first = replica(&cluster, "a");
    watch(&[&first], Duration::from_secs(3)).await;
    first.link.store(HANGS, Ordering::SeqCst);
    let begun = Instant::now();
    first.stop.send(()).unwrap();
    first.task.await.unwrap();
    assert!(begun.elapsed() <= Timing::default().retry);
    assert!(!first.leadership.is_held());
}

#[test]
fn the_times_leave_room_for_a_request() {
    let timing = Timing::default();
    assert!(timing.renew_for + crate::cluster::REQUEST_TIMEOUT <= timing.duration);
    assert!(timing.retry * 2 + timing.renew_for / 2 < timing.renew_for, "more than one attempt to renew");
}

#[tokio::test(start_paused = true)]
async fn work_may_wait_for_the_lease_and_for_its_loss() {
    let (sender, receiver) = watch::channel(None);
    let leadership = Leadership(receiver);
    let waiting = leadership.clone();
    let held = tokio::spawn(async move { waiting.held().await });
    assert!(timeout(Duration::from_secs(60), leadership.lost()).await.is_ok(), "who holds nothing has lost nothing");
    assert!(!held.is_finished());
    sender.send_replace(Some(Instant::now() + Duration::from_secs(10)));
    held.await.unwrap();
    // Renewed in time: not lost at the end of the first belief, but at that of the second.
    let waiting = leadership.clone();
    let lost = tokio::spawn(async move {
        waiting.lost().await;
        Instant::now()
    });
    let begun = Instant::now();
    sleep(Duration::from_secs(8)).await;
    sender.send_replace(Some(begun + Duration::from_secs(18)));
    assert_eq!(lost.await.unwrap().duration_since(begun).as_secs(), 18);
    // Given away: at once.
    sender.send_replace(Some(Instant::now() + Duration::from_secs(10)));
    let before = Instant::now();
    let waiting = leadership.clone();
    let lost = tokio::spawn(async move { waiting.lost().await });
    sleep(Duration::from_secs(1)).await;
    sender.send_replace(None);
    lost.await.unwrap();
    assert_eq!(before.elapsed().as_secs(), 1);
}
