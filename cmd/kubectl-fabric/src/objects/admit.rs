//! What stands around shoots (profiles, bindings), judged by its entry in the admission table. Of the objects that it
//! refers to, those count that are in the input; rules that need another one are skipped.

use fabric_apis::decode::Document;
use fabric_validation::openstack::admission::{Lookup, Reference, ReferenceKind, Resolved, Reviewed, entry};

use super::{Object, read};

const KINDS: [ReferenceKind; 6] = [
    ReferenceKind::Secret,
    ReferenceKind::InternalSecret,
    ReferenceKind::SecretBinding,
    ReferenceKind::CredentialsBinding,
    ReferenceKind::CloudProfile,
    ReferenceKind::NamespacedCloudProfile,
];

/// Judges every kept object but secrets, which were judged when they were read.
pub(super) fn judge(objects: &mut [Object]) {
    let mut beside = Resolved::new();
    for document in objects.iter().filter_map(|object| object.kept.as_ref()) {
        if let Some(reference) = reference(document) {
            beside.insert(reference, Lookup::Found(document.value.clone()));
        }
    }
    for object in objects {
        let Some(document) = object.kept.as_ref().filter(|document| document.kind() != "Secret") else { continue };
        if let Some(rules) = entry(document.api_version(), document.kind()) {
            object.report.add(rules.judge(&Reviewed::create(document), &beside));
        }
    }
}

/// How others refer to an object; `None` when nothing does.
pub(super) fn reference(document: &Document) -> Option<Reference> {
    let kind = KINDS
        .into_iter()
        .find(|kind| kind.kind() == document.kind() && kind.api_version() == document.api_version())?;
    Some(Reference::new(kind, read::namespace(document), document.name()))
}
