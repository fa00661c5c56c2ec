//! The state of one shoot on disk: the bytes of an `InfrastructureState`.
//!
//! Locked by whoever changes it, through a file beside it, because the state itself is replaced as a whole: written
//! to a new file, synced, renamed, and the folder synced. A reader needs no lock; it sees the old one or the new one.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Read, Seek, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use async_trait::async_trait;
use fabric_apis::openstack::v1alpha1::InfrastructureState;
use fabric_infrastructure::{Error, State, StateStore};

use crate::{
    exit::{Result, Stop},
    input::plain,
};

/// The kind that a state's file holds.
const KIND: &str = "InfrastructureState";

/// The folder of all states: `$XDG_STATE_HOME/openstack-fabric`, by default below `~/.local/state`.
///
/// # Errors
/// When there is no home to put it in.
pub(crate) fn home() -> Result<PathBuf> {
    let set = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = set.or_else(|| std::env::home_dir().map(|home| home.join(".local/state")));
    let folder = folder.ok_or_else(|| Stop::error("no home folder for the state").next("give --state FILE"))?;
    Ok(folder.join("openstack-fabric"))
}

/// Where the state of a shoot in a cloud is kept by default.
///
/// # Errors
/// As [`home`].
pub(crate) fn default_path(cloud: &str, technical_id: &str) -> Result<PathBuf> {
    Ok(home()?.join(file_name(cloud)).join(format!("{}.json", file_name(technical_id))))
}

/// A name that is one part of a path, whatever it was.
pub(crate) fn file_name(text: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String = text.chars().map(|c| if safe(c) { c } else { '_' }).collect();
    if name.trim_matches('.').is_empty() { format!("_{name}") } else { name }
}

/// Reads a state; `None` when there is none.
///
/// # Errors
/// When it cannot be read, or is something else.
pub(crate) fn read(path: &Path) -> Result<Option<State>> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            let what = format!("state {}: {}", path.display(), plain(&error));
            return Err(Stop::error(what).next("name a file that can be read and written with --state"));
        }
    };
    // Only our own kind: whatever else the file holds would be lost when the state is saved.
    let kind = serde_json::from_slice::<serde_json::Value>(&bytes).map(|it| it.get("kind") == Some(&KIND.into()));
    let known = match kind {
        Ok(false) => Err(format!("it holds no {KIND}")),
        Ok(true) => parse(&bytes),
        Err(error) => Err(format!("it is no JSON: {error}")),
    };
    known.map(Some).map_err(|error| {
        Stop::error(format!("state {}: {error}", path.display())).next(
            "restore the file; or move it away, and `apply` finds again by its marks what was made for this shoot",
        )
    })
}

/// A state from its bytes.
///
/// # Errors
/// A sentence that says what does not fit.
pub(crate) fn parse(bytes: &[u8]) -> Result<State, String> {
    let object: InfrastructureState = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    Ok(State::from_data(object.data))
}

/// A state that nobody else changes meanwhile.
#[derive(Debug)]
pub(crate) struct StateFile {
    path: PathBuf,
    _lock: Lock,
}

impl StateFile {
    /// Takes the lock; the folder is made when it is missing.
    ///
    /// # Errors
    /// Somebody else holds it: who, since when, and with which command.
    pub(crate) fn lock(path: &Path, verb: &str) -> Result<Self> {
        Ok(Self { path: path.to_owned(), _lock: Lock::take(path, verb)? })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces the state.
    ///
    /// # Errors
    /// What the file system says.
    pub(crate) fn write(&self, state: &State) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(&state.to_object()).map_err(io::Error::other)?;
        text.push(b'\n');
        replace(&self.path, &text)
    }

    /// Removes the state of a shoot of which nothing is left.
    ///
    /// # Errors
    /// What the file system says.
    pub(crate) fn remove(&self) -> io::Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => sync_folder(&self.path),
        }
    }
}

#[async_trait]
impl StateStore for StateFile {
    async fn save(&self, state: &State) -> Result<(), Error> {
        // A few milliseconds; the next step must not begin before it is on disk anyway.
        self.write(state).map_err(|error| Error::State(format!("{}: {}", self.path.display(), plain(&error))))
    }
}

/// Writes a new file beside the old one, and puts it in its place.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(format!(".{}.new", std::process::id()));
    let fresh = PathBuf::from(fresh);
    let written = File::create(&fresh).and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()));
    let placed = written.and_then(|()| fs::rename(&fresh, path)).and_then(|()| sync_folder(path));
    if placed.is_err() {
        // The old state still stands; the half-written one is of no use.
        let _ = fs::remove_file(&fresh);
    }
    placed
}

fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(folder(path))?.sync_all()
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A lock that the operating system releases, also after a crash. The file tells who holds it.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    file: File,
}

impl Lock {
    /// Takes the lock that guards `path`.
    ///
    /// # Errors
    /// Somebody else holds it; the folder cannot be written.
    pub(crate) fn take(path: &Path, verb: &str) -> Result<Self> {
        let mut beside = path.as_os_str().to_owned();
        beside.push(".lock");
        let beside = PathBuf::from(beside);
        let failed = |error: &io::Error| {
            Stop::error(format!("state {}: {}", path.display(), plain(error))).next("give another file with --state")
        };
        fs::create_dir_all(folder(path)).map_err(|error| failed(&error))?;
        loop {
            let open = File::options().read(true).write(true).create(true).truncate(false).open(&beside);
            let mut file = open.map_err(|error| failed(&error))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(held(path, &mut file)),
                Err(TryLockError::Error(error)) => return Err(failed(&error)),
            }
            // Whoever held it before may have removed the file that we opened: then it guards nothing any more.
            let ours = file.metadata().map_err(|error| failed(&error))?.ino();
            if fs::metadata(&beside).is_ok_and(|there| there.ino() == ours) {
                let who = format!(
                    "{verb}, process {}, since {}",
                    std::process::id(),
                    jiff::Timestamp::now().strftime("%FT%TZ")
                );
                let told = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(who.as_bytes()));
                told.map_err(|error| failed(&error))?;
                return Ok(Self { path: beside, file });
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed while it is still held, so that nobody finds a stale one; a failure leaves a file, no lock.
        let _ = fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}

fn held(path: &Path, file: &mut File) -> Stop {
    let mut who = String::new();
    let read = file.take(200).read_to_string(&mut who);
    let who = if read.is_ok() && !who.is_empty() { who } else { "another run".to_owned() };
    Stop::error(format!("state {} is in use by: {who}", path.display())).next("wait until it has ended, then run again")
}

#[cfg(test)]
mod tests {
    use fabric_infrastructure::Key;

    use super::*;

    #[test]
    fn a_second_run_is_told_who_holds_the_state() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/state.json");
        let first = StateFile::lock(&path, "apply").unwrap();
        let second = StateFile::lock(&path, "delete").unwrap_err();
        let (what, next) = second.text();
        assert!(what.contains(&format!("apply, process {}", std::process::id())), "{what}");
        assert!(next.unwrap().contains("run again"));
        drop(first);
        StateFile::lock(&path, "delete").unwrap();
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 0, "no lock is left behind");
    }

    #[test]
    fn what_is_saved_is_the_state_object_and_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        assert!(read(&path).unwrap().is_none());
        let file = StateFile::lock(&path, "apply").unwrap();
        let mut state = State::default();
        state.set(Key::Network, "n");
        file.write(&state).unwrap();
        assert_eq!(read(&path).unwrap().unwrap(), state);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(r#""kind": "InfrastructureState""#), "{text}");
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing but the state is left");
    }

    #[test]
    fn a_state_that_cannot_be_placed_leaves_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        fs::create_dir(&path).unwrap();
        assert!(replace(&path, b"{}").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no half-written file is left");
    }

    #[test]
    fn another_object_is_refused_with_the_next_step() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        for bytes in [&b"{}x"[..], br#"{"apiVersion":"v1","kind":"Secret"}"#, b"", b"{}", b"[]", br#"{"name":"web"}"#] {
            fs::write(&path, bytes).unwrap();
            assert!(read(&path).unwrap_err().text().1.unwrap().contains("restore"));
        }
    }

    #[test]
    fn no_name_leaves_its_folder() {
        for (name, safe) in [("demo", "demo"), ("../x", ".._x"), ("..", "_.."), ("a/b c", "a_b_c"), ("", "_")] {
            assert_eq!(file_name(name), safe);
        }
    }
}
