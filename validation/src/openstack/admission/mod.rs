//! Which rules are for which objects: one table, and one way in for every program.
//!
//! ```text
//!   webhook, command line, controller
//!     │ Reviewed { operation, object, old }
//!     └─► Entry::open(reviewed) ──► Case
//!           ├─► Case::references(resolved) ──► [Reference] ─┐  again until it asks for nothing more:
//!           │                  ▲                            │  a binding leads to its secret
//!           │                  └── Resolved ◄── the caller fetches ◄──┘
//!           ├─► Case::judge(resolved)            ──► Findings
//!           └─► Case::mutate(resolved, defaults) ──► [Set]
//! ```
//!
//! The rules are pure, so they say which other objects they need and the caller fetches them ([`Reference`],
//! [`Lookup`]). Whoever can fetch nothing passes [`Resolved::new`]: rules that need other objects are then skipped.
//!
//! ```
//! use fabric_validation::openstack::admission::{self, Lookup, Resolved, Reviewed};
//!
//! # fn fetch(_: &admission::Reference) -> Lookup { Lookup::NotFound }
//! # fn judge(new: &[u8]) -> Option<fabric_apis::field::Findings> {
//! let object = fabric_apis::decode::documents("", new).ok()?.pop()?;
//! let reviewed = Reviewed::create(&object);
//! let case = admission::entry(object.api_version(), object.kind())?.open(reviewed);
//! let mut resolved = Resolved::new();
//! loop {
//!     let wanted = case.references(&resolved);
//!     if wanted.is_empty() {
//!         break;
//!     }
//!     for reference in wanted {
//!         let lookup = fetch(&reference);
//!         resolved.insert(reference, lookup);
//!     }
//! }
//! Some(case.judge(&resolved))
//! # }
//! ```
//!
//! Invariants:
//! - A new kind is one more line of [`ENTRIES`].
//! - [`Case::references`] never asks for what is in `resolved`, and no chain is longer than three: the loop above ends.
//! - Findings have paths in the reviewed object. No value of a secret is in them.

mod reference;
mod review;

use std::fmt;
use std::sync::OnceLock;

use fabric_apis::field::{self, Findings};
use serde::Serialize;
use serde_json::Value;

use super::shoot::admission as shoot;

pub use reference::{Lookup, Reference, ReferenceKind, Resolved};
pub use review::{Operation, Reviewed};

use Operation::{Create, Update};

/// A webhook that objects are sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Webhook {
    /// Garden: judges Gardener's own kinds.
    Validate,
    /// Garden: judges secrets.
    Secrets,
    /// Garden: presets what a new Shoot leaves open.
    Mutate,
    /// Seed: judges what gardenlet hands to the extension.
    Infrastructure,
    /// Seed: completes a shoot's secret with what the operator says about Keystone.
    Cloudprovider,
}

impl Webhook {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Validate, Self::Secrets, Self::Mutate, Self::Infrastructure, Self::Cloudprovider];

    /// The path it is served at.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Validate => "/webhooks/validate",
            Self::Secrets => "/webhooks/validate/secrets",
            Self::Mutate => "/webhooks/mutate",
            Self::Infrastructure => "/webhooks/validate-infrastructure",
            Self::Cloudprovider => "/webhooks/mutate-cloudprovider",
        }
    }

    /// Whether it changes objects; else it judges them.
    pub const fn is_mutating(self) -> bool {
        matches!(self, Self::Mutate | Self::Cloudprovider)
    }
}

/// Which other objects a rule needs: the ones already in [`Resolved`] may be listed too, they are taken out.
type References = fn(&Reviewed<'_>, &Resolved) -> Vec<Reference>;
/// Everything that is wrong or odd about an object.
type Judge = fn(&Reviewed<'_>, &Resolved) -> Findings;
/// What is set in an object, or why nobody can tell.
type Mutate = fn(&Reviewed<'_>, &Resolved, &Defaults) -> Result<Vec<Set>, field::Error>;

#[derive(Clone, Copy, Debug)]
enum Rule {
    Judge {
        references: References,
        judge: Judge,
    },
    Mutate {
        references: References,
        mutate: Mutate,
    },
    /// So large, and asked so often, that it is read once for all questions.
    Shoot,
}

/// The rules of one webhook for one kind.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Who asks them.
    pub webhook: Webhook,
    /// The API group; empty for the core group.
    pub group: &'static str,
    /// The version.
    pub version: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// The resource, as webhook configurations name it.
    pub plural: &'static str,
    /// When they are asked.
    pub operations: &'static [Operation],
    rule: Rule,
}

impl Entry {
    /// The entry's rules for one object, which is read once, however often it is asked.
    pub fn open<'a>(&self, reviewed: Reviewed<'a>) -> Case<'a> {
        Case { rule: self.rule, reviewed, shoot: OnceLock::new() }
    }

    /// Whether the entry is for objects of this `apiVersion` and kind.
    pub fn is_for(&self, api_version: &str, kind: &str) -> bool {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        self.group == group && self.version == version && self.kind == kind
    }
}

/// What one entry says about one object.
pub struct Case<'a> {
    rule: Rule,
    reviewed: Reviewed<'a>,
    shoot: OnceLock<shoot::Case>,
}

impl Case<'_> {
    /// The objects that the rules need to see and that `resolved` says nothing about, each once.
    pub fn references(&self, resolved: &Resolved) -> Vec<Reference> {
        let mut wanted = match self.rule {
            Rule::Judge { references, .. } | Rule::Mutate { references, .. } => references(&self.reviewed, resolved),
            Rule::Shoot => self.shoot().references(resolved),
        };
        wanted.retain(|reference| resolved.get(reference).is_none());
        wanted.sort();
        wanted.dedup();
        wanted
    }

    /// Everything that is wrong or odd about the object. Nothing for the entry of a mutating webhook.
    pub fn judge(&self, resolved: &Resolved) -> Findings {
        match self.rule {
            Rule::Judge { judge, .. } => judge(&self.reviewed, resolved),
            Rule::Shoot => self.shoot().judge(resolved),
            Rule::Mutate { .. } => Findings::default(),
        }
    }

    /// What is set in the object. Nothing for the entry of a validating webhook.
    ///
    /// # Errors
    /// What has to be known for it and can't be.
    pub fn mutate(&self, resolved: &Resolved, defaults: &Defaults) -> Result<Vec<Set>, field::Error> {
        match self.rule {
            Rule::Mutate { mutate, .. } => mutate(&self.reviewed, resolved, defaults),
            Rule::Judge { .. } | Rule::Shoot => Ok(Vec::new()),
        }
    }

    fn shoot(&self) -> &shoot::Case {
        self.shoot.get_or_init(|| shoot::Case::read(&self.reviewed))
    }
}

/// What the operator wants new shoots to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Defaults {
    /// Whether the pod network of a new shoot is an overlay when its owner doesn't say.
    pub overlay: bool,
}

impl Default for Defaults {
    fn default() -> Self {
        Self { overlay: true }
    }
}

/// A change that a mutating webhook makes: JSON Patch's `add`, which sets a member whether or not it is there. Its
/// `Debug` form shows no value: it may be a secret's.
#[derive(Clone, PartialEq, Serialize)]
pub struct Set {
    /// A JSON pointer. What contains it is there.
    pub path: String,
    /// The value.
    pub value: Value,
}

impl fmt::Debug for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Set").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Every kind that has rules.
pub const ENTRIES: &[Entry] = &[
    validating("core.gardener.cloud", "v1beta1", "Shoot", "shoots", &[Create, Update], Rule::Shoot),
    Entry {
        webhook: Webhook::Mutate,
        group: "core.gardener.cloud",
        version: "v1beta1",
        kind: "Shoot",
        plural: "shoots",
        operations: &[Create, Update],
        rule: Rule::Mutate { references: nothing, mutate: super::shoot::mutate::mutate },
    },
    validating(
        "core.gardener.cloud",
        "v1beta1",
        "CloudProfile",
        "cloudprofiles",
        &[Create, Update],
        Rule::Judge { references: nothing, judge: super::cloud_profile::admission::judge },
    ),
    validating(
        "core.gardener.cloud",
        "v1beta1",
        "NamespacedCloudProfile",
        "namespacedcloudprofiles",
        &[Create, Update],
        Rule::Judge {
            references: super::cloud_profile::admission::namespaced_references,
            judge: super::cloud_profile::admission::judge_namespaced,
        },
    ),
    validating(
        "core.gardener.cloud",
        "v1beta1",
        "SecretBinding",
        "secretbindings",
        &[Create, Update],
        Rule::Judge {
            references: super::bindings::secret_binding_references,
            judge: super::bindings::judge_secret_binding,
        },
    ),
    validating(
        "security.gardener.cloud",
        "v1alpha1",
        "CredentialsBinding",
        "credentialsbindings",
        &[Create],
        Rule::Judge {
            references: super::bindings::credentials_binding_references,
            judge: super::bindings::judge_credentials_binding,
        },
    ),
    Entry {
        webhook: Webhook::Secrets,
        group: "",
        version: "v1",
        kind: "Secret",
        plural: "secrets",
        operations: &[Create, Update],
        rule: Rule::Judge { references: nothing, judge: super::bindings::judge_secret },
    },
    Entry {
        webhook: Webhook::Infrastructure,
        group: "extensions.gardener.cloud",
        version: "v1alpha1",
        kind: "Infrastructure",
        plural: "infrastructures",
        operations: &[Create, Update],
        rule: Rule::Judge {
            references: super::infrastructure::admission::references,
            judge: super::infrastructure::admission::judge,
        },
    },
    Entry {
        webhook: Webhook::Cloudprovider,
        group: "",
        version: "v1",
        kind: "Secret",
        plural: "secrets",
        operations: &[Create, Update],
        rule: Rule::Mutate { references: super::cloudprovider::references, mutate: super::cloudprovider::mutate },
    },
];

fn nothing(_: &Reviewed<'_>, _: &Resolved) -> Vec<Reference> {
    Vec::new()
}

const fn validating(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    plural: &'static str,
    operations: &'static [Operation],
    rule: Rule,
) -> Entry {
    Entry { webhook: Webhook::Validate, group, version, kind, plural, operations, rule }
}

/// The rules of one webhook.
pub fn entries(webhook: Webhook) -> impl Iterator<Item = &'static Entry> {
    ENTRIES.iter().filter(move |entry| entry.webhook == webhook)
}

/// The rules that judge objects of this `apiVersion` and kind, whichever webhook they belong to.
pub fn entry(api_version: &str, kind: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| !matches!(entry.rule, Rule::Mutate { .. }) && entry.is_for(api_version, kind))
}

#[cfg(test)]
mod tests;
