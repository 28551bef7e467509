//! The summary of a run, with groups of its cases.

use evals::{Domain, Report, Summary};
use evals_metrics::Bootstrap;
use evals_terminal::Printer;

/// The summary of a run, with the groups of each key. A note names a key that its cases do not have: a finished run must not fail because
/// of it.
pub fn summary<D: Domain>(
    printer: &Printer,
    report: &Report<D>,
    seed: u64,
    keys: &[String],
) -> Summary {
    let bootstrap = Bootstrap {
        seed,
        ..Bootstrap::default()
    };
    let mut summary = report.summary(&bootstrap);
    for key in keys {
        let one = std::slice::from_ref(key);
        match summary.clone().grouped(report, one, &bootstrap) {
            Ok(grouped) => summary = grouped,
            Err(error) => printer.note(&format!("no groups of {}: {error}", report.name)),
        }
    }
    summary
}
