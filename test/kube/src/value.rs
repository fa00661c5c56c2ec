//! Objects as they are sent and as they come back.

use fabric_apis::decode;
use serde_json::Value;

/// The objects of a file.
pub fn documents(text: &str) -> Vec<Value> {
    let documents = decode::documents("file", text.as_bytes()).expect("YAML");
    documents.into_iter().map(|document| document.value).collect()
}

/// An example with its `${…}` placeholders filled in by something of no meaning.
pub fn filled_in(example: &str) -> String {
    let mut text = String::new();
    let mut rest = example;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, after) = after.split_once('}').expect("the end of a placeholder");
        text += before;
        text += if name.ends_with("_ID") { "0f4b3a52-3c0d-4f6e-9d43-6f0b8c1f7a11" } else { "something" };
        rest = after;
    }
    text + rest
}

/// Whether all of `part` is in `whole`, which may have more; else what is not.
///
/// # Errors
/// The path of the first value that is missing or another, and both values.
pub fn all_of(part: &Value, whole: &Value) -> Result<(), String> {
    let inner = |key: String, part: &Value, whole: Option<&Value>| match whole {
        None => Err(format!("{key}: missing, expected {part}")),
        Some(whole) => all_of(part, whole).map_err(|problem| format!("{key}.{problem}")),
    };
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().try_for_each(|(key, value)| inner(key.clone(), value, whole.get(key)))
        }
        (Value::Array(part), Value::Array(whole)) if part.len() == whole.len() => {
            (0..).zip(part).try_for_each(|(index, value)| inner(format!("[{index}]"), value, whole.get(index)))
        }
        _ if part == whole => Ok(()),
        _ => Err(format!(" is {whole}, expected {part}")),
    }
}
