//! Our mark on what we create (decision D5).
//!
//! The description is written in the creating call, so that a resource is ours from its first moment;
//! the tags follow, since Neutron takes them only in a second call. Deployed clouds refuse tags above
//! 60 characters, so the uid has a tag of its own.

use std::fmt;

const PREFIX: &str = "osf:";
const TAG_SHOOT: &str = "osf:shoot=";
const TAG_UID: &str = "osf:uid=";
/// The longest tag that every deployed Neutron takes.
pub const MAX_TAG: usize = 60;

/// Whose a resource is: a shoot's technical ID and its uid.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Marker {
    technical_id: String,
    uid: String,
}

/// What a description or a tag list says about a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Carries this marker.
    Ours,
    /// Carries the marker of the same technical ID with another uid: an earlier life of the shoot.
    OtherUid,
    /// Carries the marker of another shoot.
    Foreign,
    /// Carries no marker.
    None,
}

impl Marker {
    /// A marker for the shoot with this technical ID and uid.
    pub fn new(technical_id: impl Into<String>, uid: impl Into<String>) -> Self {
        Self { technical_id: technical_id.into(), uid: uid.into() }
    }

    /// The shoot's technical ID, also the name of what we create.
    pub fn technical_id(&self) -> &str {
        &self.technical_id
    }

    /// The shoot's uid.
    pub fn uid(&self) -> &str {
        &self.uid
    }

    /// The description given in the creating call: `osf:<technicalID>/<uid>`.
    pub fn description(&self) -> String {
        format!("{PREFIX}{}/{}", self.technical_id, self.uid)
    }

    /// The same with a human part before it (`Cluster Nodes osf:…`).
    pub fn description_after(&self, human: &str) -> String {
        format!("{human} {}", self.description())
    }

    /// The two tags, each at most [`MAX_TAG`] characters. A technical ID is at most 63 − 10 characters in Gardener;
    /// a longer one (outside Gardener) is cut, the description still holds it whole.
    pub fn tags(&self) -> [String; 2] {
        [cut(format!("{TAG_SHOOT}{}", self.technical_id)), cut(format!("{TAG_UID}{}", self.uid))]
    }

    /// What a resource's description and tags say about it: the tags first, since people edit descriptions. A
    /// description of another shoot is believed whatever the tags say: taking less is the safe mistake.
    pub fn judge(&self, description: &str, tags: &[String]) -> Mark {
        match (self.judge_tags(tags), self.judge_description(description)) {
            (_, Mark::Foreign) => Mark::Foreign,
            (Mark::None, described) => described,
            (tagged, _) => tagged,
        }
    }

    fn tag_is_cut(&self) -> bool {
        TAG_SHOOT.len() + self.technical_id.chars().count() > MAX_TAG
    }

    fn judge_tags(&self, tags: &[String]) -> Mark {
        let [shoot, uid] = self.tags();
        let Some(tagged) = tags.iter().find(|t| t.starts_with(TAG_SHOOT)) else {
            return Mark::None;
        };
        if *tagged != shoot {
            return Mark::Foreign;
        }
        match tags.iter().find(|t| t.starts_with(TAG_UID)) {
            Some(t) if *t == uid => Mark::Ours,
            // Technical IDs that begin alike share a tag that was cut; only the description tells them apart.
            Some(_) if self.tag_is_cut() => Mark::None,
            Some(_) => Mark::OtherUid,
            // The second tag did not arrive: the description decides.
            None => Mark::None,
        }
    }

    fn judge_description(&self, description: &str) -> Mark {
        let Some(mark) = description.split_whitespace().find_map(|word| word.strip_prefix(PREFIX)) else {
            return Mark::None;
        };
        match mark.rsplit_once('/') {
            Some((id, uid)) if id == self.technical_id && uid == self.uid => Mark::Ours,
            Some((id, _)) if id == self.technical_id => Mark::OtherUid,
            Some(_) => Mark::Foreign,
            None => Mark::None,
        }
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.description())
    }
}

fn cut(tag: String) -> String {
    tag.chars().take(MAX_TAG).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marker() -> Marker {
        Marker::new("shoot--dev--a", "7a1c")
    }

    #[test]
    fn tags_never_exceed_what_clouds_take() {
        let long = Marker::new("x".repeat(90), "u".repeat(90));
        assert!(long.tags().iter().all(|t| t.chars().count() <= MAX_TAG));
        assert_eq!(long.judge("", &long.tags()), Mark::Ours);
    }

    #[test]
    fn a_cut_tag_is_no_claim_on_a_shoot_that_begins_alike() {
        let (a, b) = (Marker::new("x".repeat(60) + "a", "1"), Marker::new("x".repeat(60) + "b", "2"));
        assert_eq!(a.tags()[0], b.tags()[0]);
        assert_eq!(a.judge(&b.description(), &b.tags()), Mark::Foreign);
        assert_eq!(a.judge("", &b.tags()), Mark::None);
        assert_eq!(a.judge(&Marker::new("x".repeat(60) + "a", "0").description(), &[]), Mark::OtherUid);
    }

    #[test]
    fn judges_by_tags_then_by_description() {
        let m = marker();
        let other = Marker::new("shoot--dev--ab", "7a1c");
        let earlier = Marker::new("shoot--dev--a", "0000");
        for (description, tags, want) in [
            (m.description(), vec![], Mark::Ours),
            (m.description_after("Cluster Nodes"), vec![], Mark::Ours),
            (String::new(), m.tags().to_vec(), Mark::Ours),
            (earlier.description(), vec![], Mark::OtherUid),
            (String::new(), earlier.tags().to_vec(), Mark::OtherUid),
            (other.description(), vec![], Mark::Foreign),
            (m.description(), other.tags().to_vec(), Mark::Foreign),
            (other.description(), m.tags().to_vec(), Mark::Foreign),
            (m.description(), vec![m.tags()[0].clone()], Mark::Ours),
            ("Cluster Nodes".to_owned(), vec!["team=a".to_owned()], Mark::None),
            ("osf:".to_owned(), vec![], Mark::None),
        ] {
            assert_eq!(m.judge(&description, &tags), want, "{description:?} {tags:?}");
        }
    }
}
