//! Finds what is ours among what was observed (decision D5).
//!
//! Order: id in the state (with our mark on it, or else our name), tag, description, then the name inside our project —
//! the last only when the whole shape fits, because then it was made for this shoot before we marked things.

use fabric_openstack_types::{
    Evidence, Marker, Owned,
    ids::ProjectId,
    marker::Mark,
    network::{Network, Router, SecurityGroup, Subnet},
    share::ShareNetwork,
};

use crate::error::Error;

/// What identifies a resource that carries names, descriptions and tags.
pub trait Identified: Clone {
    /// What it is, in a message.
    const WHAT: &'static str;
    /// Its id.
    fn id(&self) -> &str;
    /// Its name.
    fn name(&self) -> &str;
    /// Its project.
    fn project(&self) -> &ProjectId;
    /// Its description.
    fn description(&self) -> &str;
    /// Its tags.
    fn tags(&self) -> &[String];
}

macro_rules! identified {
    ($($type:ty: $what:literal, $tags:expr;)+) => {$(
        impl Identified for $type {
            const WHAT: &'static str = $what;
            fn id(&self) -> &str { self.id.as_str() }
            fn name(&self) -> &str { &self.name }
            fn project(&self) -> &ProjectId { &self.project_id }
            fn description(&self) -> &str { &self.description }
            fn tags(&self) -> &[String] { let tags: fn(&$type) -> &[String] = $tags; tags(self) }
        }
    )+};
}

identified! {
    Network: "network", |it| &it.tags;
    Subnet: "subnet", |it| &it.tags;
    Router: "router", |it| &it.tags;
    SecurityGroup: "security group", |it| &it.tags;
    ShareNetwork: "share network", |_| &[]; // Manila has no tags
}

/// What we look for.
pub struct Wanted<'a> {
    /// Our mark.
    pub marker: &'a Marker,
    /// Our project; nothing outside it is ever ours.
    pub project: &'a ProjectId,
    /// The id that the state remembers, unless it remembers it as given.
    pub state_id: Option<&'a str>,
    /// The name we would give.
    pub name: &'a str,
}

/// Finds ours among `candidates`. `plays` tells whether a marked one has the role that we look for (three IPv6
/// subnets carry one marker), `fits` judges the shape of an unmarked one with our name.
///
/// # Errors
/// [`Error::Ambiguous`] when two or more are equally likely, [`Error::Unproven`] when only the state speaks for one.
pub fn find<T: Identified>(
    candidates: &[T],
    wanted: &Wanted<'_>,
    plays: impl Fn(&T) -> bool,
    fits: impl Fn(&T) -> bool,
) -> Result<Option<Owned<T>>, Error> {
    let inside: Vec<&T> = candidates.iter().filter(|it| it.project() == wanted.project).collect();
    let mark = |it: &T| wanted.marker.judge(it.description(), it.tags());
    if let Some(known) = inside.iter().find(|it| Some(it.id()) == wanted.state_id) {
        match Evidence::judge(wanted.marker, known.description(), known.tags(), true) {
            // Upstream's state does not tell what was given, and a state can be copied: the name has to agree.
            Some(Evidence::State) if known.name() != wanted.name => return Err(unproven(*known, wanted.name)),
            Some(evidence) => return Ok(Some(Owned::by(evidence, (*known).clone()))),
            None => {}
        }
    }
    let marked = |mark_of: Mark| inside.iter().copied().filter(|it| plays(it) && mark(it) == mark_of).collect();
    let shaped = inside.iter().copied().filter(|it| it.name() == wanted.name && mark(it) == Mark::None && fits(it));
    let searches: [(Evidence, Vec<&T>); 3] = [
        (Evidence::Marker, marked(Mark::Ours)),
        (Evidence::Marker, marked(Mark::OtherUid)),
        (Evidence::Shape, shaped.collect()),
    ];
    for (evidence, found) in searches {
        match found.as_slice() {
            [] => {}
            [one] => return Ok(Some(Owned::by(evidence, (*one).clone()))),
            many => return Err(ambiguous(many)),
        }
    }
    Ok(None)
}

/// Everything in `project` that carries this life's mark.
pub(crate) fn marked<T: Identified>(candidates: &[T], marker: &Marker, project: &ProjectId) -> Vec<Owned<T>> {
    let ours = candidates
        .iter()
        .filter(|it| it.project() == project && marker.judge(it.description(), it.tags()) == Mark::Ours);
    ours.map(|it| Owned::by(Evidence::Marker, it.clone())).collect()
}

fn unproven<T: Identified>(known: &T, wanted: &str) -> Error {
    let (id, name) = (known.id().to_owned(), known.name().to_owned());
    Error::Unproven { what: T::WHAT, id, name, wanted: wanted.to_owned() }
}

fn ambiguous<T: Identified>(many: &[&T]) -> Error {
    let ids: Vec<&str> = many.iter().map(|it| it.id()).collect();
    Error::Ambiguous { what: T::WHAT, count: many.len(), ids: ids.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(id: &str, name: &str, project: &str, description: &str, tags: &[String]) -> Network {
        serde_json::from_value(serde_json::json!({
            "id": id, "name": name, "project_id": project, "description": description, "tags": tags,
        }))
        .unwrap()
    }

    fn search(candidates: &[Network], state_id: Option<&str>) -> Result<Option<(String, Evidence)>, Error> {
        let marker = Marker::new("shoot--dev--a", "uid-1");
        let project = ProjectId::new("p");
        let wanted = Wanted { marker: &marker, project: &project, state_id, name: "shoot--dev--a" };
        let found = find(candidates, &wanted, |_| true, |it| !it.shared)?;
        Ok(found.map(|owned| (owned.get().id.to_string(), owned.evidence())))
    }

    #[test]
    fn state_then_marker_then_earlier_life_then_shape() {
        let ours = Marker::new("shoot--dev--a", "uid-1");
        let earlier = Marker::new("shoot--dev--a", "uid-0");
        let by_shape = network("shape", "shoot--dev--a", "p", "", &[]);
        let by_earlier = network("earlier", "renamed", "p", &earlier.description(), &[]);
        let by_tag = network("tag", "renamed", "p", "", &ours.tags());
        let all = [by_shape.clone(), by_earlier.clone(), by_tag.clone()];
        let hit = |id: &str, evidence| Some((id.to_owned(), evidence));
        assert_eq!(search(&all, Some("shape")).unwrap(), hit("shape", Evidence::State));
        assert_eq!(search(&all, Some("gone")).unwrap(), hit("tag", Evidence::Marker));
        assert_eq!(search(&all[..2], None).unwrap(), hit("earlier", Evidence::Marker));
        assert_eq!(search(&all[..1], None).unwrap(), hit("shape", Evidence::Shape));
    }

    #[test]
    fn nothing_outside_the_project_and_nothing_of_another_shoot_is_ours() {
        let other = Marker::new("shoot--dev--b", "uid-2");
        for stranger in [
            network("x", "shoot--dev--a", "q", "", &[]),
            network("x", "shoot--dev--a", "q", &Marker::new("shoot--dev--a", "uid-1").description(), &[]),
            network("x", "shoot--dev--a", "p", &other.description(), &[]),
            network("x", "shoot--dev--a", "p", "", &other.tags()),
            network("x", "another", "p", "", &[]),
        ] {
            assert_eq!(search(std::slice::from_ref(&stranger), None).unwrap(), None, "{stranger:?}");
            if stranger.name != "another" {
                assert_eq!(search(std::slice::from_ref(&stranger), Some("x")).unwrap(), None, "{stranger:?}");
            }
        }
    }

    #[test]
    fn the_state_alone_is_no_proof() {
        let office = [network("x", "office", "p", "", &[])];
        let text = search(&office, Some("x")).unwrap_err().to_string();
        assert!(text.starts_with("network x (office) is in the state, but neither carries"), "{text}");
    }

    #[test]
    fn two_that_could_be_ours_are_an_error_that_names_them() {
        let twins = [network("a", "shoot--dev--a", "p", "", &[]), network("b", "shoot--dev--a", "p", "", &[])];
        let text = search(&twins, None).unwrap_err().to_string();
        assert_eq!(text, "2 networks could be this shoot's (a, b): delete or rename all but one");
    }
}
