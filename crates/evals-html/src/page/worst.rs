//! The first cases of a page, which read without a script.

use evals_messages::visible::beginning;
use serde::Serialize;

use super::{Case, CaseRows, Cell, ColumnKind, Field, FieldRole, OutcomeKind, Side};
use crate::view::segment;

/// How many cases there are.
pub(super) const WORST: usize = 5;
/// The most values of a case that stand beside its question.
const MARKS: usize = 3;
/// The longest text in characters. The case has all of it.
const LONGEST: usize = 200;

/// One of the first cases.
#[derive(Debug, Serialize)]
pub(super) struct WorstCase {
    link: String,
    title: String,
    marks: Vec<String>,
    fields: Vec<Field>,
}

impl WorstCase {
    /// The case of a row: what was asked, the answer, the reference, and why it failed.
    pub(super) fn of(row: usize, case: &Case, table: &CaseRows) -> Self {
        let newer = |run: &&super::Run| run.side == Some(Side::After);
        let run = case.runs.iter().find(newer).or(case.runs.first());
        let own = run.iter().flat_map(|run| &run.fields);
        let texts = own.chain(&case.fields);
        let of_role = |role: FieldRole| texts.clone().find(|field| field.role == role);
        let asked = of_role(FieldRole::Question).map_or(&case.id, |field| &field.text);
        let mut fields: Vec<Field> = [FieldRole::Answer, FieldRole::Reference]
            .into_iter()
            .filter_map(|role| Some(shortened(of_role(role)?)))
            .collect();
        let why = run.and_then(|run| {
            let failure = run.failure.as_ref();
            let mut outcomes = run.outcomes.iter();
            let failed = |kind| matches!(kind, OutcomeKind::Failed | OutcomeKind::Error);
            let failed = outcomes.find(|it| failed(it.kind) && it.reason.is_some());
            failure.or_else(|| failed?.reason.as_ref())
        });
        fields.extend(why.map(|text| {
            shortened(&Field {
                name: "why".to_owned(),
                text: text.clone(),
                role: FieldRole::Other,
            })
        }));
        Self {
            link: format!("#case={}", segment(&case.id)),
            title: beginning(asked, LONGEST),
            marks: marks(row, table),
            fields,
        }
    }
}

/// The first visible values of a row, such as `not retrieved` and `RR@5 0.0000`.
fn marks(row: usize, table: &CaseRows) -> Vec<String> {
    let columns = table.columns.iter().filter(|column| column.is_visible);
    let marks = columns.filter_map(|column| match (&column.cells[row], column.kind) {
        (Cell::Text(label), ColumnKind::Label) => Some(label.clone()),
        (Cell::Number(_, shown), ColumnKind::Number | ColumnKind::Verdict) => {
            Some(format!("{} {shown}", column.title))
        }
        _ => None,
    });
    marks.take(MARKS).collect()
}

fn shortened(field: &Field) -> Field {
    Field {
        text: beginning(&field.text, LONGEST),
        ..field.clone()
    }
}
