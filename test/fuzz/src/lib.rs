//! What the fuzz targets begin with: inputs and words made from the examples.
//!
//! ```text
//!   hack/fuzz ─► FABRIC_FUZZ_SEEDS=FOLDER ─► begin(): FOLDER/seeds/*, FOLDER/words ─► libFuzzer reads them, and goes on
//! ```
//! A target calls [`begin`] before libFuzzer looks at its corpus, so no inputs have to be kept in the repository.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use fabric_apis::decode;
use serde_json::Value;

/// An example: its name, its text with placeholders filled in, and the first object in it.
pub struct Example {
    /// The file's name.
    pub name: String,
    /// YAML.
    pub text: String,
    /// The same, read.
    pub object: Value,
}

/// Every example but the definitions of kinds.
pub fn examples() -> Vec<Example> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let names = fs::read_dir(&folder).expect("examples").map(|entry| entry.expect("an example").file_name());
    let names = names.filter_map(|name| name.into_string().ok());
    let yaml = names.filter(|name| name.ends_with(".yaml") && !name.starts_with("20-crd-"));
    yaml.map(|name| {
        let text = filled_in(&fs::read_to_string(folder.join(&name)).expect("an example"));
        let object = decode::documents(&name, text.as_bytes()).expect("YAML").remove(0).value;
        Example { name, text, object }
    })
    .collect()
}

fn filled_in(text: &str) -> String {
    let (mut filled, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        let (name, after) = after.split_once('}').expect("the end of a placeholder");
        filled += before;
        filled += match name {
            "NODES_CIDR" => "10.250.0.0/16",
            "WORKERS_CIDR" => "10.250.0.0/19",
            "AUTH_URL" => "https://keystone.example.org/v3",
            name if name.ends_with("_ID") => "0f4b3a52-3c0d-4f6e-9d43-6f0b8c1f7a11",
            _ => "something",
        };
        rest = after;
    }
    filled + rest
}

/// Writes what to begin with into the folder that `FABRIC_FUZZ_SEEDS` names; without it, a saved input is replayed.
pub fn begin(inputs: impl IntoIterator<Item = Vec<u8>>, words: impl IntoIterator<Item = String>) {
    let Some(folder) = std::env::var_os("FABRIC_FUZZ_SEEDS").map(PathBuf::from) else { return };
    for (number, input) in inputs.into_iter().enumerate() {
        fs::write(folder.join("seeds").join(number.to_string()), input).expect("a seed");
    }
    let words: BTreeSet<String> = words.into_iter().filter(|word| (2..=64).contains(&word.len())).collect();
    let escaped = |word: &String| -> String { word.bytes().map(|byte| format!("\\x{byte:02x}")).collect() };
    let lines: String = words.iter().map(|word| format!("\"{}\"\n", escaped(word))).collect();
    fs::write(folder.join("words"), lines).expect("words");
}

/// The keys and short texts of all examples.
pub fn words() -> Vec<String> {
    fn of(value: &Value, words: &mut Vec<String>) {
        match value {
            Value::Object(members) => members.iter().for_each(|(key, value)| {
                words.push(key.clone());
                of(value, words);
            }),
            Value::Array(items) => items.iter().for_each(|item| of(item, words)),
            Value::String(text) => words.push(text.clone()),
            _ => {}
        }
    }
    let mut words = ["null", "true", "\"\":", "{}", "[]", "-1", "1e99", "::/0", "\\u0000"].map(str::to_owned).to_vec();
    examples().iter().for_each(|example| of(&example.object, &mut words));
    words
}
