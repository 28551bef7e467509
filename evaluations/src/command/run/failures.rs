//! What a run says of cases that failed.

use evals::{Domain, Report};

use super::qa;
use super::retrieval::Finished;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::quantity;
use crate::run_folder::{Nothing, RunFolder};

/// Says where every failure stands in full, if there is one: a page shows the first few.
pub(super) fn locate<D: Domain>(printer: &Printer, report: &Report<D>, folder: &RunFolder) {
    let failed = report
        .cases
        .iter()
        .any(|case| case.result.failure().is_some() || !case.evaluator_failures.is_empty());
    if failed {
        let path = folder.path().join("report.json");
        printer.note(&format!("every failure in full: {}", path.display()));
    }
}

/// Says which profiles have no ranking. A run that measured nothing of one is not one that went well.
pub(super) fn of_searches(printer: &Printer, finished: &[Finished]) -> Exit {
    let mut exit = Exit::Done;
    for run in finished {
        if Nothing::in_summary(&run.summary).is_some() {
            printer.failure(&format!(
                "no search by `{}` succeeded; the report says why",
                run.profile
            ));
            exit = Exit::CheckFailed;
        }
    }
    exit
}

/// Says what became of failed cases. A run in which nothing was judged is not one that went well.
pub(super) fn of_answers(printer: &Printer, answered: &qa::Finished) -> Exit {
    let summary = &answered.summary;
    let transient = answered.transient_failures;
    if transient > 0 {
        printer.warn(&format!(
            "{} failed for a reason that may be gone by now; the same command tries again",
            quantity::of(transient, "case")
        ));
    }
    let message = match Nothing::in_summary(summary) {
        None => return Exit::Done,
        Some(Nothing::NoResult) => "no case has an answer; the report says why",
        Some(Nothing::NoVerdict) => "no answer was judged; the report says why",
    };
    printer.failure(message);
    Exit::CheckFailed
}
