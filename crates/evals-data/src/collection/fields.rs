//! The cells of a question's row by their meaning.

use serde_json::Value;

use crate::manifest::{Column, QuestionColumns};

/// The cells of a row that passed the filter. `None` where the manifest names no column.
pub(super) struct Fields<'c> {
    pub(super) id: Option<&'c Value>,
    pub(super) text: Option<&'c Value>,
    pub(super) evidence: Option<&'c Value>,
    pub(super) nuggets: Option<&'c Value>,
    pub(super) conversation: Option<&'c Value>,
    pub(super) turn: Option<&'c Value>,
    pub(super) role: Option<&'c Value>,
    pub(super) messages: Option<&'c Value>,
    pub(super) goal: Option<&'c Value>,
    pub(super) known: Option<&'c Value>,
    pub(super) answers: &'c [Value],
    pub(super) relevant: &'c [Value],
    pub(super) metadata: &'c [Value],
    /// Whether the row is one of those that the manifest calls unanswerable.
    pub(super) is_unanswerable: bool,
}

impl<'c> Fields<'c> {
    /// Reads the cells behind those of the filter, in the order of [`wanted`].
    pub(super) fn of(columns: &QuestionColumns, cells: &'c [Value]) -> Self {
        let (passes, mut cells) = columns.unanswerable.split(cells);
        let mut take = |count: usize| {
            let (first, rest) = cells.split_at(count);
            cells = rest;
            first
        };
        let [
            id,
            text,
            evidence,
            nuggets,
            conversation,
            turn,
            role,
            messages,
            goal,
            known,
        ] = single(columns).map(|column| take(usize::from(column.is_some())).first());
        Self {
            id,
            text,
            evidence,
            nuggets,
            conversation,
            turn,
            role,
            messages,
            goal,
            known,
            answers: take(columns.answer.len()),
            relevant: take(columns.relevant.len()),
            metadata: cells,
            is_unanswerable: passes && !columns.unanswerable.is_empty(),
        }
    }
}

/// The columns to read: those of the filters, then single ones, answers, relevant documents, and metadata.
pub(super) fn wanted(columns: &QuestionColumns) -> Vec<Column> {
    let single = single(columns).into_iter().flatten();
    columns
        .filter
        .columns()
        .chain(columns.unanswerable.columns())
        .chain(single)
        .chain(&columns.answer)
        .chain(&columns.relevant)
        .cloned()
        .chain(columns.metadata.iter().map(Column::stored))
        .collect()
}

fn single(columns: &QuestionColumns) -> [Option<&Column>; 10] {
    [
        &columns.id,
        &columns.text,
        &columns.evidence,
        &columns.nuggets,
        &columns.conversation,
        &columns.turn,
        &columns.role,
        &columns.messages,
        &columns.goal,
        &columns.known,
    ]
    .map(Option::as_ref)
}
