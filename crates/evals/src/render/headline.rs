//! The headline: a run in one line.

use evals_messages::quantity;
use evals_messages::visible::single_line;

use super::glyphs::Glyphs;
use crate::Summary;

/// The number of cases, failures and throughput.
pub(super) fn facts(summary: &Summary, glyphs: &Glyphs) -> String {
    let mut facts = vec![single_line(&summary.dataset), cases(summary, glyphs)];
    if summary.failed > 0 {
        facts.push(format!("{} failed", summary.failed));
    }
    facts.push(glyphs.duration(summary.duration.as_secs_f64()));
    if let Some(throughput) = summary.throughput() {
        facts.push(format!("{throughput:.1} per second"));
    }
    facts.join(glyphs.separator)
}

/// The warning under the headline of a run that ended early.
pub(super) fn interruption(summary: &Summary) -> Option<String> {
    let not_run = not_run(
        summary.not_run,
        summary.finished.saturating_add(summary.not_run),
    );
    match &summary.stopped {
        Some(reason) => Some(format!("stopped, {not_run}: {}", single_line(reason))),
        None => summary
            .interrupted
            .then(|| format!("interrupted: {not_run}")),
    }
}

/// The number of planned runs of cases that did not run.
pub(super) fn not_run(count: usize, planned: usize) -> String {
    let were = if count == 1 { "was" } else { "were" };
    format!("{count} of {planned} {were} not run")
}

fn cases(summary: &Summary, glyphs: &Glyphs) -> String {
    match summary.repeat {
        0 | 1 => quantity::of(summary.finished, "case"),
        repeat => {
            let runs = quantity::of(summary.finished, "run");
            format!("{runs} (each case {} {repeat})", glyphs.times)
        }
    }
}
