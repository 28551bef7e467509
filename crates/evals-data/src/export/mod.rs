//! Writing a dataset's documents and questions into a folder, for other systems to read.

mod manifest;
mod rows;
mod staging;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use evals_rag::{Document, Question};
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::collection::Collection;
use crate::error::DataError;
use crate::manifest::Manifest;
use rows::RowWriter;
use staging::Staging;

/// The parts to write, and their format.
#[derive(Debug, Clone, Copy, Default)]
pub struct Export {
    /// The format of the files; JSON Lines by default.
    pub format: ExportFormat,
    /// Whether questions are written with their reference answers, judgements and metadata. By default they are not: a system under
    /// test could read them.
    pub with_answers: bool,
    /// Whether the documents are left out.
    pub questions_only: bool,
}

/// The format of an export.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ExportFormat {
    /// A JSON object on each line.
    #[default]
    JsonLines,
    /// Parquet. Metadata and judgements are JSON texts.
    Parquet,
    /// A text file for each document. Questions are JSON Lines.
    Text,
}

impl ExportFormat {
    /// The extension of the tables' files.
    fn extension(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::JsonLines | Self::Text => "jsonl",
        }
    }
}

/// The numbers of exported documents and questions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exported {
    /// Documents.
    pub documents: u64,
    /// Questions.
    pub questions: u64,
    /// Whether the folder has a manifest, with which it can be run as a dataset.
    pub has_manifest: bool,
}

impl Collection {
    /// Writes the dataset into `folder`, which must not exist or be empty, and calls `keep_going` before each document.
    ///
    /// | file | content |
    /// |---|---|
    /// | `documents.jsonl`, `documents.parquet` | `id`, `title`, `text` and, if the manifest keeps columns, `metadata` |
    /// | `documents/…​.txt`, `manifest.jsonl` | with [`ExportFormat::Text`]: the texts, and `id`, `file`, `title` and `metadata` of each |
    /// | `questions.jsonl`, `questions.parquet` | `id` and `question`; with answers also `answer`, `relevant` (ids and grades), `accepted` and `metadata` |
    /// | `dataset.yaml` | with answers, except for texts: the manifest of the folder as a dataset |
    ///
    /// Documents are streamed. The files have their names only once all of them are complete.
    ///
    /// # Errors
    ///
    /// The folder is in use, a file cannot be written, the dataset cannot be read, or `keep_going` returned false. Nothing is left
    /// of the export then.
    pub fn export(
        &self,
        folder: &Path,
        export: Export,
        keep_going: &dyn Fn() -> bool,
    ) -> Result<Exported, ExportError> {
        // Questions first: a defect in them is found before a large corpus is written.
        let questions = self.questions()?.questions;
        let staging = Staging::new(folder)?;
        let has_accepted = questions.iter().any(|it| !it.accepted.is_empty());
        let mut exported = Exported {
            questions: questions.len() as u64,
            ..Exported::default()
        };
        self.export_questions(&questions, &staging, export, has_accepted)?;
        if !export.questions_only {
            exported.documents = self.export_documents(&staging, export.format, keep_going)?;
        }
        if export.with_answers && !export.questions_only && export.format != ExportFormat::Text {
            let path = staging.path(Manifest::FILE);
            let text = manifest::of(self.manifest(), export.format, has_accepted);
            std::fs::write(&path, text).map_err(|source| staging.failed(Manifest::FILE, source))?;
            exported.has_manifest = true;
        }
        staging.publish()?;
        Ok(exported)
    }

    /// Writes the questions as rows, with a column of further right answers if one of them has any.
    fn export_questions(
        &self,
        questions: &[Question],
        staging: &Staging,
        export: Export,
        has_accepted: bool,
    ) -> Result<(), ExportError> {
        let mut columns = vec!["id", "question"];
        let original = &self.manifest().questions.columns;
        let has_turns = original.facts().next().is_some();
        if has_turns {
            columns.extend(["conversation", "messages"]);
        }
        if export.with_answers {
            columns.extend(["answer", "relevant"]);
            columns.extend(has_accepted.then_some(ACCEPTED));
            columns.extend((!original.metadata.is_empty()).then_some("metadata"));
        }
        let mut writer = RowWriter::create(staging, "questions", export.format, columns)?;
        for question in questions {
            let mut cells = vec![json!(question.id), json!(question.text)];
            if has_turns {
                let turn = question.turn.as_ref();
                cells.extend([
                    json!(turn.map(|turn| &turn.conversation)),
                    json!(turn.map(|turn| &turn.history)),
                ]);
            }
            let relevant = question.relevant.iter();
            let relevant = relevant.map(|(id, grade)| (id.to_owned(), grade.into()));
            let relevant: Map<String, Value> = relevant.collect();
            cells.extend([json!(question.answer), json!(relevant)]);
            cells.extend(has_accepted.then(|| json!(question.accepted)));
            cells.push(json!(question.metadata));
            writer.write(&cells)?;
        }
        writer.finish()
    }

    /// Writes the documents as rows, or as files of text and a table of these files.
    fn export_documents(
        &self,
        staging: &Staging,
        format: ExportFormat,
        keep_going: &dyn Fn() -> bool,
    ) -> Result<u64, ExportError> {
        let are_texts = format == ExportFormat::Text;
        let (table, columns) = if are_texts {
            let folder = std::fs::create_dir(staging.path(TEXTS));
            folder.map_err(|source| staging.failed(TEXTS, source))?;
            ("manifest", ["id", "file", "title"])
        } else {
            ("documents", ["id", "title", "text"])
        };
        let is_kept = !self.manifest().documents.columns.metadata.is_empty();
        let columns = columns.into_iter().chain(is_kept.then_some("metadata"));
        let mut writer = RowWriter::create(staging, table, format, columns.collect())?;
        let mut count = 0;
        for document in self.documents()? {
            if !keep_going() {
                return Err(ExportError::Stopped);
            }
            let document = document?;
            count += 1;
            let (id, title) = (json!(document.uri), json!(document.title));
            let cells = if are_texts {
                let name = write_text(staging, count, &document)?;
                [id, name.into(), title]
            } else {
                [id, title, document.text.into()]
            };
            let [first, second, third] = cells;
            writer.write(&[first, second, third, Value::Object(document.metadata)])?;
        }
        writer.finish()?;
        Ok(count)
    }
}

/// The folder of texts.
const TEXTS: &str = "documents";

/// The column of further right answers.
const ACCEPTED: &str = "accepted";

/// Writes the text of the `number`th document, and returns the name of its file.
fn write_text(staging: &Staging, number: u64, document: &Document) -> Result<String, ExportError> {
    let name = format!("{TEXTS}/{}", file_name(number, &document.uri));
    let written = File::create_new(staging.path(&name))
        .and_then(|mut file| file.write_all(document.text.as_bytes()));
    written.map_err(|source| staging.failed(&name, source))?;
    Ok(name)
}

/// Why a dataset cannot be exported.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The folder has files, is something else than a folder, or has no folder around it.
    #[error("{problem}")]
    Target {
        /// The problem, with the path.
        problem: String,
    },
    /// A file or folder cannot be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The path that it would have.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// The caller stopped the export.
    #[error("the export was stopped")]
    Stopped,
    /// The dataset cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
}

/// Most characters of an id in a name.
const LONGEST_NAME: usize = 60;

/// The name of the file of the `number`th document: `000007-some-id.txt`.
///
/// The number makes it unique, also where letters of both cases are the same and where long names are cut, and it keeps the order of the
/// documents. It also keeps the name from being one that Windows reserves. Of the id remain lower-case ASCII letters and digits.
fn file_name(number: u64, id: &str) -> String {
    let mut slug = String::new();
    for character in id.chars() {
        if slug.len() == LONGEST_NAME {
            break;
        }
        if character.is_ascii_alphanumeric() {
            slug.push(character.to_ascii_lowercase());
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    match slug.trim_end_matches('-') {
        "" => format!("{number:06}.txt"),
        slug => format!("{number:06}-{slug}.txt"),
    }
}
