//! A plan as people read it.

use std::fmt::Display;

use serde::Serialize;

use super::Plan;
use crate::target::Target;

/// What happens to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// The user's: read, never written.
    Use,
    /// Ours and as it should be.
    Keep,
    /// Somebody made it for this shoot before us; ours from now on.
    Adopt,
    /// It is made.
    Create,
    /// It is ours and differs; it is put right.
    Change,
    /// It is ours and goes.
    Delete,
    /// It is ours and differs in a way that cannot be put right in place.
    Unrepairable,
    /// Others put it beside ours; it is told, never touched.
    Report,
}

impl Verb {
    /// Whether there is nothing to do.
    pub fn is_settled(self) -> bool {
        matches!(self, Self::Use | Self::Keep | Self::Report)
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Use => "use",
            Self::Keep => "keep",
            Self::Adopt => "adopt",
            Self::Create => "create",
            Self::Change => "change",
            Self::Delete => "delete",
            Self::Unrepairable => "cannot repair",
            Self::Report => "report",
        }
    }
}

/// An attribute that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Its name in the API.
    pub attribute: String,
    /// What it is.
    pub is: String,
    /// What it should be.
    pub should: String,
}

impl Change {
    pub(super) fn of(attribute: &str, is: impl Display, should: impl Display) -> Self {
        Self { attribute: attribute.to_owned(), is: is.to_string(), should: should.to_string() }
    }
}

/// A line of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Item {
    /// What happens.
    pub verb: Verb,
    /// The kind of resource ("router interface").
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its id, if it is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What differs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// Why.
    pub reason: String,
}

impl Item {
    pub(crate) fn new(verb: Verb, kind: &str, name: &str, id: Option<&str>, reason: impl Into<String>) -> Self {
        Self {
            verb,
            kind: kind.to_owned(),
            name: name.to_owned(),
            id: id.map(str::to_owned),
            changes: Vec::new(),
            reason: reason.into(),
        }
    }

    pub(super) fn given(kind: &str, id: &str, name: &str, field: &str) -> Self {
        Self::new(Verb::Use, kind, name, Some(id), format!("given in {field}"))
    }

    pub(super) fn create(kind: &str, name: &str) -> Self {
        Self::new(Verb::Create, kind, name, None, "not there yet")
    }

    /// A resource of ours: kept, adopted, or changed by what differs.
    pub(super) fn owned(kind: &str, id: &str, name: &str, adopted: bool, changes: Vec<Option<Change>>) -> Self {
        let changes: Vec<Change> = changes.into_iter().flatten().collect();
        let (verb, reason) = match (changes.is_empty(), adopted) {
            (true, false) => (Verb::Keep, "ours, as it should be"),
            (true, true) => (Verb::Adopt, "made for this shoot before; ours from now on"),
            (false, _) => (Verb::Change, "ours, but differs"),
        };
        Self { changes, ..Self::new(verb, kind, name, Some(id), reason) }
    }

    /// The same resource, differing in what cannot be changed in place.
    pub(super) fn unrepairable(kind: &str, id: &str, name: &str, changes: Vec<Change>, reason: &str) -> Self {
        Self { changes, ..Self::new(Verb::Unrepairable, kind, name, Some(id), reason) }
    }
}

/// On one line, as a condition or an event tells it: what happens to what, and what differs.
impl Display for Item {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.verb.as_str(), self.kind, self.name)?;
        for (number, Change { attribute, is, should }) in self.changes.iter().enumerate() {
            let before = if number == 0 { ": " } else { ", " };
            write!(f, "{before}{attribute} is {is}, should be {should}")?;
        }
        if self.verb == Verb::Unrepairable {
            write!(f, " ({})", self.reason)?;
        }
        Ok(())
    }
}

impl Plan {
    /// The steps that are not as they should be.
    pub fn open_items(&self, target: &Target) -> Vec<Item> {
        let mut items = self.items(target);
        items.retain(|item| !item.verb.is_settled());
        items
    }

    /// Every step as lines, in the order in which they are shown.
    pub fn items(&self, target: &Target) -> Vec<Item> {
        let mut items = vec![self.network.item(target)];
        items.extend(self.subnets.iter().flat_map(|step| step.items(target)));
        items.push(self.router.item(target));
        items.extend(self.interfaces.iter().map(|step| step.item(target)));
        items.push(self.security_group.item(target));
        items.extend(self.rules.iter().flat_map(|rules| rules.items()));
        items.push(self.key_pair.item(target));
        items.extend(self.share_network.iter().map(|step| step.item(target)));
        items.extend(self.tags.iter().map(|resource| super::tags::item(target, resource)));
        items
    }

    /// Whether there is nothing to do.
    pub fn is_settled(&self, target: &Target) -> bool {
        self.open_items(target).is_empty()
    }
}
