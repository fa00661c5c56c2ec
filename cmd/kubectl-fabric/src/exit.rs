//! How a command ends: exit codes that scripts may rely on, and errors that say what to do next.

use std::fmt;

/// The exit codes. `plan` and `drift`: 0 nothing to do, 2 something; `validate`: 0 valid, 1 findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done; nothing (more) to do; valid.
    Ok,
    /// An error, or findings.
    Error,
    /// There is something to do.
    Something,
    /// The command line itself is wrong (`EX_USAGE`).
    Usage,
    /// Stopped by Ctrl-C (128 + SIGINT).
    Interrupted,
}

impl Exit {
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Error => 1,
            Self::Something => 2,
            Self::Usage => 64,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Why a command stopped, in a sentence, and what its user can do about it.
#[derive(Debug)]
pub(crate) struct Stop {
    pub(crate) exit: Exit,
    what: String,
    next: Option<String>,
}

/// What most functions here return.
pub(crate) type Result<T, E = Stop> = std::result::Result<T, E>;

impl Stop {
    /// Something went wrong.
    pub(crate) fn error(what: impl fmt::Display) -> Self {
        Self { exit: Exit::Error, what: what.to_string(), next: None }
    }

    /// The command line asks for something that cannot be.
    pub(crate) fn usage(what: impl fmt::Display) -> Self {
        Self { exit: Exit::Usage, what: what.to_string(), next: None }
    }

    /// The user stopped it.
    pub(crate) fn interrupted(what: impl fmt::Display) -> Self {
        Self { exit: Exit::Interrupted, what: what.to_string(), next: None }
    }

    /// With the next step.
    #[must_use]
    pub(crate) fn next(mut self, next: impl fmt::Display) -> Self {
        self.next = Some(next.to_string());
        self
    }

    /// What to print on standard error: the sentence, and the next step.
    pub(crate) fn text(&self) -> (&str, Option<&str>) {
        (self.what.as_str(), self.next.as_deref())
    }
}
