//! A cloud as a file, for a demonstration that outlives one process.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::SimError;
use crate::json::int;

/// The form of the file. Goes up when an older version could not read it any more.
pub(crate) const FORM: i64 = 1;

/// Writes beside the file and renames, so that a reader sees the old cloud or the new one, whole.
pub(crate) fn write(path: &Path, dump: &Value) -> Result<(), SimError> {
    let failed = |source| SimError::File { verb: "write", path: path.to_owned(), source };
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let beside = path.with_file_name(name);
    let mut bytes = dump.to_string().into_bytes();
    bytes.push(b'\n');
    let written = private_file(&beside)
        .and_then(|mut file| file.write_all(&bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&beside, path));
    written.map_err(|source| {
        // The failure is what counts; a leftover beside the file does no harm.
        let _ = fs::remove_file(&beside);
        failed(source)
    })
}

/// Passwords are in it, if only those of a cloud on loopback.
fn private_file(path: &Path) -> std::io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

/// Reads a saved cloud.
pub(crate) fn read(path: &Path) -> Result<Value, SimError> {
    let bytes = fs::read(path).map_err(|source| SimError::File { verb: "read", path: path.to_owned(), source })?;
    let saved: Value =
        serde_json::from_slice(&bytes).map_err(|source| SimError::Damaged { path: path.to_owned(), source })?;
    let found = int(&saved, "form");
    if found != FORM {
        return Err(SimError::Form { path: path.to_owned(), found, expected: FORM });
    }
    Ok(saved)
}
