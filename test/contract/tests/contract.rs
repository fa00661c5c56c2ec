//! Plays every case on the real services of the lab, and on the embedded cloud.
#![allow(clippy::expect_used, reason = "a lab that is there must be complete")]

use std::sync::Arc;

use fabric_openstack::config::{Surroundings, clouds_yaml::Clouds, load};
use fabric_openstack_sim::{Cloud, Config, Seed};
use fabric_test_contract::{Facts, Stage, cases};
use serde_json::Value;

/// The lab's stage; `None`, said loudly, when there is no lab.
async fn lab() -> Option<Stage> {
    let from = Surroundings::of_process();
    let Some(file) = from.variable("FABRIC_LAB_FACTS") else {
        println!("SKIPPED: no lab: run `hack/lab up` and `eval \"$(hack/lab env)\"` first");
        return None;
    };
    let text = std::fs::read_to_string(file).expect("FABRIC_LAB_FACTS names a file");
    let all: Value = serde_json::from_str(&text).expect("facts.json");
    let hold_file = all.get("hold_file").and_then(Value::as_str).expect("hold_file").to_owned();
    let facts: Facts = serde_json::from_value(all).expect("facts.json");
    let credentials = |cloud: &str| load(Some(cloud), &from).expect("clouds.yaml of the lab");
    let hold = Box::new(move |on| {
        let done = if on { std::fs::write(&hold_file, "") } else { std::fs::remove_file(&hold_file) };
        done.expect("the hold file can be written");
    });
    Some(Stage::new(facts, credentials, hold).await)
}

/// A fresh embedded cloud's stage.
async fn embedded() -> Stage {
    let seed = Seed::default();
    let secret = seed.application_credential_secret.clone();
    let cloud = Cloud::start(Config { seed, ..Config::default() }).await.expect("ports on loopback");
    let cloud = Arc::new(cloud);
    let id = |table: &str, name: &str| cloud.id(table, name).expect(name);
    let facts = Facts {
        project_id: id("projects", "demo").as_str().into(),
        other_project_id: id("projects", "other").as_str().into(),
        user: "demo".to_owned(),
        domain: "demo".to_owned(),
        application_credential_name: "ci".to_owned(),
        application_credential_id: id("application_credentials", "ci"),
        application_credential_secret: secret,
        external_network: "public".to_owned(),
        external_network_id: id("networks", "public").as_str().into(),
    };
    let clouds = Clouds::parse("embedded", &cloud.clouds_yaml()).expect("its clouds.yaml");
    let nowhere = Surroundings::default();
    let credentials = |name: &str| clouds.credentials(name, &nowhere).expect(name);
    // The stage keeps the cloud.
    let hold = Box::new(move |on| cloud.hold(on));
    Stage::new(facts, credentials, hold).await
}

macro_rules! cases {
    ($($name:ident),+ $(,)?) => {
        mod lab {
            $(#[tokio::test]
            async fn $name() {
                if let Some(stage) = super::lab().await {
                    stage.play(super::cases::$name).await;
                }
            })+
        }

        mod embedded {
            $(#[tokio::test]
            async fn $name() {
                super::embedded().await.play(super::cases::$name).await;
            })+
        }
    };
}

cases! {
    a_group_in_use_stays,
    a_key_pair_lives_and_goes,
    a_network_in_use_stays,
    a_network_lives_and_goes,
    a_pool_gives_ranges_until_it_is_exhausted,
    a_reader_may_not_write,
    a_revoked_token_is_renewed_once,
    a_router_and_its_interface_live_and_go,
    a_share_network_lives_and_goes,
    a_subnet_lives_and_goes,
    a_subnet_that_cannot_be_is_refused,
    a_used_up_quota_is_told_in_every_service,
    an_interface_stays_down_while_held,
    an_interface_that_cannot_be_is_refused,
    an_unknown_region_has_no_endpoint,
    another_projects_objects_do_not_exist,
    creations_are_found_by_name_and_marker,
    credentials_that_are_wrong_are_unauthenticated,
    every_form_of_credentials_logs_in,
    filters_narrow_a_list,
    lists_follow_every_page,
    load_balancers_hold_a_subnet_until_they_go,
    routes_go_one_by_one,
    rules_are_normalised,
    rules_come_back_as_sent_and_once,
    rules_that_cannot_be_are_refused_together,
    servers_are_listed_by_prefix,
    snat_needs_the_policys_consent,
    tags_are_added_and_nothing_is_lost,
    the_session_serves_other_calls,
}
