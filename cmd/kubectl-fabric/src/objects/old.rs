//! The objects before a change (`--old`).

use std::{collections::HashMap, path::Path};

use fabric_apis::{
    decode::{Document, documents},
    openstack::v1alpha1::InfrastructureConfig,
};
use fabric_validation::openstack::admission::entry;

use super::{read, syntax_text};
use crate::{
    exit::{Result, Stop},
    input::Source,
};

/// Older objects and the configs in them, by kind and name of the object.
#[derive(Debug, Default)]
pub(crate) struct Old(HashMap<(String, String), (Document, Option<InfrastructureConfig>)>);

impl Old {
    /// Reads the file given with `--old`.
    ///
    /// # Errors
    /// When it cannot be read, or holds nothing to compare with.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let stop = |what: String| {
            Stop::error(format!("{}: {what}", path.display()))
                .next("--old takes the object as it was before the change")
        };
        let source = if path.as_os_str() == "-" { Source::Stdin } else { Source::File(path.to_owned()) };
        let bytes = source.read().map_err(&stop)?;
        let mut found = HashMap::new();
        for document in documents("", &bytes).map_err(|error| stop(syntax_text(&error)))? {
            for document in read::expand(document) {
                let key = (document.kind().to_owned(), read::full_name(&document));
                let config = read::old_config(&document).map_err(|errors| stop(errors.to_string()))?;
                if config.is_some() || entry(document.api_version(), document.kind()).is_some() {
                    found.insert(key, (document, config));
                }
            }
        }
        if found.is_empty() {
            return Err(stop("holds none of the kinds that this command knows".to_owned()));
        }
        Ok(Self(found))
    }

    /// The older config of the object of this kind and name.
    pub(super) fn find(&self, kind: &str, name: &str) -> Option<&InfrastructureConfig> {
        self.0.get(&(kind.to_owned(), name.to_owned())).and_then(|(_, config)| config.as_ref())
    }

    /// The older object of this kind and name.
    pub(super) fn document(&self, kind: &str, name: &str) -> Option<&Document> {
        self.0.get(&(kind.to_owned(), name.to_owned())).map(|(document, _)| document)
    }
}
