//! Values to types, telling everything that doesn't fit.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::objects::Objects;
use super::reader::{MAX_PROBLEMS, shown};
use super::{Error, Kinded, Problem};

/// Reads a new object of ours: `duplicates` are the paths that were found more than once while reading it.
///
/// # Errors
/// [`Error::Kind`] when it is another kind, else [`Error::Fields`] with all problems at once.
pub fn strict<'a, T: Kinded + DeserializeOwned>(
    value: &Value,
    duplicates: impl Iterator<Item = &'a str>,
) -> Result<T, Error> {
    check_kind::<T>(value)?;
    let mut unknown: Vec<String> = Vec::new();
    let mut result = attempt::<T>(value, &mut unknown);
    let mut types = Vec::new();
    let mut blanked: Option<Value> = None;
    // Serde stops at the first ill-typed value. We blank that one and read on, so that all of them are told at once.
    while let Err((path, pointer, message)) = &result {
        let repeated =
            types.iter().any(|problem| matches!(problem, Problem::Type { path: known, .. } if known == path));
        if !repeated {
            types.push(Problem::Type { path: path.clone(), message: message.clone() });
        }
        let target = blanked.get_or_insert_with(|| value.clone()).pointer_mut(pointer);
        match target {
            Some(target) if !repeated && !target.is_null() && types.len() < MAX_PROBLEMS => *target = Value::Null,
            _ => break,
        }
        result = attempt::<T>(blanked.as_ref().unwrap_or(value), &mut unknown);
    }
    let mut twice: Vec<&str> = Vec::new();
    for path in duplicates {
        if twice.len() < MAX_PROBLEMS && !twice.contains(&path) {
            twice.push(path);
        }
    }
    let twice = twice.into_iter().map(|path| Problem::Duplicate(path.to_owned()));
    let problems: Vec<Problem> = unknown.into_iter().map(Problem::Unknown).chain(twice).chain(types).collect();
    match result {
        Ok(decoded) if problems.is_empty() => Ok(decoded),
        _ => Err(Error::Fields { strict: true, problems }),
    }
}

/// Reads an object of others, or an old one: unknown fields don't matter.
///
/// # Errors
/// [`Error::Fields`] naming the first field whose type doesn't fit.
pub fn lenient<T: DeserializeOwned>(value: &Value) -> Result<T, Error> {
    // Following the path costs more than reading: only what does not fit is read again with it.
    if let Ok(decoded) = T::deserialize(Objects(value)) {
        return Ok(decoded);
    }
    serde_path_to_error::deserialize(Objects(value)).map_err(|error| {
        let problem = Problem::Type { path: dotted(error.path()), message: advise(&error.inner().to_string()) };
        Error::Fields { strict: false, problems: vec![problem] }
    })
}

fn check_kind<T: Kinded>(value: &Value) -> Result<(), Error> {
    if !value.is_object() {
        let problem = Problem::Type { path: String::new(), message: format!("expected an object of kind {}", T::KIND) };
        return Err(Error::Fields { strict: true, problems: vec![problem] });
    }
    let (api_version, kind) = (super::text(value, "apiVersion"), super::text(value, "kind"));
    if api_version == T::API_VERSION && kind == T::KIND {
        return Ok(());
    }
    Err(Error::Kind {
        expected_api_version: T::API_VERSION,
        expected_kind: T::KIND,
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
    })
}

/// Dotted path, JSON pointer and message of the first ill-typed value.
type TypeError = (String, String, String);

fn attempt<T: DeserializeOwned>(value: &Value, unknown: &mut Vec<String>) -> Result<T, TypeError> {
    let mut note = |path: serde_ignored::Path<'_>| {
        if unknown.len() < MAX_PROBLEMS {
            let path = ignored(&path);
            if !unknown.contains(&path) {
                unknown.push(path);
            }
        }
    };
    // As in `lenient`: without the path first. What is unknown is noted once, however often it is read.
    if let Ok(decoded) = T::deserialize(serde_ignored::Deserializer::new(Objects(value), &mut note)) {
        return Ok(decoded);
    }
    serde_path_to_error::deserialize(serde_ignored::Deserializer::new(Objects(value), &mut note))
        .map_err(|error| (dotted(error.path()), pointer(error.path()), advise(&error.inner().to_string())))
}

/// Says it in the words of YAML, with the fix where one is known: the usual reason for a number where text is expected
/// is a missing pair of quotes.
fn advise(message: &str) -> String {
    let Some((found, expected)) = message.rsplit_once(", expected ") else {
        return message.to_owned();
    };
    let unquoted = ["integer", "floating point", "boolean"]
        .iter()
        .any(|scalar| found.strip_prefix("invalid type: ").is_some_and(|rest| rest.starts_with(scalar)));
    match expected {
        "a string" if unquoted => format!("{message}; put the value in quotes"),
        "a boolean" => format!("{message}; write true or false, without quotes"),
        "i64" | "i32" => format!("{found}, expected an integer"),
        other if other.starts_with("struct ") => format!("{found}, expected an object"),
        _ => message.to_owned(),
    }
}

/// Serde says ``invalid type: integer `1`, expected …``; this leaves out what is quoted.
pub(super) fn without_value(message: &str) -> String {
    let start = message.find(['`', '"']);
    let end = message.rfind(", expected ");
    match (start, end) {
        (Some(start), Some(end)) if start < end => {
            let (kept, rest) = (message.get(..start), message.get(end..));
            format!("{}{}", kept.unwrap_or_default().trim_end(), rest.unwrap_or_default())
        }
        // A text of another form: it may quote anything.
        (Some(_), _) => "the value doesn't fit".to_owned(),
        (None, _) => message.to_owned(),
    }
}

fn dotted(path: &serde_path_to_error::Path) -> String {
    let text = path.to_string();
    if text == "." { String::new() } else { text }
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let mut text = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => text.push_str(&format!("/{index}")),
            Segment::Map { key } => {
                text.push('/');
                text.push_str(&key.replace('~', "~0").replace('/', "~1"));
            }
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    text
}

/// As [`dotted`]; serde_ignored's own text shows an Option on the way as `?`.
fn ignored(path: &serde_ignored::Path<'_>) -> String {
    use serde_ignored::Path;
    match path {
        Path::Root => String::new(),
        Path::Seq { parent, index } => format!("{}[{index}]", ignored(parent)),
        Path::Map { parent, key } => {
            let (parent, key) = (ignored(parent), shown(key));
            if parent.is_empty() { key.into_owned() } else { format!("{parent}.{key}") }
        }
        Path::Some { parent } | Path::NewtypeStruct { parent } | Path::NewtypeVariant { parent } => ignored(parent),
    }
}
