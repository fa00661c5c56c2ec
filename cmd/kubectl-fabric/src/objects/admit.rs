//! What stands around shoots (profiles, bindings), and shoots with what stands around them, judged by the entries of the
//! admission table. Of the objects that they refer to, those count that are in the input; rules that need another one are
//! skipped.

use std::sync::Arc;

use fabric_apis::decode::Document;
use fabric_apis::field::Findings;
use fabric_validation::openstack::admission::{Lookup, Reference, ReferenceKind, Resolved, Reviewed, entry};
use fabric_validation::openstack::shoot::garden;

use super::{Facts, Object, Report, pool::Text, read};

const KINDS: [ReferenceKind; 6] = [
    ReferenceKind::Secret,
    ReferenceKind::InternalSecret,
    ReferenceKind::SecretBinding,
    ReferenceKind::CredentialsBinding,
    ReferenceKind::CloudProfile,
    ReferenceKind::NamespacedCloudProfile,
];

/// A Shoot whose rules are asked again, with what stands beside it: where to read it. Its tree of values is not kept, as
/// a thousand of them would be most of the memory that the command takes.
#[derive(Debug)]
pub(super) struct Again {
    pub(super) text: Arc<Text>,
    /// Its place among the objects of the text, from 0.
    pub(super) place: usize,
}

/// The documents of the text that was read last: those that follow each other are mostly of one.
#[derive(Default)]
struct Texts {
    text: Option<Arc<Text>>,
    documents: Vec<Option<Document>>,
}

impl Texts {
    fn document(&mut self, again: &Again) -> Option<Document> {
        if !self.text.as_ref().is_some_and(|text| Arc::ptr_eq(text, &again.text)) {
            self.documents = again.text.documents("").ok()?.map(Some).collect();
            self.text = Some(again.text.clone());
        }
        self.documents.get_mut(again.place)?.take()
    }
}

/// Judges every kept object but secrets, which were judged when they were read.
pub(super) fn judge(objects: &mut [Object], facts: &Facts) {
    let mut beside = Resolved::new();
    let mut alone = true;
    let mut texts = Texts::default();
    for document in objects.iter().filter_map(|object| object.kept.as_ref()) {
        if let Some(reference) = reference(document) {
            beside.insert(reference, Lookup::Found(document.value.clone()));
            alone = false;
        }
    }
    for object in objects {
        let old = facts.before(&object.report);
        if let Some(document) = object.again.as_ref().filter(|_| !alone).and_then(|again| texts.document(again)) {
            let Some(rules) = entry(document.api_version(), document.kind()) else { continue };
            add_new(&mut object.report, rules.open(Reviewed::of(&document, old)).judge(&beside));
            if let Some(subject) = &mut object.subject {
                subject.is_offer_judged = is_offer_known(&document, &beside);
            }
            continue;
        }
        let Some(document) = object.kept.as_ref().filter(|document| document.kind() != "Secret") else { continue };
        if let Some(rules) = entry(document.api_version(), document.kind()) {
            object.report.add(rules.open(Reviewed::of(document, old)).judge(&beside));
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
