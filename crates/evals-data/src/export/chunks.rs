//! Writes chunks as each search engine takes them.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use evals_rag::Chunk;
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::rows::{Parquet, sync};
use super::staging::Staging;
use super::{ExportError, ExportFormat};

/// Chunks in one request. With 4,096 dimensions they are about 5 MB, and Qdrant takes 32 MB.
const BATCH: u64 = 100;

/// The name of the table, type or class that the chunks go into, where the format names one.
const TABLE: &str = "chunks";

/// Writes the file of chunks. Memory does not grow with their number.
pub(super) struct ChunkWriter<'s> {
    staging: &'s Staging,
    name: String,
    form: Form,
    count: u64,
    file: ChunkFile,
}

/// The format, and the columns that not every export has.
#[derive(Clone, Copy)]
struct Form {
    format: ExportFormat,
    has_metadata: bool,
    has_vectors: bool,
}

enum ChunkFile {
    Lines(BufWriter<File>),
    Parquet(Box<Parquet>),
}

impl<'s> ChunkWriter<'s> {
    /// Creates the file. `dimension` is the length of the vectors, if they are written.
    pub(super) fn create(
        staging: &'s Staging,
        format: ExportFormat,
        has_metadata: bool,
        dimension: Option<usize>,
    ) -> Result<Self, ExportError> {
        let extension = match format {
            ExportFormat::Sql => "sql",
            other => other.extension(),
        };
        let name = format!("{TABLE}.{extension}");
        let file = File::create_new(staging.path(&name)).and_then(|file| {
            if format == ExportFormat::Parquet {
                let columns = ["id", "document_id", "title", "text"].into_iter();
                let columns: Vec<_> = columns.chain(has_metadata.then_some("metadata")).collect();
                let dimension = dimension.map(i32::try_from).transpose();
                let dimension = dimension.map_err(io::Error::other)?;
                let parquet = Parquet::new(file, &columns, dimension)?;
                return Ok(ChunkFile::Parquet(Box::new(parquet)));
            }
            let mut lines = BufWriter::with_capacity(1 << 16, file);
            if format == ExportFormat::Sql {
                lines.write_all(table(has_metadata, dimension).as_bytes())?;
            }
            Ok(ChunkFile::Lines(lines))
        });
        Ok(Self {
            file: file.map_err(|source| staging.failed(&name, source))?,
            staging,
            name,
            form: Form {
                format,
                has_metadata,
                has_vectors: dimension.is_some(),
            },
            count: 0,
        })
    }

    pub(super) fn write(&mut self, chunk: Chunk) -> Result<(), ExportError> {
        let written = match &mut self.file {
            ChunkFile::Lines(file) => self.form.write(file, self.count, &chunk),
            ChunkFile::Parquet(parquet) => {
                let (id, title) = (json!(chunk.id()), json!(chunk.title));
                let texts = [id, chunk.document.into(), title, chunk.text.into()];
                let metadata = self.form.has_metadata.then(|| chunk.metadata.into());
                let cells: Vec<Value> = texts.into_iter().chain(metadata).collect();
                parquet.write(&cells, chunk.vector.as_deref())
            }
        };
        self.count += 1;
        written.map_err(|source| self.staging.failed(&self.name, source))
    }

    /// Completes the file. Returns the number of chunks.
    pub(super) fn finish(self) -> Result<u64, ExportError> {
        let finished = match self.file {
            ChunkFile::Lines(mut file) => {
                let end = match self.form.format {
                    ExportFormat::Sql => "\\.\nCOMMIT;\n",
                    ExportFormat::Qdrant | ExportFormat::Weaviate
                        if !self.count.is_multiple_of(BATCH) =>
                    {
                        "]}\n"
                    }
                    _ => "",
                };
                file.write_all(end.as_bytes()).and_then(|()| sync(file))
            }
            ChunkFile::Parquet(parquet) => parquet.finish(),
        };
        finished.map_err(|source| self.staging.failed(&self.name, source))?;
        Ok(self.count)
    }
}

/// The fields of a chunk. What it lacks is left out.
#[derive(Serialize)]
struct Fields<'c> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'c str>,
    /// In place of `id`, where that name is reserved.
    #[serde(skip_serializing_if = "Option::is_none")]
    chunk_id: Option<&'c str>,
    document_id: &'c str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'c str>,
    text: &'c str,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vector: Option<&'c [f32]>,
}

/// A put of [Vespa](https://docs.vespa.ai/en/reference/document-json-format.html).
#[derive(Serialize)]
struct Put<'c> {
    put: String,
    fields: Fields<'c>,
}

/// A point of [Qdrant](https://api.qdrant.tech/api-reference/points/upsert-points). One without a vector has an empty set of named ones.
#[derive(Serialize)]
struct Point<'c> {
    id: String,
    vector: Vector<'c>,
    payload: Fields<'c>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Vector<'c> {
    Values(&'c [f32]),
    None {},
}

/// An object of [Weaviate](https://docs.weaviate.io/weaviate/api/rest#tag/batch), whose properties may not be named `id`.
#[derive(Serialize)]
struct Object<'c> {
    class: &'static str,
    id: String,
    properties: Fields<'c>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vector: Option<&'c [f32]>,
}

impl Form {
    /// Writes the `number`th chunk from 0, in a format of lines.
    fn write(self, file: &mut impl Write, number: u64, chunk: &Chunk) -> io::Result<()> {
        let id = chunk.id();
        let fields = self.fields(&id, chunk);
        match self.format {
            ExportFormat::Sql => write_row(file, &fields, self.has_vectors),
            ExportFormat::Vespa => {
                let put = format!("id:evaluations:{TABLE}::{id}");
                write_json(file, &Put { put, fields }, "\n")
            }
            // A line for the action and a line for the document: https://docs.opensearch.org/latest/api-reference/document-apis/bulk
            ExportFormat::OpenSearch => {
                write_json(file, &json!({"index": {"_id": uuid(&id)}}), "\n")?;
                write_json(file, &fields, "\n")
            }
            ExportFormat::Qdrant => {
                let vector = fields.vector.map_or(Vector::None {}, Vector::Values);
                let point = Point {
                    id: uuid(&id),
                    vector,
                    payload: Fields {
                        vector: None,
                        ..fields
                    },
                };
                write_in_batch(file, number, "points", &point)
            }
            ExportFormat::Weaviate => {
                let object = Object {
                    class: "Chunks",
                    id: uuid(&id),
                    vector: fields.vector,
                    properties: Fields {
                        id: None,
                        chunk_id: fields.id,
                        vector: None,
                        ..fields
                    },
                };
                write_in_batch(file, number, "objects", &object)
            }
            ExportFormat::JsonLines | ExportFormat::Text | ExportFormat::Parquet => {
                write_json(file, &fields, "\n")
            }
        }
    }

    fn fields<'c>(self, id: &'c str, chunk: &'c Chunk) -> Fields<'c> {
        // Fields of these engines have a type each, and metadata may be anything.
        let is_typed = matches!(self.format, ExportFormat::Vespa | ExportFormat::Weaviate);
        let metadata = self.has_metadata.then(|| json!(chunk.metadata));
        Fields {
            id: Some(id),
            chunk_id: None,
            document_id: &chunk.document,
            // Weaviate knows no property that no object has, so a question would be refused for its `title`.
            title: match chunk.title.as_deref() {
                None if self.format == ExportFormat::Weaviate => Some(""),
                title => title,
            },
            text: &chunk.text,
            metadata: match metadata {
                Some(value) if is_typed => Some(value.to_string().into()),
                other => other,
            },
            vector: chunk.vector.as_deref(),
        }
    }
}

fn write_json(file: &mut impl Write, value: &impl Serialize, end: &str) -> io::Result<()> {
    serde_json::to_writer(&mut *file, value)?;
    file.write_all(end.as_bytes())
}

/// Writes an element of the array `key` of a request, each of which is a line.
fn write_in_batch(
    file: &mut impl Write,
    number: u64,
    key: &str,
    element: &impl Serialize,
) -> io::Result<()> {
    if number.is_multiple_of(BATCH) {
        write!(file, "{{\"{key}\":[")?;
    } else {
        file.write_all(b",")?;
    }
    let is_last = (number + 1).is_multiple_of(BATCH);
    write_json(file, element, if is_last { "]}\n" } else { "" })
}

/// A UUID made from the id, because Qdrant and Weaviate take no other texts, and OpenSearch none of more than 512 bytes. It is of version 8 of
/// [RFC 9562](https://www.rfc-editor.org/rfc/rfc9562#name-uuid-version-8).
fn uuid(id: &str) -> String {
    let digest = Sha256::digest(id);
    let mut bytes = *digest.first_chunk::<16>().expect("SHA-256 has 32 bytes");
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let digits = hex::encode(bytes);
    let groups = [0..8, 8..12, 12..16, 16..20, 20..32].map(|group| &digits[group]);
    groups.join("-")
}

/// The statements before the rows. `json` keeps characters that `jsonb` refuses; pgvector has the type `vector`.
fn table(has_metadata: bool, dimension: Option<usize>) -> String {
    let mut columns = vec![
        "id text PRIMARY KEY".to_owned(),
        "document_id text NOT NULL".to_owned(),
        "title text".to_owned(),
        "text text NOT NULL".to_owned(),
    ];
    columns.extend(has_metadata.then(|| "metadata json".to_owned()));
    columns.extend(dimension.map(|dimension| format!("vector vector({dimension})")));
    let extension = dimension.map_or("", |_| "CREATE EXTENSION IF NOT EXISTS vector;\n");
    format!(
        "\\set ON_ERROR_STOP on\nSET client_encoding = 'UTF8';\nBEGIN;\n{extension}CREATE TABLE {TABLE} (\n    {}\n);\nCOPY {TABLE} FROM stdin;\n",
        columns.join(",\n    ")
    )
}

/// A row of [`COPY`](https://www.postgresql.org/docs/current/sql-copy.html#id-1.9.3.55.9.2), in its text format.
fn write_row(file: &mut impl Write, fields: &Fields<'_>, has_vectors: bool) -> io::Result<()> {
    let metadata = fields.metadata.as_ref().map(ToString::to_string);
    let mut cells = vec![
        fields.id,
        Some(fields.document_id),
        fields.title,
        Some(fields.text),
    ];
    cells.extend(metadata.as_deref().map(Some));
    for (index, cell) in cells.into_iter().enumerate() {
        if index > 0 {
            file.write_all(b"\t")?;
        }
        file.write_all(cell.map_or_else(|| NULL.to_owned(), escaped).as_bytes())?;
    }
    if has_vectors {
        file.write_all(b"\t")?;
        match fields.vector {
            Some(vector) => serde_json::to_writer(&mut *file, vector)?,
            None => file.write_all(NULL.as_bytes())?,
        }
    }
    file.write_all(b"\n")
}

/// A cell of `COPY` without a value.
const NULL: &str = "\\N";

/// A text of `COPY`. U+0000, which PostgreSQL's texts cannot hold, becomes U+FFFD.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => escaped.push_str("\\\\"),
            '\t' => escaped.push_str("\\t"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\0' => escaped.push(char::REPLACEMENT_CHARACTER),
            other => escaped.push(other),
        }
    }
    escaped
}
