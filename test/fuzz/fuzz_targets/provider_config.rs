//! Objects as people write them: read, taken apart strictly and leniently, written again, and judged.

#![no_main]

use fabric_apis::decode::{self, Document, Kinded};
use fabric_apis::field::Path;
use fabric_apis::openstack::v1alpha1::{CloudProfileConfig, ControlPlaneConfig, InfrastructureConfig};
use fabric_fuzz::{begin, examples, words};
use fabric_validation::openstack::admission::{self, Defaults, Lookup, Resolved, Reviewed};
use fabric_validation::openstack::infrastructure::{self, StaticContext};
use libfuzzer_sys::fuzz_target;
use serde::{Serialize, de::DeserializeOwned};

fn seeds() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for example in examples() {
        all.push(example.text.into_bytes());
        all.push(example.object.to_string().into_bytes());
        for place in
            ["/spec/provider/infrastructureConfig", "/spec/provider/controlPlaneConfig", "/spec/providerConfig"]
        {
            all.extend(example.object.pointer(place).map(|part| part.to_string().into_bytes()));
        }
    }
    all
}

/// What was read is written so that reading it again gives the same.
fn round_trip<T: Kinded + Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(
    document: &Document,
) -> Option<T> {
    let _ = document.lenient::<T>();
    let read: T = document.strict().ok()?;
    let written = serde_json::to_value(&read).expect("JSON");
    let again: T = decode::strict(&written, std::iter::empty()).expect("what was written reads");
    assert_eq!(read, again);
    Some(read)
}

fn judge(document: &Document) {
    let Some(entry) = admission::entry(document.api_version(), document.kind()) else { return };
    for reviewed in [Reviewed::create(document), Reviewed::update(document, document)] {
        let (case, mut resolved) = (entry.open(reviewed), Resolved::new());
        for _ in 0..4 {
            for reference in case.references(&resolved) {
                resolved.insert(reference, Lookup::NotFound);
            }
        }
        assert!(case.references(&resolved).is_empty(), "it asks for ever");
        let findings = case.judge(&resolved);
        if reviewed.old.is_some() && document.kind() == "Shoot" {
            assert!(findings.errors.is_empty(), "what did not change is refused: {:?}", findings.errors);
        }
    }
    for entry in admission::ENTRIES.iter().filter(|it| it.webhook.is_mutating() && it.kind == document.kind()) {
        let _ = entry.open(Reviewed::create(document)).mutate(&Resolved::new(), &Defaults::default());
    }
}

fuzz_target!(init: begin(seeds(), words()), |data: &[u8]| {
    let Ok(documents) = decode::documents("input", data) else { return };
    for document in &documents {
        if let Some(config) = round_trip::<InfrastructureConfig>(document) {
            let path = Path::new("config");
            for context in [StaticContext::default(), StaticContext { nodes: Some("10.250.0.0/16"), ip_families: Some(&[]) }] {
                infrastructure::validate(&config, &context, &path);
            }
            let same = infrastructure::validate_update(&config, &config, &path);
            assert!(same.is_empty(), "nothing changed: {same:?}");
        }
        round_trip::<ControlPlaneConfig>(document);
        round_trip::<CloudProfileConfig>(document);
        judge(document);
    }
});
