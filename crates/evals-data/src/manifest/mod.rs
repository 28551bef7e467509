//! Dataset manifests: which files contain documents, questions and judgements, and what their columns mean.

mod column;
mod documents;
mod labels;
mod source;
mod tables;
mod written;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use evals::ClusterKey;
use evals_guard::regular_file::{self, FileError};
use evals_messages::nearest;
use evals_metrics::Measure;
use evals_questions::SetFolder;
use evals_yaml::{Tree, YamlError, innermost};
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use column::{Column, ColumnError, Filter};
pub use labels::{LabelError, Labels};
pub use source::{Origin, Source};
pub use tables::{Deduplicate, DocumentColumns, JudgementColumns, QuestionColumns};

use written::WrittenManifest;

/// One dataset: where its tables are and how their columns become documents, questions and judgements.
///
/// Read with [`Manifest::parse`] or [`Manifest::read`]; the keys are those of the YAML file.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// The name on the command line and in reports.
    pub name: String,
    /// One line for people.
    pub description: String,
    /// The data's licence, as its publisher names it.
    pub licence: Option<String>,
    /// Where the data is described.
    pub homepage: Option<String>,
    /// The published size; for listings only.
    pub size: Option<Size>,
    /// The documents' files and columns. [Without documents](Self::has_documents), the questions are for systems that have their own.
    pub documents: Table<DocumentColumns>,
    /// The questions' files and columns.
    pub questions: Table<QuestionColumns>,
    /// A separate table of judgements, if there is one.
    pub judgements: Option<Table<JudgementColumns>>,
    /// Reference answers that mark a question as unanswerable, so that no document is relevant. They are compared after trimming.
    pub unanswerable: Vec<String>,
    /// The default measures and settings of retrieval.
    pub retrieval: RetrievalDefaults,
    /// What people found wrong with answers that the dataset holds; `None` in most datasets.
    pub labels: Option<Labels>,
    /// What makes questions a cluster: those of a cluster may depend on each other. `None` if every question is alone.
    pub cluster: Option<ClusterKey>,
    /// This dataset's defaults for the tool's settings: a mapping that this crate does not interpret.
    pub settings: Tree,
    /// Where the manifest came from.
    pub origin: Origin,
}

/// One table: its files and its columns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table<C> {
    /// Where the rows are.
    pub source: Source,
    /// The columns of the rows.
    pub columns: C,
}

/// The most bytes of a manifest.
const LARGEST: u64 = 16 << 20;

/// Published counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Documents in the corpus, where published.
    pub documents: Option<u64>,
    /// Questions asked, where published.
    pub questions: Option<u64>,
}

impl Manifest {
    /// The name of the manifest in a folder that is a dataset.
    pub const FILE: &str = SetFolder::MANIFEST;

    /// Reads a manifest from YAML text.
    ///
    /// Unknown keys, missing keys and contradictions are errors with their line. The error for an unknown key suggests a similar one.
    pub fn parse(text: &str, origin: Origin) -> Result<Self, ManifestError> {
        let written: WrittenManifest = serde_saphyr::from_str(text)
            .map_err(|error| ManifestError::from_yaml(&error, &origin.to_string()))?;
        written.check(origin)
    }

    /// Reads a manifest from a YAML file.
    pub fn read(path: &Path) -> Result<Self, ManifestError> {
        let text = regular_file::read_text(path, LARGEST)?;
        Self::parse(&text, Origin::File(path.to_owned()))
    }

    /// The sources of all tables, in the order documents, questions, judgements.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        [&self.documents.source, &self.questions.source]
            .into_iter()
            .chain(self.judgements.as_ref().map(|table| &table.source))
            .filter(|source| **source != Source::Nothing)
    }

    /// Whether the dataset has documents to search. Otherwise only a system that has its own can answer its questions.
    pub fn has_documents(&self) -> bool {
        self.documents.source != Source::Nothing
    }

    /// Whether a reference answer marks its question as unanswerable.
    pub(crate) fn is_unanswerable(&self, answer: &str) -> bool {
        self.unanswerable
            .iter()
            .any(|known| known.trim() == answer.trim())
    }
}

/// The default measures and settings of a dataset's retrieval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetrievalDefaults {
    /// Documents kept for each question; 10 by default.
    #[serde(default = "default_limit")]
    pub limit: NonZeroUsize,
    /// The measure that ranks systems and that comparisons test first; `nDCG@10` by default.
    #[serde(default = "default_headline")]
    pub headline: Measure,
    /// The reported measures; `nDCG@10, R@10, RR@10` by default. The headline comes first.
    #[serde(default = "default_measures")]
    pub measures: Vec<Measure>,
    /// Whether a document with the question's own id is removed from its ranking, as in the published BEIR figures if questions are part
    /// of the corpus.
    #[serde(default)]
    pub ignore_identical_ids: bool,
    /// Whether relevant documents may lack a judgement, which reports then say.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub incomplete_judgements: bool,
}

fn default_limit() -> NonZeroUsize {
    NonZeroUsize::new(10).expect("10 is not 0")
}

fn default_headline() -> Measure {
    "nDCG@10".parse().expect("a measure's own notation parses")
}

fn default_measures() -> Vec<Measure> {
    ["nDCG@10", "R@10", "RR@10"]
        .map(|measure| measure.parse().expect("a measure's own notation parses"))
        .to_vec()
}

impl Default for RetrievalDefaults {
    fn default() -> Self {
        Self {
            limit: default_limit(),
            headline: default_headline(),
            measures: default_measures(),
            ignore_identical_ids: false,
            incomplete_judgements: false,
        }
    }
}

impl RetrievalDefaults {
    pub(super) fn with_headline_first(mut self) -> Self {
        self.measures.retain(|measure| *measure != self.headline);
        self.measures.insert(0, self.headline);
        self
    }
}

/// Why a manifest cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A folder has no file with text, such as Markdown.
    #[error("`{}` holds no text, such as .md, .txt or .html{instead}", folder.display())]
    NoText {
        /// The folder.
        folder: PathBuf,
        /// What it has, and what to do with that.
        instead: String,
    },
    /// Not YAML, or a value of the wrong kind.
    #[error("{origin}:{}:{}: {error}", error.line, error.column)]
    Yaml {
        /// The manifest.
        origin: String,
        /// The problem and its place.
        error: YamlError,
    },
    /// An unknown or a missing key, or a contradiction.
    #[error("{origin}:{line}: {message}")]
    Invalid {
        /// The manifest.
        origin: String,
        /// The line, from 1.
        line: u64,
        /// The problem.
        message: String,
    },
}

impl ManifestError {
    pub(super) fn from_yaml(error: &serde_saphyr::Error, origin: &str) -> Self {
        let origin = origin.to_owned();
        let words = YamlError::from(error);
        let message = match innermost(error) {
            serde_saphyr::Error::SerdeUnknownField {
                field, expected, ..
            } => {
                let nearest = nearest::of(field, expected.iter().copied());
                let hint = match nearest {
                    Some(_) => nearest::did_you_mean(nearest),
                    None => format!("; the keys here are {}", expected.join(", ")),
                };
                format!("unknown key `{field}`{hint}")
            }
            // A missing key has no column to point at.
            serde_saphyr::Error::SerdeMissingField { .. } => words.message,
            _ => {
                return Self::Yaml {
                    origin,
                    error: words,
                };
            }
        };
        Self::Invalid {
            origin,
            line: words.line,
            message,
        }
    }
}

#[cfg(test)]
mod tests;
