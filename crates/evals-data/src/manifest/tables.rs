use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_saphyr::Spanned;

use super::column::Column;
use super::filter::Filter;
use super::one_or_many::one_or_many;
use super::source::WrittenSource;

/// Which columns make a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentColumns {
    /// The table's own `source`, until the manifest is checked.
    #[serde(default, skip_serializing)]
    pub(super) source: Option<Spanned<WrittenSource>>,
    /// The document's id, which judgements name.
    pub uri: Column,
    /// The text; several columns are joined by a blank, and null or blank ones are left out. The elements of a
    /// list-valued column are trimmed and joined by a blank as well.
    #[serde(deserialize_with = "one_or_many")]
    pub text: Vec<Column>,
    /// The title.
    #[serde(default)]
    pub title: Option<Column>,
    /// Columns kept as metadata, under the name given here.
    #[serde(default)]
    pub metadata: Vec<Column>,
    /// The rows to keep; all by default.
    #[serde(default, rename = "where")]
    pub filter: Filter,
    /// What a repeated document id means; an error by default.
    #[serde(default)]
    pub deduplicate: Deduplicate,
}

/// What to do with a document whose id came before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deduplicate {
    /// `false`: it is an error.
    #[default]
    No,
    /// `true`: a row with the same text, title and metadata is dropped and counted; different content under one id is
    /// an error, because no choice between the two would be right.
    Identical,
    /// `first`: the first row wins, whatever the later ones hold; for sources that repeat documents with slight
    /// variations. Rows dropped although they differ are counted apart.
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

/// Which columns make a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuestionColumns {
    /// The table's own `source`, until the manifest is checked.
    #[serde(default, skip_serializing)]
    pub(super) source: Option<Spanned<WrittenSource>>,
    /// The question's id. Without it questions are called `q1`, `q2` … by their place among the rows kept by `where`.
    #[serde(default)]
    pub id: Option<Column>,
    /// What is asked.
    pub text: Column,
    /// The reference answer.
    #[serde(default)]
    pub answer: Option<Column>,
    /// Columns that name relevant documents (grade 1), each with one id or a list of ids. Left out where a judgements
    /// table says it.
    #[serde(default, deserialize_with = "one_or_many")]
    pub relevant: Vec<Column>,
    /// The rows to keep; all by default.
    #[serde(default, rename = "where")]
    pub filter: Filter,
}

/// Which columns make a judgement: the qrels table of BEIR and TREC.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgementColumns {
    /// The table's own `source`, until the manifest is checked.
    #[serde(default, skip_serializing)]
    pub(super) source: Option<Spanned<WrittenSource>>,
    /// The question's id.
    pub query: Column,
    /// The document's id.
    pub document: Column,
    /// The grade, a whole number; 1 for every row where no column is named.
    #[serde(default)]
    pub grade: Option<Column>,
    /// The rows to keep; all by default.
    #[serde(default, rename = "where")]
    pub filter: Filter,
}
