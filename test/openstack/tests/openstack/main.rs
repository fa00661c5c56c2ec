//! The reconcile on the real services of the lab, and the same on the embedded cloud.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "cases are tests: a failed expectation ends them"
)]

mod bad_input;
mod deletion;
mod drift;
mod dual_stack;
mod floating;
mod held;
mod patterns;
mod resume;
mod sequences;
mod shares;
mod upstream;

macro_rules! cases {
    ($($module:ident { $($name:ident,)+ })+) => {
        mod lab {
            $(mod $module {
                $(#[test]
                fn $name() {
                    fabric_test_openstack::on_lab(crate::$module::$name);
                })+
            })+
        }

        mod embedded {
            $(mod $module {
                $(#[test]
                fn $name() {
                    fabric_test_openstack::on_embedded(crate::$module::$name);
                })+
            })+
        }
    };
}

cases! {
    bad_input {
        wrong_credentials_and_an_unknown_region_change_nothing,
        a_given_resource_that_never_was_is_told_under_its_field,
        a_given_network_that_vanishes_half_way_stops_clearly_and_nothing_is_left_behind,
        a_full_quota_is_told_by_each_service_and_the_next_run_continues,
    }
    deletion {
        load_balancers_and_routes_of_this_shoot_alone_go_from_a_given_subnet_and_router,
        foreign_ports_and_subnets_in_our_network_are_named_and_block_nothing_else,
        one_of_two_shoots_on_a_network_and_router_leaves_and_the_other_does_not_notice,
        on_our_subnet_in_a_given_network_a_strangers_load_balancer_is_named_and_stays,
    }
    drift {
        every_attribute_changed_behind_our_back_is_found_and_put_right,
        what_others_add_is_told_and_what_cannot_be_put_right_is_named,
    }
    dual_stack {
        three_ipv6_subnets_with_the_ranges_asked_for,
        ranges_of_both_families_come_from_pools_into_a_given_network,
        a_shared_pool_of_another_project_gives_a_range,
        a_given_ipv6_subnet_is_used_and_the_ranges_are_passed_on_as_they_are,
    }
    floating {
        an_exhausted_external_subnet_gives_way_to_the_next_and_snat_is_switched_in_place,
        a_plain_member_may_neither_choose_the_external_subnet_nor_switch_snat,
    }
    held {
        a_held_port_is_a_clear_time_out_and_the_next_run_continues,
        a_held_load_balancer_is_waited_for_and_the_next_deletion_continues,
    }
    patterns {
        pattern_1_makes_all_beside_a_users_network_of_the_same_name_and_takes_all_away,
        pattern_2_makes_subnet_and_router_in_the_given_network,
        pattern_3_makes_the_subnet_and_its_interface_on_the_given_router,
        pattern_4_makes_group_and_key_pair_alone,
        pattern_5_makes_the_key_pair_alone,
        without_ssh_access_a_key_of_nobody_is_made_and_kept,
    }
    resume {
        a_process_killed_at_every_save_converges_with_nothing_doubled,
        an_interrupted_run_ends_its_steps_saves_and_is_continued,
        a_lost_state_is_found_again_without_making_anything,
        what_an_earlier_life_of_the_shoot_left_is_told_and_taken_over,
    }
    sequences {
        r3_a_second_run_has_nothing_to_do_whatever_was_specified,
    }
    shares {
        a_share_network_is_made_adopted_or_given_and_near_misses_are_left_alone,
    }
    upstream {
        an_existing_cluster_does_not_notice_the_change_with_its_state_and_without,
    }
}
