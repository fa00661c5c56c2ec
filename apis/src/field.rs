//! Errors about fields, with the words and the semantics of Kubernetes' `field` package.
//!
//! People read these texts in `kubectl` output and scripts match them, so [`Error`] displays byte for byte as
//! Kubernetes does: `networks.id: Invalid value: "x": must be a valid UUID`.

use std::collections::HashSet;
use std::fmt;

use serde::{Serialize, Serializer, ser::SerializeStruct};
use serde_json::Value;

/// Where in an object a field stands: `spec.provider.workers[2].labels[zone]`.
///
/// A path lives on the stack and points at its parent, so walking a valid object allocates nothing; the text is made
/// only when an error needs it. [`Path::nil`] is the path of no field at all; it prints as `<nil>`, its children print
/// without a prefix.
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    segment: Segment<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Segment<'a> {
    Nil,
    Name(&'a str),
    Index(usize),
    Key(&'a str),
}

impl<'a> Path<'a> {
    /// The path of no field, prefix of an object that stands alone.
    pub const fn nil() -> Path<'static> {
        Path { parent: None, segment: Segment::Nil }
    }

    /// A path that starts at `name`, which may itself be dotted: `spec.provider.infrastructureConfig`.
    pub const fn new(name: &'a str) -> Path<'a> {
        Path { parent: None, segment: Segment::Name(name) }
    }

    /// The field `name` of the object at this path.
    pub const fn child<'b>(&'b self, name: &'b str) -> Path<'b>
    where
        'a: 'b,
    {
        Path { parent: Some(self), segment: Segment::Name(name) }
    }

    /// The element `index` of the list at this path.
    pub const fn index<'b>(&'b self, index: usize) -> Path<'b>
    where
        'a: 'b,
    {
        Path { parent: Some(self), segment: Segment::Index(index) }
    }

    /// The entry `key` of the map at this path.
    pub const fn key<'b>(&'b self, key: &'b str) -> Path<'b>
    where
        'a: 'b,
    {
        Path { parent: Some(self), segment: Segment::Key(key) }
    }

    fn is_nil(&self) -> bool {
        matches!(self.segment, Segment::Nil)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parent = self.parent.filter(|parent| !parent.is_nil());
        if let Some(parent) = parent {
            write!(f, "{parent}")?;
        }
        match self.segment {
            Segment::Nil => f.write_str("<nil>"),
            Segment::Name(name) if parent.is_some() => write!(f, ".{name}"),
            Segment::Name(name) => f.write_str(name),
            Segment::Index(index) => write!(f, "[{index}]"),
            Segment::Key(key) => write!(f, "[{key}]"),
        }
    }
}

/// What is wrong with a field. The serialised form is the cause constant of the Kubernetes API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum ErrorType {
    /// The value names something that doesn't exist.
    #[serde(rename = "FieldValueNotFound")]
    NotFound,
    /// A value is missing.
    #[serde(rename = "FieldValueRequired")]
    Required,
    /// The value is there twice and must be unique.
    #[serde(rename = "FieldValueDuplicate")]
    Duplicate,
    /// The value breaks a rule.
    #[serde(rename = "FieldValueInvalid")]
    Invalid,
    /// The value is none of a known set.
    #[serde(rename = "FieldValueNotSupported")]
    NotSupported,
    /// The field may not be set here.
    #[serde(rename = "FieldValueForbidden")]
    Forbidden,
    /// The text is too long.
    #[serde(rename = "FieldValueTooLong")]
    TooLong,
    /// The list has too many entries.
    #[serde(rename = "FieldValueTooMany")]
    TooMany,
    /// Something failed that the user's input is not to blame for.
    #[serde(rename = "InternalError")]
    InternalError,
    /// The value has the wrong JSON type.
    #[serde(rename = "FieldValueTypeInvalid")]
    TypeInvalid,
}

impl ErrorType {
    /// The cause constant, as in `Status.details.causes[].reason`.
    pub fn as_cause(self) -> &'static str {
        match self {
            Self::NotFound => "FieldValueNotFound",
            Self::Required => "FieldValueRequired",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
            Self::InternalError => "InternalError",
            Self::TypeInvalid => "FieldValueTypeInvalid",
        }
    }
}

impl fmt::Display for ErrorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFound => "Not found",
            Self::Required => "Required value",
            Self::Duplicate => "Duplicate value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Forbidden => "Forbidden",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
            Self::InternalError => "Internal error",
        })
    }
}

/// One thing that is wrong, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// What kind of fault it is.
    pub kind: ErrorType,
    /// The field's path, `<nil>` when it is about no field.
    pub field: String,
    /// The value found there; `None` where Kubernetes shows none (Required, Forbidden, …).
    pub value: Option<Value>,
    /// What is expected instead. May be empty.
    pub detail: String,
}

impl Error {
    fn new(kind: ErrorType, path: &Path<'_>, value: Option<Value>, detail: impl Into<String>) -> Self {
        Self { kind, field: path.to_string(), value, detail: detail.into() }
    }

    /// A value is missing at `path`.
    pub fn required(path: &Path<'_>, detail: impl Into<String>) -> Self {
        Self::new(ErrorType::Required, path, None, detail)
    }

    /// The value at `path` breaks a rule.
    pub fn invalid(path: &Path<'_>, value: impl Into<Value>, detail: impl Into<String>) -> Self {
        Self::new(ErrorType::Invalid, path, Some(value.into()), detail)
    }

    /// The value at `path` has the wrong JSON type.
    pub fn type_invalid(path: &Path<'_>, value: impl Into<Value>, detail: impl Into<String>) -> Self {
        Self::new(ErrorType::TypeInvalid, path, Some(value.into()), detail)
    }

    /// The value at `path` is none of `supported`, which is listed in the given order.
    pub fn not_supported<S: AsRef<str>>(path: &Path<'_>, value: impl Into<Value>, supported: &[S]) -> Self {
        let mut detail = String::new();
        if !supported.is_empty() {
            detail.push_str("supported values: ");
            for (index, value) in supported.iter().enumerate() {
                if index > 0 {
                    detail.push_str(", ");
                }
                quote(value.as_ref(), &mut detail);
            }
        }
        Self::new(ErrorType::NotSupported, path, Some(value.into()), detail)
    }

    /// The field may not be set.
    pub fn forbidden(path: &Path<'_>, detail: impl Into<String>) -> Self {
        Self::new(ErrorType::Forbidden, path, None, detail)
    }

    /// The value is already there.
    pub fn duplicate(path: &Path<'_>, value: impl Into<Value>) -> Self {
        Self::new(ErrorType::Duplicate, path, Some(value.into()), "")
    }

    /// The value names something that doesn't exist.
    pub fn not_found(path: &Path<'_>, value: impl Into<Value>) -> Self {
        Self::new(ErrorType::NotFound, path, Some(value.into()), "")
    }

    /// A check could not be made; `detail` says why.
    pub fn internal(path: &Path<'_>, detail: impl Into<String>) -> Self {
        Self::new(ErrorType::InternalError, path, None, detail)
    }

    /// The text is longer than `max` bytes.
    pub fn too_long(path: &Path<'_>, max: usize) -> Self {
        Self::new(ErrorType::TooLong, path, None, format!("may not be more than {max} bytes"))
    }

    /// The list holds `actual` entries and may hold `max`.
    pub fn too_many(path: &Path<'_>, actual: usize, max: usize) -> Self {
        Self::new(ErrorType::TooMany, path, Some(actual.into()), format!("must have at most {max} items"))
    }

    /// The text without the path: `Invalid value: "x": must be …`.
    pub fn body(&self) -> String {
        let mut text = self.kind.to_string();
        match &self.value {
            Some(Value::String(value)) => {
                text.push_str(": ");
                quote(value, &mut text);
            }
            // A nil pointer is the quoted word, not a JSON null.
            Some(Value::Null) => text.push_str(": \"null\""),
            Some(value) => {
                text.push_str(": ");
                text.push_str(&value.to_string());
            }
            None => {}
        }
        if !self.detail.is_empty() {
            text.push_str(": ");
            text.push_str(&self.detail);
        }
        text
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.body())
    }
}

impl std::error::Error for Error {}

impl Serialize for Error {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Error", 4)?;
        object.serialize_field("type", &self.kind)?;
        object.serialize_field("field", &self.field)?;
        object.serialize_field("value", &self.value)?;
        object.serialize_field("detail", &self.detail)?;
        object.end()
    }
}

/// All the errors of one object, in the order the rules found them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErrorList(Vec<Error>);

impl ErrorList {
    /// An empty list.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds one error.
    pub fn push(&mut self, error: Error) {
        self.0.push(error);
    }

    /// Whether there is nothing to complain about.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many errors there are, repeated ones included.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The errors in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Error> {
        self.0.iter()
    }

    /// Whether an error of this kind is among them; the controller asks for [`ErrorType::InternalError`].
    pub fn has(&self, kind: ErrorType) -> bool {
        self.0.iter().any(|error| error.kind == kind)
    }

    /// The same errors as seen from further outside: every path gets `prefix` in front. An error about no field
    /// (`<nil>`) is then about the prefix itself.
    #[must_use]
    pub fn with_prefix(mut self, prefix: &Path<'_>) -> Self {
        if prefix.is_nil() {
            return self;
        }
        for error in &mut self.0 {
            error.field = match error.field.as_str() {
                "<nil>" => prefix.to_string(),
                indexed if indexed.starts_with('[') => format!("{prefix}{indexed}"),
                field => format!("{prefix}.{field}"),
            };
        }
        self
    }

    /// `Ok` when empty.
    ///
    /// # Errors
    /// The list itself when it holds anything.
    pub fn into_result(self) -> Result<(), Self> {
        if self.is_empty() { Ok(()) } else { Err(self) }
    }
}

impl fmt::Display for ErrorList {
    /// As Kubernetes joins them: identical messages once, a single one bare, several as `[a, b]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut told = HashSet::with_capacity(self.0.len());
        let mut messages: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        messages.retain(|message| told.insert(message.clone()));
        match messages.as_slice() {
            [single] => f.write_str(single),
            several => write!(f, "[{}]", several.join(", ")),
        }
    }
}

impl std::error::Error for ErrorList {}

impl Serialize for ErrorList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.0)
    }
}

impl IntoIterator for ErrorList {
    type Item = Error;
    type IntoIter = std::vec::IntoIter<Error>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a ErrorList {
    type Item = &'a Error;
    type IntoIter = std::slice::Iter<'a, Error>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl Extend<Error> for ErrorList {
    fn extend<I: IntoIterator<Item = Error>>(&mut self, errors: I) {
        self.0.extend(errors);
    }
}

impl FromIterator<Error> for ErrorList {
    fn from_iter<I: IntoIterator<Item = Error>>(errors: I) -> Self {
        Self(errors.into_iter().collect())
    }
}

impl From<Error> for ErrorList {
    fn from(error: Error) -> Self {
        Self(vec![error])
    }
}

/// Something that is accepted but looks wrong. Displays as `path: detail`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The field's path.
    pub field: String,
    /// What looks wrong and what to do about it.
    pub detail: String,
}

impl Warning {
    /// A warning about the field at `path`.
    pub fn new(path: &Path<'_>, detail: impl Into<String>) -> Self {
        Self { field: path.to_string(), detail: detail.into() }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.detail)
    }
}

/// Warnings in the order the rules found them.
pub type Warnings = Vec<Warning>;

/// What a set of rules found: errors refuse the object, warnings do not.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Findings {
    /// What makes the object unusable.
    pub errors: ErrorList,
    /// What is accepted but looks wrong.
    pub warnings: Warnings,
}

impl Findings {
    /// Nothing found.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty() && self.warnings.is_empty()
    }

    /// Adds an error.
    pub fn error(&mut self, error: Error) {
        self.errors.push(error);
    }

    /// Adds a warning about the field at `path`.
    pub fn warn(&mut self, path: &Path<'_>, detail: impl Into<String>) {
        self.warnings.push(Warning::new(path, detail));
    }

    /// Takes over what other rules found.
    pub fn merge(&mut self, other: Findings) {
        self.errors.extend(other.errors);
        self.warnings.extend(other.warnings);
    }
}

/// Appends `text` quoted as Go's `%q` does, which is how Kubernetes shows a string value.
pub fn quote(text: &str, out: &mut String) {
    use fmt::Write;
    out.push('"');
    for character in text.chars() {
        // Writing to a String can't fail.
        let _ = match character {
            '"' => write!(out, "\\\""),
            '\\' => write!(out, "\\\\"),
            '\n' => write!(out, "\\n"),
            '\r' => write!(out, "\\r"),
            '\t' => write!(out, "\\t"),
            '\u{7}' => write!(out, "\\a"),
            '\u{8}' => write!(out, "\\b"),
            '\u{c}' => write!(out, "\\f"),
            '\u{b}' => write!(out, "\\v"),
            plain if is_printable(plain) => write!(out, "{plain}"),
            ascii if ascii.is_ascii() => write!(out, "\\x{:02x}", u32::from(ascii)),
            short if u32::from(short) < 0x1_0000 => write!(out, "\\u{:04x}", u32::from(short)),
            long => write!(out, "\\U{:08x}", u32::from(long)),
        };
    }
    out.push('"');
}

/// Close to Go's `unicode.IsPrint`: no controls, no white space but the ASCII space, no invisible format characters.
fn is_printable(character: char) -> bool {
    let invisible = matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e000}'..='\u{f8ff}');
    character == ' ' || !(character.is_control() || character.is_whitespace() || invisible)
}

#[cfg(test)]
mod tests;
