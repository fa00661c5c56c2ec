//! Reading objects from YAML and JSON.
//!
//! Two steps: [`documents`] turns bytes into [`Document`]s, keeping what JSON values can't hold (keys that were there
//! twice); [`Document::strict`] and [`Document::lenient`] turn one into a type. Strict reading is for what people just
//! wrote: it reports **every** unknown, duplicate and ill-typed field with its path. Lenient reading is for objects of
//! others and for old ones that an older version accepted.
//!
//! YAML is read as version 1.2 says: `on`, `yes` and `off` are strings. An unquoted number stays a number, so where a
//! string is expected (`id: 1e10`) it is an error that says to quote it, never a silently changed value. What is too
//! long for a number (an id of 32 digits) is a string.

mod objects;
mod reader;
mod strict;
mod yaml;

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::field::{self, Path};

pub use reader::documents;
pub use strict::{lenient, strict};

/// A type that is an object of one kind in one version.
pub trait Kinded {
    /// Group and version: `openstack.provider.extensions.gardener.cloud/v1alpha1`.
    const API_VERSION: &'static str;
    /// The kind: `InfrastructureConfig`.
    const KIND: &'static str;
}

/// One object as it was read. Its `Debug` form shows which object it is and no values: it may be a Secret.
#[derive(Clone, PartialEq)]
pub struct Document {
    /// Place among the non-empty documents of its file, from 0.
    pub index: usize,
    /// The object. Where a key was there twice, the last value.
    pub value: Value,
    /// Paths of keys that were there more than once: `networks.id`, `spec.workers[1].name`. The first thousand.
    pub duplicates: Vec<String>,
}

impl Document {
    /// The object's `apiVersion`, empty when there is none.
    pub fn api_version(&self) -> &str {
        text(&self.value, "apiVersion")
    }

    /// The object's `kind`, empty when there is none.
    pub fn kind(&self) -> &str {
        text(&self.value, "kind")
    }

    /// The object's `metadata.name`, empty when there is none.
    pub fn name(&self) -> &str {
        self.value.get("metadata").map_or("", |metadata| text(metadata, "name"))
    }

    /// Reads the whole document as a new object of ours.
    ///
    /// # Errors
    /// [`Error::Kind`] for another kind, else [`Error::Fields`] with everything that doesn't fit.
    pub fn strict<T: Kinded + DeserializeOwned>(&self) -> Result<T, Error> {
        strict(&self.value, self.duplicates.iter().map(String::as_str))
    }

    /// Reads the object at the dotted `prefix` of this document (`spec.provider.infrastructureConfig`) as a new object
    /// of ours. Paths in errors are relative to it. `None` when there is nothing (or `null`) at `prefix`.
    ///
    /// # Errors
    /// As [`Document::strict`].
    pub fn strict_at<T: Kinded + DeserializeOwned>(&self, prefix: &str) -> Result<Option<T>, Error> {
        let found = prefix.split('.').try_fold(&self.value, |value, key| value.get(key));
        match found {
            None | Some(Value::Null) => Ok(None),
            Some(value) => strict(value, self.duplicates_under(prefix)).map(Some),
        }
    }

    /// The duplicates below `prefix`, relative to it.
    pub fn duplicates_under<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a str> {
        self.duplicates.iter().filter_map(move |path| path.strip_prefix(prefix)?.strip_prefix('.'))
    }

    /// The duplicates outside of `prefix`, which no strict reading of a part has told yet.
    pub fn duplicates_outside<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a str> {
        self.duplicates
            .iter()
            .map(String::as_str)
            .filter(move |path| !path.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('.')))
    }

    /// Takes the document apart into an object of Gardener's: unknown fields are skipped or kept as the type says.
    ///
    /// # Errors
    /// [`Error::Fields`] naming the first field whose type doesn't fit.
    pub fn lenient<T: DeserializeOwned>(&self) -> Result<T, Error> {
        lenient(&self.value)
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document")
            .field("index", &self.index)
            .field("kind", &self.kind())
            .field("name", &self.name())
            .field("duplicates", &self.duplicates)
            .finish_non_exhaustive()
    }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Why bytes could not be read as an object.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The bytes are neither YAML nor JSON. Nothing of the file is used.
    #[error("{source_name}:{line}:{column}: {message}")]
    Syntax {
        /// The file, as the caller named it.
        source_name: String,
        /// Line from 1; 0 when unknown.
        line: usize,
        /// Column in characters from 1; 0 when unknown.
        column: usize,
        /// What the reader expected.
        message: String,
    },
    /// The object is of another kind or version.
    #[error("expected {expected_kind} of {expected_api_version}, found {}", Found { api_version, kind })]
    Kind {
        /// What the caller wanted.
        expected_api_version: &'static str,
        /// What the caller wanted.
        expected_kind: &'static str,
        /// What the object says; may be empty.
        api_version: String,
        /// What the object says; may be empty.
        kind: String,
    },
    /// Fields don't fit the type.
    #[error("{}decoding error: {}", if *.strict { "strict " } else { "" }, Problems(problems))]
    Fields {
        /// Whether unknown and duplicate fields counted.
        strict: bool,
        /// All of them: unknown, then duplicate, then ill-typed.
        problems: Vec<Problem>,
    },
}

impl Error {
    /// The same without any value that was found, for objects whose values are nobody's business.
    #[must_use]
    pub fn without_values(mut self) -> Self {
        if let Self::Fields { problems, .. } = &mut self {
            for problem in problems {
                if let Problem::Type { message, .. } = problem {
                    *message = strict::without_value(message);
                }
            }
        }
        self
    }

    /// The same as field errors below `base`, for reports that list one finding per field.
    pub fn to_field_errors(&self, base: &Path<'_>) -> field::ErrorList {
        let relative: field::ErrorList = match self {
            Self::Fields { problems, .. } => problems.iter().map(Problem::to_field_error).collect(),
            Self::Kind { kind, .. } => {
                field::Error::invalid(&Path::nil().child("kind"), kind.as_str(), self.to_string()).into()
            }
            Self::Syntax { .. } => field::Error::internal(&Path::nil(), self.to_string()).into(),
        };
        relative.with_prefix(base)
    }
}

/// One field that doesn't fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// There is no such field.
    Unknown(
        /// Its path.
        String,
    ),
    /// The field is there more than once.
    Duplicate(
        /// Its path.
        String,
    ),
    /// The value has the wrong type.
    Type {
        /// Its path, empty for the object itself.
        path: String,
        /// What was found, what is expected, and the fix where one is known.
        message: String,
    },
}

impl Problem {
    fn to_field_error(&self) -> field::Error {
        let (kind, path, value, detail) = match self {
            Self::Unknown(path) => (field::ErrorType::Forbidden, path, None, "unknown field".to_owned()),
            Self::Duplicate(path) => {
                let name = path.rsplit('.').next().unwrap_or(path);
                (field::ErrorType::Duplicate, path, Some(name.into()), "the field is given more than once".to_owned())
            }
            Self::Type { path, message } => (field::ErrorType::TypeInvalid, path, None, message.clone()),
        };
        let field = if path.is_empty() { Path::nil().to_string() } else { path.clone() };
        field::Error { kind, field, value, detail }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(path) => write!(f, "unknown field \"{path}\""),
            Self::Duplicate(path) => write!(f, "duplicate field \"{path}\""),
            Self::Type { path, message } if path.is_empty() => f.write_str(message),
            Self::Type { path, message } => write!(f, "field \"{path}\": {message}"),
        }
    }
}

struct Problems<'a>(&'a [Problem]);

impl fmt::Display for Problems<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

struct Found<'a> {
    api_version: &'a str,
    kind: &'a str,
}

impl fmt::Display for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.kind, self.api_version) {
            ("", _) => f.write_str("an object without kind"),
            (kind, "") => write!(f, "{kind} without apiVersion"),
            (kind, api_version) => write!(f, "{kind} of {api_version}"),
        }
    }
}

#[cfg(test)]
mod tests;
