//! How results are shown: as a table for people, as JSON or YAML for programs; colours only where somebody sees them.

use std::{
    fmt::{self, Write as _},
    io::{IsTerminal, Write as _},
};

use clap::builder::styling::{AnsiColor, Style};
use serde::Serialize;

use crate::exit::{Result, Stop};

/// A form of output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    #[default]
    Table,
    Json,
    Yaml,
}

/// The choice of a form.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Output {
    /// Form of the result
    #[arg(short = 'o', long = "output", value_name = "FORM", default_value = "table")]
    pub(crate) format: Format,
}

impl Output {
    /// Whether people read it.
    pub(crate) fn is_table(self) -> bool {
        self.format == Format::Table
    }
}

/// Prints `value` on standard output, as JSON or YAML.
///
/// # Errors
/// When standard output cannot be written.
pub(crate) fn structured(format: Format, value: &impl Serialize) -> Result<()> {
    let failed = |error: &dyn fmt::Display| Stop::error(format!("cannot show the result: {error}"));
    let text = match format {
        Format::Yaml => serde_yaml::to_string(value).map_err(|error| failed(&error))?,
        Format::Json | Format::Table => serde_json::to_string_pretty(value).map_err(|error| failed(&error))? + "\n",
    };
    print(&text)
}

/// Prints on standard output. A reader that went away (`| head`) is not an error.
///
/// # Errors
/// When standard output cannot be written.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Stop::error(format!("standard output: {}", crate::input::plain(&error))))
        }
        _ => Ok(()),
    }
}

/// Prints a line on standard error. One that nobody reads any more is lost: what is being done matters more than
/// what is told about it, and `eprintln!` would end the process.
pub(crate) fn tell(line: &str) {
    let _ = std::io::stderr().lock().write_all(format!("{line}\n").as_bytes());
}

/// When to use colours; `auto`: on a terminal, unless NO_COLOR is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

/// Colours, or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    on: bool,
    /// The same for standard error.
    errors: bool,
}

impl Paint {
    /// For standard output.
    pub(crate) fn stdout(color: Color) -> Self {
        let on = wanted(color, std::io::stdout().is_terminal());
        Self { on, errors: wanted(color, std::io::stderr().is_terminal()) }
    }

    /// For standard error, which may go elsewhere.
    pub(crate) fn errors(self) -> Self {
        Self { on: self.errors, ..self }
    }

    /// Without colours.
    #[cfg(test)]
    pub(crate) fn plain() -> Self {
        Self { on: false, errors: false }
    }

    /// Whether colours are used.
    pub(crate) fn is_on(self) -> bool {
        self.on
    }

    fn with(self, style: Style, text: &dyn fmt::Display) -> String {
        let text = text.to_string();
        if self.on && !text.is_empty() { format!("{style}{text}{style:#}") } else { text }
    }

    pub(crate) fn bold(self, text: impl fmt::Display) -> String {
        self.with(Style::new().bold(), &text)
    }

    pub(crate) fn dim(self, text: impl fmt::Display) -> String {
        self.with(Style::new().dimmed(), &text)
    }

    pub(crate) fn red(self, text: impl fmt::Display) -> String {
        self.with(AnsiColor::Red.on_default().bold(), &text)
    }

    pub(crate) fn yellow(self, text: impl fmt::Display) -> String {
        self.with(AnsiColor::Yellow.on_default(), &text)
    }

    pub(crate) fn green(self, text: impl fmt::Display) -> String {
        self.with(AnsiColor::Green.on_default(), &text)
    }

    pub(crate) fn blue(self, text: impl fmt::Display) -> String {
        self.with(AnsiColor::Blue.on_default(), &text)
    }

    pub(crate) fn cyan(self, text: impl fmt::Display) -> String {
        self.with(AnsiColor::Cyan.on_default(), &text)
    }
}

fn wanted(color: Color, terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => terminal && !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
    }
}

/// `3 errors`, `1 error`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let mut text = String::new();
    // Writing to a String can't fail.
    let _ = match (number, noun.strip_suffix('y')) {
        (1, _) => write!(text, "1 {noun}"),
        (_, Some(stem)) => write!(text, "{number} {stem}ies"),
        _ => write!(text, "{number} {noun}s"),
    };
    text
}

/// Control characters as escapes: names come from clouds and manifests and may try to steer the terminal.
pub(crate) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    out
}
