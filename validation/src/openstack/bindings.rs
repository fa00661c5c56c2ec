//! What a project lets its shoots log in with: the Secret itself, and the two kinds of binding that lead to one.
//!
//! ```text
//!   Secret              created, or its data changed ──────────► secret::validate
//!   SecretBinding       created, or its provider type changed ─► the Secret it names
//!   CredentialsBinding  created ───────────────────────────────► the Secret or InternalSecret it names
//! ```
//!
//! Errors about a secret's content have the root path `secret` wherever the secret was found.

use std::collections::BTreeMap;

use fabric_apis::field::{Error, ErrorList, Findings, Path};
use fabric_apis::gardener::{
    CredentialsBinding, CredentialsReference, InternalSecret, Secret, SecretBinding, SecretReference, read_secret,
    secret_data,
};

use super::PROVIDER_TYPE;
use super::admission::{Reference, ReferenceKind, Resolved, Reviewed};
use super::secret;

pub(crate) fn judge_secret(reviewed: &Reviewed<'_>, _resolved: &Resolved) -> Findings {
    if reviewed.is_in_deletion() {
        return Findings::default();
    }
    // An old secret that can't be read is as good as none.
    let old = reviewed.old.and_then(|old| read_secret(old.clone()).ok());
    let errors = match (read_secret(reviewed.object.clone()), old) {
        (Ok(new), Some(old)) => secret::validate_update(&new, &old),
        (Ok(new), None) => secret::validate(&new),
        (Err(error), _) => error.to_field_errors(&Path::nil()),
    };
    Findings { errors, warnings: Vec::new() }
}

/// The Secret of a SecretBinding. One without a namespace is the binding's neighbour.
pub fn secret_of(binding: &SecretBinding) -> Reference {
    let SecretReference { name, namespace } = &binding.secret_ref;
    let own = binding.metadata.namespace.as_deref().unwrap_or_default();
    let namespace = if namespace.is_empty() { own } else { namespace };
    Reference::new(ReferenceKind::Secret, namespace, name.as_str())
}

/// The object with the credentials of a CredentialsBinding.
///
/// # Errors
/// When it is of a kind that holds no OpenStack credentials. The path is the binding's.
pub fn credentials_of(binding: &CredentialsBinding) -> Result<Reference, Error> {
    let CredentialsReference { api_version, kind, name, namespace } = &binding.credentials_ref;
    let kinds = [ReferenceKind::Secret, ReferenceKind::InternalSecret];
    let path = Path::new("credentialsRef");
    let Some(known) = kinds.into_iter().find(|known| known.kind() == kind) else {
        return Err(Error::not_supported(&path.child("kind"), kind.as_str(), &kinds.map(ReferenceKind::kind)));
    };
    if known.api_version() != api_version {
        let supported = [known.api_version()];
        return Err(Error::not_supported(&path.child("apiVersion"), api_version.as_str(), &supported));
    }
    let own = binding.metadata.namespace.as_deref().unwrap_or_default();
    Ok(Reference::new(known, if namespace.is_empty() { own } else { namespace }, name.as_str()))
}

/// The entries of the secret at `reference`; `None` when nobody looked. `path` is the field that names it.
///
/// # Errors
/// That there is no such secret, that it could not be read, or that it is of another kind; without any of its values.
pub fn entries(
    reference: &Reference,
    resolved: &Resolved,
    path: &Path<'_>,
) -> Result<Option<BTreeMap<String, Vec<u8>>>, Error> {
    match reference.kind {
        ReferenceKind::InternalSecret => {
            Ok(resolved.read::<InternalSecret>(reference, path)?.map(|secret| secret.entries()))
        }
        _ => Ok(resolved.read::<Secret>(reference, path)?.map(|secret| secret_data(&secret))),
    }
}

pub(crate) fn secret_binding_references(reviewed: &Reviewed<'_>, _resolved: &Resolved) -> Vec<Reference> {
    match read_secret_binding(reviewed) {
        Ok(Some(binding)) => vec![secret_of(&binding)],
        _ => Vec::new(),
    }
}

pub(crate) fn judge_secret_binding(reviewed: &Reviewed<'_>, resolved: &Resolved) -> Findings {
    let errors = match read_secret_binding(reviewed) {
        Ok(Some(binding)) => judge_entries(&secret_of(&binding), resolved, &Path::new("secretRef")),
        Ok(None) => ErrorList::new(),
        Err(errors) => errors,
    };
    Findings { errors, warnings: Vec::new() }
}

/// The binding, if it is one of ours to judge.
fn read_secret_binding(reviewed: &Reviewed<'_>) -> Result<Option<SecretBinding>, ErrorList> {
    if reviewed.is_in_deletion() || reviewed.is_unchanged("provider.type") {
        return Ok(None);
    }
    let binding: SecretBinding = reviewed.object.lenient().map_err(|error| error.to_field_errors(&Path::nil()))?;
    let ours = binding.provider.as_ref().is_some_and(|provider| provider.has(PROVIDER_TYPE));
    Ok(ours.then_some(binding))
}

pub(crate) fn credentials_binding_references(reviewed: &Reviewed<'_>, _resolved: &Resolved) -> Vec<Reference> {
    match read_credentials_binding(reviewed) {
        Ok(Some(binding)) => credentials_of(&binding).into_iter().collect(),
        _ => Vec::new(),
    }
}

pub(crate) fn judge_credentials_binding(reviewed: &Reviewed<'_>, resolved: &Resolved) -> Findings {
    let errors = match read_credentials_binding(reviewed) {
        Ok(Some(binding)) => match credentials_of(&binding) {
            Ok(reference) => judge_entries(&reference, resolved, &Path::new("credentialsRef")),
            Err(error) => error.into(),
        },
        Ok(None) => ErrorList::new(),
        Err(errors) => errors,
    };
    Findings { errors, warnings: Vec::new() }
}

/// As above. What a CredentialsBinding says can't be changed, so it is judged once.
fn read_credentials_binding(reviewed: &Reviewed<'_>) -> Result<Option<CredentialsBinding>, ErrorList> {
    if reviewed.operation == super::admission::Operation::Update || reviewed.is_in_deletion() {
        return Ok(None);
    }
    let binding: CredentialsBinding = reviewed.object.lenient().map_err(|error| error.to_field_errors(&Path::nil()))?;
    Ok(binding.provider.has(PROVIDER_TYPE).then_some(binding))
}

fn judge_entries(reference: &Reference, resolved: &Resolved, path: &Path<'_>) -> ErrorList {
    match entries(reference, resolved, path) {
        Ok(Some(entries)) => secret::validate_data(&entries, &Path::new("secret")),
        Ok(None) => ErrorList::new(),
        Err(error) => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use fabric_apis::decode::{Document, documents};
    use serde_json::{Value, json};

    use super::*;
    use crate::openstack::admission::{Lookup, entry};

    const GOOD: [(&str, &str); 4] =
        [("domainName", "ZA=="), ("tenantName", "dA=="), ("username", "dQ=="), ("password", "cA==")];

    fn document(value: &Value) -> Document {
        documents("test", value.to_string().as_bytes()).unwrap().remove(0)
    }

    fn secret(kind: &str, entries: &[(&str, &str)]) -> Value {
        let api_version = if kind == "Secret" { "v1" } else { "core.gardener.cloud/v1beta1" };
        let data: serde_json::Map<_, _> = entries.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "s", "namespace": "garden-a"}, "data": data})
    }

    /// What is told about `new`, when `found` is all there is. References are asked for as long as there are any.
    fn told(new: &Value, old: Option<&Value>, found: &[(&str, &str, Lookup)]) -> String {
        let (new, old) = (document(new), old.map(document));
        let reviewed = Reviewed::of(&new, old.as_ref());
        let case = entry(new.api_version(), new.kind()).unwrap().open(reviewed);
        let mut resolved = Resolved::new();
        loop {
            let wanted = case.references(&resolved);
            if wanted.is_empty() {
                break;
            }
            for reference in wanted {
                let known = found.iter().find(|(kind, name, _)| {
                    *kind == reference.kind.kind() && *name == format!("{}/{}", reference.namespace, reference.name)
                });
                resolved.insert(reference, known.map_or(Lookup::NotFound, |(.., lookup)| lookup.clone()));
            }
        }
        let errors = case.judge(&resolved).errors;
        if errors.is_empty() { String::new() } else { errors.to_string() }
    }

    #[test]
    fn a_secret_is_judged_when_it_is_new_or_its_data_changed() {
        let good = secret("Secret", &GOOD);
        let bad = secret("Secret", &GOOD[1..]);
        let missing = r#"secret.data[domainName]: Required value: missing required field "domainName""#;
        let mut labelled = bad.clone();
        labelled["metadata"]["labels"] = json!({"provider.shoot.gardener.cloud/openstack": "true"});
        let mut leaving = bad.clone();
        leaving["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        let unreadable = secret("Secret", &[("password", "not base64")]);
        assert_eq!(told(&good, None, &[]), "");
        assert_eq!(told(&bad, None, &[]), missing);
        assert_eq!(told(&bad, Some(&good), &[]), missing);
        assert_eq!(told(&labelled, Some(&bad), &[]), "");
        assert_eq!(told(&leaving, Some(&good), &[]), "");
        assert_eq!(told(&bad, Some(&unreadable), &[]), missing);
        let text = told(&unreadable, None, &[]);
        assert!(text.contains("data.password") && !text.contains("not base64"), "{text}");
    }

    #[test]
    fn a_secret_binding_is_judged_by_its_secret() {
        let binding = |provider: &str, namespace: &str| {
            json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "SecretBinding",
                "metadata": {"name": "b", "namespace": "garden-a"},
                "provider": {"type": provider}, "secretRef": {"name": "s", "namespace": namespace}})
        };
        let good = ("Secret", "garden-b/s", Lookup::Found(secret("Secret", &GOOD)));
        let bad = ("Secret", "garden-b/s", Lookup::Found(secret("Secret", &GOOD[..3])));
        let own = ("Secret", "garden-a/s", Lookup::Found(secret("Secret", &GOOD[1..])));
        let broken = ("Secret", "garden-b/s", Lookup::Found(secret("Secret", &[("password", "hush!")])));
        let denied = ("Secret", "garden-b/s", Lookup::Unreadable("forbidden".to_owned()));
        let there = binding("openstack", "garden-b");
        assert_eq!(told(&there, None, std::slice::from_ref(&good)), "");
        let text = told(&there, None, std::slice::from_ref(&bad));
        assert!(text.starts_with("secret.data: Required value: must provide one of"), "{text}");
        assert_eq!(told(&there, Some(&there), std::slice::from_ref(&bad)), "", "the provider stays");
        let text = told(&there, Some(&binding("aws", "garden-b")), std::slice::from_ref(&bad));
        assert!(text.starts_with("secret.data: "), "{text}");
        assert_eq!(told(&binding("aws", "garden-b"), None, std::slice::from_ref(&bad)), "", "another provider's");
        let text = told(&binding("aws,openstack", "garden-b"), None, &[bad]);
        assert!(text.starts_with("secret.data: "), "{text}");
        let text = told(&binding("openstack", ""), None, &[own]);
        assert!(text.starts_with("secret.data[domainName]: "), "{text}");
        assert_eq!(told(&there, None, &[]), r#"secretRef: Not found: "Secret garden-b/s""#);
        assert_eq!(
            told(&there, None, &[denied]),
            "secretRef: Internal error: Secret garden-b/s could not be read: forbidden"
        );
        let text = told(&there, None, &[broken]);
        assert!(text.starts_with("secretRef: Internal error: ") && !text.contains("hush"), "{text}");
    }

    #[test]
    fn a_credentials_binding_is_judged_once_by_its_secret_of_either_kind() {
        let binding = |api_version: &str, kind: &str| {
            json!({"apiVersion": "security.gardener.cloud/v1alpha1", "kind": "CredentialsBinding",
                "metadata": {"name": "b", "namespace": "garden-a"}, "provider": {"type": "openstack"},
                "credentialsRef": {"apiVersion": api_version, "kind": kind, "name": "s", "namespace": "garden-b"}})
        };
        let internal = binding("core.gardener.cloud/v1beta1", "InternalSecret");
        let plain = binding("v1", "Secret");
        let found = [
            ("InternalSecret", "garden-b/s", Lookup::Found(secret("InternalSecret", &GOOD))),
            ("Secret", "garden-b/s", Lookup::Found(secret("Secret", &GOOD[1..]))),
        ];
        assert_eq!(told(&internal, None, &found), "");
        let text = told(&plain, None, &found);
        assert!(text.starts_with("secret.data[domainName]: "), "{text}");
        assert_eq!(told(&plain, Some(&internal), &found), "", "judged once");
        assert_eq!(told(&internal, None, &[]), r#"credentialsRef: Not found: "InternalSecret garden-b/s""#);
        assert_eq!(
            told(&binding("security.gardener.cloud/v1alpha1", "WorkloadIdentity"), None, &found),
            r#"credentialsRef.kind: Unsupported value: "WorkloadIdentity": supported values: "Secret", "InternalSecret""#
        );
        assert_eq!(
            told(&binding("v2", "Secret"), None, &found),
            r#"credentialsRef.apiVersion: Unsupported value: "v2": supported values: "v1""#
        );
        let mut others = binding("security.gardener.cloud/v1alpha1", "WorkloadIdentity");
        others["provider"]["type"] = json!("openstack-designate");
        assert_eq!(told(&others, None, &found), "");
    }
}
