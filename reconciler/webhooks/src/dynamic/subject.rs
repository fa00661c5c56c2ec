//! From a reviewed object to what a look into the cloud needs: the specification, and a login.

use fabric_apis::decode;
use fabric_apis::field::{self, Path};
use fabric_apis::gardener::{Cluster, Infrastructure};
use fabric_apis::openstack::v1alpha1::{CloudProfileConfig, InfrastructureConfig};
use fabric_infrastructure::Input;
use fabric_infrastructure::gardener::{self, PROVIDER_CONFIG};
use fabric_openstack_types::credentials::Credentials;
use fabric_validation::openstack::PROVIDER_TYPE;
use fabric_validation::openstack::admission::{Entry, Reference, ReferenceKind, Resolved, Reviewed, Webhook};
use fabric_validation::openstack::bindings::entries;
use fabric_validation::openstack::shoot::{CONFIG_PATH, ShootInput, examine, garden};

use super::{Subject, Unchecked, path_of};

/// What of a Shoot says where its infrastructure lies and how it looks. Another change needs no look into the cloud.
const SAYS: [&str; 7] = [
    CONFIG_PATH,
    "spec.networking",
    "spec.region",
    "spec.cloudProfile",
    "spec.cloudProfileName",
    "spec.secretBindingName",
    "spec.credentialsBindingName",
];

/// An object whose cloud can be looked at.
pub(super) enum About {
    /// A Shoot in the garden.
    Shoot(Box<ShootInput>),
    /// An Infrastructure in the seed.
    Infrastructure(Box<(Infrastructure, InfrastructureConfig)>),
}

impl About {
    /// `None` for an object that no dynamic rule is for: another kind, another provider, without workers, on its way
    /// out, or as it was where it matters.
    pub(super) fn of(entry: &Entry, reviewed: &Reviewed<'_>) -> Option<Self> {
        if reviewed.is_in_deletion() {
            return None;
        }
        let is_ours = |path: &str| reviewed.at(path).is_some_and(|provider| provider == PROVIDER_TYPE);
        match (entry.webhook, entry.kind) {
            (Webhook::Validate, "Shoot") => {
                if !is_ours("spec.provider.type") || SAYS.iter().all(|path| reviewed.is_unchanged(path)) {
                    return None;
                }
                Some(Self::Shoot(Box::new(examine(reviewed, &Resolved::new()).input?)))
            }
            (Webhook::Infrastructure, "Infrastructure") => {
                if !is_ours("spec.type") || reviewed.is_unchanged("spec") {
                    return None;
                }
                let config = reviewed.object.strict_at(PROVIDER_CONFIG).ok()??;
                let object: Infrastructure = decode::lenient(&reviewed.object.value).ok()?;
                Some(Self::Infrastructure(Box::new((object, config))))
            }
            _ => None,
        }
    }

    /// Where the config stands.
    pub(super) fn path(&self) -> Path<'static> {
        match self {
            Self::Shoot(_) => path_of(CONFIG_PATH),
            Self::Infrastructure(_) => path_of(PROVIDER_CONFIG),
        }
    }

    /// The objects that [`About::subject`] needs and that nobody looked for yet.
    pub(super) fn references(&self, resolved: &Resolved) -> Vec<Reference> {
        let mut wanted = match self {
            Self::Shoot(input) => garden::references(&input.shoot, resolved),
            Self::Infrastructure(object) => vec![cluster_of(&object.0), cloudprovider(&object.0)],
        };
        wanted.retain(|reference| resolved.get(reference).is_none());
        wanted
    }

    /// Specification and login.
    ///
    /// # Errors
    /// What is missing, or can't be used; without a value of a secret.
    pub(super) fn subject(self, resolved: &Resolved) -> Result<Subject, Unchecked> {
        match self {
            Self::Shoot(input) => of_shoot(*input, resolved),
            Self::Infrastructure(object) => of_infrastructure(*object, resolved),
        }
    }
}

fn of_shoot(shoot: ShootInput, resolved: &Resolved) -> Result<Subject, Unchecked> {
    let unusable = |error: field::Error| error.to_string();
    let profile = garden::profile(&shoot.shoot, resolved).map_err(unusable)?;
    let profile = profile.ok_or("the shoot names no CloudProfile")?;
    let login = garden::login(&shoot.shoot, resolved).map_err(unusable)?;
    let login = login.ok_or("the shoot names no credentials")?;
    let mut input = Input::of_shoot(shoot);
    let credentials = log_in(&login, resolved, &profile, input.shoot.region.as_deref())?;
    input.profile = Some(profile);
    Ok(Subject { input, credentials })
}

fn of_infrastructure(
    (object, config): (Infrastructure, InfrastructureConfig),
    resolved: &Resolved,
) -> Result<Subject, Unchecked> {
    let cluster: Cluster = read(&cluster_of(&object), resolved)?;
    let unusable = |error: gardener::Unusable| error.to_string();
    let profile = gardener::profile(&cluster).map_err(unusable)?;
    let mut input = gardener::input(&object, config, &cluster, profile.clone()).map_err(unusable)?;
    // Nobody asks Nova here: the key pair has no rule.
    input.shoot.ssh_public_key = None;
    let credentials = log_in(&cloudprovider(&object), resolved, &profile, input.shoot.region.as_deref())?;
    Ok(Subject { input, credentials })
}

fn cluster_of(object: &Infrastructure) -> Reference {
    Reference::new(ReferenceKind::Cluster, "", object.metadata.namespace.as_deref().unwrap_or_default())
}

fn cloudprovider(object: &Infrastructure) -> Reference {
    let reference = &object.spec.secret_ref;
    Reference::new(ReferenceKind::Secret, reference.namespace.as_str(), reference.name.as_str())
}

fn read<T: serde::de::DeserializeOwned>(reference: &Reference, resolved: &Resolved) -> Result<T, Unchecked> {
    let found = resolved.read(reference, &Path::nil()).map_err(|error| match error.kind {
        field::ErrorType::NotFound => format!("there is no {reference}"),
        _ => error.detail,
    })?;
    found.ok_or_else(|| format!("{reference} was not looked for"))
}

/// The login in a secret that was looked for.
fn log_in(
    secret: &Reference,
    resolved: &Resolved,
    profile: &CloudProfileConfig,
    region: Option<&str>,
) -> Result<Credentials, Unchecked> {
    let data = entries(secret, resolved, &Path::nil()).map_err(|error| match error.kind {
        field::ErrorType::NotFound => format!("there is no {secret}"),
        _ => error.detail,
    })?;
    let data = data.ok_or_else(|| format!("{secret} was not looked for"))?;
    gardener::log_in(&secret.to_string(), data, profile, region).map_err(|error| error.to_string())
}
