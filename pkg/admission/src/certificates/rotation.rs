//! When a CA and a server certificate are made anew. Pure: facts and a time go in, a step comes out.
//!
//! ```text
//!  CA A   ├──────────────── 20 d ───────────────┤ B is made          │ A ends (30 d)
//!  bundle │ A                                   │ B, A        … 24 h after the move ─► B
//!  server │ by A                                │ by A ── published for 5 min ──► by B
//! ```
//! The order is what makes it safe: a certificate moves to a CA only after callers had time to learn the bundle with it,
//! and a CA leaves the bundle only when no replica can still be serving by it.

use jiff::{SignedDuration, Timestamp};

/// The times. The defaults are Gardener's, so that its dashboards and habits fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// How long a CA and a server certificate are good for. Default 30 days.
    pub validity: SignedDuration,
    /// How long an old CA stays in the bundle after the server certificate moved away from it. Default 24 hours:
    /// longer than any replica may go without reading the secrets.
    pub overlap: SignedDuration,
    /// How long a bundle is published before a certificate relies on it. Default 5 minutes: apiservers watch their
    /// webhook configurations and know within seconds.
    pub settle: SignedDuration,
    /// So much in the past a certificate begins, for clocks that are slow. Default 5 minutes.
    pub skew: SignedDuration,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            validity: SignedDuration::from_hours(30 * 24),
            overlap: SignedDuration::from_hours(24),
            settle: SignedDuration::from_mins(5),
            skew: SignedDuration::from_mins(5),
        }
    }
}

/// How many CAs a bundle holds at most. Two are usual; more come only from secrets damaged again and again.
pub const BUNDLE: usize = 4;

/// From when until when a certificate is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// The first moment.
    pub since: Timestamp,
    /// The last moment.
    pub until: Timestamp,
}

impl Validity {
    fn ended(&self, now: Timestamp) -> bool {
        self.until <= now
    }

    /// Two thirds are over.
    fn aged(&self, now: Timestamp) -> bool {
        let whole = self.until.duration_since(self.since);
        now.duration_since(self.since) >= whole / 3 * 2
    }
}

/// What the CA's secret holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authority {
    /// The CA that signs.
    pub newest: Validity,
    /// The CAs before it that are still in the bundle, newest first.
    pub older: Vec<Validity>,
    /// The private key is there and belongs to the newest CA.
    pub has_key: bool,
}

/// Who signed the server certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignedBy {
    /// The newest CA.
    Newest,
    /// One that is in the bundle after it.
    Older,
    /// None in the bundle.
    Unknown,
}

/// What the server's secret holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Server {
    /// From when until when it is good.
    pub validity: Validity,
    /// Its CA.
    pub signed_by: SignedBy,
    /// It has each name that it is reached by.
    pub has_names: bool,
}

/// Why something is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// There is none, or what is there can't be read.
    Missing,
    /// Its key is missing or belongs to another certificate.
    NoKey,
    /// Its time is over.
    Ended,
    /// Two thirds of its time are over.
    Aged,
    /// It lacks a name.
    Names,
    /// Its CA is not in the bundle.
    Stranger,
    /// There is a newer CA that callers know.
    NewerAuthority,
}

/// What to do about the CA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthorityStep {
    /// Nothing.
    Keep,
    /// Make a new one; of the present ones in the bundle, newest first, those with `true` stay behind it.
    Make(Why, Vec<bool>),
    /// Drop the older ones with `false`.
    Prune(Vec<bool>),
}

/// What to do about the server certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerStep {
    /// Nothing.
    Keep,
    /// Make a new one, signed by the newest CA.
    Make(Why),
    /// A newer CA is there, but callers may not know it before this time; `None`: it is not published yet.
    Wait(Option<Timestamp>),
}

/// What to do about the CA.
pub fn authority(now: Timestamp, held: Option<&Authority>, server: Option<&Server>, policy: &Policy) -> AuthorityStep {
    let Some(held) = held else { return AuthorityStep::Make(Why::Missing, Vec::new()) };
    let why = if !held.has_key {
        Some(Why::NoKey)
    } else if held.newest.ended(now) {
        Some(Why::Ended)
    } else if held.newest.aged(now) {
        Some(Why::Aged)
    } else {
        None
    };
    if let Some(why) = why {
        let bundle = std::iter::once(&held.newest).chain(&held.older);
        return AuthorityStep::Make(why, stay(bundle, now, BUNDLE - 1));
    }
    // Certificates begin `skew` before they are made.
    let moved = server.is_some_and(|server| {
        let made = server.validity.since.saturating_add(policy.skew).unwrap_or(Timestamp::MAX);
        server.signed_by == SignedBy::Newest && now.duration_since(made) >= policy.overlap
    });
    let stays = if moved { vec![false; held.older.len()] } else { stay(held.older.iter(), now, BUNDLE - 1) };
    if stays.contains(&false) { AuthorityStep::Prune(stays) } else { AuthorityStep::Keep }
}

fn stay<'a>(bundle: impl Iterator<Item = &'a Validity>, now: Timestamp, most: usize) -> Vec<bool> {
    let mut left = most;
    bundle
        .map(|one| {
            let stays = left > 0 && !one.ended(now);
            left -= usize::from(stays);
            stays
        })
        .collect()
}

/// What to do about the server certificate, given that a CA with its key is there. `published` is since when every
/// caller's configuration has been seen with the newest CA in its bundle.
pub fn server(now: Timestamp, held: Option<&Server>, published: Option<Timestamp>, policy: &Policy) -> ServerStep {
    let Some(held) = held else { return ServerStep::Make(Why::Missing) };
    if held.validity.ended(now) {
        return ServerStep::Make(Why::Ended);
    }
    if !held.has_names {
        return ServerStep::Make(Why::Names);
    }
    match held.signed_by {
        SignedBy::Unknown => ServerStep::Make(Why::Stranger),
        SignedBy::Newest if held.validity.aged(now) => ServerStep::Make(Why::Aged),
        SignedBy::Newest => ServerStep::Keep,
        SignedBy::Older => {
            let known = published.map(|since| since.saturating_add(policy.settle).unwrap_or(Timestamp::MAX));
            match known {
                Some(known) if known <= now => ServerStep::Make(Why::NewerAuthority),
                waiting => ServerStep::Wait(waiting),
            }
        }
    }
}

#[cfg(test)]
mod tests;
