//! UUIDs as text.
//!
//! The provider extension parses ids with Go's `google/uuid`, which takes four spellings. Fields it already had keep
//! all four; for newer fields only the two spellings that OpenStack itself accepts in a URL are good.

use fabric_apis::field::{Error, ErrorList, Findings, Path, quote};

/// How a UUID is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// 36 characters: `123e4567-e89b-12d3-a456-426614174000`.
    Hyphenated,
    /// 32 hexadecimal digits.
    Simple,
    /// `urn:uuid:` and 36 characters.
    Urn,
    /// 36 characters between two others, which `google/uuid` does not look at: `{…}`.
    Braced,
}

/// Tells the spelling of `text`.
///
/// # Errors
/// The message of `google/uuid` when it is no UUID in any spelling.
pub fn parse(text: &str) -> Result<Form, String> {
    let bytes = text.as_bytes();
    let (form, id) = match bytes.len() {
        36 => (Form::Hyphenated, bytes),
        32 => (Form::Simple, bytes),
        45 => match bytes.split_at_checked(9) {
            Some((prefix, id)) if prefix.eq_ignore_ascii_case(b"urn:uuid:") => (Form::Urn, id),
            _ => {
                let mut message = "invalid urn prefix: ".to_owned();
                quote(&String::from_utf8_lossy(bytes.get(..9).unwrap_or(bytes)), &mut message);
                return Err(message);
            }
        },
        38 => (Form::Braced, bytes.get(1..37).unwrap_or_default()),
        length => return Err(format!("invalid UUID length: {length}")),
    };
    // The uuid crate checks hyphens and digits; braces and prefix are gone by now, so it can't take more than we mean.
    match ::uuid::Uuid::try_parse_ascii(id) {
        Ok(_) => Ok(form),
        Err(_) => Err("invalid UUID format".to_owned()),
    }
}

/// Rule for the id of a field that the provider extension has had all along: every spelling is good, the odd ones are
/// warned about.
pub fn validate_any_form(text: &str, path: &Path<'_>, findings: &mut Findings) {
    match parse(text) {
        Ok(Form::Hyphenated | Form::Simple) => {}
        Ok(Form::Urn | Form::Braced) => findings.warn(
            path,
            format!(
                "{text:?} is an unusual spelling of a UUID that OpenStack does not find; write the 36 characters alone"
            ),
        ),
        Err(reason) => findings.error(invalid(text, path, &reason)),
    }
}

/// Rule for the id of a newer field: 36 characters or 32 hexadecimal digits.
pub fn validate_plain_form(text: &str, path: &Path<'_>, errors: &mut ErrorList) {
    match parse(text) {
        Ok(Form::Hyphenated | Form::Simple) => {}
        Ok(Form::Urn | Form::Braced) => {
            errors.push(invalid(text, path, "only 36 characters or 32 hexadecimal digits are accepted"));
        }
        Err(reason) => errors.push(invalid(text, path, &reason)),
    }
}

fn invalid(text: &str, path: &Path<'_>, reason: &str) -> Error {
    Error::invalid(path, text, format!("must be a valid UUID: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "123e4567-e89b-12d3-a456-426614174000";

    #[test]
    fn spellings_are_told_apart_as_google_uuid_does() {
        let cases = [
            (ID.to_owned(), Ok(Form::Hyphenated)),
            (ID.to_uppercase(), Ok(Form::Hyphenated)),
            (ID.replace('-', ""), Ok(Form::Simple)),
            (format!("urn:uuid:{ID}"), Ok(Form::Urn)),
            (format!("URN:UUID:{ID}"), Ok(Form::Urn)),
            (format!("{{{ID}}}"), Ok(Form::Braced)),
            (format!("x{ID}y"), Ok(Form::Braced)),
            (format!("urn:uidd:{ID}"), Err("invalid urn prefix: \"urn:uidd:\"")),
            (String::new(), Err("invalid UUID length: 0")),
            ("foo".to_owned(), Err("invalid UUID length: 3")),
            ("rrrrrrrr-rrrr-rrrr-rrrr-rrrrrrrrrrrr".to_owned(), Err("invalid UUID format")),
            ("123e4567-e89b-12d3-a456_426614174000".to_owned(), Err("invalid UUID format")),
            ("g".repeat(32), Err("invalid UUID format")),
            ("ä".repeat(18), Err("invalid UUID format")),
            ("ä".repeat(19), Err("invalid UUID format")),
            (format!("{}a", "ä".repeat(22)), Err("invalid urn prefix: \"ääää�\"")),
            (format!("{{{}}}", "1".repeat(36)), Err("invalid UUID format")),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(&text), expected.map_err(str::to_owned), "{text}");
        }
    }

    #[test]
    fn an_old_field_takes_odd_spellings_with_a_warning_and_a_new_one_refuses_them() {
        let path = Path::new("id");
        for text in [format!("urn:uuid:{ID}"), format!("{{{ID}}}")] {
            let mut findings = Findings::default();
            validate_any_form(&text, &path, &mut findings);
            assert!(findings.errors.is_empty() && findings.warnings.len() == 1, "{findings:?}");
            let mut errors = ErrorList::new();
            validate_plain_form(&text, &path, &mut errors);
            assert_eq!(
                errors.to_string(),
                format!(
                    "id: Invalid value: \"{text}\": must be a valid UUID: only 36 characters or 32 hexadecimal digits are accepted"
                )
            );
        }
    }
}
