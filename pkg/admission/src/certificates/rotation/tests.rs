use super::*;
use proptest::prelude::*;

const DAY: i64 = 86_400;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

/// Made at `made`, as issuing does it.
fn made(made: i64) -> Validity {
    let policy = Policy::default();
    Validity { since: at(made) - policy.skew, until: at(made) + policy.validity }
}

fn by(signed_by: SignedBy, day: i64) -> Server {
    Server { validity: made(day * DAY), signed_by, has_names: true }
}

fn ca(newest: i64, older: &[i64]) -> Authority {
    Authority { newest: made(newest * DAY), older: older.iter().map(|day| made(day * DAY)).collect(), has_key: true }
}

#[test]
fn a_ca_is_made_kept_renewed_and_pruned() {
    use AuthorityStep::{Keep, Make, Prune};
    let without_key = Authority { has_key: false, ..ca(0, &[]) };
    let newest = |day| Some(by(SignedBy::Newest, day));
    let table = [
        ("nothing there", 0, None, None, Make(Why::Missing, vec![])),
        ("fresh", DAY, Some(ca(0, &[])), newest(0), Keep),
        ("just before two thirds", 20 * DAY - 301, Some(ca(0, &[])), newest(0), Keep),
        ("two thirds", 20 * DAY, Some(ca(0, &[])), newest(0), Make(Why::Aged, vec![true])),
        ("ended", 30 * DAY, Some(ca(0, &[])), newest(0), Make(Why::Ended, vec![false])),
        ("key lost: the old one stays trusted", DAY, Some(without_key), newest(0), Make(Why::NoKey, vec![true])),
        ("server not moved yet", 25 * DAY, Some(ca(20, &[0])), Some(by(SignedBy::Older, 0)), Keep),
        ("moved a moment ago", 20 * DAY + 600, Some(ca(20, &[0])), newest(20), Keep),
        ("moved a day ago", 21 * DAY, Some(ca(20, &[0])), newest(20), Prune(vec![false])),
        ("no server known", 22 * DAY, Some(ca(20, &[0])), None, Keep),
        ("the older one ended", 31 * DAY, Some(ca(20, &[0])), None, Prune(vec![false])),
        ("too many", DAY, Some(ca(0, &[0, 0, 0, 0])), None, Prune(vec![true, true, true, false])),
    ];
    let policy = Policy::default();
    for (name, now, held, server, expected) in table {
        assert_eq!(authority(at(now), held.as_ref(), server.as_ref(), &policy), expected, "{name}");
    }
}

#[test]
fn a_server_certificate_moves_only_to_a_ca_that_callers_know() {
    use ServerStep::{Keep, Make, Wait};
    let nameless = Server { has_names: false, ..by(SignedBy::Newest, 0) };
    let older = Some(by(SignedBy::Older, 0));
    let table = [
        ("nothing there", 0, None, None, Make(Why::Missing)),
        ("fresh", DAY, Some(by(SignedBy::Newest, 0)), None, Keep),
        ("two thirds", 20 * DAY, Some(by(SignedBy::Newest, 0)), None, Make(Why::Aged)),
        ("a name is missing", DAY, Some(nameless), None, Make(Why::Names)),
        ("of an unknown CA", DAY, Some(by(SignedBy::Unknown, 0)), Some(0), Make(Why::Stranger)),
        ("not published", 20 * DAY, older, None, Wait(None)),
        ("just published", 20 * DAY, older, Some(20 * DAY), Wait(Some(at(20 * DAY + 300)))),
        ("published long enough", 20 * DAY + 300, older, Some(20 * DAY), Make(Why::NewerAuthority)),
        ("ended, published or not", 30 * DAY, older, None, Make(Why::Ended)),
    ];
    for (name, now, held, published, expected) in table {
        assert_eq!(server(at(now), held.as_ref(), published.map(at), &Policy::default()), expected, "{name}");
    }
}

/// Numbers stand for CAs; runs the two decisions as the keeper does, publishing when it can.
#[derive(Debug)]
struct World {
    bundle: Vec<(u32, Validity)>,
    server: Option<(u32, Validity)>,
    told: Vec<u32>,
    told_since: Option<(u32, Timestamp)>,
    made: u32,
}

impl World {
    fn facts(&self) -> Option<Server> {
        let (by, validity) = self.server?;
        let signed_by = match self.bundle.iter().position(|(ca, _)| *ca == by) {
            Some(0) => SignedBy::Newest,
            Some(_) => SignedBy::Older,
            None => SignedBy::Unknown,
        };
        Some(Server { validity, signed_by, has_names: true })
    }

    fn round(&mut self, now: Timestamp, reachable: bool) {
        let policy = Policy::default();
        let fresh = Validity { since: now - policy.skew, until: now + policy.validity };
        let held = self.bundle.split_first().map(|(newest, older)| Authority {
            newest: newest.1,
            older: older.iter().map(|ca| ca.1).collect(),
            has_key: true,
        });
        let keep = |bundle: &[(u32, Validity)], stays: &[bool]| -> Vec<_> {
            bundle.iter().zip(stays).filter(|(_, stays)| **stays).map(|(ca, _)| *ca).collect()
        };
        match authority(now, held.as_ref(), self.facts().as_ref(), &policy) {
            AuthorityStep::Keep => {}
            AuthorityStep::Prune(stays) => {
                let older = keep(&self.bundle[1..], &stays);
                self.bundle.truncate(1);
                self.bundle.extend(older);
            }
            AuthorityStep::Make(_, stays) => {
                let old = keep(&self.bundle, &stays);
                self.made += 1;
                self.bundle = std::iter::once((self.made, fresh)).chain(old).collect();
            }
        }
        let newest = self.bundle[0].0;
        if reachable {
            self.told = self.bundle.iter().map(|ca| ca.0).collect();
            if self.told_since.is_none_or(|(ca, _)| ca != newest) {
                self.told_since = Some((newest, now));
            }
        }
        let published = self.told_since.filter(|(ca, _)| *ca == newest).map(|(_, since)| since);
        if let ServerStep::Make(_) = server(now, self.facts().as_ref(), published, &policy) {
            self.server = Some((newest, fresh));
        }
    }
}

proptest! {
    /// With callers out of reach for up to nine days at a time, what they trust always includes who signed, nothing
    /// that ended is served, and a bundle stays small.
    #[test]
    fn callers_always_trust_the_certificate_in_use(outages in prop::collection::vec((1_i64..400, 0_i64..216), 0..20)) {
        let mut world = World { bundle: vec![], server: None, told: vec![], told_since: None, made: 0 };
        let mut hour = 0;
        world.round(at(0), true);
        let plan = outages.iter().flat_map(|(up, down)| {
            std::iter::repeat_n(true, usize::try_from(*up).unwrap()).chain(std::iter::repeat_n(false, usize::try_from(*down).unwrap()))
        });
        for reachable in plan {
            hour += 1;
            let now = at(hour * 3600);
            world.round(now, reachable);
            let (signer, validity) = world.server.unwrap();
            prop_assert!(world.told.contains(&signer), "hour {hour}: {world:?}");
            prop_assert!(validity.until > now, "hour {hour}: {world:?}");
            prop_assert!(world.bundle.iter().all(|(_, ca)| ca.until > now), "hour {hour}: {world:?}");
            prop_assert!(world.bundle.len() <= 2, "hour {hour}: {world:?}");
        }
        prop_assert!(i64::from(world.made) <= 1 + hour / (19 * 24), "not more than needed: {world:?}");
    }
}
