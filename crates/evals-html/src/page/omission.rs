//! Takes the texts out of a page that leaves the house.

use super::{Case, Cell, ColumnKind, Outcome, Run, Step, Table};

/// What stands where a reader has to know that there was a text.
const OMITTED: &str = "left out of this page";

/// The table without columns of texts, and without reasons.
pub(super) fn table(table: &Table) -> Table {
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

/// The case with its ids, numbers, labels, marks and times alone.
pub(super) fn case(mut case: Case) -> Case {
    case.fields.clear();
    for run in &mut case.runs {
        without_texts(run);
    }
    case
}

fn without_texts(run: &mut Run) {
    run.fields.clear();
    if let Some(failure) = &mut run.failure {
        OMITTED.clone_into(failure);
    }
    for Outcome { reason, .. } in &mut run.outcomes {
        *reason = None;
    }
    for document in run.ranking.iter_mut().flatten() {
        document.passages.clear();
    }
    run.steps.iter_mut().for_each(without_facts);
}

fn without_facts(step: &mut Step) {
    step.facts.clear();
    step.children.iter_mut().for_each(without_facts);
}
