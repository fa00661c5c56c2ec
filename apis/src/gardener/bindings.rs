//! How a Shoot comes by its credentials: `core.gardener.cloud/v1beta1` SecretBinding and InternalSecret, and
//! `security.gardener.cloud/v1alpha1` CredentialsBinding. Read only.

use std::collections::BTreeMap;
use std::fmt;

use k8s_openapi::ByteString;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SecretReference;
use crate::decode::Kinded;
use crate::wire::null_default;

/// Lets the Shoots of a project use a Secret. The older of the two bindings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SecretBinding {
    /// Its name and namespace.
    #[schemars(skip)]
    pub metadata: ObjectMeta,
    /// For which provider; required by Gardener for new objects, absent on very old ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<BindingProvider>,
    /// The Secret, often in another namespace.
    #[serde(deserialize_with = "null_default")]
    pub secret_ref: SecretReference,
}

impl Kinded for SecretBinding {
    const API_VERSION: &'static str = "core.gardener.cloud/v1beta1";
    const KIND: &'static str = "SecretBinding";
}

/// Lets the Shoots of a project use a Secret, an [`InternalSecret`] or a WorkloadIdentity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CredentialsBinding {
    /// Its name and namespace.
    #[schemars(skip)]
    pub metadata: ObjectMeta,
    /// For which provider.
    #[serde(deserialize_with = "null_default")]
    pub provider: BindingProvider,
    /// The object with the credentials.
    #[serde(deserialize_with = "null_default")]
    pub credentials_ref: CredentialsReference,
}

impl Kinded for CredentialsBinding {
    const API_VERSION: &'static str = "security.gardener.cloud/v1alpha1";
    const KIND: &'static str = "CredentialsBinding";
}

/// The provider of a binding.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BindingProvider {
    /// One provider type, or several with commas between them.
    #[serde(rename = "type", deserialize_with = "null_default")]
    pub type_: String,
}

impl BindingProvider {
    /// Whether `provider` is among the types.
    pub fn has(&self, provider: &str) -> bool {
        self.type_.split(',').any(|one| one == provider)
    }
}

/// An object with credentials, by kind and name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CredentialsReference {
    /// Group and version of the kind: `v1`, `core.gardener.cloud/v1beta1`, `security.gardener.cloud/v1alpha1`.
    #[serde(deserialize_with = "null_default")]
    pub api_version: String,
    /// `Secret`, `InternalSecret` or `WorkloadIdentity`.
    #[serde(deserialize_with = "null_default")]
    pub kind: String,
    /// Its name.
    #[serde(deserialize_with = "null_default")]
    pub name: String,
    /// Its namespace.
    #[serde(deserialize_with = "null_default")]
    pub namespace: String,
}

/// A secret that only the garden's operators and Gardener itself may read. Its `Debug` form shows no value.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct InternalSecret {
    /// Its name and namespace.
    #[schemars(skip)]
    pub metadata: ObjectMeta,
    /// Whether the data may change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub immutable: Option<bool>,
    /// The entries, in base64 on the wire.
    #[serde(deserialize_with = "null_default", skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, String>")]
    pub data: BTreeMap<String, ByteString>,
    /// Entries as plain text; only in what a person writes.
    #[serde(deserialize_with = "null_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub string_data: BTreeMap<String, String>,
    /// As in a Secret: `Opaque`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<String>,
}

impl Kinded for InternalSecret {
    const API_VERSION: &'static str = "core.gardener.cloud/v1beta1";
    const KIND: &'static str = "InternalSecret";
}

impl InternalSecret {
    /// All entries; plain ones win, as in [`secret_data`](super::secret_data).
    pub fn entries(&self) -> BTreeMap<String, Vec<u8>> {
        super::entries(&self.data, &self.string_data)
    }
}

impl fmt::Debug for InternalSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InternalSecret")
            .field("namespace", &self.metadata.namespace)
            .field("name", &self.metadata.name)
            .field("keys", &self.data.keys().chain(self.string_data.keys()).collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_binding_is_for_each_of_its_types_and_for_nothing_like_them() {
        let table: &[(&str, bool)] = &[
            ("openstack", true),
            ("aws,openstack", true),
            ("openstack,openstack-designate", true),
            ("openstack-designate", false),
            ("", false),
        ];
        for &(types, expected) in table {
            assert_eq!(BindingProvider { type_: types.to_owned() }.has("openstack"), expected, "{types:?}");
        }
    }

    #[test]
    fn plain_entries_of_an_internal_secret_win_and_none_shows_in_debug() {
        let secret: InternalSecret = serde_json::from_value(json!({
            "metadata": {"name": "keys", "namespace": "garden"},
            "data": {"username": "YWxpY2U=", "password": "b2xk"},
            "stringData": {"password": "fresh"},
        }))
        .unwrap();
        let entries = secret.entries();
        assert_eq!(entries["username"], b"alice");
        assert_eq!(entries["password"], b"fresh");
        let shown = format!("{secret:?}");
        assert!(shown.contains("password") && !shown.contains("fresh") && !shown.contains("alice"), "{shown}");
    }

    #[test]
    fn null_counts_as_absent() {
        let binding: CredentialsBinding =
            serde_json::from_value(json!({"metadata": {}, "provider": null, "credentialsRef": {"kind": null}}))
                .unwrap();
        assert_eq!(binding, CredentialsBinding::default());
        let binding: SecretBinding = serde_json::from_value(json!({"provider": null, "secretRef": null})).unwrap();
        assert_eq!(binding, SecretBinding::default());
    }
}
