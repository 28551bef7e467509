//! Annotations of GitHub Actions: workflow commands, one on each line.

use std::io::{self, Write};

use evals_messages::visible;

use super::gate::verdict_line;
use crate::{GateReport, GateVerdict};

/// Writes an annotation for each check of a gate that did not pass, and one for the whole gate.
///
/// GitHub shows `::error` and `::warning` beside the job, and at most ten of each for a step, so the most important ones come first.
pub fn gate(mut out: impl Write, report: &GateReport) -> io::Result<()> {
    let mut found: Vec<_> = report
        .checks()
        .filter(|(_, check)| check.verdict != GateVerdict::Passed)
        .collect();
    found.sort_by_key(|(_, check)| std::cmp::Reverse(check.verdict));
    for (run, check) in found {
        let level = match check.verdict {
            GateVerdict::Failed => "error",
            GateVerdict::CannotTell if report.is_closed() => "error",
            GateVerdict::CannotTell | GateVerdict::Passed => "warning",
        };
        let title = format!("gate: {} {}", check.name, check.verdict.words());
        let message = format!("{} ({})", check.reason, run.run);
        command(&mut out, level, &title, &message)?;
    }
    let level = if report.is_closed() {
        "error"
    } else {
        "notice"
    };
    command(&mut out, level, "evaluations gate", &verdict_line(report))
}

fn command(mut out: impl Write, level: &str, title: &str, message: &str) -> io::Result<()> {
    writeln!(
        out,
        "::{level} title={}::{}",
        property(title),
        data(message)
    )
}

/// A message, escaped as the runner reads it: actions/toolkit, `packages/core/src/command.ts`, `escapeData`.
fn data(text: &str) -> String {
    // Control characters other than line breaks would act on the terminal in which a person reads the log.
    visible::text(text).replace('%', "%25").replace('\n', "%0A")
}

/// The value of a property, which may not hold separators either: `escapeProperty` of the same file.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_and_line_breaks_cannot_end_a_command() {
        let mut out = Vec::new();
        command(
            &mut out,
            "error",
            "a:b,c 5 %",
            "one\r\n::stop-commands::x 5 %, y: z",
        )
        .unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "::error title=a%3Ab%2Cc 5 %25::one\\r%0A::stop-commands::x 5 %25, y: z\n"
        );
    }
}
