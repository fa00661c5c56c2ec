//! Every recording of the real services is a case here, or is listed with the reason why not.

use std::collections::BTreeSet;

use crate::case::{folder, names};

const WORKERS: &str = "It belongs to workers, which another controller makes; the product makes no such call.";
const TRUNKS: &str = "Trunks come with tenant networks; the product makes no such call yet.";
const INSIDE: &str =
    "It lies inside a load balancer; the product deletes load balancers as a whole, with `cascade=true`.";
const BROKEN: &str = "It shows a broken installation; the faults of the embedded cloud stand for it.";
const KEYS: &str = "The product imports public keys and never lets Nova make a pair.";
const EXTENSIONS: &str = "The product asks for no extension, and the list is long text of other authors.";

const NOT_COVERED: [(&str, &str); 34] = [
    ("compute__err_400_server_group_policy", WORKERS),
    ("compute__err_403_quota_server_groups", WORKERS),
    ("compute__err_404_server_group", WORKERS),
    ("compute__fault_database_down_get", BROKEN),
    ("compute__fault_keystone_down_new_token", BROKEN),
    ("compute__keypair_generate_2_1", KEYS),
    ("compute__server_group_create", WORKERS),
    ("compute__server_group_create_2_64", WORKERS),
    ("compute__server_group_delete", WORKERS),
    ("compute__server_group_get_2_64", WORKERS),
    ("compute__server_group_list", WORKERS),
    ("identity__fault_database_down_auth", BROKEN),
    ("load-balancer__healthmonitor_create", INSIDE),
    ("load-balancer__lb_status_tree", INSIDE),
    ("load-balancer__listener_update", INSIDE),
    ("load-balancer__member_create", INSIDE),
    ("load-balancer__members_batch_update", INSIDE),
    ("network__err_409_port_in_use_by_trunk", TRUNKS),
    ("network__err_409_trunk_delete_parent_bound", TRUNKS),
    ("network__extension_get", EXTENSIONS),
    ("network__extensions", EXTENSIONS),
    ("network__fault_keystone_down_cached_token", BROKEN),
    ("network__fault_keystone_down_new_token", BROKEN),
    ("network__port_trunk_parent_active", TRUNKS),
    ("network__port_trunk_subport_active", TRUNKS),
    ("network__port_trunk_subport_bound_admin", TRUNKS),
    ("network__trunk_active", TRUNKS),
    ("network__trunk_add_subports_when_active", TRUNKS),
    ("network__trunk_create", TRUNKS),
    ("network__trunk_delete", TRUNKS),
    ("network__trunk_get", TRUNKS),
    ("network__trunk_remove_subports", TRUNKS),
    ("share__fault_database_down_get", BROKEN),
    ("share__fault_keystone_down_new_token", BROKEN),
];

/// `INDEX.txt` names everything that was recorded on the real services.
#[test]
fn each_recording_is_a_case_or_has_a_reason() {
    let index = std::fs::read_to_string(folder().join("INDEX.txt")).expect("the index");
    let recorded: BTreeSet<String> = index.lines().map(str::to_owned).collect();
    let cases: BTreeSet<String> = names().into_iter().collect();
    let reasons: BTreeSet<String> = NOT_COVERED.iter().map(|(n, _)| (*n).to_owned()).collect();
    let both: Vec<_> = cases.intersection(&reasons).collect();
    assert!(both.is_empty(), "both a case and not covered: {both:?}");
    let all: BTreeSet<String> = cases.union(&reasons).cloned().collect();
    let lacking: Vec<_> = recorded.difference(&all).collect();
    assert!(lacking.is_empty(), "neither a case nor a reason: {lacking:?}");
    let surplus: Vec<_> = all.difference(&recorded).collect();
    assert!(surplus.is_empty(), "not in INDEX.txt: {surplus:?}");
}

/// The README is generated from the table above; `UPDATE_GOLDEN=1` writes it.
#[test]
fn the_readme_lists_what_is_not_covered() {
    let mut text = String::from(
        "# Recordings\n\nExchanges with the real Keystone, Neutron, Nova, Manila and Octavia, one in each file: tokens, secrets and\nvolatile headers are taken out, everything else is as it came. `pkg/openstack-sim` replays each of them against the\nembedded cloud. `INDEX.txt` names all that were recorded; those below are not here.\n\nThis file is generated: `UPDATE_GOLDEN=1 cargo test -p fabric-openstack-sim readme`.\n\n| recording | why it is no case |\n|---|---|\n",
    );
    for (name, reason) in NOT_COVERED {
        text.push_str(&format!("| {name} | {reason} |\n"));
    }
    let path = folder().join("README.md");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &text).expect("the README is written");
    }
    assert_eq!(std::fs::read_to_string(&path).expect("the README"), text, "run it with UPDATE_GOLDEN=1");
}
