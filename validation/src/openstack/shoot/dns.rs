//! Rules for the DNS services of a Shoot that are OpenStack's, and for the secrets they log in with.

use fabric_apis::decode;
use fabric_apis::field::{Error, ErrorList, Path};
use fabric_apis::gardener::{DnsProvider, Secret, Shoot, secret_data};

use crate::openstack::admission::{Lookup, Reference, ReferenceKind, Resolved};
use crate::openstack::secret;

/// The type of OpenStack's DNS service.
const DESIGNATE: &str = "openstack-designate";
const CREDENTIALS_REF: &str = "credentialsRef";

/// The services to judge, with their place in the list: OpenStack's that keep the cluster's own names. One that is as
/// in the old Shoot is not judged anew.
fn judged<'a>(new: &'a Shoot, old: Option<&'a Shoot>) -> impl Iterator<Item = (usize, &'a DnsProvider)> {
    let before = old.map_or(&[][..], providers);
    providers(new).iter().enumerate().filter(move |(_, provider)| {
        let ours = provider.type_.as_deref() == Some(DESIGNATE) && provider.primary == Some(true);
        ours && !before.contains(provider)
    })
}

fn providers(shoot: &Shoot) -> &[DnsProvider] {
    shoot.spec.dns.as_ref().map_or(&[], |dns| dns.providers.as_slice())
}

/// The credentials that a service names.
enum Credentials<'a> {
    None,
    /// By name, and the field that names it.
    Secret(&'a str, &'static str),
    /// Something that can't hold a login for OpenStack.
    Other(&'a str, &'a str),
}

fn credentials(provider: &DnsProvider) -> Credentials<'_> {
    match (&provider.credentials_ref, provider.secret_name.as_deref()) {
        (Some(named), _) if named.kind == "Secret" && !named.name.is_empty() => {
            Credentials::Secret(&named.name, CREDENTIALS_REF)
        }
        (Some(named), _) if !named.name.is_empty() => Credentials::Other(&named.kind, &named.name),
        (_, Some(name)) if !name.is_empty() => Credentials::Secret(name, "secretName"),
        _ => Credentials::None,
    }
}

/// The secrets of the services to judge.
pub(super) fn references(new: &Shoot, old: Option<&Shoot>) -> Vec<Reference> {
    let secret = |(_, provider)| match credentials(provider) {
        Credentials::Secret(name, _) => Some(reference(new, name)),
        Credentials::None | Credentials::Other(..) => None,
    };
    judged(new, old).filter_map(secret).collect()
}

fn reference(shoot: &Shoot, name: &str) -> Reference {
    Reference::new(ReferenceKind::Secret, shoot.metadata.namespace.clone().unwrap_or_default(), name)
}

/// Everything that is wrong with the services; `path` is the list's.
pub(super) fn validate(new: &Shoot, old: Option<&Shoot>, resolved: &Resolved, path: &Path<'_>) -> ErrorList {
    let mut errors = ErrorList::new();
    for (index, provider) in judged(new, old) {
        let provider_path = path.index(index);
        let path = provider_path.child(CREDENTIALS_REF);
        match credentials(provider) {
            Credentials::None => {
                let detail = "a primary openstack-designate provider needs a Secret to log in with";
                errors.push(Error::required(&path, detail));
            }
            Credentials::Other(kind, name) => {
                let detail = format!("a {kind} cannot hold a login for OpenStack: refer to a Secret");
                errors.push(Error::invalid(&path, name, detail));
            }
            Credentials::Secret(name, field) => {
                let path = provider_path.child(field);
                let reference = reference(new, name);
                match resolved.get(&reference) {
                    None => {}
                    Some(Lookup::NotFound) => errors.push(Error::not_found(&path, reference.to_string())),
                    Some(Lookup::Unreadable(why)) => {
                        errors.push(Error::internal(&path, format!("{reference} could not be read: {why}")));
                    }
                    Some(Lookup::Found(value)) => {
                        let found = match decode::lenient::<Secret>(value) {
                            Ok(secret) => secret::validate_dns_data(&secret_data(&secret), &Path::nil()),
                            Err(error) => error.without_values().to_field_errors(&Path::nil()),
                        };
                        // The user's own field is the reference; what is wrong stands in the secret.
                        let about = |error: Error| Error::invalid(&path, name, format!("{reference}: {error}"));
                        errors.extend(found.into_iter().map(about));
                    }
                }
            }
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_reference_without_a_name_names_nothing() {
        for (provider, expected) in [
            (json!({"credentialsRef": {"kind": "Secret", "name": "a"}, "secretName": "b"}), "a by credentialsRef"),
            (json!({"credentialsRef": {"kind": "Secret", "name": ""}, "secretName": "b"}), "b by secretName"),
            (json!({"credentialsRef": {"kind": "WorkloadIdentity", "name": ""}, "secretName": "b"}), "b by secretName"),
            (
                json!({"credentialsRef": {"kind": "WorkloadIdentity", "name": "a"}, "secretName": "b"}),
                "WorkloadIdentity a",
            ),
            (json!({"credentialsRef": {"kind": "WorkloadIdentity", "name": ""}, "secretName": ""}), "none"),
        ] {
            let read: DnsProvider = decode::lenient(&provider).unwrap();
            let told = match credentials(&read) {
                Credentials::None => "none".to_owned(),
                Credentials::Secret(name, field) => format!("{name} by {field}"),
                Credentials::Other(kind, name) => format!("{kind} {name}"),
            };
            assert_eq!(told, expected, "{provider}");
        }
    }
}
