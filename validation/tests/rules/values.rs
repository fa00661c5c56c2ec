//! Values as people write and miswrite them, and what is true of them.

use std::net::IpAddr;

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value};

/// An address range by its bits: the family, the first address and how many bits are fixed.
#[derive(Clone, Copy)]
pub(crate) struct Range {
    pub(crate) v4: bool,
    pub(crate) bits: u128,
    pub(crate) fixed: u32,
}

impl Range {
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (address, fixed) = text.split_once('/')?;
        let fixed: u32 = fixed.parse().ok()?;
        let (v4, bits, all) = match address.parse().ok()? {
            IpAddr::V4(address) => (true, u128::from(u32::from(address)) << 96, 32),
            IpAddr::V6(address) => (false, u128::from(address), 128),
        };
        (fixed <= all).then_some(Self { v4, bits, fixed })
    }

    pub(crate) fn mask(fixed: u32) -> u128 {
        if fixed == 0 { 0 } else { u128::MAX << (128 - fixed) }
    }

    pub(crate) fn has_host_bits(&self) -> bool {
        self.bits & !Self::mask(self.fixed) != 0
    }

    pub(crate) fn lies_in(&self, outer: &Self) -> bool {
        let mask = Self::mask(outer.fixed);
        self.v4 == outer.v4 && self.fixed >= outer.fixed && self.bits & mask == outer.bits & mask
    }

    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.lies_in(other) || other.lies_in(self)
    }
}

pub(crate) fn hex(text: &str) -> bool {
    text.chars().all(|character| character.is_ascii_hexdigit())
}

/// 36 characters with four hyphens, or 32 digits.
pub(crate) fn plain_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    (lengths == [8, 4, 4, 4, 12] || lengths == [32]) && groups.iter().all(|group| hex(group))
}

/// What upstream takes as well: a URN, or 36 characters between two others.
pub(crate) fn any_uuid(text: &str) -> bool {
    let inner = |from: usize, to: usize| text.get(from..to).is_some_and(|id| id.len() == 36 && plain_uuid(id));
    plain_uuid(text)
        || (text.len() == 45 && text[..9].eq_ignore_ascii_case("urn:uuid:") && inner(9, 45))
        || (text.len() == 38 && inner(1, 37))
}

pub(crate) const A: &str = "123e4567-e89b-12d3-a456-426614174000";

pub(crate) fn id() -> BoxedStrategy<Value> {
    let plain = prop_oneof![Just(A.to_owned()), Just(A.replace('-', "")), Just(A.to_uppercase())];
    let odd = prop_oneof![
        Just(format!("urn:uuid:{A}")),
        Just(format!("{{{A}}}")),
        Just(String::new()),
        Just("my-net".to_owned()),
        Just(A.replace('1', "g")),
        Just(A.replacen('-', "0", 1)),
        Just(format!("{A}0")),
        Just(A.replace('-', "")[1..].to_owned()),
    ];
    prop_oneof![3 => plain, 1 => odd].prop_map(Value::from).boxed()
}

pub(crate) fn name() -> BoxedStrategy<Value> {
    let odd = prop_oneof![
        2 => Just(String::new()),
        1 => Just("a{b".to_owned()),
         1 => Just("[a]".to_owned()),
         1 => Just("a\nb".to_owned()),
         1 => Just("ü".repeat(255)),
         1 => Just("ü".repeat(256)),
         1 => Just("{".repeat(256)),
    ];
    prop_oneof![Just("fip-*".to_owned()), odd].prop_map(Value::from).boxed()
}

pub(crate) fn range4() -> BoxedStrategy<Value> {
    let texts = [
        "10.250.0.0/19",
        "10.250.0.0/16",
        "10.250.1.1/24",
        "10.1.1.1/8",
        "10.0.0.0/8",
        "10.250.0.0",
        "010.0.0.0/8",
        "10.250.0.0/33",
        "fd00::/56",
        "",
        "0.0.0.0/0",
        "10.250.0.0/-1",
        "nonsense",
        " 10.250.0.0/19",
    ];
    select(texts.to_vec()).prop_map(Value::from).boxed()
}

pub(crate) fn range6() -> BoxedStrategy<Value> {
    let texts = [
        "fd00::/56",
        "fd00:0:0:1::/64",
        "fd01::/112",
        "fd02::/48",
        "fd00::/48",
        "fd04::/65",
        "fd00::1/64",
        "fd05::1/112",
        "fd06::/129",
        "10.96.0.0/11",
        "10.96.0.1/11",
        "::/0",
        "",
        "fd00",
        "fe80::%eth0/64",
    ];
    select(texts.to_vec()).prop_map(Value::from).boxed()
}

/// An object of the fields that are there; `null` counts as absent.
pub(crate) fn object(fields: Vec<(&'static str, f64, BoxedStrategy<Value>)>) -> BoxedStrategy<Value> {
    let fields: Vec<_> = fields
        .into_iter()
        .map(|(key, there, value)| {
            let value = prop_oneof![19 => value, 1 => Just(Value::Null)];
            proptest::option::weighted(there, value).prop_map(move |value| value.map(|value| (key.to_owned(), value)))
        })
        .map(Strategy::boxed)
        .collect();
    fields.prop_map(|fields| Value::Object(fields.into_iter().flatten().collect::<Map<_, _>>())).boxed()
}

/// The value at a dotted path; `null` counts as absent.
pub(crate) fn get<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, key| value.get(key)).filter(|value| !value.is_null())
}

/// The text at a dotted path; absent is empty.
pub(crate) fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    get(value, path).map_or("", |value| value.as_str().unwrap())
}

/// The list at a dotted path; absent is empty.
pub(crate) fn list<'a>(value: &'a Value, path: &str) -> &'a [Value] {
    get(value, path).map_or(&[], |value| value.as_array().unwrap())
}

/// One of some texts.
pub(crate) fn one_of(texts: &[&'static str]) -> BoxedStrategy<Value> {
    select(texts.to_vec()).prop_map(Value::from).boxed()
}

/// A list of up to `most`.
pub(crate) fn some(item: BoxedStrategy<Value>, most: usize) -> BoxedStrategy<Value> {
    proptest::collection::vec(item, 0..=most).prop_map(Value::from).boxed()
}
