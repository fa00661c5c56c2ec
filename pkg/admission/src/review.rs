//! `AdmissionReview` of `admission.k8s.io/v1`: what is read of a request, and how an answer is written.

use std::fmt;
use std::time::Instant;

use hyper::body::Bytes;
use serde::{Deserialize, Serialize, de::IgnoredAny};

use crate::verdict::{PatchOperation, Status, Verdict};

mod span;

/// The only version spoken; every apiserver since Kubernetes 1.16 speaks it.
pub(crate) const API_VERSION: &str = "admission.k8s.io/v1";
/// The kind of request and answer.
pub(crate) const KIND: &str = "AdmissionReview";

/// What is about to happen to the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Operation {
    /// It is new.
    Create,
    /// It changes; there is an old one.
    Update,
    /// It goes; there is only an old one.
    Delete,
    /// A connection to it is opened (`exec`, `proxy`, …).
    Connect,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::Connect => "CONNECT",
        })
    }
}

/// Group, version and kind of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize)]
pub struct Kind {
    /// The API group; empty for the core group.
    #[serde(default)]
    pub group: String,
    /// The version, such as `v1beta1`.
    pub version: String,
    /// The kind, such as `Shoot`.
    pub kind: String,
}

impl Kind {
    /// A kind of a group in a version.
    pub fn new(group: impl Into<String>, version: impl Into<String>, kind: impl Into<String>) -> Self {
        Self { group: group.into(), version: version.into(), kind: kind.into() }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.group.as_str() {
            "" => write!(f, "{}/{}", self.version, self.kind),
            group => write!(f, "{group}/{}/{}", self.version, self.kind),
        }
    }
}

/// Group, version and plural name of the resource that the request went to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
pub struct Resource {
    /// The API group; empty for the core group.
    #[serde(default)]
    pub group: String,
    /// The version.
    #[serde(default)]
    pub version: String,
    /// The plural, such as `shoots`.
    #[serde(default)]
    pub resource: String,
}

/// Who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct UserInfo {
    /// The name, such as `system:serviceaccount:garden:gardenlet`.
    pub username: String,
    /// The unique id, if the authenticator knows one.
    pub uid: String,
    /// The groups.
    pub groups: Vec<String>,
}

/// An object as it stands in the request, byte for byte: only so can a reader see what JSON libraries drop.
#[derive(Clone, PartialEq, Eq)]
pub struct Object(Bytes);

impl Object {
    /// The JSON text.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for Object {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }
}

impl fmt::Debug for Object {
    /// Only the size: an object may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Object({} bytes)", self.0.len())
    }
}

/// A request for a verdict.
#[derive(Clone, Debug)]
pub struct Request {
    /// Names this request; the answer repeats it.
    pub uid: String,
    /// What the object is.
    pub kind: Kind,
    /// Where it was sent to.
    pub resource: Resource,
    /// The subresource, such as `status`; empty for the object itself.
    pub sub_resource: String,
    /// What is about to happen.
    pub operation: Operation,
    /// The object's name; empty when the apiserver still has to make one.
    pub name: String,
    /// The namespace; empty for objects without.
    pub namespace: String,
    /// Who asks.
    pub user: UserInfo,
    /// The object as it would be stored; absent on DELETE.
    pub object: Option<Object>,
    /// The object as it is stored; absent on CREATE.
    pub old_object: Option<Object>,
    /// Nothing will be stored.
    pub dry_run: bool,
    /// Until when an answer counts: work that may take long stops well before it.
    pub deadline: Instant,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    request: Option<Wire>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire {
    uid: String,
    kind: Kind,
    #[serde(default)]
    resource: Resource,
    #[serde(default)]
    sub_resource: Option<String>,
    operation: Operation,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    namespace: Option<String>,
    #[serde(default)]
    user_info: UserInfo,
    #[serde(default)]
    dry_run: Option<bool>,
    // Declared so that the reader refuses them twice; their text is cut from the body.
    #[serde(default, rename = "object")]
    _object: Option<IgnoredAny>,
    #[serde(default, rename = "oldObject")]
    _old_object: Option<IgnoredAny>,
}

/// Reads a review. The objects inside share the body's memory.
///
/// # Errors
/// A sentence for the caller: it is no JSON, no review, of another version, or lacks what every review has.
pub(crate) fn decode(body: &Bytes, deadline: Instant) -> Result<Request, String> {
    if body.is_empty() {
        return Err(format!("the body is empty: send a {KIND} of {API_VERSION}"));
    }
    let envelope: Envelope = serde_json::from_slice(body).map_err(|error| format!("the body is no {KIND}: {error}"))?;
    if envelope.kind != KIND || envelope.api_version != API_VERSION {
        return Err(format!(
            "the body must be a {KIND} of {API_VERSION} (list v1 in the webhook's admissionReviewVersions)"
        ));
    }
    let wire = envelope.request.ok_or_else(|| format!("the {KIND} has no request"))?;
    if wire.uid.is_empty() {
        return Err(format!("the {KIND}'s request.uid is empty"));
    }
    let cut = |field: &str| span::find(body, &["request", field]).map(|range| Object(body.slice(range)));
    Ok(Request {
        object: cut("object"),
        old_object: cut("oldObject"),
        uid: wire.uid,
        kind: wire.kind,
        resource: wire.resource,
        sub_resource: wire.sub_resource.unwrap_or_default(),
        operation: wire.operation,
        name: wire.name.unwrap_or_default(),
        namespace: wire.namespace.unwrap_or_default(),
        user: wire.user_info,
        dry_run: wire.dry_run.unwrap_or_default(),
        deadline,
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AnswerEnvelope<'a> {
    api_version: &'static str,
    kind: &'static str,
    response: Answer<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    uid: &'a str,
    allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a Status>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    patch_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<String>,
}

/// Writes the answer to the request `uid`.
pub(crate) fn encode(uid: &str, verdict: &Verdict) -> Vec<u8> {
    let patch = verdict.patch().map(encode_patch);
    let answer = Answer {
        uid,
        allowed: verdict.is_allowed(),
        status: verdict.status(),
        warnings: verdict.warnings(),
        patch_type: patch.is_some().then_some("JSONPatch"),
        patch,
    };
    json(&AnswerEnvelope { api_version: API_VERSION, kind: KIND, response: answer })
}

fn encode_patch(operations: &[PatchOperation]) -> String {
    use base64::{Engine, engine::general_purpose::STANDARD};
    STANDARD.encode(json(&operations))
}

/// Strings, numbers and lists of our own types: `serde_json` has no way to fail on them.
pub(crate) fn json<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

#[cfg(test)]
mod tests;
