//! Tables that another program wrote, such as LanceDB's Python client, haiku.rag, or Lance on Spark or Ray: searched where they are, as
//! they are. Nothing is written.

mod columns;
mod error;
mod options;
mod search;

use std::collections::HashMap;

use arrow::array::{Array as _, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use evals_guard::panics::{Panicked, caught_async};
use evals_models::Embedder;
use evals_targets::ColumnSettings;
use futures::TryStreamExt;
use lancedb::index::{IndexConfig, IndexType};
use lancedb::query::{ExecutableQuery, QueryBase, Select};
use lancedb::table::Table;

use crate::address::Address;
use crate::engine_error::EngineError;
use crate::store::Store;
use columns::{Columns, DOCUMENT_ID};

pub use error::ForeignError;
pub use options::{ForeignDistance, ForeignMode, ForeignSearch};
pub use search::ForeignHit;

/// The tables that may have the addresses of documents in a database of haiku.rag: the first since its version 0.89, the second before.
const DOCUMENTS: [&str; 2] = ["document_meta", "documents"];

/// An open table.
#[derive(Debug)]
pub struct ForeignTable {
    table: Table,
    address: Address,
    version: u64,
    rows: usize,
    columns: Columns,
    /// The indexes of texts and of the vectors.
    indexes: Vec<IndexConfig>,
    /// How the index of the vectors compares them.
    index_distance: Option<ForeignDistance>,
    /// The documents that the table refers to, by the id that it has for them.
    documents: Option<HashMap<String, Document>>,
}

/// A document of a database of haiku.rag.
#[derive(Debug)]
struct Document {
    uri: String,
    title: Option<String>,
}

impl ForeignTable {
    /// Opens the table `name` of the database that is `store`. Without a name, the database has to have one table.
    ///
    /// If documents come from a column `document_id` and the database has a table of documents with `id` and `uri`, as those of haiku.rag do,
    /// a document is known by its `uri`. Of each, `id`, `uri` and title are then in memory.
    ///
    /// # Errors
    ///
    /// There is no such table, it cannot be read, or a column is missing or ambiguous.
    pub async fn open(
        store: &Store,
        name: Option<&str>,
        columns: &ColumnSettings,
    ) -> Result<Self, ForeignError> {
        let uri = store.uri().to_owned();
        if !store.exists()? {
            return Err(ForeignError::NoDatabase { uri });
        }
        let tables = store.names_with("").await?;
        let found = match (name, tables.as_slice()) {
            (Some(name), tables) => tables.iter().find(|table| *table == name),
            (None, [only]) => Some(only),
            (None, _) => None,
        };
        let Some(name) = found else {
            let table = name.map(str::to_owned);
            return Err(ForeignError::NoTable { uri, table, tables });
        };
        let address = store.address(name);
        guarded(&address, Self::read(store, name, columns, &tables)).await
    }

    async fn read(
        store: &Store,
        name: &str,
        asked: &ColumnSettings,
        tables: &[String],
    ) -> Result<Self, ForeignError> {
        let address = store.address(name);
        let (table, columns) = open(store, name, asked).await?;
        let reading = ForeignError::during(&address, "read");
        let is_reference =
            asked.document.is_none() && columns.document.as_deref() == Some(DOCUMENT_ID);
        let mut documents = None;
        for other in DOCUMENTS {
            if is_reference && documents.is_none() && tables.iter().any(|it| it == other) {
                documents = documents_of(store, other).await?;
            }
        }
        let mut opened = Self {
            version: table.version().await.map_err(&reading)?,
            rows: table.count_rows(None).await.map_err(&reading)?,
            indexes: table.list_indices().await.map_err(&reading)?,
            index_distance: None,
            table,
            address,
            columns,
            documents,
        };
        if let Some(index) = opened.vector_index() {
            let statistics = opened.table.index_stats(&index.name).await;
            let statistics = statistics.map_err(&reading)?;
            let distance = statistics.and_then(|it| it.distance_type);
            opened.index_distance = distance.and_then(ForeignDistance::of_engine);
        }
        Ok(opened)
    }

    /// The name of the table.
    pub fn name(&self) -> &str {
        self.table.name()
    }

    /// The version of the table, which grows with every commit.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// How many dimensions the vectors have. `None` for a table without vectors.
    pub fn dimension(&self) -> Option<usize> {
        self.columns.vector.as_ref().map(|it| it.dimension)
    }

    /// Fails unless the vectors, if there are any, are as long as those of the model.
    ///
    /// # Errors
    ///
    /// The dimensions differ.
    pub fn check_model(&self, model: &dyn Embedder) -> Result<(), ForeignError> {
        match self.dimension() {
            Some(found) if found != model.dimension() => Err(ForeignError::Dimension {
                table: self.address.clone(),
                found,
                asked: model.dimension(),
                model: model.identity().to_string(),
            }),
            _ => Ok(()),
        }
    }

    /// Describes the table and its searches in one line.
    pub fn description(&self, search: &ForeignSearch) -> String {
        let mut parts = vec![format!("{} rows", self.rows)];
        let mut add = |what: &str, column: Option<&String>| {
            parts.extend(column.map(|column| format!("{what} in `{column}`")));
        };
        add("documents", self.columns.document.as_ref());
        add("texts", self.columns.text.as_ref());
        if let Some(vectors) = &self.columns.vector {
            let dimension = format!("vectors of {} dimensions", vectors.dimension);
            add(&dimension, Some(&vectors.column));
        }
        if let Some(documents) = &self.documents {
            parts.push(format!(
                "the addresses of {} documents of haiku.rag",
                documents.len()
            ));
        }
        let mode = match self.mode(search) {
            ForeignMode::Vector => "vectors",
            ForeignMode::Keyword => "words",
            ForeignMode::Hybrid => "vectors and words",
        };
        let (table, parts) = (&self.address, parts.join(", "));
        format!("table {table}: {parts}; a search compares {mode}")
    }

    /// The index of texts that a search uses: the only one, or that of the column of texts.
    fn text_index(&self) -> Option<&IndexConfig> {
        let of_texts = |index: &&IndexConfig| index.index_type == IndexType::FTS;
        let own = |index: &&IndexConfig| index.columns.first() == self.columns.text.as_ref();
        let found: Vec<&IndexConfig> = self.indexes.iter().filter(of_texts).collect();
        let own = found.iter().copied().find(own);
        own.or(if found.len() == 1 {
            Some(found[0])
        } else {
            None
        })
    }

    /// The index of the column of vectors.
    fn vector_index(&self) -> Option<&IndexConfig> {
        let column = self.columns.vector.as_ref().map(|it| &it.column);
        let of_vectors = |index: &&IndexConfig| {
            use IndexType::{IvfFlat, IvfHnswFlat, IvfHnswPq, IvfHnswSq, IvfPq, IvfRq, IvfSq};
            let kind = &index.index_type;
            let is_known = matches!(
                kind,
                IvfFlat | IvfHnswFlat | IvfHnswPq | IvfHnswSq | IvfPq | IvfRq | IvfSq
            );
            is_known && column.is_some() && index.columns.first() == column
        };
        self.indexes.iter().find(of_vectors)
    }
}

/// Opens a table and finds its columns.
async fn open(
    store: &Store,
    name: &str,
    columns: &ColumnSettings,
) -> Result<(Table, Columns), ForeignError> {
    let address = store.address(name);
    let connection = store.connection().await?;
    let opened = async {
        let table = connection.open_table(name).execute().await?;
        let schema = table.schema().await?;
        Ok::<_, lancedb::Error>((table, schema))
    };
    let (table, schema) = opened.await.map_err(|source| {
        let source = EngineError::new(source.into());
        let table = address.clone();
        if source.store_fault().is_some() {
            let action = "open";
            return ForeignError::Engine {
                table,
                action,
                source,
            };
        }
        ForeignError::Open { table, source }
    })?;
    let columns = columns::find(columns, &schema);
    let columns = columns.map_err(|(role, problem)| ForeignError::Column {
        table: address,
        role,
        problem,
    })?;
    Ok((table, columns))
}

/// The documents of a table that has `id` and `uri`; `None` if it does not. A document without an address keeps its id.
async fn documents_of(
    store: &Store,
    name: &str,
) -> Result<Option<HashMap<String, Document>>, ForeignError> {
    let address = store.address(name);
    let reading = ForeignError::during(&address, "read");
    let (table, columns) = open(store, name, &ColumnSettings::default()).await?;
    let schema = table.schema().await.map_err(&reading)?;
    if ["id", "uri"]
        .iter()
        .any(|name| schema.field_with_name(name).is_err())
    {
        return Ok(None);
    }
    let mut wanted = vec!["id", "uri"];
    wanted.extend(columns.title.as_deref());
    let query = table.query().select(Select::columns(&wanted));
    let mut rows = query.execute().await.map_err(&reading)?;
    let mut documents = HashMap::new();
    while let Some(batch) = rows.try_next().await.map_err(&reading)? {
        let texts = |name: Option<&str>| texts(&batch, name, &address);
        let (ids, uris) = (texts(Some("id"))?, texts(Some("uri"))?);
        let titles = texts(columns.title.as_deref())?;
        for ((id, uri), title) in ids.into_iter().zip(uris).zip(titles) {
            if let (Some(id), Some(uri)) = (id, uri) {
                documents.insert(id, Document { uri, title });
            }
        }
    }
    Ok(Some(documents))
}

/// The cells of a column as texts; `None` for each row if there is no column.
fn texts(
    batch: &RecordBatch,
    column: Option<&str>,
    address: &Address,
) -> Result<Vec<Option<String>>, ForeignError> {
    let Some(column) = column else {
        return Ok(vec![None; batch.num_rows()]);
    };
    let cells = cast(&batch[column], &DataType::Utf8);
    let cells = cells.map_err(ForeignError::during(address, "read"))?;
    let cells = cells.as_string::<i32>();
    let cell = |row| cells.is_valid(row).then(|| cells.value(row).to_owned());
    Ok((0..cells.len()).map(cell).collect())
}

/// Runs work on a table, and makes an error of a panic of the engine in it.
async fn guarded<T>(
    address: &Address,
    work: impl Future<Output = Result<T, ForeignError>>,
) -> Result<T, ForeignError> {
    caught_async(Box::pin(work))
        .await
        .unwrap_or_else(|Panicked(message)| {
            let table = address.clone();
            Err(ForeignError::Panicked { table, message })
        })
}
