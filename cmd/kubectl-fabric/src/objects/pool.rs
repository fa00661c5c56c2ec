//! Reads sources on all cores, holding the text of few pieces at a time.

use std::{
    collections::{HashSet, VecDeque},
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

use fabric_apis::{
    decode::{self, Document},
    field::{Error, ErrorList, ErrorType},
};

use super::{Facts, Object, Report, Syntax, admit::Again, read};
use crate::input::{Source, cut};

/// Files are cut into pieces of about this size: some 25 Shoots, so that also one large file keeps all cores busy and
/// few documents are in memory at once. Smaller files are handed out together, up to this size.
const PIECE: usize = 64 * 1024;

/// A piece of a source to read.
struct Piece {
    number: usize,
    file: usize,
    text: Result<Text, String>,
}

/// Whole documents of a source.
#[derive(Debug)]
pub(super) struct Text {
    bytes: Arc<Vec<u8>>,
    range: Range<usize>,
    lines_before: usize,
}

impl Text {
    /// Its objects, in order.
    ///
    /// # Errors
    /// When it is neither YAML nor JSON.
    pub(super) fn documents(&self, file: &str) -> Result<impl Iterator<Item = Document>, decode::Error> {
        let text = self.bytes.get(self.range.clone()).unwrap_or_default();
        Ok(decode::documents(file, text)?.into_iter().flat_map(read::expand))
    }
}

/// Cuts the sources into pieces, in order; a source is read when its turn comes.
struct Pieces<'a> {
    sources: std::iter::Enumerate<std::slice::Iter<'a, Source>>,
    file: usize,
    bytes: Arc<Vec<u8>>,
    ranges: VecDeque<(Range<usize>, usize)>,
    number: usize,
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        self.number += 1;
        if self.ranges.is_empty() {
            let (file, source) = self.sources.next()?;
            self.file = file;
            match source.read() {
                Ok(bytes) => self.bytes = Arc::new(bytes),
                Err(error) => return Some(Piece { number: self.number, file, text: Err(error) }),
            }
            self.ranges = cut(&self.bytes, PIECE).into();
        }
        let (range, lines_before) = self.ranges.pop_front()?;
        let text = Ok(Text { bytes: self.bytes.clone(), range, lines_before });
        Some(Piece { number: self.number, file: self.file, text })
    }
}

impl Pieces<'_> {
    /// The next pieces, enough to be worth the lock that the threads share; empty at the end.
    fn job(&mut self) -> Vec<Piece> {
        let (mut job, mut size) = (Vec::new(), 0);
        while size < PIECE
            && let Some(piece) = self.next()
        {
            size += piece.text.as_ref().map_or(0, |text| text.range.len());
            job.push(piece);
        }
        job
    }
}

/// What became of a piece.
enum Outcome {
    Objects(Vec<Object>),
    Broken(Box<Object>),
}

/// Every object of every source, in order.
pub(super) fn read_all(sources: &[Source], facts: &Facts) -> Vec<Object> {
    let names: Vec<Arc<str>> = sources.iter().map(|source| source.name().into()).collect();
    let pieces = Mutex::new(Pieces {
        sources: sources.iter().enumerate(),
        file: 0,
        bytes: Arc::default(),
        ranges: VecDeque::new(),
        number: 0,
    });
    let work = || {
        let mut done = Vec::new();
        loop {
            let job = pieces.lock().unwrap_or_else(PoisonError::into_inner).job();
            if job.is_empty() {
                return done;
            }
            for piece in job {
                let name = names.get(piece.file).cloned().unwrap_or_default();
                done.push((piece.number, piece.file, outcome(piece.text, &name, facts)));
            }
        }
    };
    let helpers = std::thread::available_parallelism().map_or(1, usize::from).saturating_sub(1);
    let mut all = std::thread::scope(|scope| {
        let helpers: Vec<_> = (0..helpers).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        // No rule panics; a thread that did would have told so on standard error.
        all.extend(helpers.into_iter().filter_map(|helper| helper.join().ok()).flatten());
        all
    });
    all.sort_by_key(|(number, _, _)| *number);
    assemble(all)
}

/// Puts the pieces of a file together: objects count from 0, and one broken piece voids its file.
fn assemble(all: Vec<(usize, usize, Outcome)>) -> Vec<Object> {
    let broken: HashSet<usize> =
        all.iter().filter(|(_, _, outcome)| matches!(outcome, Outcome::Broken(_))).map(|(_, file, _)| *file).collect();
    let (mut objects, mut current, mut next, mut told) = (Vec::new(), usize::MAX, 0, HashSet::new());
    for (_, file, outcome) in all {
        if file != current {
            (current, next) = (file, 0);
        }
        match outcome {
            Outcome::Broken(object) if told.insert(file) => objects.push(*object),
            Outcome::Objects(found) if !broken.contains(&file) => {
                for mut object in found {
                    object.report.index = next;
                    next += 1;
                    objects.push(object);
                }
            }
            Outcome::Broken(_) | Outcome::Objects(_) => {}
        }
    }
    objects
}

fn outcome(text: Result<Text, String>, name: &Arc<str>, facts: &Facts) -> Outcome {
    let text = match text {
        Ok(text) => Arc::new(text),
        Err(error) => return Outcome::Broken(Box::new(broken(name, error, None))),
    };
    match text.documents(name) {
        Ok(found) => Outcome::Objects(
            found
                .enumerate()
                .map(|(place, document)| read::object(document, Again { text: text.clone(), place }, name, facts))
                .collect(),
        ),
        Err(decode::Error::Syntax { line, column, message, .. }) => {
            let line = line + text.lines_before;
            let detail = format!("line {line}, column {column}: {message}");
            let syntax = Syntax { line, column, message, bytes: text.bytes.clone() };
            Outcome::Broken(Box::new(broken(name, detail, Some(syntax))))
        }
        Err(other) => Outcome::Broken(Box::new(broken(name, other.to_string(), None))),
    }
}

fn broken(file: &Arc<str>, detail: String, syntax: Option<Syntax>) -> Object {
    let error = Error { kind: ErrorType::Invalid, field: "<nil>".to_owned(), value: None, detail };
    let report = Report {
        file: file.clone(),
        index: 0,
        kind: String::new(),
        name: String::new(),
        errors: ErrorList::from(error),
        warnings: Vec::new(),
        syntax,
        note: None,
        skipped: false,
    };
    Object { report, subject: None, beside: None, login: None, kept: None, again: None }
}
