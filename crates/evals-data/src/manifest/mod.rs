//! Dataset manifests: which files contain documents, questions and judgements, and what their columns mean.

mod column;
mod error;
mod filter;
mod one_or_many;
mod retrieval;
mod source;
mod tables;
mod written;

use std::io;
use std::path::Path;

use evals::ClusterKey;
use evals_guard::regular_file;
use serde::{Deserialize, Serialize};

pub use column::{Column, ColumnError};
pub use error::ManifestError;
pub use filter::Filter;
pub use retrieval::RetrievalDefaults;
pub use source::{Origin, Source};
pub use tables::{Deduplicate, DocumentColumns, JudgementColumns, QuestionColumns};

use evals_yaml::Tree;
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
    /// The documents' files and columns.
    pub documents: Table<DocumentColumns>,
    /// The questions' files and columns.
    pub questions: Table<QuestionColumns>,
    /// A separate table of judgements, if there is one.
    pub judgements: Option<Table<JudgementColumns>>,
    /// Reference answers that mark a question as unanswerable, so that no document is relevant. They are compared after trimming.
    pub unanswerable: Vec<String>,
    /// The default measures and settings of retrieval.
    pub retrieval: RetrievalDefaults,
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
        let text = text_of(path).map_err(|source| ManifestError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text, Origin::File(path.to_owned()))
    }

    /// The sources of all tables, in the order documents, questions, judgements.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        [&self.documents.source, &self.questions.source]
            .into_iter()
            .chain(self.judgements.as_ref().map(|table| &table.source))
    }

    /// Whether a reference answer marks its question as unanswerable.
    pub(crate) fn is_unanswerable(&self, answer: &str) -> bool {
        self.unanswerable
            .iter()
            .any(|known| known.trim() == answer.trim())
    }
}

/// The text of a regular file of a manifest's size. A device or a named pipe may never end.
fn text_of(path: &Path) -> io::Result<String> {
    const MAX_BYTES: u64 = 16 << 20;
    let metadata = path.metadata()?;
    let refused = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, what);
    if let Some(kind) = regular_file::other_kind(&metadata) {
        return Err(refused(&format!("it is {kind}, not a regular file")));
    }
    if metadata.len() > MAX_BYTES {
        return Err(refused(
            "it is larger than 16 MiB, the limit for a manifest",
        ));
    }
    std::fs::read_to_string(path)
}

#[cfg(test)]
mod tests;
