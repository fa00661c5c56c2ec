//! Conditions in an Infrastructure's status: written on transitions only, those of others left as they are.

use fabric_apis::gardener::Condition;
use fabric_apis::gardener::Time;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// The specification is accepted, but looks wrong somewhere.
pub(crate) const WARNINGS: &str = "ConfigWarnings";
/// The cloud is no longer as it was left.
pub(crate) const DRIFT: &str = "InfrastructureDrift";
/// What a reconcile would do, as the dry run found it.
pub(crate) const PLAN: &str = "InfrastructurePlan";
/// A message in a condition is for people: what is longer is cut.
const LONGEST: usize = 4096;

/// What a condition says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Says {
    pub(crate) type_: &'static str,
    pub(crate) holds: bool,
    pub(crate) reason: &'static str,
    pub(crate) message: String,
}

/// Puts it into a status. Whether that changed anything; what is false and was never told stays untold.
pub(crate) fn set(status: &mut Map<String, Value>, says: &Says, now: Timestamp) -> bool {
    let word = if says.holds { "True" } else { "False" };
    let message = cut(&says.message, LONGEST);
    let known = status.get("conditions").and_then(Value::as_array);
    let place = known.and_then(|all| all.iter().position(|condition| condition["type"] == says.type_));
    let before = place.and_then(|place| known?.get(place));
    let same_word = before.is_some_and(|before| before["status"] == word);
    if !says.holds && before.is_none() || same_word && before.is_some_and(|it| it["message"] == message) {
        return false;
    }
    let since =
        before.filter(|_| same_word).and_then(|it| serde_json::from_value(it["lastTransitionTime"].clone()).ok());
    let condition = Condition {
        type_: says.type_.to_owned(),
        status: word.to_owned(),
        last_transition_time: since.unwrap_or(Time(now)),
        last_update_time: Time(now),
        reason: says.reason.to_owned(),
        message,
        codes: Vec::new(),
    };
    let all = status.entry("conditions").or_insert_with(|| json!([]));
    if !all.is_array() {
        *all = json!([]);
    }
    let Value::Array(all) = all else { return false };
    match place.and_then(|place| all.get_mut(place)) {
        Some(before) => *before = json!(condition),
        None => all.push(json!(condition)),
    }
    true
}

/// At most so many bytes of a text, and a sign that something is missing.
pub(crate) fn cut(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_owned();
    }
    const MORE: &str = " …";
    let end = (0..=longest.saturating_sub(MORE.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}{MORE}", text.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(holds: bool, message: &str) -> Says {
        Says { type_: DRIFT, holds, reason: "R", message: message.to_owned() }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn only_a_transition_or_another_message_is_written() {
        let mut status = Map::new();
        assert!(!set(&mut status, &says(false, "none"), at(0)), "what never was is not told");
        assert!(status.is_empty());
        assert!(set(&mut status, &says(true, "a"), at(1)));
        assert!(!set(&mut status, &says(true, "a"), at(2)));
        assert!(set(&mut status, &says(true, "b"), at(3)));
        let condition = &status["conditions"][0];
        assert_eq!(condition["lastTransitionTime"], json!(Time(at(1))), "the word has not changed since");
        assert_eq!(condition["lastUpdateTime"], json!(Time(at(3))));
        assert!(set(&mut status, &says(false, "none"), at(4)));
        assert_eq!(status["conditions"][0]["lastTransitionTime"], json!(Time(at(4))));
        assert_eq!(status["conditions"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn conditions_of_others_stay() {
        let other = json!({ "type": "Other", "status": "True", "extra": 1 });
        let mut status = Map::from_iter([("conditions".to_owned(), json!([other]))]);
        assert!(set(&mut status, &says(true, "a"), at(1)));
        assert_eq!(status["conditions"][0], other);
        assert_eq!(status["conditions"][1]["type"], DRIFT);
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(cut("short", 10), "short");
        let text = cut(&"ä".repeat(50), 21);
        assert!(text.len() <= 21 && text.ends_with('…'), "{text}");
    }
}
