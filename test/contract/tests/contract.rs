//! Plays every case on the real services of the lab, and on the embedded cloud.
#![allow(clippy::expect_used, reason = "a lab that is there must be complete")]

use fabric_openstack::config::{Surroundings, load};
use fabric_test_contract::{Facts, Stage, cases};

/// The lab's stage; `None`, said loudly, when there is no lab.
async fn lab() -> Option<Stage> {
    let from = Surroundings::of_process();
    let Some(file) = from.variable("FABRIC_LAB_FACTS") else {
        println!("SKIPPED: no lab: run `hack/lab up` and `eval \"$(hack/lab env)\"` first");
        return None;
    };
    let text = std::fs::read_to_string(file).expect("FABRIC_LAB_FACTS names a file");
    let facts: Facts = serde_json::from_str(&text).expect("facts.json");
    let credentials = |cloud: &str| load(Some(cloud), &from).expect("clouds.yaml of the lab");
    Some(Stage::new(facts, credentials).await)
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
    an_interface_that_cannot_be_is_refused,
    an_unknown_region_has_no_endpoint,
    another_projects_objects_do_not_exist,
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
