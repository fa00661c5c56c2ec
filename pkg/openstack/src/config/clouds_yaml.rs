//! `clouds.yaml` with `secure.yaml` laid over it and `clouds-public.yaml` below it.

use std::collections::BTreeMap;

use fabric_openstack_types::credentials::Credentials;
use serde_json::{Map, Value};

use super::{Surroundings, fields::Fields};
use crate::error::Error;

/// The clouds of the files.
#[derive(Clone, Default)]
pub struct Clouds {
    file: String,
    clouds: Map<String, Value>,
    profiles: Map<String, Value>,
}

impl std::fmt::Debug for Clouds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Clouds").field("file", &self.file).field("clouds", &self.names()).finish_non_exhaustive()
    }
}

impl Clouds {
    /// No file was found.
    pub fn none(looked_for: &str) -> Self {
        Self { file: looked_for.to_owned(), ..Self::default() }
    }

    /// Reads `clouds.yaml`; `file` is its name for messages.
    ///
    /// # Errors
    /// [`Error::Syntax`] with line and column; the text is not quoted.
    pub fn parse(file: &str, text: &str) -> Result<Self, Error> {
        Ok(Self { file: file.to_owned(), clouds: section(file, text, "clouds")?, profiles: Map::new() })
    }

    /// Lays `secure.yaml` over it.
    ///
    /// # Errors
    /// As [`Clouds::parse`].
    pub fn add_secrets(&mut self, file: &str, text: &str) -> Result<(), Error> {
        for (cloud, secrets) in section(file, text, "clouds")? {
            // As openstacksdk: secrets of a cloud that is not in the first file make no cloud.
            if let Some(known) = self.clouds.get_mut(&cloud) {
                lay_over(known, secrets);
            }
        }
        Ok(())
    }

    /// Takes the profiles of `clouds-public.yaml`.
    ///
    /// # Errors
    /// As [`Clouds::parse`].
    pub fn add_profiles(&mut self, file: &str, text: &str) -> Result<(), Error> {
        self.profiles = section(file, text, "public-clouds")?;
        Ok(())
    }

    /// The file, or where one was looked for.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The clouds' names in alphabetical order.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = self.clouds.keys().cloned().collect();
        names.sort();
        names
    }

    /// The credentials of one cloud. `OS_REGION_NAME` says which region when the cloud has several; a relative
    /// `cacert` is looked for in the working folder, as openstacksdk does.
    ///
    /// # Errors
    /// Names the file, the cloud, the field and the fix.
    pub fn credentials(&self, cloud: &str, from: &Surroundings) -> Result<Credentials, Error> {
        let settings = self.settings(cloud)?;
        let place = format!("{}: cloud {cloud:?}", self.file);
        let fields = Fields { place, spelled, values: texts(settings.get("auth")) };
        let top = texts(Some(&Value::Object(settings.clone())));
        let set = |name: &str| top.get(name).map(String::as_str);
        let verify = fields.switch("verify", set("verify").or_else(|| set("ssl_verify")))?;
        let insecure = fields.switch("insecure", set("insecure"))?;
        let interface = set("interface").or_else(|| set("endpoint_type"));
        Ok(Credentials {
            auth_url: fields.need("auth_url", "Keystone's URL, for example https://keystone/v3")?,
            method: fields.method(set("auth_type"))?,
            region: region(&settings, from.variable("OS_REGION_NAME")),
            interface: fields.interface("interface", interface)?,
            ca_cert: match set("cacert").filter(|file| !file.is_empty()) {
                Some(file) => Some(ca_cert(&fields.place, "cacert", from, file)?),
                None => None,
            },
            insecure: insecure.unwrap_or(verify == Some(false)),
            endpoint_overrides: overrides(&top),
        })
    }

    fn settings(&self, cloud: &str) -> Result<Map<String, Value>, Error> {
        let own = self.clouds.get(cloud).and_then(Value::as_object);
        let own = own.ok_or_else(|| Error::UnknownCloud {
            file: self.file.clone(),
            cloud: cloud.to_owned(),
            known: self.names(),
        })?;
        let profile = own.get("profile").or_else(|| own.get("cloud"));
        let Some(profile) = profile.and_then(Value::as_str) else {
            return Ok(own.clone());
        };
        let mut settings = self.profiles.get(profile).cloned().ok_or_else(|| Error::Invalid {
            place: format!("{}: cloud {cloud:?}", self.file),
            field: "profile".to_owned(),
            problem: format!(
                "{profile:?} is not in clouds-public.yaml: add it there, or give auth_url here and drop the profile"
            ),
        })?;
        lay_over(&mut settings, Value::Object(own.clone()));
        Ok(settings.as_object().cloned().unwrap_or_default())
    }
}

/// Where a field stands in the file.
fn spelled(field: &str) -> String {
    match field {
        "interface" | "verify" | "insecure" | "auth_type" => field.to_owned(),
        other => format!("auth.{other}"),
    }
}

fn read(from: &Surroundings, file: &str) -> Result<String, Error> {
    let expanded = match (file.strip_prefix("~/"), &from.home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => from.working.join(file),
    };
    std::fs::read_to_string(&expanded).map_err(|source| Error::Read { file: expanded, source })
}

/// The PEM text of a CA; the error names the setting that named the file.
pub(super) fn ca_cert(place: &str, field: &str, from: &Surroundings, file: &str) -> Result<String, Error> {
    read(from, file).map_err(|error| Error::Invalid {
        place: place.to_owned(),
        field: field.to_owned(),
        problem: format!("{error}; name the file with the CA certificate"),
    })
}

fn section(file: &str, text: &str, name: &str) -> Result<Map<String, Value>, Error> {
    let syntax = |message: String| Error::Syntax { file: file.to_owned(), message };
    let whole: Value = serde_yaml::from_str(text).map_err(|error| {
        // The parser's own text may quote a value.
        syntax(match error.location() {
            Some(at) => format!("no valid YAML at line {} column {}", at.line(), at.column()),
            None => "no valid YAML".to_owned(),
        })
    })?;
    match whole {
        Value::Null => Ok(Map::new()),
        Value::Object(mut fields) => match fields.remove(name) {
            None | Some(Value::Null) => Ok(Map::new()),
            Some(Value::Object(found)) => Ok(found),
            Some(_) => Err(syntax(format!("{name:?} must hold one entry a cloud"))),
        },
        _ => Err(syntax(format!("must be a mapping with the key {name:?}"))),
    }
}

/// Objects are merged, everything else is replaced.
fn lay_over(below: &mut Value, above: Value) {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (key, value) in above {
                lay_over(below.entry(key).or_insert(Value::Null), value);
            }
        }
        (below, above) => *below = above,
    }
}

/// The scalar fields as text: a password of digits is a number for YAML.
fn texts(value: Option<&Value>) -> BTreeMap<String, String> {
    let fields = value.and_then(Value::as_object);
    let fields = fields.into_iter().flatten();
    fields
        .filter_map(|(key, value)| {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                Value::Bool(switch) => switch.to_string(),
                _ => return None,
            };
            Some((key.clone(), text))
        })
        .collect()
}

fn region(settings: &Map<String, Value>, wanted: Option<&str>) -> Option<String> {
    if let Some(wanted) = wanted {
        return Some(wanted.to_owned());
    }
    if let Some(name) = settings.get("region_name").and_then(Value::as_str) {
        return Some(name.to_owned());
    }
    let first = settings.get("regions")?.as_array()?.first()?;
    let name = first.as_str().or_else(|| first.get("name")?.as_str());
    name.map(str::to_owned)
}

/// `network_endpoint_override: https://…` for the services that we call.
fn overrides(top: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (field, url) in top {
        if let Some(service) = field.strip_suffix("_endpoint_override") {
            let service = match service {
                "shared_file_system" | "share" | "sharev2" => "sharev2".to_owned(),
                other => other.replace('_', "-"),
            };
            found.insert(service, url.clone());
        }
    }
    found
}

#[cfg(test)]
mod tests;
