//! Bytes to values, with the line of a syntax error and the paths of duplicate keys.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::{Document, Error, yaml};

/// Deeper nesting is refused, before it exhausts the 2 MiB stack of a worker thread (an unoptimised build takes up to
/// 25 KiB a level). Our objects need about fifteen levels, a large custom resource definition forty.
pub(super) const MAX_DEPTH: usize = 64;

/// Of what is wrong with one object, no more than this is told of a kind. More would help nobody, and a hostile file
/// could make a report that is thousands of times its own size.
pub(super) const MAX_PROBLEMS: usize = 32;

/// Duplicate keys that are noted of one document, which may be a list of many objects.
pub(super) const MAX_DUPLICATES: usize = 1024;

/// A longer key is cut in the paths that are shown.
const MAX_SHOWN_CHARACTERS: usize = 128;

/// Reads all objects of a file. Empty documents (`---` alone, only comments) are left out. Input that begins like JSON
/// is read as JSON, several objects one after the other included; everything else, and flow-style YAML, as YAML.
///
/// `source_name` is the file's name as people should see it in errors.
///
/// # Errors
/// [`Error::Syntax`] with line and column; nothing of the file is returned then.
pub fn documents(source_name: &str, bytes: &[u8]) -> Result<Vec<Document>, Error> {
    // Editors on Windows put a byte order mark first, which is no part of JSON.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let raw = if looks_like_json(bytes) {
        // `{a: 1}` is YAML too. When both readers refuse, the JSON one knows better what was meant.
        json(source_name, bytes).or_else(|error| yaml::read(source_name, bytes).map_err(|_| error))?
    } else {
        yaml::read(source_name, bytes)?
    };
    Ok(raw
        .into_iter()
        .filter(|raw| !raw.value.is_null())
        .enumerate()
        .map(|(index, raw)| Document { index, value: raw.value, duplicates: raw.duplicates })
        .collect())
}

fn looks_like_json(bytes: &[u8]) -> bool {
    matches!(bytes.iter().find(|byte| !byte.is_ascii_whitespace()), Some(b'{' | b'['))
}

fn json(source_name: &str, bytes: &[u8]) -> Result<Vec<Raw>, Error> {
    serde_json::Deserializer::from_slice(bytes).into_iter::<Raw>().collect::<Result<_, _>>().map_err(|error| {
        let text = error.to_string();
        // The position has fields of its own; serde_json appends it to the text as well.
        let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
        Error::Syntax {
            source_name: source_name.to_owned(),
            line: error.line(),
            column: error.column(),
            message: message.to_owned(),
        }
    })
}

/// A value and the paths of keys that occurred twice in it.
pub(super) struct Raw {
    pub(super) value: Value,
    pub(super) duplicates: Vec<String>,
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut duplicates = Vec::new();
        let value = Node { place: Place::Root, depth: 0, duplicates: &mut duplicates }.deserialize(deserializer)?;
        Ok(Self { value, duplicates })
    }
}

/// Adds the path of a key that was there before, unless it was the last one too or enough are noted.
pub(super) fn note_duplicate(duplicates: &mut Vec<String>, path: impl FnOnce() -> String) {
    if duplicates.len() < MAX_DUPLICATES {
        let path = path();
        if duplicates.last() != Some(&path) {
            duplicates.push(path);
        }
    }
}

/// A key as it is shown in a path.
pub(super) fn shown(key: &str) -> Cow<'_, str> {
    match key.char_indices().nth(MAX_SHOWN_CHARACTERS) {
        Some((end, _)) => Cow::Owned(format!("{}…", key.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(key),
    }
}

/// Where in the document we are, as a list through the call stack: nothing is copied unless a duplicate shows up.
#[derive(Clone, Copy)]
enum Place<'p> {
    Root,
    Key(&'p Place<'p>, &'p str),
    Index(&'p Place<'p>, usize),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(Self::Root, key) => f.write_str(&shown(key)),
            Self::Key(parent, key) => write!(f, "{parent}.{}", shown(key)),
            Self::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

struct Node<'p, 'd> {
    place: Place<'p>,
    depth: usize,
    duplicates: &'d mut Vec<String>,
}

impl Node<'_, '_> {
    fn check_depth<E: serde::de::Error>(&self) -> Result<(), E> {
        if self.depth < MAX_DEPTH {
            Ok(())
        } else {
            Err(E::custom(format_args!("nested deeper than {MAX_DEPTH} levels")))
        }
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_, '_> {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number must be finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        self.check_depth()?;
        let mut list = Vec::with_capacity(items.size_hint().unwrap_or(0).min(64));
        let depth = self.depth + 1;
        while let Some(item) = items.next_element_seed(Node {
            place: Place::Index(&self.place, list.len()),
            depth,
            duplicates: &mut *self.duplicates,
        })? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        self.check_depth()?;
        let mut object = Map::new();
        let depth = self.depth + 1;
        while let Some(key) = entries.next_key::<String>()? {
            let place = Place::Key(&self.place, &key);
            let value = entries.next_value_seed(Node { place, depth, duplicates: &mut *self.duplicates })?;
            if object.contains_key(&key) {
                note_duplicate(self.duplicates, || place.to_string());
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}
