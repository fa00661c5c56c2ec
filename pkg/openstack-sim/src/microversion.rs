//! Microversions of Nova and Manila.

use crate::request::Reply;

/// Why a microversion is refused.
pub(crate) enum Wrong {
    /// It is no `2.<minor>`.
    Malformed(String),
    /// It is older or newer than what the service has.
    Range { asked: String, oldest: u32, newest: u32 },
}

impl Wrong {
    /// The answer, in the service's own envelope.
    pub(crate) fn reply(self, fault: fn(u16, String) -> Reply) -> Reply {
        match self {
            Self::Malformed(asked) => fault(
                400,
                format!("API Version String {asked} is of invalid format. Must be of format MajorNum.MinorNum."),
            ),
            Self::Range { asked, oldest, newest } => fault(
                406,
                format!(
                    "Version {asked} is not supported by the API. Minimum is 2.{oldest} and maximum is 2.{newest}."
                ),
            ),
        }
    }
}

/// The minor number that a request asks for; the oldest when it asks for none.
pub(crate) fn parse(asked: Option<&str>, oldest: u32, newest: u32) -> Result<u32, Wrong> {
    let Some(asked) = asked else { return Ok(oldest) };
    let numbers = asked.split_once('.').and_then(|(a, b)| Some((a.parse::<u32>().ok()?, b.parse::<u32>().ok()?)));
    match numbers {
        None => Err(Wrong::Malformed(asked.to_owned())),
        Some((2, minor)) if (oldest..=newest).contains(&minor) => Ok(minor),
        Some(_) => Err(Wrong::Range { asked: asked.to_owned(), oldest, newest }),
    }
}
