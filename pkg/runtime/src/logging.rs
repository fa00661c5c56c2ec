//! Logs: one line an event, on standard error.

use tracing_subscriber::EnvFilter;

use crate::Error;

/// How much is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Level {
    /// Also each call and each connection.
    Debug,
    /// What an operator follows.
    #[default]
    Info,
    /// Only what may need a hand.
    Warn,
    /// Only what failed.
    Error,
}

impl Level {
    fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// How it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// An object a line, for log collectors.
    #[default]
    Json,
    /// For people.
    Text,
}

/// The flags about logs, as Gardener's extensions have them.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[group(id = "logging")]
pub struct Args {
    /// How much is logged
    #[arg(long = "log-level", value_enum, default_value_t, value_name = "LEVEL")]
    pub level: Level,
    /// How it is written
    #[arg(long = "log-format", value_enum, default_value_t, value_name = "FORMAT")]
    pub format: Format,
}

/// Libraries below ours that tell bytes and connections at `debug`. Never more than `info`: what they print is not
/// ours to vouch for.
const QUIET: [&str; 8] = ["h2", "hyper", "hyper_util", "kube_client", "osauth", "reqwest", "rustls", "tower"];

/// Sets logs up for the whole process.
///
/// # Errors
/// [`Error::Logging`] when that was done already.
pub fn init(args: Args) -> Result<(), Error> {
    let builder =
        tracing_subscriber::fmt().with_env_filter(EnvFilter::new(directives(args.level))).with_writer(std::io::stderr);
    let result = match args.format {
        Format::Json => builder.json().flatten_event(true).with_current_span(false).with_span_list(true).try_init(),
        Format::Text => builder.try_init(),
    };
    result.map_err(|error| Error::Logging(error.to_string()))
}

fn directives(level: Level) -> String {
    let mut all = level.as_str().to_owned();
    if level == Level::Debug {
        for name in QUIET {
            all += &format!(",{name}=info");
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_is_about_us_and_not_about_the_libraries_below() {
        assert_eq!(directives(Level::Warn), "warn");
        let debug = directives(Level::Debug);
        assert!(debug.starts_with("debug,") && debug.contains("kube_client=info"), "{debug}");
        assert!(debug.parse::<EnvFilter>().is_ok());
    }
}
