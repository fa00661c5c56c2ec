//! A plan as people read it: a line a resource, what differs below it, and a closing sentence.

use std::{collections::BTreeMap, fmt::Write};

use fabric_apis::field::Warning;
use fabric_infrastructure::plan::{Item, Verb};

use crate::output::{Paint, clean};

/// The verbs in the order of the closing sentence, with their signs and words.
const VERBS: [(Verb, &str, &str, &str); 8] = [
    (Verb::Create, "+", "create", "to create"),
    (Verb::Adopt, ">", "adopt", "to adopt"),
    (Verb::Change, "~", "change", "to change"),
    (Verb::Delete, "-", "delete", "to delete"),
    (Verb::Unrepairable, "!", "broken", "that cannot be repaired"),
    (Verb::Use, "=", "use", "given"),
    (Verb::Keep, " ", "keep", "kept"),
    (Verb::Report, "?", "others'", "of others"),
];

fn word(verb: Verb) -> (&'static str, &'static str) {
    let found = VERBS.iter().find(|(it, ..)| *it == verb);
    found.map_or((" ", ""), |(_, sign, word, _)| (sign, word))
}

fn painted(verb: Verb, text: &str, paint: Paint) -> String {
    match verb {
        Verb::Create => paint.green(text),
        Verb::Adopt => paint.cyan(text),
        Verb::Change => paint.yellow(text),
        Verb::Delete | Verb::Unrepairable => paint.red(text),
        Verb::Use => paint.blue(text),
        Verb::Keep | Verb::Report => paint.dim(text),
    }
}

/// A line for each item.
pub(crate) fn items(items: &[Item], paint: Paint) -> String {
    let named = |item: &Item| match (item.name.as_str(), &item.id) {
        ("", Some(id)) => clean(id),
        (name, _) => clean(name),
    };
    let width = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or_default();
    let kinds = width(&mut items.iter().map(|item| item.kind.chars().count()));
    // A rule's name is a sentence; it may stand out, the other names stay in a column.
    let names = width(&mut items.iter().map(|item| named(item).chars().count()).filter(|length| *length <= 36));
    let mut text = String::new();
    for item in items {
        let (sign, word) = word(item.verb);
        let head = format!("{sign} {word:<7}");
        // Writing to a String can't fail, here and below.
        let _ = writeln!(
            text,
            "  {} {:<kinds$}  {:<names$}  {}",
            painted(item.verb, &head, paint),
            item.kind,
            named(item),
            paint.dim(clean(&item.reason)),
        );
        for change in &item.changes {
            let value = |text: &str| if text.is_empty() { "(nothing)".to_owned() } else { clean(text) };
            let (is, should) = (value(&change.is), value(&change.should));
            let _ = writeln!(text, "      {}: {} → {}", change.attribute, paint.red(is), paint.green(should));
        }
    }
    text
}

/// Warnings, a line each.
pub(crate) fn warnings(warnings: &[Warning], paint: Paint) -> String {
    warnings.iter().fold(String::new(), |text, warning| {
        format!("{text}  {} {}\n", paint.yellow("warning"), clean(&warning.to_string()))
    })
}

/// How many of each, by word.
pub(crate) fn counts(items: &[Item]) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for item in items {
        let name = match item.verb {
            Verb::Use => "use",
            Verb::Keep => "keep",
            Verb::Adopt => "adopt",
            Verb::Create => "create",
            Verb::Change => "change",
            Verb::Delete => "delete",
            Verb::Unrepairable => "unrepairable",
            Verb::Report => "report",
        };
        *counts.entry(name).or_default() += 1;
    }
    counts
}

/// `4 to create, 3 given`.
pub(crate) fn sentence(items: &[Item]) -> String {
    let parts: Vec<String> = VERBS
        .iter()
        .map(|(verb, _, _, words)| (items.iter().filter(|item| item.verb == *verb).count(), words))
        .filter(|(number, _)| *number > 0)
        .map(|(number, words)| format!("{number} {words}"))
        .collect();
    parts.join(", ")
}
