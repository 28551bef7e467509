//! Writing a dataset's documents or chunks and its questions into a folder, for other systems to read.

mod chunks;
mod manifest;
mod rows;
mod staging;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use evals_rag::{Chunk, Document, Question};
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::collection::Collection;
use crate::error::DataError;
use crate::manifest::Manifest;
use chunks::ChunkWriter;
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

/// An error of whatever reads the chunks.
pub type BoxedError = Box<dyn Error + Send + Sync>;

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
    /// Chunks only: a put of Vespa's feed on each line.
    Vespa,
    /// Chunks only: a body of the bulk API of OpenSearch and Elasticsearch.
    OpenSearch,
    /// Chunks only: a body of Qdrant's upsert on each line.
    Qdrant,
    /// Chunks only: a body of Weaviate's batch on each line.
    Weaviate,
    /// Chunks only: a script of `psql` that creates and fills a table.
    Sql,
}

impl ExportFormat {
    /// The extension of the tables' files.
    fn extension(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            _ => "jsonl",
        }
    }
}

/// The numbers of exported documents, chunks and questions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exported {
    /// Documents.
    pub documents: u64,
    /// Chunks.
    pub chunks: u64,
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
    /// | `questions.jsonl`, `questions.parquet` | `id` and `question`; with answers also `answer`, `relevant` (ids and grades), `accepted` (further right answers, if any), `unanswerable` (with `unanswerable.where`), `facts` and `first_message` (of users whom a model plays) and `metadata` |
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
        let mut exported = Exported {
            questions: self.export_questions(&questions, &staging, export)?,
            ..Exported::default()
        };
        if !export.questions_only {
            exported.documents = self.export_documents(&staging, export.format, keep_going)?;
        }
        if export.with_answers && !export.questions_only && export.format != ExportFormat::Text {
            let path = staging.path(Manifest::FILE);
            let has_accepted = has_accepted(&questions);
            let text = manifest::of(self.manifest(), export.format, has_accepted);
            std::fs::write(&path, text).map_err(|source| staging.failed(Manifest::FILE, source))?;
            exported.has_manifest = true;
        }
        staging.publish()?;
        Ok(exported)
    }

    /// Does the same with the chunks of an index of the dataset in place of the documents: `chunks.jsonl`, `chunks.parquet` or `chunks.sql`
    /// has the `id`, `document_id`, `title`, `text`, `metadata` and `vector` of each, as the format has them. `dimension` is the length of
    /// the vectors; `None` writes none.
    ///
    /// # Errors
    ///
    /// As [`export`](Self::export), and if a chunk cannot be read.
    pub fn export_chunks(
        &self,
        folder: &Path,
        export: Export,
        dimension: Option<usize>,
        chunks: impl IntoIterator<Item = Result<Chunk, BoxedError>>,
        keep_going: &dyn Fn() -> bool,
    ) -> Result<Exported, ExportError> {
        let questions = self.questions()?.questions;
        let staging = Staging::new(folder)?;
        let questions = self.export_questions(&questions, &staging, export)?;
        let has_metadata = !self.manifest().documents.columns.metadata.is_empty();
        let mut writer = ChunkWriter::create(&staging, export.format, has_metadata, dimension)?;
        for chunk in chunks {
            if !keep_going() {
                return Err(ExportError::Stopped);
            }
            writer.write(chunk.map_err(ExportError::Chunks)?)?;
        }
        let chunks = writer.finish()?;
        staging.publish()?;
        Ok(Exported {
            chunks,
            questions,
            ..Exported::default()
        })
    }

    /// Writes the questions as rows.
    fn export_questions(
        &self,
        questions: &[Question],
        staging: &Staging,
        export: Export,
    ) -> Result<u64, ExportError> {
        let has_accepted = has_accepted(questions);
        let original = &self.manifest().questions.columns;
        let has_turns = original.facts().any(|fact| fact == Question::TURN);
        let mut columns = vec!["id", "question"];
        if has_turns {
            columns.extend(["conversation", "messages"]);
        }
        let has_users = original.goal.is_some();
        if export.with_answers {
            if has_users {
                columns.extend(["facts", "first_message"]);
            }
            columns.extend(["answer", "relevant"]);
            if has_accepted {
                columns.push(ACCEPTED);
            }
            if !original.unanswerable.is_empty() {
                columns.push(UNANSWERABLE);
            }
            if !original.metadata.is_empty() {
                columns.push("metadata");
            }
        }
        let mut writer = RowWriter::create(staging, "questions", export.format, columns)?;
        for question in questions {
            let relevant: Map<String, Value> = question
                .relevant
                .iter()
                .map(|(id, grade)| (id.to_owned(), grade.into()))
                .collect();
            let mut cells = vec![json!(question.id), json!(question.text)];
            if has_turns {
                let turn = question.turn.as_ref();
                cells.extend([
                    json!(turn.map(|turn| &turn.conversation)),
                    json!(turn.map(|turn| &turn.history)),
                ]);
            }
            if has_users && export.with_answers {
                let user = question.user.as_ref();
                cells.extend([
                    json!(user.map(|user| &user.facts)),
                    json!(user.map(|user| &user.first)),
                ]);
            }
            cells.extend([json!(question.answer), json!(relevant)]);
            cells.extend(has_accepted.then(|| json!(question.accepted)));
            cells.extend((!original.unanswerable.is_empty()).then(|| json!(!question.answerable)));
            cells.push(json!(question.metadata));
            writer.write(&cells)?;
        }
        writer.finish()?;
        Ok(questions.len() as u64)
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

/// Fails unless an export can go into `folder`, so that nothing long is done for one that cannot.
///
/// # Errors
///
/// The folder is in use, or cannot be created.
pub fn check_folder(folder: &Path) -> Result<(), ExportError> {
    Staging::new(folder).map(drop)
}

/// The folder of texts.
const TEXTS: &str = "documents";

/// The column of further right answers.
const ACCEPTED: &str = "accepted";
const UNANSWERABLE: &str = "unanswerable";

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
    /// The chunks cannot be read.
    #[error(transparent)]
    Chunks(BoxedError),
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

/// Whether a question has further right answers, which then have a column.
fn has_accepted(questions: &[Question]) -> bool {
    questions.iter().any(|it| !it.accepted.is_empty())
}
