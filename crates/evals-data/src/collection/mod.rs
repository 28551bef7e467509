//! A dataset whose files are on disk: its documents and its questions.

mod cells;
mod conversations;
mod documents;
mod fields;
mod files;
mod judged;
mod questions;
mod reviews;
mod spans;
mod unknown;

use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;
use std::path::{Component, Path};

use evals::DerivedIds;
use evals_metrics::Judgements;
use evals_questions::SetFolder;
use evals_rag::Question;
use serde::Serialize;

pub use documents::{DocumentCounts, DocumentTally, Documents};
pub use questions::{QuestionCounts, Questions};

use crate::error::DataError;
use crate::format;
use crate::hub::{DownloadObserver, Globs, Hub, HubWarning, blocking};
use crate::manifest::{DocumentColumns, Manifest, Source, Table};
use crate::provenance::{Provenance, TableProvenance};
use crate::reader::TableFile;
use files::{Fetched, TableFiles};
use questions::QuestionReader;
use reviews::Reviewed;
use unknown::{Corpus, JudgedCells};

/// A dataset whose files are on disk and verified.
#[derive(Debug, Clone)]
pub struct Collection {
    manifest: Manifest,
    documents: Vec<TableFile>,
    questions: Vec<TableFile>,
    judgements: Vec<TableFile>,
    /// What people said about the questions, if these are a test set.
    reviewed: Option<Reviewed>,
    provenance: Provenance,
    warnings: Vec<HubWarning>,
    allow_missing_judged: bool,
}

impl Collection {
    /// Downloads the manifest's files unless they are cached, and verifies them.
    pub async fn resolve(
        manifest: &Manifest,
        hub: &Hub,
        observer: &dyn DownloadObserver,
    ) -> Result<Self, DataError> {
        let fetched = Fetched::new(manifest, hub, observer).await?;
        let manifest = manifest.clone();
        // This reads all files on disk to compute their digests.
        blocking(move || Self::of(&manifest, fetched)).await
    }

    fn of(manifest: &Manifest, fetched: Fetched) -> Result<Self, DataError> {
        let documents = fetched.table(&manifest.documents.source)?;
        check_kinds(&manifest.documents.columns, &documents.files)?;
        let questions = fetched.table(&manifest.questions.source)?;
        let judgements = manifest
            .judgements
            .as_ref()
            .map(|table| fetched.table(&table.source))
            .transpose()?;
        let reviewed = Reviewed::of(&questions.files)?;
        let provenance = Provenance {
            dataset: manifest.name.clone(),
            documents: table_provenance(&manifest.documents, &documents),
            questions: TableProvenance {
                reviews: reviewed.as_ref().and_then(Reviewed::digest),
                ..table_provenance(&manifest.questions, &questions)
            },
            judgements: manifest
                .judgements
                .as_ref()
                .zip(judgements.as_ref())
                .map(|(table, files)| table_provenance(table, files)),
        };
        Ok(Self {
            manifest: manifest.clone(),
            documents: documents.files,
            questions: questions.files,
            judgements: judgements.map_or_else(Vec::new, |table| table.files),
            reviewed,
            provenance,
            warnings: fetched.warnings,
            allow_missing_judged: false,
        })
    }

    /// Whether judgements may name documents that are missing from the corpus or have no text. By default they are an error, because
    /// every figure would be too low for an invisible reason. If allowed, they are counted, and score as never found. If all relevant
    /// documents are missing, it is an error nevertheless, because every score would be 0.
    #[must_use]
    pub fn allow_missing_judged(mut self, allow: bool) -> Self {
        self.allow_missing_judged = allow;
        self
    }

    /// The manifest it was made from.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The files that it consists of, with their digests.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// The file of the questions on disk; `None` if there are several, or it is part of the program.
    pub fn question_file(&self) -> Option<&Path> {
        match self.questions.as_slice() {
            [only] => only.content.path(),
            _ => None,
        }
    }

    /// The folder of the test set that the questions are, if people reviewed it.
    pub fn reviewed_set(&self) -> Option<&SetFolder> {
        self.reviewed.as_ref().map(|it| &it.folder)
    }

    /// Warnings about the download of its files.
    pub fn warnings(&self) -> &[HubWarning] {
        &self.warnings
    }

    /// The documents of the corpus. Opens the first file at once, so that a missing column fails here.
    ///
    /// * A document whose text is null or blank gets its title as text. Without a title, it is dropped and counted.
    /// * The manifest's [`deduplicate`](crate::Deduplicate) decides about repeated ids.
    /// * A corpus without any document yields an error as its only item.
    /// * A dataset whose manifest has no `documents` is an error.
    pub fn documents(&self) -> Result<Documents, DataError> {
        if !self.manifest.has_documents() {
            return Err(DataError::NoDocuments {
                dataset: self.manifest.name.clone(),
            });
        }
        Documents::open(
            &self.manifest.name,
            &self.manifest.documents.columns,
            &self.documents,
        )
    }

    /// The questions with their judgements.
    ///
    /// * With a judgements table, questions that it does not name are dropped and counted. Without one, questions without a relevant
    ///   document are kept and counted.
    /// * A review beside the questions of a test set edits or drops them.
    /// * A repeated id is an error. A question without text is dropped and counted.
    /// * An unanswerable question has no judgements, whatever its row or the judgements table says.
    /// * A judged document that [`documents`](Self::documents) does not return, because it is missing or has no text, is an error
    ///   unless [allowed](Self::allow_missing_judged). To find out, the corpus is read until all judged documents are found. A corpus
    ///   without any document, or without any relevant one, is always an error, and so is a cell that starts with `[` but is neither a
    ///   JSON array nor a document's id.
    pub fn questions(&self) -> Result<Questions, DataError> {
        self.questions_of(&Corpus::Files {
            columns: &self.manifest.documents.columns,
            files: &self.documents,
        })
    }

    /// As [`questions`](Self::questions), but looks for judged documents in `ids` instead of reading the corpus. `ids` has to be the ids
    /// of all documents that [`documents`](Self::documents) returns, as an index of them has.
    pub fn questions_for<'i>(
        &self,
        ids: impl Iterator<Item = &'i str> + Clone,
    ) -> Result<Questions, DataError> {
        let each = move |take: &mut dyn FnMut(&str) -> ControlFlow<()>| {
            let _ = ids.clone().try_for_each(take);
        };
        self.questions_of(&Corpus::Ids(&each))
    }

    fn questions_of(&self, corpus: &Corpus<'_>) -> Result<Questions, DataError> {
        let judged = match &self.manifest.judgements {
            Some(table) => Some(judged::read(&table.columns, &self.judgements)?),
            None => None,
        };
        let reader = QuestionReader {
            manifest: &self.manifest,
            documents: Vec::new(),
            judged,
            counts: QuestionCounts::default(),
            seen: HashSet::new(),
            turns: BTreeSet::new(),
            derived: DerivedIds::default(),
        };
        let mut read = reader.read(&self.questions)?;
        if let Some(reviewed) = &self.reviewed {
            reviewed.apply(&mut read);
        }
        if read.questions.is_empty() {
            return Err(DataError::Empty {
                dataset: self.manifest.name.clone(),
                what: "questions",
                rows: read.counts.rows,
            });
        }
        let unknown = self.unknown_documents(&read.questions, corpus)?;
        if unknown.is_empty() {
            return Ok(read);
        }
        let cells = self.judged_cells();
        if let Some(error) = cells.broken_list(&unknown)? {
            return Err(error);
        }
        let (count, first) = (unknown.len(), first_five(&unknown));
        if !self.allow_missing_judged {
            let left_out = |id: &str| self.left_out(id);
            let named = cells.named_unknown(&unknown, &read.questions, corpus, left_out)?;
            return Err(DataError::UnknownDocuments {
                count,
                first,
                named,
            });
        }
        if !can_be_found(&read.questions, &unknown) {
            return Err(DataError::NoRelevantDocument { count, first });
        }
        read.counts.unknown_documents = count as u64;
        Ok(read)
    }

    /// Why a document is not in the corpus, if it is a file in the folder of the documents that `files` leaves out.
    fn left_out(&self, id: &str) -> Option<String> {
        let documents = &self.manifest.documents;
        let Source::Path { path, files } = &documents.source else {
            return None;
        };
        let is_below = Path::new(id)
            .components()
            .all(|it| matches!(it, Component::Normal(_)));
        let file = path.join(id);
        let is_left_out =
            is_below && documents.columns.whole_files && file.is_file() && !id.is_empty();
        let globs = Globs::new(files).ok().filter(|_| is_left_out)?;
        let patterns = serde_json::to_string(files).ok()?;
        (!globs.matches(id)).then(|| {
            format!(
                "{} exists, but `files: {patterns}` leaves it out",
                file.display()
            )
        })
    }

    /// The columns that name judged documents.
    fn judged_cells(&self) -> JudgedCells<'_> {
        match &self.manifest.judgements {
            Some(table) => JudgedCells {
                files: &self.judgements,
                columns: std::slice::from_ref(&table.columns.document),
                question: &table.columns.query,
                takes_lists: false,
            },
            None => JudgedCells {
                files: &self.questions,
                columns: &self.manifest.questions.columns.relevant,
                question: self.manifest.questions.columns.asked(),
                takes_lists: true,
            },
        }
    }

    /// The judged documents that the corpus does not return, in order. Memory grows with the judgements and not with the corpus.
    fn unknown_documents<'q>(
        &self,
        questions: &'q [Question],
        corpus: &Corpus<'_>,
    ) -> Result<BTreeSet<&'q str>, DataError> {
        let mut unknown: BTreeSet<&str> = questions
            .iter()
            .flat_map(|question| question.relevant.iter())
            .map(|(id, _)| id)
            .collect();
        let searched = corpus.remove_found(&mut unknown)?;
        if !unknown.is_empty() && !searched.any {
            return Err(DataError::Empty {
                dataset: self.manifest.name.clone(),
                what: "documents",
                rows: searched.rows,
            });
        }
        Ok(unknown)
    }
}

/// Checks that the documents' files can be read, are all texts or all tables, and that the columns of tables are named.
fn check_kinds(columns: &DocumentColumns, files: &[TableFile]) -> Result<(), DataError> {
    for file in files {
        if let Some((kind, tool)) = format::to_convert(&file.name) {
            let problem = format!(
                "is {kind}, which is not read; convert it to text first, such as with `{tool}`"
            );
            return Err(DataError::file(&file.name, problem));
        }
    }
    let texts: Vec<bool> = files
        .iter()
        .map(|file| format::is_text(&file.name))
        .collect();
    let first = |is_text: bool| {
        let place = texts.iter().position(|it| *it == is_text)?;
        Some(files[place].name.clone())
    };
    match (first(true), first(false)) {
        (Some(text), Some(table)) => Err(DataError::file(
            text,
            format!(
                "is a text and `{table}` is a table; a table of documents consists of one or the other"
            ),
        )),
        (None, Some(table)) if columns.whole_files => Err(DataError::file(
            table,
            "is a table, so the manifest has to name its columns: add `uri` and `text` to `documents`",
        )),
        _ => Ok(()),
    }
}

fn first_five(ids: &BTreeSet<&str>) -> Vec<String> {
    ids.iter().take(5).map(|&id| id.to_owned()).collect()
}

/// Whether the corpus has anything to find: a relevant document or, if none is judged relevant, any judged one.
fn can_be_found(questions: &[Question], unknown: &BTreeSet<&str>) -> bool {
    let judged = || questions.iter().map(|question| &question.relevant);
    let mut relevant = judged().flat_map(Judgements::relevant).peekable();
    if relevant.peek().is_some() {
        return relevant.any(|id| !unknown.contains(id));
    }
    let mut all = judged().flat_map(Judgements::iter);
    all.any(|(id, _)| !unknown.contains(id))
}

fn table_provenance<C: Serialize>(table: &Table<C>, files: &TableFiles) -> TableProvenance {
    let (repo, revision) = match &table.source {
        Source::Hub { repo, revision, .. } => (Some(repo.clone()), Some(revision.clone())),
        Source::Path { .. } | Source::Bundled { .. } | Source::Nothing => (None, None),
    };
    TableProvenance {
        repo,
        revision,
        commit: files.commit.clone(),
        files: files.identities.clone(),
        reviews: None,
        columns: serde_json::to_value(&table.columns).expect("columns are strings, lists and maps"),
    }
}

#[cfg(test)]
mod tests;
