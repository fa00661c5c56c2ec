//! Where a value stands in a JSON text.

use std::ops::Range;

/// The bytes of the value at `path` in a text that a JSON reader has already accepted; `None` when it is absent or null.
///
/// Only the objects along the path are walked; everything else is skipped by counting brackets. Nothing is allocated but
/// for a key with escapes.
pub(super) fn find(text: &[u8], path: &[&str]) -> Option<Range<usize>> {
    let mut walk = Walk { text, at: 0 };
    for name in path {
        walk.enter(name)?;
    }
    let range = walk.value()?;
    (text.get(range.clone())? != b"null").then_some(range)
}

struct Walk<'a> {
    text: &'a [u8],
    at: usize,
}

impl Walk<'_> {
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn take(&mut self, wanted: u8) -> Option<()> {
        (self.peek()? == wanted).then(|| self.at += 1)
    }

    /// Moves into the object at hand, to the value of `name`.
    fn enter(&mut self, name: &str) -> Option<()> {
        self.take(b'{')?;
        loop {
            if self.peek()? != b'"' {
                return None;
            }
            let key = self.value()?;
            self.take(b':')?;
            if self.is(key, name) {
                return Some(());
            }
            self.value()?;
            self.take(b',')?;
        }
    }

    fn is(&self, key: Range<usize>, name: &str) -> bool {
        let Some(quoted) = self.text.get(key) else { return false };
        if quoted.contains(&b'\\') {
            return serde_json::from_slice::<String>(quoted).is_ok_and(|key| key == name);
        }
        quoted.get(1..quoted.len().saturating_sub(1)) == Some(name.as_bytes())
    }

    /// Moves past the value at hand.
    fn value(&mut self) -> Option<Range<usize>> {
        let first = self.peek()?;
        let start = self.at;
        match first {
            b'"' => self.string()?,
            b'{' | b'[' => self.nested()?,
            _ => {
                while self
                    .text
                    .get(self.at)
                    .is_some_and(|byte| !matches!(byte, b',' | b'}' | b']') && !byte.is_ascii_whitespace())
                {
                    self.at += 1;
                }
            }
        }
        Some(start..self.at)
    }

    fn string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            match self.text.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
    }

    fn nested(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.text.get(self.at)? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.checked_sub(1)?,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Some(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_value_is_found_as_it_was_written() {
        let text = br#" { "a" : [1, "}\"", {"request":0}], "request" : {"x":"\\","obj\u0065ct" : { "a" : "\\\"}", "a":2 } , "n": null, "t":true}}"#;
        let at = |path: &[&str]| find(text, path).map(|range| std::str::from_utf8(&text[range]).unwrap());
        assert_eq!(at(&["request", "object"]), Some(r#"{ "a" : "\\\"}", "a":2 }"#));
        assert_eq!(at(&["request", "t"]), Some("true"));
        assert_eq!(at(&["request", "n"]), None, "null is absent");
        assert_eq!(at(&["request", "missing"]), None);
        assert_eq!(at(&["a", "request"]), None, "a list has no fields");
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            ".{0,8}".prop_map(serde_json::Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
                prop::collection::btree_map("[a-c\"\\\\{]{0,3}", inner, 0..4).prop_map(|map| map.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_found_reads_as_the_same_value(value in json(), pretty in any::<bool>()) {
            let whole = serde_json::json!({"x": value, "request": {"before": value, "object": value, "after": [value]}});
            let text = if pretty { serde_json::to_vec_pretty(&whole) } else { serde_json::to_vec(&whole) }.unwrap();
            let found = find(&text, &["request", "object"]).map(|range| serde_json::from_slice::<serde_json::Value>(&text[range]).unwrap());
            prop_assert_eq!(found, (!value.is_null()).then_some(value));
        }

        #[test]
        fn any_bytes_end(text in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Some(range) = find(&text, &["a"]) {
                prop_assert!(range.end <= text.len());
            }
        }
    }
}
