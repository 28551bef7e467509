//! Takes the texts out of a page that is shared.

use super::{Case, CaseRows, Cell, ColumnKind, OutcomeKind, Run};

/// What stands where a reader has to know that there was a text.
const OMITTED: &str = "left out of this page";

/// The table without columns of texts, and without reasons.
pub(super) fn table(table: &CaseRows) -> CaseRows {
    let mut table = table.clone();
    table
        .columns
        .retain(|column| column.kind != ColumnKind::Text);
    for cell in table
        .columns
        .iter_mut()
        .flat_map(|column| &mut column.cells)
    {
        if let Cell::Undefined { undefined } = cell {
            OMITTED.clone_into(undefined);
        }
    }
    table
}

/// The case with its ids, numbers, verdicts, marks and times alone. Labels and the names of steps are free texts.
pub(super) fn case(mut case: Case) -> Case {
    case.fields.clear();
    for run in &mut case.runs {
        without_texts(run);
    }
    case
}

fn without_texts(run: &mut Run) {
    run.said.clear();
    run.fields.clear();
    if let Some(failure) = &mut run.failure {
        OMITTED.clone_into(failure);
    }
    for outcome in &mut run.outcomes {
        outcome.reason = None;
        if outcome.kind == OutcomeKind::Label {
            OMITTED.clone_into(&mut outcome.shown);
        }
    }
    for document in run.ranking.iter_mut().flatten() {
        document.passages.clear();
    }
    run.steps.clear();
}
