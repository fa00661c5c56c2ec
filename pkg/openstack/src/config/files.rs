//! Which files hold the clouds: openstacksdk's search order. Of each kind the first that exists is used.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

use super::{Surroundings, clouds_yaml::Clouds};
use crate::error::Error;

const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

pub(super) fn read(from: &Surroundings) -> Result<Clouds, Error> {
    let clouds = first(from, "OS_CLIENT_CONFIG_FILE", "clouds")?;
    let secure = first(from, "OS_CLIENT_SECURE_FILE", "secure")?;
    let public = first(from, "OS_CLIENT_VENDOR_FILE", "clouds-public")?;
    let mut read = match clouds {
        Some((file, text)) => Clouds::parse(&file.display().to_string(), &text)?,
        None => Clouds::none(&looked_for(from)),
    };
    if let Some((file, text)) = secure {
        read.add_secrets(&file.display().to_string(), &text)?;
    }
    if let Some((file, text)) = public {
        read.add_profiles(&file.display().to_string(), &text)?;
    }
    Ok(read)
}

fn looked_for(from: &Surroundings) -> String {
    let places = candidates(from, "OS_CLIENT_CONFIG_FILE", "clouds");
    let names = places.iter().filter(|path| has_ending(path, "yaml"));
    let names: Vec<_> = names.map(|path| path.display().to_string()).collect();
    format!("{} (none exists)", names.join(", "))
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found == ending)
}

fn candidates(from: &Surroundings, variable: &str, stem: &str) -> Vec<PathBuf> {
    let named = from.variable(variable).map(PathBuf::from);
    let folders = [
        Some(from.working.clone()),
        from.home.as_ref().map(|home| match from.variable("XDG_CONFIG_HOME") {
            Some(config) => PathBuf::from(config).join("openstack"),
            None => home.join(".config/openstack"),
        }),
        Some(from.machine.clone()),
    ];
    let in_folders =
        folders.into_iter().flatten().flat_map(|folder| ENDINGS.map(|ending| folder.join(format!("{stem}.{ending}"))));
    named.into_iter().chain(in_folders).collect()
}

fn first(from: &Surroundings, variable: &str, stem: &str) -> Result<Option<(PathBuf, String)>, Error> {
    for file in candidates(from, variable, stem) {
        match std::fs::read_to_string(&file) {
            Ok(text) => return Ok(Some((file, text))),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(source) => return Err(Error::Read { file, source }),
        }
    }
    Ok(None)
}
