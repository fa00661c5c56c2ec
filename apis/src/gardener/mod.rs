//! The part of Gardener's own objects that we read or write.
//!
//! Objects we only read ([`Shoot`], [`Cluster`], [`CloudProfile`], …) hold the fields we look at and skip the rest.
//! Objects we write back ([`Infrastructure`], [`ManagedResource`]) keep what they don't know in `other`.

mod bindings;
mod core;
mod extensions;
mod registration;
mod resources;

pub use self::core::*;
pub use bindings::*;
pub use extensions::*;
pub use k8s_openapi::ByteString;
pub use k8s_openapi::api::core::v1::Secret;
pub use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
pub use registration::*;
pub use resources::*;

/// An object inside another one, of a kind the outer object doesn't know. `null` stands for "absent" as in Go.
pub type RawExtension = serde_json::Value;

/// Fields of a foreign object that we don't know and hand back as they came.
pub type Other = serde_json::Map<String, serde_json::Value>;

/// All entries of a secret. A manifest may hold some as plain `stringData`; those win, as in the API server.
pub fn secret_data(secret: &Secret) -> std::collections::BTreeMap<String, Vec<u8>> {
    entries(secret.data.iter().flatten(), secret.string_data.iter().flatten())
}

fn entries<'a>(
    data: impl IntoIterator<Item = (&'a String, &'a ByteString)>,
    string_data: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> std::collections::BTreeMap<String, Vec<u8>> {
    let binary = data.into_iter().map(|(key, value)| (key.clone(), value.0.clone()));
    let plain = string_data.into_iter().map(|(key, value)| (key.clone(), value.clone().into_bytes()));
    binary.chain(plain).collect()
}

/// Reads a secret. Unlike [`Document::lenient`](crate::decode::Document::lenient) its errors hold no values.
///
/// # Errors
/// When an entry is no text, or no base64 in `data`.
pub fn read_secret(document: crate::decode::Document) -> Result<Secret, crate::decode::Error> {
    document.lenient().map_err(crate::decode::Error::without_values)
}
