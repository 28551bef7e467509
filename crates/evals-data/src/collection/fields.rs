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
    pub(super) answers: &'c [Value],
    pub(super) relevant: &'c [Value],
    pub(super) metadata: &'c [Value],
}

impl<'c> Fields<'c> {
    /// Reads the cells behind those of the filter, in the order of [`wanted`].
    pub(super) fn of(columns: &QuestionColumns, cells: &'c [Value]) -> Self {
        let mut cells = cells.iter();
        let named = single(columns);
        let [
            id,
            text,
            evidence,
            nuggets,
            conversation,
            turn,
            role,
            messages,
        ] = named.map(|column| column.and_then(|_| cells.next()));
        // A row that the filter leaves out has no cells.
        let split = |rest: &'c [Value], count: usize| rest.split_at(count.min(rest.len()));
        let (answers, rest) = split(cells.as_slice(), columns.answer.len());
        let (relevant, metadata) = split(rest, columns.relevant.len());
        Self {
            id,
            text,
            evidence,
            nuggets,
            conversation,
            turn,
            role,
            messages,
            answers,
            relevant,
            metadata,
        }
    }
}

/// The columns to read: those of the filter, then single ones, answers, relevant documents, and metadata.
pub(super) fn wanted(columns: &QuestionColumns) -> Vec<Column> {
    let single = single(columns).into_iter().flatten();
    columns
        .filter
        .columns()
        .chain(single)
        .chain(&columns.answer)
        .chain(&columns.relevant)
        .cloned()
        .chain(columns.metadata.iter().map(Column::stored))
        .collect()
}

fn single(columns: &QuestionColumns) -> [Option<&Column>; 8] {
    [
        &columns.id,
        &columns.text,
        &columns.evidence,
        &columns.nuggets,
        &columns.conversation,
        &columns.turn,
        &columns.role,
        &columns.messages,
    ]
    .map(Option::as_ref)
}
