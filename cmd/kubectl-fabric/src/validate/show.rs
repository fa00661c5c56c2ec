//! Findings as people read them.

use std::fmt::Write;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource, Report as Snippet, Severity,
    SourceOffset,
};

use crate::{
    objects::{Report, Syntax},
    output::{Paint, clean, count},
};

/// One block an object, then a summary.
pub(super) fn table(reports: &[Report], paint: Paint) -> String {
    let mut text = String::new();
    for report in reports {
        block(report, paint, &mut text);
    }
    summary(reports, paint, &mut text);
    text
}

/// The findings of one object.
pub(crate) fn block(report: &Report, paint: Paint, text: &mut String) {
    // Writing to a String can't fail, here and below.
    let _ = write!(text, "{}", paint.bold(clean(&report.file)));
    if let Some(syntax) = &report.syntax {
        let _ = writeln!(text, ":{}:{}: {} {}", syntax.line, syntax.column, paint.red("error"), syntax.message);
        text.push_str(&snippet(&report.file, syntax, paint));
        let _ = writeln!(text, "    nothing of this file was used; correct it and run again");
        return;
    }
    if !report.kind.is_empty() {
        let _ = write!(text, "[{}] {}", report.index, clean(&report.kind));
    }
    if !report.name.is_empty() {
        let _ = write!(text, " {}", clean(&report.name));
    }
    let _ = match (&report.note, report.errors.is_empty(), report.warnings.is_empty()) {
        (Some(note), true, true) => writeln!(text, ": {}", paint.dim(note)),
        (_, true, true) => writeln!(text, ": {}", paint.green("valid")),
        (_, true, false) => writeln!(text, ": {}, but", paint.green("valid")),
        (_, false, _) => writeln!(text, ": {}", paint.red("invalid")),
    };
    for error in &report.errors {
        let body = if error.field == "<nil>" { error.body() } else { error.to_string() };
        let _ = writeln!(text, "  {}    {}", paint.red("error"), clean(&body));
    }
    for warning in &report.warnings {
        let _ = writeln!(text, "  {}  {}", paint.yellow("warning"), clean(&warning.to_string()));
    }
}

fn summary(reports: &[Report], paint: Paint, text: &mut String) {
    let judged: Vec<&Report> = reports.iter().filter(|report| !report.skipped).collect();
    let errors: usize = judged.iter().map(|report| report.errors.len()).sum();
    let warnings: usize = judged.iter().map(|report| report.warnings.len()).sum();
    let invalid = judged.iter().filter(|report| !report.errors.is_empty()).count();
    let mut line = format!("{}: ", count(judged.len(), "object"));
    line.push_str(&match invalid {
        0 => "all valid".to_owned(),
        some => format!("{some} invalid, {}", count(errors, "error")),
    });
    if warnings > 0 {
        let _ = write!(line, ", {}", count(warnings, "warning"));
    }
    let _ = writeln!(text, "{}", if invalid > 0 { paint.red(line) } else { paint.green(line) });
}

/// Longer lines are not shown: JSON on one line would fill the screen many times.
const WIDEST: usize = 200;

/// The place in the file. Left out for files that may hold credentials.
fn snippet(file: &str, syntax: &Syntax, paint: Paint) -> String {
    let Ok(source) = std::str::from_utf8(&syntax.bytes) else { return String::new() };
    let secretive = ["Secret", "password", "applicationCredential", "stringData"];
    if syntax.line == 0 || secretive.iter().any(|word| source.contains(word)) {
        return String::new();
    }
    let near = source.lines().skip(syntax.line.saturating_sub(2)).take(3);
    if near.into_iter().any(|line| line.len() > WIDEST) {
        return String::new();
    }
    // What the file holds must not steer the terminal.
    let source: String =
        source.chars().map(|c| if c.is_control() && !matches!(c, '\n' | '\t') { ' ' } else { c }).collect();
    let source = source.as_str();
    let at = SourceOffset::from_location(source, syntax.line, syntax.column);
    let theme = if paint.is_on() { GraphicalTheme::unicode() } else { GraphicalTheme::none() };
    let diagnostic = MietteDiagnostic::new(syntax.message.clone())
        .with_severity(Severity::Error)
        .with_label(LabeledSpan::at_offset(at.offset().min(source.len().saturating_sub(1)), "here"));
    let report = Snippet::new(diagnostic).with_source_code(NamedSource::new(clean(file), source.to_owned()));
    let mut drawn = String::new();
    let handler = GraphicalReportHandler::new_themed(theme).with_width(100);
    if handler.render_report(&mut drawn, report.as_ref()).is_err() {
        return String::new();
    }
    // The first lines repeat the message, which stands above with its place.
    drawn
        .lines()
        .skip_while(|line| !line.contains("-[") && !line.contains("─["))
        .fold(String::new(), |all, line| all + line + "\n")
}
