//! The command line, on two files with many documents: the objects with all that stands around them, and what they
//! replace.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use fabric_apis::field::ErrorType;
use fabric_test_fidelity::{Case, cases};
use fabric_test_program::binary;
use fabric_validation::openstack::admission::Lookup;
use serde_json::Value;

use crate::{Places, assert_alike, kind, of_table, sorted};

const POOL: &str = "spec.provider.infrastructureConfig.floatingPoolName";

fn write(path: &Path, objects: impl Iterator<Item = Value>) {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    for object in objects {
        writeln!(file, "---\n{object}").unwrap();
    }
}

/// What the table says, as far as a command can know: what is in no file is not looked for.
fn told(case: &Case) -> Places {
    let known = |kind: ErrorType| !matches!(kind, ErrorType::NotFound | ErrorType::InternalError);
    of_table(&case.told.iter().filter(|(_, kind)| known(*kind)).cloned().collect::<Vec<_>>())
}

/// What a report says. Where a Shoot leads to no domain, the command asks about the pool all the same: a user has no
/// binding in the folder.
fn said(case: &Case, report: &Value) -> Places {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let errors = report["errors"].as_array().unwrap().iter();
    let all = errors.map(|error| (text(&error["field"]), text(&error["type"])));
    let guessed =
        |(field, kind): &(String, String)| !case.has_domain && field == POOL && kind.ends_with("NotSupported");
    sorted(all.filter(|place| !guessed(place)).collect())
}

#[test]
fn the_command_line_says_what_the_table_says() {
    let folder = tempfile::tempdir().unwrap();
    // A secret is judged as it stands in the file, whatever it was before.
    let cases: Vec<_> = cases().into_iter().filter(|case| kind(case) != "Secret" || case.old.is_none()).collect();
    let (new, old) = (folder.path().join("new.yaml"), folder.path().join("old.yaml"));
    let around = cases.iter().flat_map(|case| &case.around).filter_map(|(_, lookup)| match lookup {
        Lookup::Found(object) => Some(object.clone()),
        _ => None,
    });
    write(&new, cases.iter().map(|case| case.new.clone()).chain(around));
    write(&old, cases.iter().filter_map(|case| case.old.clone()));
    let mut command = Command::new(binary("kubectl-fabric"));
    command.args(["infra", "validate", "-o", "json", "-f"]).arg(&new).arg("--old").arg(&old);
    let output = command.output().unwrap();
    let told_by_it = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told_by_it}");
    let reports: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let reports: HashMap<u64, Value> =
        reports.into_iter().map(|report| (report["index"].as_u64().unwrap(), report)).collect();
    // Other people's objects have no report.
    let judged = cases.iter().zip(0..).map(|(case, index)| {
        (case, reports.get(&index).map_or_else(Vec::new, |report| said(case, report)), told(case))
    });
    assert_alike("the command line", judged);
}
