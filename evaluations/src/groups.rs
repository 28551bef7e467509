//! Adds groups of cases to the summary of a run.

use evals::{Domain, Report, Summary};
use evals_metrics::Bootstrap;

use crate::terminal::Printer;

/// Adds the groups of each key to the summary of a run. A note names a key that its cases do not have: a finished run must not fail
/// because of it.
pub(crate) fn add_groups<D: Domain>(
    printer: &Printer,
    report: &Report<D>,
    mut summary: Summary,
    keys: &[String],
    bootstrap: &Bootstrap,
) -> Summary {
    for key in keys {
        let one = std::slice::from_ref(key);
        match summary.clone().grouped(report, one, bootstrap) {
            Ok(grouped) => summary = grouped,
            Err(error) => printer.note(&format!("no groups of {}: {error}", report.name)),
        }
    }
    summary
}
