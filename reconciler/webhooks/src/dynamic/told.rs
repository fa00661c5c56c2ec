//! What a check found, as the person who applies the object is told.

use fabric_apis::field::{ErrorType, Findings, Path, Warning};
use fabric_validation::openstack::check::Checked;

/// An apiserver cuts a warning off after 256 characters. What is longer loses its middle, never the path before it or
/// the advice after it.
const LONGEST: usize = 256;
const AGAIN: &str = "; it is checked again before the infrastructure is reconciled";

/// Findings of the rules, and what could not be known, apart: only the first may refuse.
pub(super) fn told(checked: Checked, enforce: bool, path: &Path<'_>) -> (&'static str, Findings) {
    let mut told = Findings::default();
    let (mut unknown, mut wrong) = (false, false);
    for error in checked.findings.errors {
        if error.kind == ErrorType::InternalError {
            unknown = true;
            let field = if error.field == "<nil>" { path.to_string() } else { error.field };
            told.warnings.push(warning(field, "not checked against the cloud: ", &error.detail, AGAIN));
        } else {
            wrong = true;
            if enforce {
                told.errors.push(error);
            } else {
                let body = error.body();
                told.warnings.push(warning(
                    error.field,
                    "",
                    &body,
                    "; the infrastructure can't be reconciled like this",
                ));
            }
        }
    }
    for Warning { field, detail } in checked.findings.warnings {
        told.warnings.push(warning(field, "", &detail, ""));
    }
    let outcome = match (wrong, unknown) {
        (true, _) => "found",
        (false, true) => "unchecked",
        (false, false) => "clean",
    };
    (outcome, told)
}

/// Nothing could be checked.
pub(super) fn unchecked(why: &str, path: &Path<'_>) -> Findings {
    let mut told = Findings::default();
    told.warnings.push(warning(path.to_string(), "not checked against the cloud: ", why, AGAIN));
    told
}

fn warning(field: String, before: &str, text: &str, after: &str) -> Warning {
    let around = field.chars().count() + 2 + before.chars().count() + after.chars().count();
    let room = LONGEST.saturating_sub(around);
    let text = if text.chars().count() <= room {
        text.to_owned()
    } else {
        text.chars().take(room.saturating_sub(1)).chain(['…']).collect()
    };
    Warning { field, detail: format!("{before}{text}{after}") }
}

#[cfg(test)]
mod tests {
    use fabric_apis::field::Error;

    use super::*;

    fn checked() -> Checked {
        let path = Path::new("spec.provider.infrastructureConfig");
        let mut findings = Findings::default();
        findings.error(Error::not_found(&path.child("networks").child("id"), "n"));
        findings.error(Error::internal(&path.child("networks").child("subnetId"), "could not get the subnets: down"));
        findings.warn(&path.child("networks"), "odd");
        Checked { findings, failures: Vec::new() }
    }

    #[test]
    fn findings_refuse_only_where_they_are_enforced_and_the_unknown_never_does() {
        let path = Path::new("spec.provider.infrastructureConfig");
        let (outcome, warned) = told(checked(), false, &path);
        assert_eq!((outcome, warned.errors.len(), warned.warnings.len()), ("found", 0, 3));
        assert!(warned.warnings[0].to_string().ends_with("can't be reconciled like this"), "{warned:?}");
        let (outcome, enforced) = told(checked(), true, &path);
        assert_eq!((outcome, enforced.errors.len(), enforced.warnings.len()), ("found", 1, 2));
        assert_eq!(
            enforced.warnings[0].to_string(),
            "spec.provider.infrastructureConfig.networks.subnetId: not checked against the cloud: could not get the \
             subnets: down; it is checked again before the infrastructure is reconciled"
        );
    }

    #[test]
    fn a_long_answer_of_a_cloud_loses_its_middle_and_nothing_else() {
        let told = unchecked(&"ä".repeat(2000), &Path::new("spec"));
        let text = told.warnings[0].to_string();
        assert_eq!(text.chars().count(), LONGEST);
        assert!(
            text.starts_with("spec: not checked")
                && text.ends_with("…; it is checked again before the infrastructure is reconciled"),
            "{text}"
        );
    }

    #[test]
    fn a_failed_login_is_about_the_whole_config() {
        let mut findings = Findings::default();
        findings.error(Error::internal(&Path::nil(), "could not authenticate: 401"));
        let checked = Checked { findings, failures: Vec::new() };
        let (outcome, told) = told(checked, true, &Path::new("spec.providerConfig"));
        assert_eq!(outcome, "unchecked");
        assert!(told.errors.is_empty());
        assert_eq!(told.warnings[0].field, "spec.providerConfig");
    }
}
