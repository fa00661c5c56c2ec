//! Holding code against a table.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt::Debug;

use fabric_apis::field::{ErrorList, ErrorType};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// How often each row has to apply at least, or the test says nothing about it.
const LEAST: usize = 100;
/// Objects for each table, unless fewer or more are asked for.
const USUAL: u32 = 5_000;

/// Where something is wrong, and how.
pub(crate) type Where = (String, ErrorType);

/// A row's name, and where it says that something is wrong.
pub(crate) type Told = (&'static str, Where);

/// A sentence of the rules: its name, and where it is broken.
pub(crate) type Row<W> = (&'static str, fn(&W) -> Vec<Where>);

/// One place, when there is something wrong.
pub(crate) fn at(path: &str, kind: ErrorType, wrong: bool) -> Vec<Where> {
    if wrong { vec![(path.to_owned(), kind)] } else { Vec::new() }
}

/// What all rows say.
pub(crate) fn ask<W>(rows: &[Row<W>], world: &W) -> Vec<Told> {
    rows.iter().flat_map(|(name, broken)| broken(world).into_iter().map(|place| (*name, place))).collect()
}

/// The code's answer in the table's words.
pub(crate) fn answer(errors: &ErrorList) -> Vec<Where> {
    errors.iter().map(|error| (error.field.clone(), error.kind)).collect()
}

pub(crate) fn cases() -> u32 {
    std::env::var("FABRIC_RULE_CASES").map_or(USUAL, |cases| cases.parse().unwrap())
}

fn sorted(places: impl IntoIterator<Item = Where>) -> Vec<(String, String)> {
    let mut places: Vec<_> = places.into_iter().map(|(path, kind)| (path, kind.as_cause().to_owned())).collect();
    places.sort();
    places
}

/// Runs a check for as many worlds as were asked for. The same worlds each time: the counts below are facts, not luck.
pub(crate) fn for_each<W: Debug>(worlds: impl Strategy<Value = W>, check: impl Fn(W) -> Result<(), TestCaseError>) {
    TestRunner::new_with_rng(
        Config { cases: cases(), failure_persistence: None, ..Config::default() },
        TestRng::deterministic_rng(RngAlgorithm::ChaCha),
    )
    .run(&worlds, check)
    .unwrap_or_else(|failure| panic!("{failure}"));
}

/// How often each of `names` applied: each often enough, or it was not tried. With fewer objects than usual, as for
/// mutation testing, nothing can be said.
pub(crate) fn assert_applied(names: impl IntoIterator<Item = &'static str>, counts: &BTreeMap<&'static str, usize>) {
    if cases() < USUAL {
        return;
    }
    let rare: Vec<_> = names
        .into_iter()
        .map(|name| (name, counts.get(name).copied().unwrap_or_default()))
        .filter(|(_, count)| *count < LEAST)
        .collect();
    assert!(rare.is_empty(), "rows that applied too rarely: {rare:?}");
}

/// Holds `judge` against `rows` in many worlds.
pub(crate) fn hold<W: Debug>(
    names: impl IntoIterator<Item = &'static str>,
    worlds: impl Strategy<Value = W>,
    rows: impl Fn(&W) -> Vec<Told>,
    judge: impl Fn(&W) -> Vec<Where>,
) {
    let counts = RefCell::new(BTreeMap::new());
    let good = Cell::new(0);
    for_each(worlds, |world| {
        let expected = rows(&world);
        let mut applied: Vec<&'static str> = expected.iter().map(|(name, _)| *name).collect();
        applied.sort_unstable();
        applied.dedup();
        for name in applied {
            *counts.borrow_mut().entry(name).or_default() += 1;
        }
        good.set(good.get() + usize::from(expected.is_empty()));
        let expected = sorted(expected.into_iter().map(|(_, place)| place));
        prop_assert_eq!(sorted(judge(&world)), expected, "code, then table: {:#?}", world);
        Ok(())
    });
    assert_applied(names, &counts.borrow());
    assert!(good.get() >= LEAST || cases() < USUAL, "only {} were good", good.get());
}
