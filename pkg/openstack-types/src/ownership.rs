//! Given and owned are different types (decision D6).
//!
//! A resource that the user handed over is [`Given`]: it can be read, nothing else. What we may change or
//! delete is [`Owned`], and the only way to one is [`Owned::by`], which takes the evidence.

use crate::marker::{Mark, Marker};

/// A resource that the user handed over. Read-only by construction: no function of ours that changes or
/// deletes something takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given<T>(T);

impl<T> Given<T> {
    /// Takes a resource that the user's specification names.
    pub fn new(resource: T) -> Self {
        Self(resource)
    }

    /// The resource, to read.
    pub fn get(&self) -> &T {
        &self.0
    }
}

/// Why we may change or delete a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Evidence {
    /// It carries our marker, as read from the cloud.
    Marker,
    /// Our state names its id.
    State,
    /// Found by name in our project with the whole shape that we would give it (an earlier controller made it).
    Shape,
    /// We created it in this very run.
    Created,
}

impl Evidence {
    /// Judges what the cloud says of a resource against our marker and our state. `None`: not ours.
    ///
    /// A resource marked for another shoot is never ours, whatever the state says.
    pub fn judge(marker: &Marker, description: &str, tags: &[String], in_state: bool) -> Option<Self> {
        match marker.judge(description, tags) {
            Mark::Foreign => None,
            Mark::Ours | Mark::OtherUid => Some(Self::Marker),
            Mark::None if in_state => Some(Self::State),
            Mark::None => None,
        }
    }
}

/// A resource that is ours to change and to delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owned<T> {
    resource: T,
    evidence: Evidence,
}

impl<T> Owned<T> {
    /// The only constructor: no ownership without evidence.
    pub fn by(evidence: Evidence, resource: T) -> Self {
        Self { resource, evidence }
    }

    /// The resource.
    pub fn get(&self) -> &T {
        &self.resource
    }

    /// Why it is ours.
    pub fn evidence(&self) -> Evidence {
        self.evidence
    }

    /// The same ownership, seen through a part of the resource (its id, say).
    pub fn map<U>(self, part: impl FnOnce(T) -> U) -> Owned<U> {
        Owned { resource: part(self.resource), evidence: self.evidence }
    }

    /// The same ownership of a borrowed resource.
    pub fn as_ref(&self) -> Owned<&T> {
        Owned { resource: &self.resource, evidence: self.evidence }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_mark_beats_the_state() {
        let ours = Marker::new("shoot--dev--a", "1");
        let theirs = Marker::new("shoot--dev--b", "2");
        assert_eq!(Evidence::judge(&ours, &theirs.description(), &[], true), None);
        assert_eq!(Evidence::judge(&ours, "", &[], true), Some(Evidence::State));
        assert_eq!(Evidence::judge(&ours, "", &[], false), None);
        assert_eq!(Evidence::judge(&ours, &ours.description(), &[], false), Some(Evidence::Marker));
    }
}
