//! Taking a Shoot apart.

use std::collections::HashSet;

use fabric_apis::decode::{self, Document, Kinded};
use fabric_apis::field::{Error, ErrorList, Path};
use fabric_apis::gardener::{RawExtension, Shoot};
use fabric_apis::openstack::v1alpha1::{ControlPlaneConfig, InfrastructureConfig};
use serde::de::DeserializeOwned;

use super::{CONFIG_PATH, CONTROL_PLANE_PATH};

/// What of a Shoot could be read.
pub(super) struct Parts {
    /// The object; the raw configs are taken out.
    pub(super) shoot: Shoot,
    pub(super) infrastructure: Option<InfrastructureConfig>,
    /// Whether there was nothing to complain about `infrastructure`.
    pub(super) is_sound: bool,
    pub(super) control_plane: Option<ControlPlaneConfig>,
}

impl Parts {
    /// Reads a new Shoot: duplicate keys anywhere, unknown fields of the configs, and absent configs are errors. What
    /// can be read in spite of them is read, so that all findings are told at once.
    pub(super) fn strict(document: &Document, errors: &mut ErrorList) -> Option<Self> {
        let mut told = HashSet::new();
        for path in document.duplicates.iter().filter(|path| told.insert(path.as_str())) {
            let problems = vec![decode::Problem::Duplicate(path.clone())];
            errors.extend(decode::Error::Fields { strict: true, problems }.to_field_errors(&Path::nil()));
        }
        let mut shoot =
            read_shoot(document).map_err(|error| errors.extend(error.to_field_errors(&Path::nil()))).ok()?;
        let provider = &mut shoot.spec.provider;
        let (infrastructure, control_plane) =
            (provider.infrastructure_config.take(), provider.control_plane_config.take());
        if provider.workers.is_empty() {
            return Some(Self { shoot, infrastructure: None, is_sound: true, control_plane: None });
        }
        let before = errors.len();
        let within = |path: &String| path.strip_prefix(CONFIG_PATH).is_some_and(|rest| rest.starts_with('.'));
        let infrastructure = strict(infrastructure.as_ref(), CONFIG_PATH, errors);
        let is_sound = errors.len() == before && !document.duplicates.iter().any(within);
        let control_plane = strict(control_plane.as_ref(), CONTROL_PLANE_PATH, errors);
        Some(Self { shoot, infrastructure, is_sound, control_plane })
    }

    /// Reads an old Shoot, which some version has accepted.
    pub(super) fn lenient(document: &Document) -> Option<Self> {
        let mut shoot = read_shoot(document).ok()?;
        let provider = &mut shoot.spec.provider;
        let infrastructure = provider.infrastructure_config.take().and_then(|raw| decode::lenient(&raw).ok());
        let control_plane = provider.control_plane_config.take().and_then(|raw| decode::lenient(&raw).ok());
        Some(Self { shoot, infrastructure, is_sound: true, control_plane })
    }
}

fn read_shoot(document: &Document) -> Result<Shoot, decode::Error> {
    document.lenient()
}

fn strict<T: Kinded + DeserializeOwned>(
    raw: Option<&RawExtension>,
    path: &'static str,
    errors: &mut ErrorList,
) -> Option<T> {
    let path = Path::new(path);
    let Some(raw) = raw else {
        let field = path.to_string();
        let field = field.rsplit('.').next().unwrap_or_default();
        errors.push(Error::required(&path, format!("{field} must be set for OpenStack shoots")));
        return None;
    };
    match decode::strict(raw, std::iter::empty()) {
        Ok(config) => Some(config),
        Err(error) => {
            errors.extend(error.to_field_errors(&path));
            let foreign = matches!(error, decode::Error::Kind { .. });
            if foreign { None } else { decode::lenient(raw).ok() }
        }
    }
}
