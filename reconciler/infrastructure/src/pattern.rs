//! Patterns of external subnet names (contract §3.4): `!` negates, `~` begins a regular expression, anything else
//! is a glob; both must match the whole name. An empty pattern matches all.

use globset::{GlobBuilder, GlobMatcher};
use regex::Regex;

/// A parsed pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    negated: bool,
    matcher: Matcher,
}

#[derive(Clone, Debug)]
enum Matcher {
    All,
    Glob(GlobMatcher),
    Regex(Regex),
}

impl Pattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (negated, rest) = match text.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let matcher = match rest.strip_prefix('~') {
            Some(regex) => Matcher::Regex(whole(regex).map_err(|e| format!("{text:?} is no regular expression: {e}"))?),
            None if rest.is_empty() => Matcher::All,
            None => Matcher::Glob(
                GlobBuilder::new(rest).build().map_err(|e| format!("{text:?} is no glob: {e}"))?.compile_matcher(),
            ),
        };
        Ok(Self { negated, matcher })
    }

    /// Whether a name matches.
    pub fn matches(&self, name: &str) -> bool {
        let hit = match &self.matcher {
            Matcher::All => true,
            Matcher::Glob(glob) => glob.is_match(name),
            Matcher::Regex(regex) => regex.is_match(name),
        };
        hit != self.negated
    }
}

/// A regular expression for the whole name. It has to be one by itself: `a)|(b` would only be one between brackets, and
/// free of them at the same time.
fn whole(regex: &str) -> Result<Regex, regex::Error> {
    Regex::new(regex)?;
    Regex::new(&format!("^(?:{regex})$"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glob_regex_and_negation_match_the_whole_name() {
        for (pattern, name, hit) in [
            ("", "any", true),
            ("pub-*", "pub-a", true),
            ("pub-*", "xpub-a", false),
            ("pub", "pub-a", false),
            ("!pub-*", "pub-a", false),
            ("!pub-*", "other", true),
            ("~pub-[ab]", "pub-b", true),
            ("~pub-[ab]", "pub-bc", false),
            ("~a|b", "xb", false),
            ("!~pub-.*", "pub-a", false),
            ("!~pub-.*", "x", true),
            ("p?b", "pab", true),
            ("{a,b}-x", "b-x", true),
        ] {
            assert_eq!(Pattern::parse(pattern).unwrap().matches(name), hit, "{pattern} {name}");
        }
    }

    #[test]
    fn a_bad_pattern_is_named() {
        assert!(Pattern::parse("~(").unwrap_err().starts_with("\"~(\" is no regular expression"));
        // Brackets that would close the one around the expression.
        assert!(Pattern::parse("~a)|(b").unwrap_err().contains("no regular expression"));
        assert!(Pattern::parse("[").unwrap_err().starts_with("\"[\" is no glob"));
    }
}
