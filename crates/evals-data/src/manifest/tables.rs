//! The sections of a manifest that say what the columns of a table mean.

use std::fmt;

use evals_rag::Question;
use serde::{Deserialize, Deserializer, Serialize};
use serde_saphyr::Spanned;

use super::column::{Column, Filter, none_one_or_many, one_or_many};
use super::source::WrittenSource;

/// The columns of a document.
///
/// A manifest that names neither `uri` nor `text` reads files of text, each as one document: the id is the path of the file below the
/// source's folder, and title, text and metadata are what the file's format calls so. Such a file is a table of one row with the columns
/// `uri`, `title` and `text`, and the fields of its front matter as further ones; `*` names all of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "WrittenDocuments")]
pub struct DocumentColumns {
    /// The table's own `source`, which checking the manifest takes out.
    #[serde(skip_serializing)]
    pub(super) source: Option<Spanned<WrittenSource>>,
    /// The document's id, which judgements name.
    pub uri: Column,
    /// The text. Several columns are joined by a space, without null and blank ones. The elements of a list are trimmed and joined by a
    /// space as well.
    pub text: Vec<Column>,
    /// The title. It is searched too: it stands before a text that does not begin with it.
    pub title: Option<Column>,
    /// Columns kept as metadata, under their names.
    pub metadata: Vec<Column>,
    /// The rows to keep; all by default.
    #[serde(rename = "where")]
    pub filter: Filter,
    /// The treatment of repeated document ids; an error by default.
    pub deduplicate: Deduplicate,
    /// Whether each file is one document, because the manifest names no columns for id and text.
    #[serde(skip_serializing_if = "is_false")]
    pub whole_files: bool,
    /// Whether a title may have to be put before its text, because `text` does not name its column. Part of the provenance, because it decides
    /// what the documents of the same files are.
    #[serde(skip_serializing_if = "is_false")]
    pub joins_title: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes fields by reference"
)]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// The `documents` section as written.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenDocuments {
    source: Option<Spanned<WrittenSource>>,
    uri: Option<Column>,
    #[serde(default, deserialize_with = "one_or_many")]
    text: Vec<Column>,
    title: Option<Column>,
    metadata: Option<Vec<Column>>,
    #[serde(default, rename = "where")]
    filter: Filter,
    #[serde(default)]
    deduplicate: Deduplicate,
}

impl DocumentColumns {
    /// The columns of a dataset without documents.
    pub(super) fn none() -> Self {
        WrittenDocuments::default().into()
    }
}

impl From<WrittenDocuments> for DocumentColumns {
    fn from(written: WrittenDocuments) -> Self {
        let whole_files = written.uri.is_none() && written.text.is_empty();
        let named = |name: &str| name.parse().expect("a plain name is a column");
        let (text, title, metadata) = if whole_files {
            let title = written.title.unwrap_or_else(|| named("title"));
            let metadata = written.metadata.unwrap_or_else(|| vec![named("*")]);
            (vec![named("text")], Some(title), metadata)
        } else {
            (
                written.text,
                written.title,
                written.metadata.unwrap_or_default(),
            )
        };
        Self {
            source: written.source,
            joins_title: title.as_ref().is_some_and(|title| !text.contains(title)),
            uri: written.uri.unwrap_or_else(|| named("uri")),
            text,
            title,
            metadata,
            filter: written.filter,
            deduplicate: written.deduplicate,
            whole_files,
        }
    }
}

/// The treatment of a document whose id occurred before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deduplicate {
    /// `false`: it is an error.
    #[default]
    No,
    /// `true`: a row with the same text, title and metadata is dropped and counted. Different content under one id is an error, because
    /// nothing tells which is right.
    Identical,
    /// `first`: the first row wins, whatever the later ones contain. This is for sources that repeat documents with slight variations.
    /// Dropped rows with different content are counted separately.
    First,
}

impl<'de> Deserialize<'de> for Deduplicate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl serde::de::Visitor<'_> for Visitor {
            type Value = Deduplicate;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("`true`, `false` or `first`")
            }

            fn visit_bool<E>(self, value: bool) -> Result<Deduplicate, E> {
                Ok(if value {
                    Deduplicate::Identical
                } else {
                    Deduplicate::No
                })
            }

            fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Deduplicate, E> {
                match value {
                    "first" => Ok(Deduplicate::First),
                    other => Err(E::invalid_value(serde::de::Unexpected::Str(other), &self)),
                }
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

/// The columns of a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuestionColumns {
    /// The table's own `source`, which checking the manifest takes out.
    #[serde(default, skip_serializing)]
    pub(super) source: Option<Spanned<WrittenSource>>,
    /// The question's id. Without this column, [the text gives the id](evals::DerivedIds).
    pub id: Option<Column>,
    /// The text of the question. It may be missing if there are `messages`, or a `goal`: then it is the first message of the user.
    pub text: Option<Column>,
    /// Columns of reference answers. The first answer is the reference; further columns, and with `[]` further elements of a list,
    /// are answers that are right as well.
    #[serde(
        default,
        deserialize_with = "one_or_many",
        serialize_with = "none_one_or_many"
    )]
    pub answer: Vec<Column>,
    /// Columns that name relevant documents. Each holds one id or a list of ids (grade 1), or judgements with their grades: a map of
    /// ids to grades, or a list of `{id, grade}`. Empty if there is a judgements table.
    #[serde(default, deserialize_with = "one_or_many")]
    pub relevant: Vec<Column>,
    /// The column of the parts of documents that answer the question: a list of `{document, quote, start, end}`, or quotes of the single
    /// relevant document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Column>,
    /// The column of the facts that a good answer has: a list of `{text, vital}`, or texts of vital facts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nuggets: Option<Column>,
    /// The column of the conversation that the question is part of. Questions with one value are its turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Column>,
    /// The column of the number of a turn, from 0 or 1. Without it, turns are in the order of the rows, or counted in their `messages`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<Column>,
    /// The column that says whether a row is a question (`user`) or the reference answer to the one before it (`assistant`). Without it, all
    /// rows are questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Column>,
    /// The column of the messages before the question, as `{role, content}`. Without `text`, the last one of the user is the question, and one
    /// of the assistant behind it the reference answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<Column>,
    /// The column of the goal of a user whom a model plays. A row is a whole conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<Column>,
    /// The column of what this user knows: a list of texts, or a text.
    #[serde(rename = "facts", skip_serializing_if = "Option::is_none")]
    pub known: Option<Column>,
    /// Columns kept as metadata, under their names.
    #[serde(
        default,
        deserialize_with = "one_or_many",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub metadata: Vec<Column>,
    /// The rows to keep; all by default.
    #[serde(default, rename = "where")]
    pub filter: Filter,
    /// The rows of unanswerable questions; none by default. The key `unanswerable.where` of the manifest.
    #[serde(skip_deserializing, skip_serializing_if = "Filter::is_empty")]
    pub unanswerable: Filter,
}

impl QuestionColumns {
    /// The column that holds the question: the goal of its user, its text, or the messages that end with it.
    pub fn asked(&self) -> &Column {
        let goal_or_text = self.goal.as_ref().or(self.text.as_ref());
        let asked = goal_or_text.or(self.messages.as_ref());
        asked.expect("a manifest that names none is refused")
    }

    /// Whether questions may have reference answers.
    pub(super) fn has_answers(&self) -> bool {
        !self.answer.is_empty() || self.role.is_some() || self.messages.is_some()
    }

    /// The names of facts that its questions have in their metadata, because they are turns of conversations, or whole ones.
    pub fn facts(&self) -> impl Iterator<Item = &'static str> {
        let conversation = self.conversation.as_ref().map(|_| Question::CONVERSATION);
        let is_turn = self.conversation.is_some() || self.messages.is_some();
        conversation
            .into_iter()
            .chain(is_turn.then_some(Question::TURN))
            .chain(self.goal.as_ref().map(|_| Question::USER_KNOWS))
    }
}

/// The columns of a judgement: the qrels table of BEIR and TREC.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgementColumns {
    /// The table's own `source`, which checking the manifest takes out.
    #[serde(default, skip_serializing)]
    pub(super) source: Option<Spanned<WrittenSource>>,
    /// The question's id.
    pub query: Column,
    /// The document's id, or, without a column of grades, a map of ids to grades. With `[]`, a row judges each document of a list.
    pub document: Column,
    /// The grade, a whole number or a truth value. Without this column, every row has grade 1.
    pub grade: Option<Column>,
    /// The rows to keep; all by default.
    #[serde(default, rename = "where")]
    pub filter: Filter,
}
