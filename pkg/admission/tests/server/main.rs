//! The server on real sockets with real TLS: bad clients, slow clients, many clients, new certificates, and leaving.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the helpers of tests fail as tests do"
)]

mod client;
mod setup;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use fabric_admission::certificates::{Files, Serving};
use fabric_admission::{Limits, Shutdown};
use hyper::body::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use client::{Client, NAME, PATH, connect, get, review};
use setup::{Clock, World, eventually, quick, start};

/// What a server says before it closes; empty when it just closes. Fails when it does neither in ten seconds.
async fn last_words(stream: &mut (impl AsyncReadExt + Unpin)) -> String {
    let mut text = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut text)).await;
    let _broken_or_closed = read.expect("the connection hangs");
    String::from_utf8_lossy(&text).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_bad_requests_leaves_the_good_ones_alone() {
    let world = World::new();
    let server = world.server(Limits::default(), Shutdown::default()).await;
    let stopped = Arc::new(AtomicBool::new(false));
    let sent = Arc::new(AtomicUsize::new(0));
    let bad: Vec<Vec<u8>> = [
        format!(
            "POST {PATH} HTTP/1.1\r\nConnection: close\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\n{{bad}}"
        ),
        format!(
            "POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\nContent-Type: application/json\r\n\r\n"
        ),
        "POST /nowhere HTTP/1.1\r\nConnection: close\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}".into(),
        format!("DELETE {PATH} HTTP/1.1\r\nConnection: close\r\nHost: x\r\n\r\n"),
        "\u{0}\u{1}\u{2}\r\n\r\n".into(),
        format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(100_000)),
    ]
    .into_iter()
    .map(String::into_bytes)
    .collect();
    let floods: Vec<_> = (0..6)
        .map(|which| {
            let (address, bad, stopped, sent) = (server.webhooks, bad[which].clone(), stopped.clone(), sent.clone());
            let (bundle, now) = (world.cluster.bundle().unwrap(), world.clock.seconds());
            tokio::spawn(async move {
                while !stopped.load(Ordering::Relaxed) {
                    let Ok(mut stream) = connect(address, &bundle, Arc::clone(&now)).await else { continue };
                    // The server may close in the middle.
                    let _ = stream.write_all(&bad).await;
                    let words = last_words(&mut stream).await;
                    assert!(!words.starts_with("HTTP/1.1 5"), "{words}");
                    // Nor does it mind what is no TLS at all.
                    if let Ok(mut plain) = TcpStream::connect(address).await {
                        let _ = plain.write_all(&bad).await;
                        last_words(&mut plain).await;
                    }
                    sent.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    let mut good = world.client(server.webhooks);
    let mut asked = 0;
    while sent.load(Ordering::Relaxed) < 60 || asked < 200 {
        good.ask(asked % 10 != 0).await.unwrap();
        asked += 1;
    }
    stopped.store(true, Ordering::Relaxed);
    for flood in floods {
        flood.await.unwrap();
    }
    let (_, metrics) = get(server.operations, "/metrics").await.unwrap();
    for reason in ["review", "size", "path", "method", "handshake"] {
        assert!(metrics.contains(&format!("admission_rejected_total{{reason=\"{reason}\"}}")), "{reason}: {metrics}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_clients_are_sent_away_and_idle_ones_are_not() {
    let world = World::new();
    let server = world.server(quick(), Shutdown::default()).await;
    let open =
        || async { connect(server.webhooks, &world.cluster.bundle().unwrap(), world.clock.seconds()).await.unwrap() };

    let mut silent = TcpStream::connect(server.webhooks).await.unwrap();
    assert_eq!(last_words(&mut silent).await, "", "no handshake");

    let mut half = open().await;
    half.write_all(b"POST /webhooks/validate HTTP/1.1\r\nHo").await.unwrap();
    assert_eq!(last_words(&mut half).await, "", "half a head");

    let (mut read, mut write) = tokio::io::split(open().await);
    let drip = tokio::spawn(async move {
        for byte in "POST / HTTP/1.1\r\nX: ".bytes().chain(std::iter::repeat(b'x')) {
            if write.write_all(&[byte]).await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    assert_eq!(last_words(&mut read).await, "", "a byte now and then");
    drip.abort();

    let mut stuck = open().await;
    let head =
        format!("POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{{");
    stuck.write_all(head.as_bytes()).await.unwrap();
    assert!(last_words(&mut stuck).await.starts_with("HTTP/1.1 408 "), "half a body");

    let mut idle = world.client(server.webhooks);
    idle.ask(true).await.unwrap();
    // There is nothing to poll for: what matters is that nothing happens.
    tokio::time::sleep(quick().head * 3).await;
    assert!(idle.is_connected());
    idle.ask(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_many_connections_are_told_so_until_idle_ones_made_room() {
    let world = World::new();
    let limits = Limits { connections: 3, overflow: 1, ..quick() };
    let server = world.server(limits, Shutdown::default()).await;
    let mut idle: Vec<Client> = (0..3).map(|_| world.client(server.webhooks)).collect();
    for client in &mut idle {
        client.ask(true).await.unwrap();
    }
    let mut late = world.client(server.webhooks);
    let (code, status) = late.send(review("none")).await.unwrap();
    assert_eq!((code, &status["reason"]), (503, &"ServiceUnavailable".into()));
    assert!(!late.is_connected());
    // One place more is only for saying so; whoever holds it keeps the rest out without a word.
    let _holder = connect(server.webhooks, &world.cluster.bundle().unwrap(), world.clock.seconds()).await;
    eventually("an idle connection makes room", || {
        let mut client = world.client(server.webhooks);
        async move { client.ask(true).await.is_ok() }
    })
    .await;
}

/// Asks without end; each client opens a connection anew after some requests.
fn load(clients: Vec<Client>, stop: &Arc<AtomicBool>) -> (Vec<tokio::task::JoinHandle<()>>, Vec<Arc<AtomicUsize>>) {
    clients
        .into_iter()
        .enumerate()
        .map(|(number, mut client)| {
            let (stop, asked) = (Arc::clone(stop), Arc::new(AtomicUsize::new(0)));
            let count = Arc::clone(&asked);
            let task = tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    let turn = count.load(Ordering::Relaxed);
                    client
                        .ask(turn % 10 != 0)
                        .await
                        .unwrap_or_else(|error| panic!("request {turn} of {number}: {error}"));
                    if turn % (number + 1) == 0 {
                        client.disconnect();
                    }
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
            (task, asked)
        })
        .unzip()
}

/// Waits until each client was answered twice since now.
async fn answered(counts: &[Arc<AtomicUsize>]) {
    let before: Vec<usize> = counts.iter().map(|count| count.load(Ordering::Relaxed)).collect();
    eventually("each client is answered", || {
        let all = counts.iter().zip(&before).all(|(count, before)| count.load(Ordering::Relaxed) >= before + 2);
        async move { all }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn certificates_rotate_under_load_without_a_failed_request() {
    let world = World::new();
    let (mut leader, first) = world.keeper(true);
    let (mut follower, second) = world.keeper(false);
    leader.round().await.unwrap();
    follower.round().await.unwrap();
    let one = start(Limits::default(), Shutdown::default(), &first, &world.clock).await;
    let two = start(Limits::default(), Shutdown::default(), &second, &world.clock).await;
    let stop = Arc::new(AtomicBool::new(false));
    let clients = [one.webhooks, two.webhooks].repeat(2).into_iter().map(|address| world.client(address)).collect();
    let (tasks, counts) = load(clients, &stop);
    let (mut authorities, mut servers, mut pruned) = (0, 0, 0);
    for _ in 0..100 {
        world.clock.pass(12);
        let done = leader.round().await.unwrap();
        authorities += usize::from(done.authority.is_some());
        servers += usize::from(done.server.is_some());
        pruned += usize::from(done.pruned);
        // The follower is half a day late with everything.
        answered(&counts).await;
        follower.round().await.unwrap();
    }
    stop.store(true, Ordering::Relaxed);
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!((authorities, servers, pruned), (2, 2, 2), "fifty days");
    assert_eq!(first.until(), second.until());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_files_are_taken_under_load_and_half_written_ones_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = (folder.path().join("tls.crt"), folder.path().join("tls.key"));
    let pair = || rcgen::generate_simple_self_signed(vec![NAME.to_owned()]).unwrap();
    // Self-signed certificates are their own bundle: callers trust all of them.
    let pairs: Vec<_> = (0..5).map(|_| pair()).collect();
    let bundle: String = pairs.iter().map(|pair| pair.cert.pem()).collect();
    let put = |path: &std::path::Path, text: &str| {
        let fresh = path.with_extension("new");
        std::fs::write(&fresh, text).unwrap();
        std::fs::rename(&fresh, path).unwrap();
    };
    put(&certificate, &pairs[0].cert.pem());
    put(&key, &pairs[0].signing_key.serialize_pem());
    let (serving, clock) = (Serving::new(), Clock::new());
    let mut files = Files::open(&certificate, &key, Arc::clone(&serving), None).unwrap();
    let server = start(Limits::default(), Shutdown::default(), &serving, &clock).await;
    let stop = Arc::new(AtomicBool::new(false));
    let trusted = bundle.clone();
    let client = || {
        let bundle = trusted.clone();
        Client::new(server.webhooks, Arc::new(move || bundle.clone()), clock.seconds())
    };
    let (tasks, counts) = load(vec![client(), client()], &stop);
    for pair in &pairs[1..] {
        put(&certificate, &pair.cert.pem());
        let problem = files.refresh().unwrap_err().to_string();
        assert!(problem.contains("the key belongs to another certificate"), "{problem}");
        answered(&counts).await;
        put(&key, &pair.signing_key.serialize_pem());
        assert!(files.refresh().unwrap(), "the whole pair is taken");
        assert!(!files.refresh().unwrap(), "once");
        let stream = connect(server.webhooks, &pair.cert.pem(), clock.seconds()).await;
        assert!(stream.is_ok(), "who trusts only the new one is served: {stream:?}");
        answered(&counts).await;
    }
    stop.store(true, Ordering::Relaxed);
    for task in tasks {
        task.await.unwrap();
    }
    std::fs::remove_file(&key).unwrap();
    assert!(files.refresh().unwrap_err().to_string().contains("tls.key"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_leaves_under_load_without_a_failed_request() {
    let world = World::new();
    let shutdown = Shutdown { notice: Duration::from_secs(2), drain: Duration::from_secs(10) };
    let (leaving, staying) =
        (world.server(Limits::default(), shutdown.clone()).await, world.server(Limits::default(), shutdown).await);
    let stop = Arc::new(AtomicBool::new(false));
    let (tasks, counts): (Vec<_>, Vec<_>) = (0..4)
        .map(|number| {
            let mut client = world.client(leaving.webhooks);
            let (stop, answered) = (Arc::clone(&stop), Arc::new(AtomicUsize::new(0)));
            let (probe, other, count) = (leaving.operations, staying.webhooks, Arc::clone(&answered));
            let task = tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    // New connections go to who is ready, as a Service routes them.
                    if !client.is_connected() && get(probe, "/readyz").await.map_or(0, |(code, _)| code) != 200 {
                        client.address = other;
                    }
                    let rule = if number % 2 == 0 { "short" } else { "none" };
                    let (code, answer) = client.send(review(rule)).await.unwrap();
                    assert_eq!((code, &answer["response"]["allowed"]), (200, &true.into()));
                    count.fetch_add(1, Ordering::Relaxed);
                }
                client.address == other
            });
            (task, answered)
        })
        .unzip();
    answered(&counts).await;
    leaving.stop.send(()).unwrap();
    leaving.task.await.unwrap();
    assert!(TcpStream::connect(leaving.webhooks).await.is_err(), "nobody listens any more");
    answered(&counts).await;
    stop.store(true, Ordering::Relaxed);
    for task in tasks {
        assert!(task.await.unwrap(), "a client never moved");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_in_progress_is_answered_and_an_endless_one_cut_off() {
    let world = World::new();
    let shutdown = Shutdown { notice: Duration::from_millis(1), drain: Duration::from_secs(2) };
    let server = world.server(Limits::default(), shutdown).await;
    let (mut short, mut long) = (world.client(server.webhooks), world.client(server.webhooks));
    short.ask(true).await.unwrap();
    long.ask(true).await.unwrap();
    let short = tokio::spawn(async move { short.send(review("held")).await });
    let long = tokio::spawn(async move { long.send(review("long")).await });
    eventually("both are being answered", || {
        let asked = server.asked.load(Ordering::Relaxed);
        async move { asked == 4 }
    })
    .await;
    let started = Instant::now();
    server.stop.send(()).unwrap();
    eventually("it takes no more connections", || async { TcpStream::connect(server.webhooks).await.is_err() }).await;
    server.gate.add_permits(1);
    assert_eq!(short.await.unwrap().unwrap().0, 200);
    server.task.await.unwrap();
    assert!(long.await.unwrap().is_err(), "there was no answer to give");
    assert!(started.elapsed() < Duration::from_secs(7), "its own limit would be nine seconds: {:?}", started.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_certificate_it_is_alive_but_not_ready() {
    let world = World::new();
    let (mut keeper, serving) = world.keeper(true);
    let server = start(Limits::default(), Shutdown::default(), &serving, &world.clock).await;
    assert_eq!(get(server.operations, "/healthz").await.unwrap().0, 200);
    let (code, text) = get(server.operations, "/readyz").await.unwrap();
    assert_eq!(code, 503);
    assert!(text.contains("[-]certificate failed: no certificate yet"), "{text}");
    let other = rcgen::generate_simple_self_signed(vec![NAME.to_owned()]).unwrap().cert.pem();
    assert!(connect(server.webhooks, &other, world.clock.seconds()).await.is_err());
    keeper.round().await.unwrap();
    assert_eq!(get(server.operations, "/readyz").await.unwrap().0, 200);
    let (code, _) = world.client(server.webhooks).send(Bytes::from_static(b"{}")).await.unwrap();
    assert_eq!(code, 400);
}
