//! The progress of a run in words, with a bar and the measures so far.

use std::io;

use evals::render::Console;
use evals_messages::quantity;
use evals_pipeline::run_progress::{Counts, Progress};
use evals_runs::stored_runs::StoredRun;
use evals_terminal::text;

/// Columns of the bar.
const BAR: usize = 24;

/// Under the measures, because a running run has no verdict.
const SO_FAR: &str = "measures of the finished cases; nothing is compared before the run ends";

/// The page on a terminal.
pub(super) fn page(console: Console, run: &StoredRun, progress: &Progress) -> io::Result<String> {
    let title = format!("{} is running", run.name());
    let mut page = text(|out| console.text(out, &title))?;
    let bar = progress.counts.map(|counts| {
        let bar = console.symbols.bar(share(counts), BAR);
        format!("[{bar}] ")
    });
    let facts = bar.unwrap_or_default() + &facts(progress).join(", ");
    page += &text(|out| console.text(out, &facts))?;
    if let Some(summary) = &progress.summary {
        page += &text(|out| console.measures(out, summary))?;
        page += &text(|out| console.text(out, SO_FAR))?;
    }
    Ok(page)
}

/// The line in a file or a pipe.
pub(super) fn line(run: &StoredRun, progress: &Progress) -> String {
    format!("{}: {}", run.name(), facts(progress).join(", "))
}

fn facts(progress: &Progress) -> Vec<String> {
    let Some(counts) = progress.counts else {
        return vec!["running; a retrieval run does not record single searches".to_owned()];
    };
    let mut facts = vec![format!(
        "{} of {}",
        counts.finished,
        quantity::of(counts.planned, "case")
    )];
    facts.extend(progress.facts().into_iter().map(|fact| fact.phrase));
    facts
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
fn share(counts: Counts) -> f64 {
    if counts.planned == 0 {
        return 0.0;
    }
    counts.finished as f64 / counts.planned as f64
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use evals_pipeline::run_progress::Spent;
    use evals_runs::run_folder::RunState;

    fn progress(counts: Option<Counts>) -> Progress {
        Progress {
            state: RunState::Running,
            counts,
            summary: None,
            spent: Spent::Dollars(0.031_25),
            rate: Some(0.5),
            time_left: Some(Duration::from_mins(2)),
        }
    }

    #[test]
    fn the_cases_come_first() {
        let counts = Counts {
            planned: 100,
            finished: 40,
            failed: 2,
            ..Counts::default()
        };
        assert_eq!(
            facts(&progress(Some(counts))).join(", "),
            "40 of 100 cases, 2 failed, 30.0 per minute, about 2m left, $0.0312 so far"
        );
    }

    #[test]
    fn a_run_without_a_journal_is_only_running() {
        let facts = facts(&progress(None));
        assert_eq!(facts.len(), 1);
        assert!(facts[0].starts_with("running"));
    }

    #[test]
    fn a_run_of_no_cases_has_an_empty_bar() {
        assert_eq!(share(Counts::default()).to_bits(), 0.0_f64.to_bits());
    }
}
