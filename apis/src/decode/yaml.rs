//! YAML to values, straight from the parser's events.
//!
//! serde-saphyr's own deserializer hands a visitor typed scalars, so that it can't be told any more how `1e10` was
//! spelled, and takes three times as long on a directory of Shoots. Its parser gives what is needed here: the text and
//! style of each scalar and the position of each event.
//!
//! Scalars follow the core schema of YAML 1.2, with one exception for the sake of ids: a number that no integer field
//! could hold exactly (twenty characters or more, an exponent that overflows, leading zeros) stays text.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::map::Entry;
use serde_json::{Map, Number, Value};
use serde_saphyr::granit_parser::{Event, Parser, ScalarStyle, Tag};

use super::Error;
use super::reader::{MAX_DEPTH, Raw, note_duplicate, shown};

/// What anchors and aliases may add to one file, in bytes. Without a bound ten lines of YAML fill any memory: with
/// aliases of aliases, with many aliases of one long text, or with anchors around anchors.
const MAX_COPIED_BYTES: usize = 4 << 20;

/// What a value costs beside its text.
const BYTES_PER_VALUE: usize = 32;

/// From this length on a number can't be told from an id: `u64::MAX` has twenty digits.
const MAX_FLOAT_CHARACTERS: usize = 19;

/// A place in the file and what is wrong there.
struct Fault {
    line: usize,
    column: usize,
    message: String,
}

pub(super) fn read(source_name: &str, bytes: &[u8]) -> Result<Vec<Raw>, Error> {
    text(bytes).and_then(events).map_err(|fault| Error::Syntax {
        source_name: source_name.to_owned(),
        line: fault.line,
        column: fault.column,
        message: fault.message,
    })
}

fn text(bytes: &[u8]) -> Result<&str, Fault> {
    std::str::from_utf8(bytes).map_err(|error| {
        let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let last_line = valid.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        Fault {
            line: 1 + valid.iter().filter(|byte| **byte == b'\n').count(),
            column: 1 + String::from_utf8_lossy(last_line).chars().count(),
            message: "the file is not UTF-8 text".to_owned(),
        }
    })
}

fn events(text: &str) -> Result<Vec<Raw>, Fault> {
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| Fault {
            line: error.marker().line(),
            column: error.marker().col() + 1,
            message: error.info().lines().next().unwrap_or_default().to_owned(),
        })?;
        builder.event(event).map_err(|message| Fault {
            line: span.start.line(),
            column: span.start.col() + 1,
            message,
        })?;
    }
    Ok(builder.documents)
}

/// A collection that is still open.
enum Frame {
    Sequence { list: Vec<Value>, anchor: usize },
    Mapping { map: Map<String, Value>, key: Option<Key>, merges: Vec<Value>, anchor: usize },
}

enum Key {
    Name(String),
    /// `<<`: take over the entries of the mapping that follows.
    Merge,
}

#[derive(Default)]
struct Builder {
    documents: Vec<Raw>,
    stack: Vec<Frame>,
    duplicates: Vec<String>,
    /// Values of this document by anchor.
    anchors: HashMap<usize, Value>,
    copied_bytes: usize,
}

impl Builder {
    fn event(&mut self, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                if let Some(Frame::Mapping { key: key @ None, .. }) = self.stack.last_mut() {
                    let merges = text == "<<" && style == ScalarStyle::Plain && tag.is_none();
                    let anchored = (anchor != 0).then(|| Value::String(text.clone().into_owned()));
                    *key = Some(if merges { Key::Merge } else { Key::Name(text.into_owned()) });
                    return anchored.map_or(Ok(()), |name| self.remember(anchor, &name));
                }
                self.value(scalar(text, style, tag.as_deref())?, anchor)
            }
            Event::SequenceStart(_, anchor, _) => self.open(Frame::Sequence { list: Vec::new(), anchor }),
            Event::MappingStart(_, anchor, _) => {
                self.open(Frame::Mapping { map: Map::new(), key: None, merges: Vec::new(), anchor })
            }
            Event::SequenceEnd | Event::MappingEnd => match self.stack.pop() {
                Some(Frame::Sequence { list, anchor }) => self.value(Value::Array(list), anchor),
                Some(Frame::Mapping { mut map, merges, anchor, .. }) => {
                    for source in merges {
                        merge(&mut map, source)?;
                    }
                    self.value(Value::Object(map), anchor)
                }
                None => Ok(()),
            },
            Event::Alias(anchor) => self.alias(anchor),
            Event::DocumentEnd => {
                self.anchors.clear();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn open(&mut self, frame: Frame) -> Result<(), String> {
        if let Some(Frame::Mapping { key: None, .. }) = self.stack.last() {
            return Err("a key must be a text, not a list or an object".to_owned());
        }
        if self.stack.len() >= MAX_DEPTH {
            return Err(format!("nested deeper than {MAX_DEPTH} levels"));
        }
        self.stack.push(frame);
        Ok(())
    }

    /// A finished value goes to where it belongs: into the innermost open collection, or it is a document.
    fn value(&mut self, value: Value, anchor: usize) -> Result<(), String> {
        self.remember(anchor, &value)?;
        match self.stack.last_mut() {
            // An empty document is none.
            None if value.is_null() => {}
            None => self.documents.push(Raw { value, duplicates: std::mem::take(&mut self.duplicates) }),
            Some(Frame::Sequence { list, .. }) => list.push(value),
            Some(Frame::Mapping { map, key, merges, .. }) => match key.take() {
                Some(Key::Merge) => merges.push(value),
                Some(Key::Name(name)) => match map.entry(name) {
                    Entry::Vacant(entry) => {
                        entry.insert(value);
                    }
                    Entry::Occupied(mut entry) => {
                        let name = entry.key().clone();
                        entry.insert(value);
                        let path = || path(&self.stack, &name);
                        note_duplicate(&mut self.duplicates, path);
                    }
                },
                None => return Err("a key must be a text, not a list or an object".to_owned()),
            },
        }
        Ok(())
    }

    /// Keeps a value for the aliases of its anchor; 0 stands for no anchor.
    fn remember(&mut self, anchor: usize, value: &Value) -> Result<(), String> {
        if anchor != 0 {
            charge(&mut self.copied_bytes, size(value).0)?;
            self.anchors.insert(anchor, value.clone());
        }
        Ok(())
    }

    fn alias(&mut self, anchor: usize) -> Result<(), String> {
        let Some(value) = self.anchors.get(&anchor) else {
            return Err("an alias stands inside of what it refers to".to_owned());
        };
        let (bytes, depth) = size(value);
        charge(&mut self.copied_bytes, bytes)?;
        if self.stack.len() + depth > MAX_DEPTH {
            return Err(format!("nested deeper than {MAX_DEPTH} levels"));
        }
        let value = value.clone();
        match (self.stack.last_mut(), &value) {
            (Some(Frame::Mapping { key: key @ None, .. }), Value::String(name)) => {
                *key = Some(Key::Name(name.clone()));
                Ok(())
            }
            _ => self.value(value, 0),
        }
    }
}

fn charge(copied_bytes: &mut usize, bytes: usize) -> Result<(), String> {
    *copied_bytes = copied_bytes.saturating_add(bytes);
    if *copied_bytes > MAX_COPIED_BYTES {
        return Err(format!("anchors and aliases expand to more than {} MiB", MAX_COPIED_BYTES >> 20));
    }
    Ok(())
}

/// The path of `name` in the innermost mapping. A mapping's open key and a sequence's next index lead inwards.
fn path(stack: &[Frame], name: &str) -> String {
    let mut path = String::new();
    let outer = stack.len().saturating_sub(1);
    for frame in stack.iter().take(outer) {
        match frame {
            Frame::Sequence { list, .. } => path.push_str(&format!("[{}]", list.len())),
            Frame::Mapping { key, .. } => {
                let name = match key {
                    Some(Key::Name(name)) => name.as_str(),
                    Some(Key::Merge) => "<<",
                    None => "",
                };
                push_name(&mut path, name);
            }
        }
    }
    push_name(&mut path, name);
    path
}

fn push_name(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(&shown(name));
}

/// Takes over entries that are not there yet; of several sources the first wins.
fn merge(map: &mut Map<String, Value>, source: Value) -> Result<(), String> {
    match source {
        Value::Object(entries) => {
            for (name, value) in entries {
                map.entry(name).or_insert(value);
            }
            Ok(())
        }
        Value::Array(sources) => sources.into_iter().try_for_each(|source| match source {
            Value::Object(_) => merge(map, source),
            _ => Err("only objects can be merged with <<".to_owned()),
        }),
        _ => Err("only objects can be merged with <<".to_owned()),
    }
}

/// What a copy of a value takes, in bytes, and how deep it is. Bounded: no value is deeper than [`MAX_DEPTH`].
fn size(value: &Value) -> (usize, usize) {
    let add = |(bytes, depth): (usize, usize), inner: &Value| {
        let (more, deeper) = size(inner);
        (bytes.saturating_add(more), depth.max(deeper + 1))
    };
    match value {
        Value::Array(list) => list.iter().fold((BYTES_PER_VALUE, 1), add),
        Value::Object(map) => {
            let keys = map.keys().map(|key| key.len() + BYTES_PER_VALUE).sum::<usize>();
            map.values().fold((BYTES_PER_VALUE + keys, 1), add)
        }
        Value::String(text) => (BYTES_PER_VALUE + text.len(), 0),
        _ => (BYTES_PER_VALUE, 0),
    }
}

fn scalar(text: Cow<'_, str>, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, String> {
    Ok(match tag.map(Tag::core_suffix) {
        // `!!int "5"` is a number whatever its quotes; `!!str 5` and tags we don't know leave a text.
        Some(Some("int" | "float" | "bool" | "null")) => plain(text),
        // Others would decode it; taking the encoded text for the value would be a silent change.
        Some(_) if tag.and_then(|tag| tag.suffix_in_namespace("tag:yaml.org,2002:")).as_deref() == Some("binary") => {
            return Err("!!binary is not supported; write the text".to_owned());
        }
        Some(_) => Value::String(text.into_owned()),
        None if style == ScalarStyle::Plain => plain(text),
        None => Value::String(text.into_owned()),
    })
}

fn plain(text: Cow<'_, str>) -> Value {
    match text.as_bytes() {
        b"" | b"~" | b"null" | b"Null" | b"NULL" => Value::Null,
        b"true" | b"True" | b"TRUE" => Value::Bool(true),
        b"false" | b"False" | b"FALSE" => Value::Bool(false),
        [b'0'..=b'9' | b'+' | b'-' | b'.', ..] => match number(&text) {
            Some(number) => Value::Number(number),
            None => Value::String(text.into_owned()),
        },
        _ => Value::String(text.into_owned()),
    }
}

fn number(text: &str) -> Option<Number> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned.len() > 1 && unsigned.starts_with('0') && unsigned.as_bytes().get(1).is_some_and(u8::is_ascii_digit) {
        return None;
    }
    if !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return if text.starts_with('-') {
            text.parse::<i64>().ok().map(Number::from)
        } else {
            unsigned.parse::<u64>().ok().map(Number::from)
        };
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix).filter(|digits| !digits.starts_with('+')) {
            return u64::from_str_radix(digits, radix).ok().map(Number::from);
        }
    }
    let float_like = unsigned.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
    let has_digit = unsigned.as_bytes().first().is_some_and(u8::is_ascii_digit)
        || unsigned.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    if !float_like || !has_digit || text.len() > MAX_FLOAT_CHARACTERS {
        return None;
    }
    Number::from_f64(text.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn plain_scalars_are_what_the_core_schema_says_unless_they_would_lose_something() {
        let cases = [
            ("", Value::Null),
            ("~", Value::Null),
            ("null", Value::Null),
            ("nULL", json!("nULL")),
            ("True", json!(true)),
            ("yes", json!("yes")),
            ("off", json!("off")),
            ("0", json!(0)),
            ("-7", json!(-7)),
            ("+7", json!(7)),
            ("18446744073709551615", json!(u64::MAX)),
            ("18446744073709551616", json!("18446744073709551616")),
            ("-9223372036854775809", json!("-9223372036854775809")),
            ("11112222333344445555666677778888", json!("11112222333344445555666677778888")),
            ("11112222333344445555666677778e88", json!("11112222333344445555666677778e88")),
            ("1e10", json!(1e10)),
            ("1e999", json!("1e999")),
            ("1.5", json!(1.5)),
            (".5", json!(0.5)),
            ("1.", json!(1.0)),
            (".", json!(".")),
            ("-", json!("-")),
            ("+.", json!("+.")),
            ("007", json!("007")),
            ("-01", json!("-01")),
            ("1_000", json!("1_000")),
            ("0x1F", json!(31)),
            ("0x+1", json!("0x+1")),
            ("0o17", json!(15)),
            (".inf", json!(".inf")),
            (".nan", json!(".nan")),
            ("10.250.0.0", json!("10.250.0.0")),
            ("1592.1.0", json!("1592.1.0")),
            ("220000+0100", json!("220000+0100")),
            ("2026-01-02", json!("2026-01-02")),
            ("1-2", json!("1-2")),
        ];
        for (text, expected) in cases {
            assert_eq!(plain(Cow::Borrowed(text)), expected, "{text:?}");
        }
    }

    #[test]
    fn tags_and_quotes_decide_before_the_spelling() {
        let raw = read("f", b"[!!str 5, '5', !!int '5', !x 5, !!null '', ! 5, \"\\u00e9\"]").unwrap_or_default();
        assert_eq!(raw[0].value, json!(["5", "5", 5, "5", null, "5", "é"]));
    }

    #[test]
    fn merged_entries_never_win_over_written_ones() {
        let yaml = "a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc:\n  <<: [*a, *b]\n  x: 3\nd: {<<: *b}\n'<<': text\n";
        let raw = read("f", yaml.as_bytes()).unwrap_or_default();
        assert_eq!(raw[0].value["c"], json!({"x": 3, "y": 1, "z": 2}));
        assert_eq!(raw[0].value["d"], json!({"y": 2, "z": 2}));
        assert_eq!(raw[0].value["<<"], json!("text"));
        assert!(raw[0].duplicates.is_empty());
        assert!(read("f", b"a: {<<: 1}").is_err());
        assert!(read("f", b"a: {<<: [1]}").is_err());
    }

    #[test]
    fn aliases_stand_for_values_and_keys_but_never_for_themselves() {
        let raw = read("f", b"a: &k key\n*k : 1\nb: *k\n").unwrap_or_default();
        assert_eq!(raw[0].value, json!({"a": "key", "key": 1, "b": "key"}));
        for text in ["a: &a [*a]\n", "a: &a {b: 1}\n*a : 1\n", "{[1]: 2}\n", "{{a: 1}: 2}\n"] {
            assert!(read("f", text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_chain_of_aliases_is_bounded_like_written_nesting() {
        let mut yaml = "a0: &a0 [1]\n".to_owned();
        for level in 1..80 {
            yaml.push_str(&format!("a{level}: &a{level} [*a{}]\n", level - 1));
        }
        assert!(read("f", yaml.as_bytes()).is_err());
    }
}
