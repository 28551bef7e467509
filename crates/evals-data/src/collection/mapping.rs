//! The mapping of rows to documents.

use evals_rag::Document;
use serde_json::Value;

use super::cells;
use crate::error::{DataError, Place};
use crate::manifest::{Column, DocumentColumns};
use crate::reader::Row;

/// Turns rows into documents, as the manifest's columns say.
pub(super) struct Mapping {
    pub(super) columns: DocumentColumns,
    /// The columns to read: those of the filter, then id, title, texts, and metadata.
    pub(super) wanted: Vec<Column>,
}

impl Mapping {
    pub(super) fn new(columns: DocumentColumns) -> Self {
        let wanted = columns
            .filter
            .columns()
            .chain([&columns.uri])
            .chain(&columns.title)
            .chain(&columns.text)
            .cloned()
            .chain(columns.metadata.iter().map(Column::stored))
            .collect();
        Self { columns, wanted }
    }

    /// The documents of a row: one, or one for each element of the columns with `[]`. `None` if the filter excludes the row.
    pub(super) fn documents(&self, row: &Row) -> Result<Option<Vec<Document>>, DataError> {
        let Some(rest) = self.columns.filter.rest_of(&row.cells) else {
            return Ok(None);
        };
        let columns = &self.wanted[self.wanted.len() - rest.len()..];
        if !self.columns.uri.each() {
            let cells: Vec<&Value> = rest.iter().collect();
            return Ok(Some(vec![self.document(&cells, &row.place)?]));
        }
        let steps = steps(columns, rest, &row.place)?;
        let at = |step: usize| -> Vec<&Value> {
            let cell = |(column, cell): (&Column, _)| element(column, cell, step);
            columns.iter().zip(rest).map(cell).collect()
        };
        let documents = (0..steps).map(|step| self.document(&at(step), &row.place));
        documents.collect::<Result<_, _>>().map(Some)
    }

    /// A document from the cells of the id, the title, the texts and the metadata.
    fn document(&self, cells: &[&Value], place: &Place) -> Result<Document, DataError> {
        let columns = &self.columns;
        let mut cells = cells.iter().copied();
        let mut next = || {
            cells
                .next()
                .expect("a row has a cell for each wanted column")
        };
        let uri = cells::id(next(), &columns.uri, place)?;
        let title = match &columns.title {
            Some(column) => cells::text(next(), column, place)?,
            None => None,
        };
        let mut parts = Vec::with_capacity(columns.text.len());
        for column in &columns.text {
            parts.extend(cells::text(next(), column, place)?);
        }
        let mut text = parts.join(" ");
        if columns.joins_title
            && let Some(title) = &title
            && !text.is_empty()
            && !begins_with(&text, title)
        {
            text = format!("{} {text}", title.trim());
        }
        let metadata = cells::metadata(columns.metadata.iter().zip(cells), place)?;
        Ok(Document {
            uri,
            title,
            text,
            metadata,
        })
    }
}

/// Whether the first words of a text are those of its title, whatever their case and the marks around them, as after the `#` of a heading.
fn begins_with(text: &str, title: &str) -> bool {
    let mut first = words(text);
    words(title).all(|word| first.next() == Some(word))
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|character: char| !character.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// The common length of the lists in the columns with `[]`.
fn steps(columns: &[Column], cells: &[Value], place: &Place) -> Result<usize, DataError> {
    let mut lengths = Vec::new();
    for (column, cell) in columns
        .iter()
        .zip(cells)
        .filter(|(column, _)| column.each())
    {
        match cell {
            Value::Array(elements) => lengths.push(elements.len()),
            Value::Null => lengths.push(0),
            other => return Err(cells::unfit(other, column, place, "a list")),
        }
    }
    match lengths.first() {
        Some(first) if lengths.iter().all(|length| length == first) => Ok(*first),
        Some(_) => Err(place.fails(format!(
            "the lists in the columns with `[]` differ in length ({lengths:?})"
        ))),
        None => Ok(0),
    }
}

fn element<'c>(column: &Column, cell: &'c Value, step: usize) -> &'c Value {
    match cell {
        Value::Array(elements) if column.each() => &elements[step],
        whole => whole,
    }
}
