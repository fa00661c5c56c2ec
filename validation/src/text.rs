//! Rules about the shape of one text.

use fabric_apis::field::{Error, ErrorList, Path};
use validator::ValidateLength;

/// Rule: a name OpenStack resources can be searched by. Not empty, at most 255 characters, none of `{}[]` and newline.
pub fn validate_resource_name(name: &str, path: &Path<'_>, errors: &mut ErrorList) {
    if name.contains(['{', '}', '[', ']', '\n']) {
        errors.push(Error::invalid(path, name, r#"does not match expected regex "^[^{}\\[\\]\\n]+$""#));
    }
    if name.is_empty() {
        errors.push(Error::required(path, "cannot be empty"));
    }
    validate_max_characters(name, 255, path, errors);
}

/// Rule: at most `max` characters.
pub fn validate_max_characters(text: &str, max: u64, path: &Path<'_>, errors: &mut ErrorList) {
    if !text.validate_length(None, Some(max), None) {
        let detail = format!("must not be more than {max} characters, got {}", text.chars().count());
        errors.push(Error::invalid(path, text, detail));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resource_names_are_told_what_is_wrong_with_them() {
        let long = "ä".repeat(256);
        let cases = [
            ("MY-FLOATING-POOL", String::new()),
            ("external net (Ü) *", String::new()),
            (&long[..510], String::new()),
            ("", "n: Required value: cannot be empty".to_owned()),
            ("a{b}", r#"n: Invalid value: "a{b}": does not match expected regex "^[^{}\\[\\]\\n]+$""#.to_owned()),
            ("a\n", r#"n: Invalid value: "a\n": does not match expected regex "^[^{}\\[\\]\\n]+$""#.to_owned()),
            (&long, format!("n: Invalid value: \"{long}\": must not be more than 255 characters, got 256")),
        ];
        for (name, text) in cases {
            let mut errors = ErrorList::new();
            validate_resource_name(name, &Path::new("n"), &mut errors);
            assert_eq!(errors.into_result().map_or_else(|errors| errors.to_string(), |()| String::new()), text);
        }
    }
}
