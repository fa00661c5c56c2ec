//! The `console` blocks of a document: commands after `$ `, and what they print.
//!
//! `…` stands for any text within a line, and for any lines where it stands alone. How wide columns are does not
//! matter. A command that ends in `\` goes on in the next line. All blocks of a document are one shell session.

use std::fmt::Write;

use regex::Regex;

/// A command and the output that the document promises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Line of the document.
    pub line: usize,
    /// What is typed.
    pub command: String,
    /// What comes back.
    pub expected: Vec<String>,
}

/// The steps of a document.
pub fn steps(document: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let (mut inside, mut open) = (false, false);
    for (number, line) in document.lines().enumerate() {
        if line.starts_with("```") {
            (inside, open) = (line == "```console", false);
        } else if inside {
            match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) if !open => {
                    steps.push(Step { line: number + 1, command: command.to_owned(), expected: Vec::new() });
                    open = command.ends_with('\\');
                }
                (_, Some(step)) if open => {
                    let _ = write!(step.command, "\n{line}");
                    open = line.ends_with('\\');
                }
                (_, Some(step)) => step.expected.push(line.trim_end().to_owned()),
                (_, None) => panic!("line {}: a console block begins with a command", number + 1),
            }
        }
    }
    for step in &mut steps {
        trim(&mut step.expected);
    }
    steps
}

/// One script for all steps; each is followed by its exit code on a line that nothing else prints.
pub fn script(steps: &[Step]) -> String {
    let mut text = String::from("exec 2>&1\n__code=0\n");
    for step in steps {
        let _ = write!(text, "(exit $__code)\n{}\n__code=$?\nprintf '\\n\\001%s\\n' \"$__code\"\n", step.command);
    }
    text
}

/// The outputs of the steps.
pub fn outputs(printed: &str) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    let mut lines = Vec::new();
    for line in printed.lines() {
        if line.starts_with('\u{1}') {
            trim(&mut lines);
            all.push(std::mem::take(&mut lines));
        } else {
            lines.push(line.trim_end().to_owned());
        }
    }
    all
}

/// Where a document does not say what happens.
pub fn differences(document: &str, steps: &[Step], printed: &str) -> Vec<String> {
    let got = outputs(printed);
    let mut all: Vec<String> = steps
        .iter()
        .zip(&got)
        .filter(|(step, got)| !matches(&step.expected, got))
        .map(|(step, got)| {
            let (command, expected) = (&step.command, step.expected.join("\n"));
            format!("{document}:{}: $ {command}\n--- it says\n{expected}\n--- it is\n{}", step.line, got.join("\n"))
        })
        .collect();
    if got.len() != steps.len() {
        all.push(format!("{document}: {} of {} commands ran; the last printed:\n{printed}", got.len(), steps.len()));
    }
    all
}

fn trim(lines: &mut Vec<String>) {
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
}

/// Whether an output is what a document says.
pub fn matches(expected: &[String], got: &[String]) -> bool {
    match (expected, got) {
        ([], []) => true,
        ([], _) => false,
        ([wanted, rest @ ..], _) if wanted.trim() == "…" => {
            (0..=got.len()).any(|skipped| matches(rest, &got[skipped..]))
        }
        ([wanted, rest @ ..], [line, more @ ..]) => same(wanted, line) && matches(rest, more),
        (_, []) => false,
    }
}

fn same(wanted: &str, line: &str) -> bool {
    let narrow = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (wanted, line) = (narrow(wanted), narrow(line));
    let parts: Vec<String> = wanted.split('…').map(regex::escape).collect();
    // Every part is escaped, so the pattern always compiles.
    Regex::new(&format!("^{}$", parts.join(".*"))).is_ok_and(|pattern| pattern.is_match(&line))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "\
text
```console
$ first \\
    --more
one
two …

$ second
```
```sh
$ no step
```
";

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn only_console_blocks_are_steps_and_commands_go_on_after_a_backslash() {
        let steps = steps(DOCUMENT);
        assert_eq!(steps.len(), 2);
        assert_eq!((steps[0].line, steps[0].command.as_str()), (3, "first \\\n    --more"));
        assert_eq!(steps[0].expected, ["one", "two …"]);
        assert_eq!((steps[1].command.as_str(), steps[1].expected.len()), ("second", 0));
    }

    #[test]
    fn an_ellipsis_stands_for_text_and_alone_for_lines() {
        for (expected, got, same) in [
            ("a", "a", true),
            ("a", "b", false),
            ("a", "a\nb", false),
            ("a …", "a b c", true),
            ("  a  b", " a      b", true),
            ("ab", "a b", false),
            ("… a.c …", "x a.c y", true),
            ("… a.c …", "x abc y", false),
            ("…", "", true),
            ("…\nend", "1\n2\nend", true),
            ("…\nend", "1\n2", false),
            ("a\n…\nb\n…", "a\nb", true),
        ] {
            assert_eq!(matches(&lines(expected), &lines(got)), same, "{expected:?} {got:?}");
        }
    }

    #[test]
    fn what_differs_is_told_with_its_line_and_so_is_a_shell_that_died() {
        let steps = steps(DOCUMENT);
        let fine = "one\ntwo 3\n\n\u{1}0\n\n\u{1}0\n";
        assert_eq!(differences("d.md", &steps, fine), Vec::<String>::new());
        let wrong = differences("d.md", &steps, "one\n\n\u{1}0\n\n\u{1}0\n");
        assert!(wrong[0].starts_with("d.md:3: $ first"), "{wrong:?}");
        let died = differences("d.md", &steps, "one\ntwo 3\n\n\u{1}0\n");
        assert!(died[0].contains("1 of 2 commands ran"), "{died:?}");
    }
}
