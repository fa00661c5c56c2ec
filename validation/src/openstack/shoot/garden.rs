//! What stands around a Shoot in the garden: the operator's offer, and the credentials it is made with.

use fabric_apis::decode;
use fabric_apis::field::{Error, Path};
use fabric_apis::gardener::{CredentialsBinding, SecretBinding, Shoot};
use fabric_apis::openstack::v1alpha1::CloudProfileConfig;

use crate::openstack::admission::{Reference, ReferenceKind, Resolved};
use crate::openstack::bindings::{credentials_of, entries, secret_of};
use crate::openstack::secret::key;

/// An object that a Shoot names, and the field that names it.
struct Named {
    reference: Reference,
    path: Path<'static>,
}

impl Named {
    fn new(shoot: &Shoot, kind: ReferenceKind, name: Option<&String>, path: &'static str) -> Option<Self> {
        let name = name.filter(|name| !name.is_empty())?;
        let namespace = shoot.metadata.namespace.clone().unwrap_or_default();
        Some(Self { reference: Reference::new(kind, namespace, name), path: Path::new(path) })
    }
}

fn profile_name(shoot: &Shoot) -> Option<Named> {
    let spec = &shoot.spec;
    let kind = match &spec.cloud_profile {
        Some(profile) if profile.kind == "NamespacedCloudProfile" => ReferenceKind::NamespacedCloudProfile,
        _ => ReferenceKind::CloudProfile,
    };
    let name = spec.cloud_profile.as_ref().map(|profile| &profile.name);
    Named::new(shoot, kind, name, "spec.cloudProfile.name").or_else(|| {
        Named::new(shoot, ReferenceKind::CloudProfile, spec.cloud_profile_name.as_ref(), "spec.cloudProfileName")
    })
}

fn binding_name(shoot: &Shoot) -> Option<Named> {
    let spec = &shoot.spec;
    let (kind, path) = (ReferenceKind::CredentialsBinding, "spec.credentialsBindingName");
    Named::new(shoot, kind, spec.credentials_binding_name.as_ref(), path).or_else(|| {
        let (kind, path) = (ReferenceKind::SecretBinding, "spec.secretBindingName");
        Named::new(shoot, kind, spec.secret_binding_name.as_ref(), path)
    })
}

/// The offer, the binding, and the secret that the binding leads to once it is there.
pub fn references(shoot: &Shoot, resolved: &Resolved) -> Vec<Reference> {
    let mut wanted: Vec<Reference> = profile_name(shoot).into_iter().map(|named| named.reference).collect();
    if let Some(binding) = binding_name(shoot) {
        wanted.extend(login_of(&binding, resolved).ok().flatten());
        wanted.push(binding.reference);
    }
    wanted
}

/// The secret with the credentials of the Shoot; `None` when it names none, or nobody looked for the binding.
///
/// # Errors
/// About the field that names the binding.
pub fn login(shoot: &Shoot, resolved: &Resolved) -> Result<Option<Reference>, Error> {
    binding_name(shoot).map_or(Ok(None), |binding| login_of(&binding, resolved))
}

fn login_of(binding: &Named, resolved: &Resolved) -> Result<Option<Reference>, Error> {
    let Named { reference, path } = binding;
    if reference.kind == ReferenceKind::SecretBinding {
        return Ok(resolved.read::<SecretBinding>(reference, path)?.map(|found| secret_of(&found)));
    }
    let found = resolved.read::<CredentialsBinding>(reference, path)?;
    found.map(|found| credentials_of(&found)).transpose().map_err(|error| {
        let detail = format!("{reference} leads to nothing that can hold a login for OpenStack: {error}");
        Error::invalid(path, reference.name.as_str(), detail)
    })
}

/// The profile that the Shoot names; `None` when it names none or nobody looked.
///
/// # Errors
/// About the field that names it.
pub fn profile(shoot: &Shoot, resolved: &Resolved) -> Result<Option<CloudProfileConfig>, Error> {
    let Some(Named { reference, path }) = profile_name(shoot) else { return Ok(None) };
    // Its own config is only what a project's profile changes; Gardener keeps the merged one in the status.
    let place = match reference.kind {
        ReferenceKind::NamespacedCloudProfile => "/status/cloudProfileSpec/providerConfig",
        _ => "/spec/providerConfig",
    };
    let config = resolved.look(&reference, &path)?.map(|profile| profile.pointer(place));
    match config {
        None => Ok(None),
        Some(Some(config)) if !config.is_null() => decode::lenient(config).map(Some).map_err(|error| {
            Error::internal(&path, format!("providerConfig of {reference} could not be read: {error}"))
        }),
        Some(_) => {
            let detail = format!("providerConfig is not given for {reference}: its operator has to add one");
            Err(Error::invalid(&path, reference.name, detail))
        }
    }
}

/// The Keystone domain of the credentials that the Shoot names; `None` when it names none or nobody looked.
///
/// # Errors
/// About the field that names them.
pub fn domain(shoot: &Shoot, resolved: &Resolved) -> Result<Option<String>, Error> {
    let Some(binding) = binding_name(shoot) else { return Ok(None) };
    let Some(secret) = login_of(&binding, resolved)? else { return Ok(None) };
    let Some(data) = entries(&secret, resolved, &binding.path)? else { return Ok(None) };
    match data.get(key::DOMAIN_NAME) {
        Some(domain) if !domain.is_empty() => Ok(Some(String::from_utf8_lossy(domain).into_owned())),
        _ => {
            let detail = format!("{secret}, which {} leads to, has no {}", binding.reference, key::DOMAIN_NAME);
            Err(Error::invalid(&binding.path, binding.reference.name, detail))
        }
    }
}
