//! Every program that judges objects says the same of each, and what the tables of the rules say.
//!
//! `FABRIC_RULE_CASES` is the number of objects.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)] // all of this is tests

mod cli;
mod program;
mod webhook;

use fabric_apis::field::{ErrorList, ErrorType};
use fabric_apis::openstack::v1alpha1::InfrastructureConfig;
use fabric_apis::{decode, decode::Document};
use fabric_infrastructure::{Input, validate};
use fabric_test_fidelity::{Case, cases};
use fabric_validation::openstack::admission::{Lookup, Resolved, Reviewed};
use fabric_validation::openstack::shoot::{ShootInput, examine};
use serde_json::Value;

/// Where something is wrong, and how, in any program's words.
type Places = Vec<(String, String)>;

fn sorted(mut places: Places) -> Places {
    places.sort();
    places
}

fn of_table(told: &[(String, ErrorType)]) -> Places {
    sorted(told.iter().map(|(field, kind)| (field.clone(), kind.as_cause().to_owned())).collect())
}

fn of_errors(errors: &ErrorList) -> Places {
    sorted(errors.iter().map(|error| (error.field.clone(), error.kind.as_cause().to_owned())).collect())
}

fn kind(case: &Case) -> &str {
    case.new["kind"].as_str().unwrap()
}

/// Ends the test with the first objects about which somebody said something else.
fn assert_alike<'a>(who: &str, all: impl Iterator<Item = (&'a Case, Places, Places)>) {
    let all: Vec<_> = all.collect();
    let wrong: Vec<_> = all.iter().filter(|(_, said, told)| said != told).collect();
    let Some((case, said, told)) = wrong.first() else { return assert!(!all.is_empty()) };
    let count = wrong.len();
    panic!(
        "{who} differs about {count} of {} objects, first:\n{case:#?}\nit says {said:?}\nthe table {told:?}",
        all.len()
    );
}

fn document(value: &Value) -> Document {
    decode::documents("", value.to_string().as_bytes()).unwrap().remove(0)
}

/// What a controller starts from; `None` when the object would not get to one.
fn input(case: &Case) -> Option<Input> {
    let new = document(&case.new);
    if kind(case) == "Shoot" {
        return examine(&Reviewed::create(&new), &Resolved::new()).input.map(Input::of_shoot);
    }
    let Some((_, Lookup::Found(cluster))) = case.around.first() else { return None };
    let config = new.strict_at::<InfrastructureConfig>("spec.providerConfig").unwrap()?;
    let shoot = decode::lenient(cluster.pointer("/spec/shoot")?).unwrap();
    Some(Input { path: "spec.providerConfig", ..Input::of_shoot(ShootInput { shoot, config }) })
}

#[test]
fn a_controller_finds_what_the_table_says() {
    let cases = cases();
    let judged = cases.iter().filter_map(|case| {
        let (told, input) = (case.config.as_ref()?, input(case)?);
        let said = validate::validate(&input).map_or_else(|findings| of_errors(&findings.errors), |_| Vec::new());
        Some((case, said, of_table(told)))
    });
    assert_alike("the controller", judged);
}
