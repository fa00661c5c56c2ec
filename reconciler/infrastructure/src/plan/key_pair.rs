//! The nodes' key pair. It has neither tags nor description: ours is the one with our name in our user.

use fabric_openstack_types::{Evidence, Owned, compute::KeyPair, observed::Observed};

use super::{
    items::{Change, Item, Verb},
    need,
};
use crate::{
    error::Error,
    state::{Key, State},
    target::Target,
};

/// What happens to the key pair.
#[derive(Clone, Debug)]
pub enum KeyPairStep {
    /// There, with the right key.
    Have {
        /// The key pair.
        key_pair: Owned<KeyPair>,
        /// The state does not know it.
        adopted: bool,
    },
    /// There, with another key: Nova cannot change one, so it is made anew.
    Replace {
        /// The old one.
        old: Owned<KeyPair>,
        /// The key; `None` as in [`KeyPairStep::Create`].
        public_key: Option<String>,
    },
    /// It has to be made.
    Create {
        /// The key; `None`: SSH access is disabled and a key is made whose private half nobody keeps.
        public_key: Option<String>,
    },
}

impl KeyPairStep {
    pub(super) fn item(&self, target: &Target) -> Item {
        let (kind, name) = ("key pair", target.name());
        match self {
            Self::Have { adopted, .. } => Item::owned(kind, name, name, *adopted, vec![]),
            Self::Create { .. } => Item::create(kind, name),
            Self::Replace { old, public_key } => {
                let should = public_key.as_deref().map_or_else(|| "a key that nobody holds".to_owned(), short);
                let change = Change::of("public_key", &old.get().fingerprint, should);
                let base = Item::new(Verb::Change, kind, name, Some(name), "ours, but holds another key: made anew");
                Item { changes: vec![change], ..base }
            }
        }
    }
}

/// Type and the key's last characters: enough to tell keys apart.
fn short(key: &str) -> String {
    let mut words = key.split_whitespace();
    let (kind, data) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let tail: String = data.chars().skip(data.chars().count().saturating_sub(8)).collect();
    format!("{kind} …{tail}")
}

/// The parts of an OpenSSH key that make it that key; a comment does not.
fn material(key: &str) -> (Option<&str>, Option<&str>) {
    let mut words = key.split_whitespace();
    (words.next(), words.next())
}

pub(super) fn plan(target: &Target, seen: &Observed, state: &State) -> Result<KeyPairStep, Error> {
    let found = need(&seen.key_pair, "the key pair")?;
    let wanted = target.ssh_public_key.clone();
    let Some(key_pair) = found else { return Ok(KeyPairStep::Create { public_key: wanted }) };
    let known = state.get(Key::KeyPair) == Some(key_pair.name.as_str());
    let owned = Owned::by(if known { Evidence::State } else { Evidence::Shape }, key_pair);
    match wanted {
        Some(public_key) if material(&owned.get().public_key) != material(&public_key) => {
            Ok(KeyPairStep::Replace { old: owned, public_key: Some(public_key) })
        }
        // Somebody put a key of theirs in its place: new nodes would let them in.
        None if state.get(Key::KeyPairFingerprint).is_some_and(|made| made != owned.get().fingerprint) => {
            Ok(KeyPairStep::Replace { old: owned, public_key: None })
        }
        // Without SSH access any key of ours does, and it is never replaced.
        Some(_) | None => Ok(KeyPairStep::Have { key_pair: owned, adopted: !known }),
    }
}
