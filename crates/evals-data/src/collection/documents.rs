//! The corpus as a stream of documents.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use evals_rag::Document;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::cells;
use crate::error::{DataError, Place};
use crate::manifest::{Column, Deduplicate, DocumentColumns};
use crate::reader::{Row, Rows, TableFile};

/// Most ids of dropped documents that are kept.
const NAMED: usize = 5;

/// The documents of a corpus, in the order of its files.
///
/// The iterator blocks while it reads, so it belongs on a thread that may block. It keeps a few megabytes of rows (or one row that is
/// larger) in memory, and two digests of 16 bytes for each document id, which reveal repeated documents. Memory therefore grows with
/// the number of documents and not with their texts. The iterator ends after the first error.
pub struct Documents {
    dataset: String,
    mapping: Mapping,
    files: VecDeque<TableFile>,
    rows: Option<Rows>,
    ready: VecDeque<Document>,
    seen: HashMap<u128, u128>,
    tally: DocumentTally,
    ended: bool,
}

/// The numbers of rows and documents read and dropped so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentCounts {
    /// Rows read.
    pub rows: u64,
    /// Rows that `where` excluded.
    pub filtered: u64,
    /// Documents returned.
    pub documents: u64,
    /// Repeated rows that `deduplicate` dropped.
    pub duplicates: u64,
    /// Those of [`duplicates`](Self::duplicates) that differed from the first; only with `deduplicate: first`.
    pub conflicting: u64,
    /// Documents without text, whose title serves as their text.
    pub title_only: u64,
    /// Documents dropped because they have neither text nor title.
    pub empty: u64,
}

/// A view of an iteration's [`DocumentCounts`] that outlives it.
#[derive(Debug, Clone, Default)]
pub struct DocumentTally(Arc<Mutex<Tallied>>);

#[derive(Debug, Default)]
struct Tallied {
    counts: DocumentCounts,
    empty: Vec<String>,
}

impl DocumentTally {
    /// The counts so far; final once the iteration has ended.
    pub fn counts(&self) -> DocumentCounts {
        self.tallied().counts
    }

    /// The ids of the first documents that were dropped because they have neither text nor title, five at most.
    pub fn empty(&self) -> Vec<String> {
        self.tallied().empty.clone()
    }

    fn tallied(&self) -> MutexGuard<'_, Tallied> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, change: impl FnOnce(&mut DocumentCounts)) {
        change(&mut self.tallied().counts);
    }

    fn add_empty(&self, id: String) {
        let mut tallied = self.tallied();
        tallied.counts.empty += 1;
        if tallied.empty.len() < NAMED {
            tallied.empty.push(id);
        }
    }
}

impl Documents {
    pub(super) fn open(
        dataset: &str,
        columns: &DocumentColumns,
        files: &[TableFile],
    ) -> Result<Self, DataError> {
        let mapping = Mapping::new(columns.clone());
        let mut files: VecDeque<TableFile> = files.iter().cloned().collect();
        let rows = files
            .pop_front()
            .map(|file| file.rows(&mapping.wanted))
            .transpose()?;
        Ok(Self {
            dataset: dataset.to_owned(),
            mapping,
            files,
            rows,
            ready: VecDeque::new(),
            seen: HashMap::new(),
            tally: DocumentTally::default(),
            ended: false,
        })
    }

    /// A view of the counts, for a caller that gives the iterator away.
    pub fn tally(&self) -> DocumentTally {
        self.tally.clone()
    }

    /// Reads rows until a document is ready; `None` at the end of the last file.
    fn advance(&mut self) -> Result<Option<Document>, DataError> {
        loop {
            if let Some(document) = self.ready.pop_front() {
                return Ok(Some(document));
            }
            if let Some(row) = self.rows.as_mut().and_then(Iterator::next) {
                self.take(&row?)?;
            } else if let Some(file) = self.files.pop_front() {
                self.rows = Some(file.rows(&self.mapping.wanted)?);
            } else {
                return self.finish();
            }
        }
    }

    fn take(&mut self, row: &Row) -> Result<(), DataError> {
        self.tally.add(|counts| counts.rows += 1);
        let Some(found) = self.mapping.documents(row)? else {
            self.tally.add(|counts| counts.filtered += 1);
            return Ok(());
        };
        for document in found {
            if let Some(document) = self.with_text(document)
                && self.is_first(&document, &row.place)?
            {
                self.tally.add(|counts| counts.documents += 1);
                self.ready.push_back(document);
            }
        }
        Ok(())
    }

    /// Gives a document without text its title as text, so that searches can find it. Drops a document without either.
    fn with_text(&self, mut document: Document) -> Option<Document> {
        if !document.text.is_empty() {
            return Some(document);
        }
        if let Some(title) = &document.title {
            self.tally.add(|counts| counts.title_only += 1);
            document.text.clone_from(title);
            return Some(document);
        }
        self.tally.add_empty(document.uri);
        None
    }

    fn is_first(&mut self, document: &Document, place: &Place) -> Result<bool, DataError> {
        let content = fingerprint(
            [
                document.text.as_str(),
                document.title.as_deref().unwrap_or_default(),
            ]
            .into_iter()
            .chain([Value::Object(document.metadata.clone())
                .to_string()
                .as_str()]),
        );
        let same = match self.seen.entry(fingerprint([document.uri.as_str()])) {
            Entry::Vacant(vacant) => {
                vacant.insert(content);
                return Ok(true);
            }
            Entry::Occupied(occupied) => *occupied.get() == content,
        };
        match (self.mapping.columns.deduplicate, same) {
            (Deduplicate::First, _) | (Deduplicate::Identical, true) => {
                self.tally.add(|counts| {
                    counts.duplicates += 1;
                    counts.conflicting += u64::from(!same);
                });
                Ok(false)
            }
            (Deduplicate::No, _) | (Deduplicate::Identical, false) => {
                let id = &document.uri;
                Err(place.fails(if same {
                    format!("document id `{id}` occurs twice; `deduplicate: true` drops repeated rows")
                } else {
                    format!("document id `{id}` occurs twice, with different content; `deduplicate: first` keeps the first")
                }))
            }
        }
    }

    fn finish(&self) -> Result<Option<Document>, DataError> {
        let counts = self.tally.counts();
        if counts.documents > 0 {
            return Ok(None);
        }
        Err(DataError::Empty {
            dataset: self.dataset.clone(),
            what: "documents",
            rows: counts.rows,
        })
    }
}

impl Iterator for Documents {
    type Item = Result<Document, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.advance().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

impl std::fmt::Debug for Documents {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Documents")
            .field("dataset", &self.dataset)
            .field("counts", &self.tally.counts())
            .finish_non_exhaustive()
    }
}

/// The first 128 bits of the SHA-256 of several texts, each preceded by its length so that the boundaries between texts matter.
///
/// A fingerprint replaces an id or a document whose whole text would take memory that grows with the corpus. The chance that two of a
/// billion collide is below 10^-20.
pub(super) fn fingerprint<'t>(texts: impl IntoIterator<Item = &'t str>) -> u128 {
    let mut hasher = Sha256::new();
    for text in texts {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text);
    }
    let digest = hasher.finalize();
    u128::from_le_bytes(digest[..16].try_into().expect("a SHA-256 has 32 bytes"))
}

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
pub(super) fn steps(
    columns: &[Column],
    cells: &[Value],
    place: &Place,
) -> Result<usize, DataError> {
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

/// The cell of one step: an element of a column with `[]`, and the whole cell of any other.
pub(super) fn element<'c>(column: &Column, cell: &'c Value, step: usize) -> &'c Value {
    match cell {
        Value::Array(elements) if column.each() => &elements[step],
        whole => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::fingerprint;

    #[test]
    fn boundaries_between_texts_matter() {
        assert_ne!(fingerprint(["ab", "c"]), fingerprint(["a", "bc"]));
        assert_eq!(fingerprint(["ab", "c"]), fingerprint(["ab", "c"]));
    }
}
