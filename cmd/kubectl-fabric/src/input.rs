//! What `-f` names: files, folders and standard input, in a fixed order, and large files cut between their documents.

use std::{
    io::Read,
    ops::Range,
    path::{Path, PathBuf},
};

use crate::exit::{Result, Stop};

/// The input of a command.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Files {
    /// File, folder (its .yaml, .yml and .json files) or `-` for standard input; may be given several times
    #[arg(short = 'f', long = "filename", value_name = "FILE", required = true)]
    pub(crate) filename: Vec<PathBuf>,
    /// Also look into the folders of a folder
    #[arg(short = 'R', long)]
    pub(crate) recursive: bool,
}

/// One stream of bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    /// `-`.
    Stdin,
    /// A file.
    File(PathBuf),
}

impl Source {
    /// Its name in findings.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Stdin => "<stdin>".to_owned(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// All of it.
    ///
    /// # Errors
    /// A sentence that does not name the file.
    pub(crate) fn read(&self) -> Result<Vec<u8>, String> {
        match self {
            Self::Stdin => {
                let mut bytes = Vec::new();
                std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes).map_err(|error| error.to_string())
            }
            Self::File(path) => std::fs::read(path).map_err(|error| plain(&error)),
        }
    }
}

/// An IO error without the number that Rust appends.
pub(crate) fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" (os error").map_or(text.as_str(), |(text, _)| text).to_lowercase()
}

impl Files {
    /// The sources: in the order given, a folder's files sorted by path, each once.
    ///
    /// # Errors
    /// A path that is not there, a folder that cannot be listed or holds nothing.
    pub(crate) fn sources(&self) -> Result<Vec<Source>> {
        let mut all: Vec<Source> = Vec::new();
        for path in &self.filename {
            if path.as_os_str() == "-" {
                all.push(Source::Stdin);
                continue;
            }
            let about = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
            if !about.is_dir() {
                all.push(Source::File(path.clone()));
                continue;
            }
            let mut found = Vec::new();
            list(path, self.recursive, &mut found)?;
            if found.is_empty() {
                let hint = if self.recursive { "" } else { "; -R also looks into its folders" };
                let what = format!("{} holds no .yaml, .yml or .json file", path.display());
                return Err(Stop::error(what).next(format!("name a file or another folder{hint}")));
            }
            all.extend(found.into_iter().map(Source::File));
        }
        // One folder names no file twice.
        if self.filename.len() > 1 {
            let mut seen = std::collections::HashSet::new();
            // By path and not by name: two names that are no UTF-8 look the same.
            all.retain(|source| seen.insert(source.clone()));
        }
        Ok(all)
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> Stop {
    Stop::error(format!("{}: {}", path.display(), plain(error))).next("check the path given with -f")
}

/// The files of a folder, sorted by path.
fn list(folder: &Path, recursive: bool, found: &mut Vec<PathBuf>) -> Result<()> {
    let entries = std::fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
    let mut entries = entries.map_err(|error| unreadable(folder, &error))?;
    // Names compare faster than paths.
    entries.sort_by_cached_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let kind = entry.file_type().map_err(|error| unreadable(&path, &error))?;
        if kind.is_dir() {
            if recursive {
                list(&path, recursive, found)?;
            }
        } else if kind.is_symlink() && path.is_dir() {
            // A link to a folder above would never end.
        } else if path.extension().is_some_and(|it| it == "yaml" || it == "yml" || it == "json") {
            found.push(path);
        }
    }
    Ok(())
}

/// Cuts YAML between documents into pieces of about `size` bytes: ranges, and the number of lines before each.
///
/// A line that begins with `---` always separates documents, also inside what looks like a text (YAML 1.2, rule 206).
/// JSON, and YAML with directives, which reach over a separator, stay whole.
pub(crate) fn cut(bytes: &[u8], size: usize) -> Vec<(Range<usize>, usize)> {
    let whole = || vec![(0..bytes.len(), 0)];
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    if bytes.len() <= size || matches!(first, None | Some(b'{' | b'[' | b'%')) {
        return whole();
    }
    let (mut pieces, mut start, mut start_line, mut at, mut line) = (Vec::new(), 0, 0, 0, 0);
    for text in bytes.split_inclusive(|byte| *byte == b'\n') {
        if text.starts_with(b"%") {
            return whole();
        }
        let separates = text.strip_prefix(b"---").is_some_and(|rest| rest.first().is_none_or(u8::is_ascii_whitespace));
        if separates && at - start >= size {
            pieces.push((start..at, start_line));
            (start, start_line) = (at, line);
        }
        at += text.len();
        line += 1;
    }
    pieces.push((start..bytes.len(), start_line));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_only_between_documents() {
        let text = b"a: 1\n---\nb: |\n  ---\n  text\n--- # comment\nc: 3\n----\n";
        let pieces = cut(text, 1);
        let texts: Vec<&str> =
            pieces.iter().map(|(range, _)| std::str::from_utf8(&text[range.clone()]).unwrap()).collect();
        assert_eq!(texts, ["a: 1\n", "---\nb: |\n  ---\n  text\n", "--- # comment\nc: 3\n----\n"]);
        assert_eq!(pieces.iter().map(|(_, line)| *line).collect::<Vec<_>>(), [0, 1, 5]);
    }

    #[test]
    fn keeps_json_directives_and_small_files_whole() {
        for text in ["{}\n---\n{}", "%YAML 1.2\n---\na: 1\n---\nb: 1\n", "a: 1\n...\n%YAML 1.2\n---\nb: 1\n"] {
            assert_eq!(cut(text.as_bytes(), 1), vec![(0..text.len(), 0)], "{text}");
        }
        assert_eq!(cut(b"a: 1\n---\nb: 1\n", 100).len(), 1);
    }
}
