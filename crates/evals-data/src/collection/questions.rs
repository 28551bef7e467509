//! The questions and their judgements.

use std::collections::HashSet;

use evals::{ClusterTraits, DerivedIds};
use evals_metrics::Judgements;
use evals_rag::Question;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cells;
use super::fingerprint::fingerprint;
use super::judged::ByQuestion;
use super::judged_ids;
use super::metadata::metadata;
use crate::error::{DataError, Place};
use crate::manifest::{Column, Manifest, QuestionColumns};
use crate::reader::{Row, TableFile};

/// A dataset's questions with their judgements, in the order of its files.
#[derive(Debug, Clone, PartialEq)]
pub struct Questions {
    /// The questions.
    pub questions: Vec<Question>,
    /// The numbers of rows and questions read and dropped.
    pub counts: QuestionCounts,
}

/// The numbers of rows and questions read and dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionCounts {
    /// Rows read.
    pub rows: u64,
    /// Rows that `where` excluded.
    pub filtered: u64,
    /// Questions returned.
    pub questions: u64,
    /// Rows dropped because their text is null or blank.
    pub empty: u64,
    /// Questions dropped because the judgements table does not name them; BEIR's tables contain the questions of all splits.
    /// Unanswerable questions are kept.
    pub unjudged: u64,
    /// Questions that the corpus cannot answer. They are kept without judgements, whatever their rows say.
    #[serde(default)]
    pub unanswerable: u64,
    /// Other questions without a relevant document. They are kept; rank measures exclude them and say so.
    pub without_relevant: u64,
    /// Questions that the judgements table names but the questions table lacks.
    pub judged_elsewhere: u64,
    /// Judged documents that are missing from the corpus or have no text there; an error unless allowed.
    pub unknown_documents: u64,
    /// Those of [`unknown_documents`](Self::unknown_documents) that would name documents if they were read as lists, without the spaces
    /// around them, or in another Unicode normalization.
    #[serde(default)]
    pub misread_documents: u64,
}

/// Reads questions and gives them their judgements.
pub(super) struct QuestionReader<'a> {
    pub(super) manifest: &'a Manifest,
    /// For each question, the documents that it was written about: the relevant ones, also of an unanswerable question.
    pub(super) documents: Vec<Vec<String>>,
    /// The judgements table, if there is one. Reading a question removes its judgements from here.
    pub(super) judged: Option<ByQuestion>,
    pub(super) counts: QuestionCounts,
    pub(super) seen: HashSet<u128>,
    /// The ids of questions without an id.
    pub(super) derived: DerivedIds,
}

impl QuestionReader<'_> {
    pub(super) fn read(mut self, files: &[TableFile]) -> Result<Questions, DataError> {
        let wanted = wanted(&self.manifest.questions.columns);
        let mut questions = Vec::new();
        for file in files {
            for row in file.rows(&wanted)? {
                self.counts.rows += 1;
                questions.extend(self.question(&row?)?);
            }
        }
        if questions.is_empty() {
            let dataset = self.manifest.name.clone();
            return Err(DataError::NoQuestions {
                dataset,
                rows: self.counts.rows,
            });
        }
        if let Some(key) = &self.manifest.cluster {
            let traits = questions.iter().zip(self.documents);
            let traits = traits.map(|(question, documents)| ClusterTraits {
                documents,
                metadata: question.metadata.clone(),
            });
            let names = key.names(&traits.collect::<Vec<_>>())?;
            for (question, name) in questions.iter_mut().zip(names) {
                question.cluster = name;
            }
        }
        self.counts.questions = questions.len() as u64;
        self.counts.judged_elsewhere = self.judged.map_or(0, |rest| rest.len() as u64);
        Ok(Questions {
            questions,
            counts: self.counts,
        })
    }

    fn question(&mut self, row: &Row) -> Result<Option<Question>, DataError> {
        let columns = &self.manifest.questions.columns;
        let (filtered, rest) = row.cells.split_at(columns.filter.columns().count());
        if !columns.filter.accepts(filtered) {
            self.counts.filtered += 1;
            return Ok(None);
        }
        let cells = QuestionCells::split(columns, rest);
        let text = cells::text(cells.text, &columns.text, &row.place)?;
        let id = match (&columns.id, cells.id, &text) {
            (Some(column), Some(cell), _) => cells::id(cell, column, &row.place)?,
            (_, _, Some(text)) => self.derived.next(text),
            (_, _, None) => {
                self.counts.empty += 1;
                return Ok(None);
            }
        };
        if !self.seen.insert(fingerprint([id.as_str()])) {
            return Err(DataError::DuplicateQuestion {
                place: row.place.clone(),
                id,
            });
        }
        let Some(text) = text else {
            self.counts.empty += 1;
            return Ok(None);
        };
        let answer = match (&columns.answer, cells.answer) {
            (Some(column), Some(cell)) => cells::text(cell, column, &row.place)?,
            _ => None,
        };
        let answerable = !answer
            .as_deref()
            .is_some_and(|answer| self.manifest.is_unanswerable(answer));
        let metadata = metadata(columns.metadata.iter().zip(cells.metadata), &row.place)?;
        if metadata.contains_key(Question::ANSWERABLE) {
            return Err(DataError::ReservedMetadata {
                place: row.place.clone(),
                name: Question::ANSWERABLE,
            });
        }
        let judged = self.relevant(&id, columns, cells.relevant, &row.place)?;
        let documents = judged.iter().flat_map(Judgements::relevant);
        let documents = documents.map(str::to_owned).collect();
        let relevant = if answerable {
            let Some(judged) = judged else {
                self.counts.unjudged += 1;
                return Ok(None);
            };
            self.counts.without_relevant += u64::from(judged.relevant().next().is_none());
            judged
        } else {
            // Its row names the document that the question was written about, which does not contain an answer.
            self.counts.unanswerable += 1;
            Judgements::new()
        };
        self.documents.push(documents);
        Ok(Some(Question {
            id,
            text,
            answer,
            answerable,
            relevant,
            cluster: None,
            metadata,
        }))
    }

    /// The question's judgements; `None` if the judgements table does not name it.
    fn relevant(
        &mut self,
        id: &str,
        columns: &QuestionColumns,
        cells: &[Value],
        place: &Place,
    ) -> Result<Option<Judgements>, DataError> {
        if let Some(judged) = &mut self.judged {
            return Ok(judged.remove(id));
        }
        let mut judgements = Judgements::new();
        for (column, cell) in columns.relevant.iter().zip(cells) {
            for (document, grade) in judged_ids::judged(cell, column, place)? {
                if let Some(first) = judgements.grade(&document)
                    && first != grade
                {
                    return Err(DataError::ConflictingGrades {
                        place: place.clone(),
                        query: id.to_owned(),
                        document,
                        first,
                        second: grade,
                    });
                }
                judgements.insert(document, grade);
            }
        }
        Ok(Some(judgements))
    }
}

/// The columns to read: those of the filter, then id, text, answer, relevant documents, and metadata.
fn wanted(columns: &QuestionColumns) -> Vec<Column> {
    columns
        .filter
        .columns()
        .chain(&columns.id)
        .chain([&columns.text])
        .chain(&columns.answer)
        .chain(&columns.relevant)
        .cloned()
        .chain(columns.metadata.iter().map(Column::stored))
        .collect()
}

/// A row's cells by their meaning.
struct QuestionCells<'c> {
    id: Option<&'c Value>,
    text: &'c Value,
    answer: Option<&'c Value>,
    relevant: &'c [Value],
    metadata: &'c [Value],
}

impl<'c> QuestionCells<'c> {
    fn split(columns: &QuestionColumns, cells: &'c [Value]) -> Self {
        let (id, cells) = cells.split_at(usize::from(columns.id.is_some()));
        let (text, cells) = cells.split_first().expect("the text is always read");
        let (answer, cells) = cells.split_at(usize::from(columns.answer.is_some()));
        let (relevant, metadata) = cells.split_at(columns.relevant.len());
        Self {
            id: id.first(),
            text,
            answer: answer.first(),
            relevant,
            metadata,
        }
    }
}
