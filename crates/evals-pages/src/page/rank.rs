//! The columns that let a page's table of cases answer which run found a document first: the number of each case, and for each run the rank of
//! the first relevant document.

use std::collections::BTreeMap;

use evals::{CaseId, FirstRelevant};
use evals_html::page::{Cell, Column, ColumnKind};
use evals_metrics::as_f64;

use super::cases::Cases;
use super::column::column;
use super::paged::HasPage;

/// The places of the cases in the run, by which a reader gets the order of the dataset back.
pub(super) fn number<D: HasPage>(ids: &[&CaseId], cases: &Cases<'_, D>) -> Column {
    let places: BTreeMap<&CaseId, usize> = cases.ids().iter().copied().zip(1..).collect();
    let cell = |id: &&CaseId| {
        let place = places.get(*id);
        place.map_or(Cell::Empty, |place| number_cell(*place))
    };
    Column {
        is_visible: false,
        ..column("number", ColumnKind::Number, ids.iter().map(cell).collect())
    }
}

/// The rank of the first relevant document; of repetitions, in the first one. `None` if no case has one.
pub(super) fn first_relevant<D: HasPage>(ids: &[&CaseId], cases: &Cases<'_, D>) -> Option<Column> {
    let cells = ids.iter().map(|id| {
        let gist = cases.of_id(id).first().map(D::gist);
        match gist.and_then(|it| it.first_relevant) {
            Some(FirstRelevant::Rank(rank)) => number_cell(rank),
            Some(FirstRelevant::NotFound) => Cell::Undefined {
                undefined: "no relevant document was found".to_owned(),
            },
            None => Cell::Empty,
        }
    });
    let cells: Vec<Cell> = cells.collect();
    let any = cells.iter().any(|cell| !matches!(cell, Cell::Empty));
    any.then(|| Column {
        higher_is_better: Some(false),
        ..column("first relevant", ColumnKind::Number, cells)
    })
}

fn number_cell(count: usize) -> Cell {
    Cell::Number(as_f64(count), count.to_string())
}
