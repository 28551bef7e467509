//! The questions and their judgements.

use std::collections::{BTreeSet, HashSet};

use evals::{ClusterTraits, DerivedIds};
use evals_metrics::Judgements;
use evals_rag::{Question, Turn, UserPart};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::cells;
use super::conversations::{self, Exchange, Spoken};
use super::documents::fingerprint;
use super::fields::{self, Fields};
use super::judged::{self, ByQuestion};
use super::spans;
use crate::error::{DataError, Place};
use crate::manifest::{Manifest, QuestionColumns};
use crate::reader::TableFile;

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
    /// Questions that people dropped in their review of a test set.
    #[serde(default)]
    pub dropped_in_review: u64,
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
    /// The turns of conversations that were read.
    pub(super) turns: BTreeSet<(String, u64)>,
    /// The ids of questions without an id.
    pub(super) derived: DerivedIds,
}

impl QuestionReader<'_> {
    pub(super) fn read(mut self, files: &[TableFile]) -> Result<Questions, DataError> {
        let columns = &self.manifest.questions.columns;
        let wanted = fields::wanted(columns);
        let is_log = columns.conversation.is_some() && columns.messages.is_none();
        let mut questions = Vec::new();
        let mut log = Vec::new();
        for file in files {
            for row in file.rows(&wanted)? {
                let row = row?;
                match columns.filter.rest_of(&row.cells) {
                    // A message that is left out need not have been a question.
                    None if columns.role.is_some() => {}
                    None => {
                        self.counts.rows += 1;
                        self.counts.filtered += 1;
                    }
                    Some(_) if is_log => log.push(row),
                    Some(cells) => {
                        self.counts.rows += 1;
                        let fields = Fields::of(columns, cells);
                        let spoken = Spoken::of_row(&fields, columns, &row.place)?;
                        questions.extend(self.question(&fields, spoken, &row.place)?);
                    }
                }
            }
        }
        for Exchange { row, spoken } in conversations::exchanges(log, columns)? {
            self.counts.rows += 1;
            let cells = columns.filter.rest_of(&row.cells).unwrap_or_default();
            let fields = Fields::of(columns, cells);
            questions.extend(self.question(&fields, spoken, &row.place)?);
        }
        if let Some(key) = &self.manifest.cluster
            && !questions.is_empty()
        {
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

    fn question(
        &mut self,
        fields: &Fields<'_>,
        spoken: Spoken,
        place: &Place,
    ) -> Result<Option<Question>, DataError> {
        let columns = &self.manifest.questions.columns;
        let Spoken {
            text,
            answers,
            turn,
            user,
        } = spoken;
        let mut answers = answers.into_iter();
        let answer = answers.next();
        let column = columns.nuggets.as_ref();
        let nuggets = spans::of_optional(fields.nuggets, column, |cell, column| {
            spans::nuggets(cell, column, place)
        })?;
        let Some(id) = self.id(fields, text.as_deref(), turn.as_ref(), place)? else {
            self.counts.empty += 1;
            return Ok(None);
        };
        if !self.seen.insert(fingerprint([id.as_str()])) {
            return Err(place.fails(format!("question id `{id}` occurs twice")));
        }
        let Some(text) = text else {
            self.counts.empty += 1;
            return Ok(None);
        };
        let is_refused = |reference: &String| self.manifest.is_unanswerable(reference);
        let answerable = !fields.is_unanswerable && !answer.as_ref().is_some_and(is_refused);
        let mut metadata = metadata_of(columns, fields.metadata, user.as_ref(), place)?;
        let turn = turn.map(|turn| self.placed(turn, &id, &mut metadata, place));
        let turn = turn.transpose()?;
        let judged = self.relevant(&id, columns, fields.relevant, place)?;
        let documents = relevant_of(judged.as_ref());
        let column = columns.evidence.as_ref().filter(|_| answerable);
        let evidence = spans::of_optional(fields.evidence, column, |cell, column| {
            spans::evidence(cell, column, &documents, place)
        })?;
        let Some(relevant) = self.counted(judged, answerable) else {
            return Ok(None);
        };
        self.documents.push(documents);
        Ok(Some(Question {
            id,
            text,
            answer,
            accepted: answers.collect(),
            answerable,
            relevant,
            evidence,
            nuggets,
            turn,
            user,
            cluster: None,
            metadata,
        }))
    }

    /// The id of a question: that of its row, else its place in its conversation, else one that follows from its text.
    fn id(
        &mut self,
        fields: &Fields<'_>,
        text: Option<&str>,
        turn: Option<&Turn>,
        place: &Place,
    ) -> Result<Option<String>, DataError> {
        let columns = &self.manifest.questions.columns;
        if let Some((cell, column)) = fields.id.zip(columns.id.as_ref()) {
            return cells::id(cell, column, place).map(Some);
        }
        let turn = turn.filter(|turn| !turn.conversation.is_empty());
        let of_turn = turn.map(|turn| format!("{}-{}", turn.conversation, turn.number));
        Ok(of_turn.or_else(|| Some(self.derived.next(text?))))
    }

    /// Puts the place of a turn in the metadata. A turn whose row names no conversation is a conversation by itself.
    fn placed(
        &mut self,
        turn: Turn,
        id: &str,
        metadata: &mut Map<String, Value>,
        place: &Place,
    ) -> Result<Turn, DataError> {
        metadata.insert(Question::TURN.to_owned(), turn.number.into());
        if turn.conversation.is_empty() {
            return Ok(Turn {
                conversation: id.to_owned(),
                ..turn
            });
        }
        conversations::check_unique(&mut self.turns, &turn, place)?;
        let conversation = turn.conversation.as_str().into();
        metadata.insert(Question::CONVERSATION.to_owned(), conversation);
        Ok(turn)
    }

    /// The judgements that count; `None` if the question is dropped because the judgements table does not name it.
    fn counted(&mut self, judged: Option<Judgements>, answerable: bool) -> Option<Judgements> {
        if !answerable {
            // Its row names the document that the question was written about, which does not contain an answer.
            self.counts.unanswerable += 1;
            return Some(Judgements::new());
        }
        match &judged {
            None => self.counts.unjudged += 1,
            Some(judged) => {
                let has_relevant = judged.relevant().next().is_some();
                self.counts.without_relevant += u64::from(!has_relevant);
            }
        }
        judged
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
            let documents = judged::of_cell(cell, column, place)?;
            judged::add(&mut judgements, documents, id, place)?;
        }
        Ok(Some(judgements))
    }
}

fn relevant_of(judged: Option<&Judgements>) -> Vec<String> {
    let ids = judged.into_iter().flat_map(Judgements::relevant);
    ids.map(str::to_owned).collect()
}

/// The kept columns of a question, and what its user knows if a model plays one.
fn metadata_of(
    columns: &QuestionColumns,
    cells: &[Value],
    user: Option<&UserPart>,
    place: &Place,
) -> Result<Map<String, Value>, DataError> {
    let mut metadata = cells::metadata(columns.metadata.iter().zip(cells), place)?;
    if metadata.contains_key(Question::ANSWERABLE) {
        return Err(place.fails(format!(
            "the metadata of a question cannot contain `{}`, because every question has a fact of that name",
            Question::ANSWERABLE
        )));
    }
    if let Some(user) = user {
        metadata.insert(Question::USER_KNOWS.to_owned(), json!(user.facts));
    }
    Ok(metadata)
}
