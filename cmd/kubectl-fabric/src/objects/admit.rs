//! What stands around shoots (profiles, bindings), and shoots with what stands around them, judged by the entries of the
//! admission table. Of the objects that they refer to, those count that are in the input; rules that need another one are
//! skipped.

use fabric_apis::decode::Document;
use fabric_apis::field::Findings;
use fabric_validation::openstack::admission::{Lookup, Reference, ReferenceKind, Resolved, Reviewed, entry};
use fabric_validation::openstack::shoot::garden;

use super::{Facts, Object, Report, read};

const KINDS: [ReferenceKind; 6] = [
    ReferenceKind::Secret,
    ReferenceKind::InternalSecret,
    ReferenceKind::SecretBinding,
    ReferenceKind::CredentialsBinding,
    ReferenceKind::CloudProfile,
    ReferenceKind::NamespacedCloudProfile,
];

/// A Shoot whose rules are asked again, with what stands beside it. As text: as a tree of values a thousand of them would
/// be most of the memory that the command takes.
#[derive(Debug)]
pub(crate) struct Again {
    text: Vec<u8>,
    index: usize,
    duplicates: Vec<String>,
}

impl Again {
    /// Keeps a document.
    pub(super) fn new(document: &Document) -> Option<Self> {
        let text = serde_json::to_vec(&document.value).ok()?;
        Some(Self { text, index: document.index, duplicates: document.duplicates.clone() })
    }

    fn document(self) -> Option<Document> {
        let value = serde_json::from_slice(&self.text).ok()?;
        Some(Document { index: self.index, value, duplicates: self.duplicates })
    }
}

/// Judges every kept object but secrets, which were judged when they were read.
pub(super) fn judge(objects: &mut [Object], facts: &Facts) {
    let mut beside = Resolved::new();
    let mut alone = true;
    for document in objects.iter().filter_map(|object| object.kept.as_ref()) {
        if let Some(reference) = reference(document) {
            beside.insert(reference, Lookup::Found(document.value.clone()));
            alone = false;
        }
    }
    for object in objects {
        let old = facts.before(&object.report);
        if let Some(document) = object.again.take().filter(|_| !alone).and_then(Again::document) {
            let Some(rules) = entry(document.api_version(), document.kind()) else { continue };
            add_new(&mut object.report, rules.judge(&Reviewed::of(&document, old), &beside));
            if let Some(subject) = &mut object.subject {
                subject.is_offer_judged = is_offer_known(&document, &beside);
            }
            continue;
        }
        let Some(document) = object.kept.as_ref().filter(|document| document.kind() != "Secret") else { continue };
        if let Some(rules) = entry(document.api_version(), document.kind()) {
            object.report.add(rules.judge(&Reviewed::of(document, old), &beside));
        }
    }
}

/// Adds what was not found before, when less was known.
fn add_new(report: &mut Report, findings: Findings) {
    let mut before: Vec<_> = report.errors.iter().cloned().collect();
    for error in findings.errors {
        match before.iter().position(|known| *known == error) {
            Some(known) => drop(before.swap_remove(known)),
            None => report.errors.push(error),
        }
    }
    for warning in findings.warnings {
        if !report.warnings.contains(&warning) {
            report.warnings.push(warning);
        }
    }
}

/// Whether the profile and the login that a Shoot names are beside it, as far as its rules have to know.
fn is_offer_known(document: &Document, beside: &Resolved) -> bool {
    let Ok(shoot) = document.lenient() else { return false };
    !matches!(garden::profile(&shoot, beside), Ok(None)) && !matches!(garden::domain(&shoot, beside), Ok(None))
}

/// How others refer to an object; `None` when nothing does.
pub(super) fn reference(document: &Document) -> Option<Reference> {
    let kind = KINDS
        .into_iter()
        .find(|kind| kind.kind() == document.kind() && kind.api_version() == document.api_version())?;
    Some(Reference::new(kind, read::namespace(document), document.name()))
}
