//! The embedded cloud against recordings of the real services, and its own switches.
//!
//! Each file in `test/contract/recordings` is a case: a fresh cloud, what the request needs, the request, and the
//! answer compared: status, headers, members, values, error type and message.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed expectation ends a test"
)]

mod behaviour;
mod case;
mod client;
mod compare;
mod coverage;
mod rules;
mod steps;

use fabric_openstack_sim::{Cloud, Config};

/// A cloud on which everything is ACTIVE as soon as somebody looks.
async fn cloud() -> Cloud {
    let config = Config { delay: std::time::Duration::ZERO, rng_seed: Some(7), ..Config::default() };
    Cloud::start(config).await.expect("the cloud starts on free ports")
}

/// Replays every recording of a service and shows all differences at once.
async fn replay(service: &str) {
    let mut wrong = Vec::new();
    let mut count = 0;
    for name in case::names().iter().filter(|n| n.starts_with(&format!("{service}__"))) {
        count += 1;
        for difference in case::run(name).await {
            wrong.push(format!("{name}: {difference}"));
        }
    }
    assert!(count > 0, "there are no recordings of {service}");
    assert!(wrong.is_empty(), "{} of {count} recordings differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn keystone_answers_as_recorded() {
    replay("identity").await;
}

#[tokio::test]
async fn neutron_answers_as_recorded() {
    replay("network").await;
}

#[tokio::test]
async fn nova_answers_as_recorded() {
    replay("compute").await;
}

#[tokio::test]
async fn manila_answers_as_recorded() {
    replay("share").await;
}

#[tokio::test]
async fn octavia_answers_as_recorded() {
    replay("load-balancer").await;
}
