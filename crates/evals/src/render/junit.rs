//! XML as `JUnit` writes it, which CI servers show as test results.

use std::io::{self, Write};

use super::gate::verdict_line;
use crate::{GateCheck, GateReport, GateVerdict, Strictness};

/// Writes the checks of a gate as test cases, one suite for each run. A check that cannot be told is skipped, or a failure where the gate
/// is strict.
///
/// The elements are those that Ant's task `junit` writes, which every reader of the format knows.
pub fn gate(mut out: impl Write, report: &GateReport) -> io::Result<()> {
    let all: Vec<&GateCheck> = report.checks().map(|(_, check)| check).collect();
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(
        out,
        r#"<testsuites name="evaluations gate" {} errors="0">"#,
        counts(report, &all)
    )?;
    for run in &report.runs {
        let checks: Vec<&GateCheck> = run.checks.iter().collect();
        writeln!(
            out,
            r#"  <testsuite name="{}" {} errors="0">"#,
            escape(&run.run),
            counts(report, &checks)
        )?;
        for check in &run.checks {
            let (class, name) = (escape(&run.run), escape(&check.name));
            writeln!(out, r#"    <testcase classname="{class}" name="{name}">"#)?;
            let reason = escape(&check.reason);
            if fails(report, check) {
                let kind = escape(check.verdict.words());
                writeln!(
                    out,
                    r#"      <failure type="{kind}" message="{reason}">{reason}</failure>"#
                )?;
            } else if is_skipped(report, check) {
                writeln!(out, r#"      <skipped message="{reason}"/>"#)?;
            } else {
                writeln!(out, "      <system-out>{reason}</system-out>")?;
            }
            writeln!(out, "    </testcase>")?;
        }
        writeln!(out, "  </testsuite>")?;
    }
    writeln!(out, "  <!-- {} -->", comment(&verdict_line(report)))?;
    writeln!(out, "</testsuites>")
}

/// How many checks there are, fail and are skipped, as attributes.
fn counts(report: &GateReport, checks: &[&GateCheck]) -> String {
    let failures = checks.iter().filter(|it| fails(report, it)).count();
    let skipped = checks.iter().filter(|it| is_skipped(report, it)).count();
    let tests = checks.len();
    format!(r#"tests="{tests}" failures="{failures}" skipped="{skipped}""#)
}

fn is_strict(report: &GateReport) -> bool {
    report.strictness == Strictness::Strict
}

fn fails(report: &GateReport, check: &GateCheck) -> bool {
    match check.verdict {
        GateVerdict::Failed => true,
        GateVerdict::CannotTell => is_strict(report),
        GateVerdict::Passed => false,
    }
}

fn is_skipped(report: &GateReport, check: &GateCheck) -> bool {
    check.verdict == GateVerdict::CannotTell && !is_strict(report)
}

/// A text within a comment, where two hyphens may not meet.
fn comment(text: &str) -> String {
    escape(text).replace("--", "- -")
}

/// Escapes a text for elements and attributes. Characters that XML cannot hold become U+FFFD.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\r' | '\t' => escaped.push(' '),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_control_characters_are_escaped() {
        assert_eq!(
            escape("a < b & \"c\"\u{1b}[1m\nd"),
            "a &lt; b &amp; &quot;c&quot;\u{fffd}[1m d"
        );
        assert_eq!(comment("`--strict`"), "`- -strict`");
    }
}
