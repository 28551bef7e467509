//! Writing a dataset's documents and questions into a folder, for other systems to read.

mod manifest;
mod rows;
mod staging;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::collection::Collection;
use crate::error::DataError;
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
    /// | `questions.jsonl`, `questions.parquet` | `id` and `question`; with answers also `answer`, `relevant` (ids and grades) and `metadata` |
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
        let mut exported = Exported::default();
        let mut columns = vec!["id", "question"];
        if export.with_answers {
            columns.extend(["answer", "relevant"]);
            if !self.manifest().questions.columns.metadata.is_empty() {
                columns.push("metadata");
            }
        }
        let mut writer = RowWriter::create(&staging, "questions", export.format, columns)?;
        for question in &questions {
            let relevant: Map<String, Value> = question
                .relevant
                .iter()
                .map(|(id, grade)| (id.to_owned(), grade.into()))
                .collect();
            writer.write(&[
                json!(question.id),
                json!(question.text),
                json!(question.answer),
                json!(relevant),
                json!(question.metadata),
            ])?;
            exported.questions += 1;
        }
        writer.finish()?;
        if !export.questions_only {
            exported.documents = match export.format {
                ExportFormat::Text => self.export_texts(&staging, keep_going)?,
                table => self.export_documents(&staging, table, keep_going)?,
            };
        }
        if export.with_answers && !export.questions_only && export.format != ExportFormat::Text {
            let path = staging.path("dataset.yaml");
            let text = manifest::of(self.manifest(), export.format);
            std::fs::write(&path, text).map_err(|source| staging.failed("dataset.yaml", source))?;
            exported.has_manifest = true;
        }
        staging.publish()?;
        Ok(exported)
    }

    /// These columns of documents, and `metadata` if the manifest keeps columns.
    fn document_columns<const N: usize>(&self, columns: [&'static str; N]) -> Vec<&'static str> {
        let is_kept = !self.manifest().documents.columns.metadata.is_empty();
        let metadata = is_kept.then_some("metadata");
        columns.into_iter().chain(metadata).collect()
    }

    fn export_documents(
        &self,
        staging: &Staging,
        format: ExportFormat,
        keep_going: &dyn Fn() -> bool,
    ) -> Result<u64, ExportError> {
        let columns = self.document_columns(["id", "title", "text"]);
        let mut writer = RowWriter::create(staging, "documents", format, columns)?;
        let mut count = 0;
        for document in self.documents()? {
            if !keep_going() {
                return Err(ExportError::Stopped);
            }
            let document = document?;
            writer.write(&[
                json!(document.uri),
                json!(document.title),
                Value::String(document.text),
                Value::Object(document.metadata),
            ])?;
            count += 1;
        }
        writer.finish()?;
        Ok(count)
    }

    fn export_texts(
        &self,
        staging: &Staging,
        keep_going: &dyn Fn() -> bool,
    ) -> Result<u64, ExportError> {
        const FOLDER: &str = "documents";
        let columns = self.document_columns(["id", "file", "title"]);
        let folder = staging.path(FOLDER);
        std::fs::create_dir(&folder).map_err(|source| staging.failed(FOLDER, source))?;
        let mut writer = RowWriter::create(staging, "manifest", ExportFormat::Text, columns)?;
        let mut count = 0;
        for document in self.documents()? {
            if !keep_going() {
                return Err(ExportError::Stopped);
            }
            let document = document?;
            count += 1;
            let name = file_name(count, &document.uri);
            let name = format!("{FOLDER}/{name}");
            File::create_new(staging.path(&name))
                .and_then(|mut file| file.write_all(document.text.as_bytes()))
                .map_err(|source| staging.failed(&name, source))?;
            writer.write(&[
                json!(document.uri),
                json!(name),
                json!(document.title),
                Value::Object(document.metadata),
            ])?;
        }
        writer.finish()?;
        Ok(count)
    }
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
