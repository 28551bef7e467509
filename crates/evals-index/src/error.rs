//! Why an index cannot be built, opened or searched.

use std::error::Error;
use std::io;
use std::path::PathBuf;

use evals_messages::quantity;
use evals_metrics::RankingError;
use evals_models::{EmbedError, ModelIdentity};
use evals_rag::SearchError;
use thiserror::Error;

use crate::address::Address;
use crate::embedding_defect::EmbeddingDefect;
use crate::engine_error::EngineError;
use crate::lock_holder::LockHolder;
use crate::profile::Profile;
use crate::store_fault::StoreFault;
use crate::summary::{TableState, TableSummary};
use evals_rag::VectorSearchError;

/// Why an index could not be built, opened or searched.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum IndexError {
    /// The location is in an object store, but the crate was built without the feature `stores`.
    #[error("`{uri}` is in an object store, and this program was built without them")]
    WithoutStores {
        /// The location.
        uri: String,
    },
    /// A location that no store can have.
    #[error("{problem}")]
    Location {
        /// The problem. It does not repeat the address of an object store, because that may hold a password.
        problem: String,
    },
    /// An object store cannot be used.
    #[error("cannot use the store `{uri}`")]
    Store {
        /// The store.
        uri: String,
        /// The engine's error.
        source: EngineError,
    },
    /// An object store replaced an object although the request told it to create the object only if it does not exist.
    #[error(
        "the store `{uri}` ignores `If-None-Match`: it replaced an object that existed already; two processes that write at the same time \
         would lose data without an error"
    )]
    Unconditional {
        /// The store.
        uri: String,
    },
    /// The lists of an object store are not those of its objects.
    #[error("the store `{uri}` lists its objects wrongly: {fault}")]
    Listing {
        /// The store.
        uri: String,
        /// What is wrong with its lists.
        fault: String,
    },
    /// The object that tries out a store could not be deleted.
    #[error(
        "the object `{object}`, with which this program tried out the store, may be left there; delete it"
    )]
    Trial {
        /// The address of the object.
        object: String,
        /// The first failure: of the trial, or else of the deletion.
        source: Box<IndexError>,
    },
    /// The object that says which process writes to an object store cannot be read.
    #[error(
        "cannot read from the lock `{lease}` which process writes to the store; if no process writes, delete it"
    )]
    Lease {
        /// The address of the object.
        lease: String,
        /// The fault in it.
        source: serde_json::Error,
    },
    /// A relative path could not be made absolute, or the folder of the store could not be created.
    #[error("cannot use `{path}` as the folder of an index")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// Another process is building an index in this store.
    #[error("the index is being built by {holder}, which holds the lock `{lock}`")]
    Busy {
        /// The lock file, or the lock's object in an object store.
        lock: String,
        /// Who holds it.
        holder: LockHolder,
    },
    /// The lock that a build needs could not be taken, because the store is read-only or does not exist.
    #[error("cannot write to the store: cannot take the lock `{lock}`")]
    Lock {
        /// The lock file.
        lock: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// Nothing exists at the store's location.
    #[error("no index store at `{uri}`")]
    NoStore {
        /// The store.
        uri: String,
    },
    /// No table of the store was made with these settings.
    #[error("no index in `{uri}` matches the settings{}", list(.tables))]
    NoMatch {
        /// The store.
        uri: String,
        /// The tables of the store, each with its differences from the settings.
        tables: Vec<TableSummary>,
    },
    /// The store has no index, but tables that another program wrote.
    #[error(
        "`{uri}` has no index of this program; it is a database of a different one, with {}", names(.tables)
    )]
    OfOthers {
        /// The store.
        uri: String,
        /// The tables of the database.
        tables: Vec<String>,
    },
    /// The build of the table was interrupted.
    #[error(
        "the index in table `{table}` of `{uri}` is incomplete: its build was interrupted; build it again to resume"
    )]
    Incomplete {
        /// The store.
        uri: String,
        /// The table.
        table: String,
    },
    /// The table cannot be read: its files are damaged, or the storage failed.
    #[error(
        "cannot read the index in table {table}; if its files are damaged, delete `{}` to rebuild it", .table.folder()
    )]
    Unreadable {
        /// The table.
        table: Address,
        /// The engine's error.
        source: EngineError,
    },
    /// A file of a table, or the record of its files, cannot be read or written.
    #[error("cannot read or write `{path}`, which belongs to the index in table {table}")]
    File {
        /// The table.
        table: Address,
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The storage engine panicked.
    #[error(
        "the storage engine panicked on table {table}: {message}; if it happens again, delete `{}` to rebuild the index",
        .table.folder()
    )]
    Panicked {
        /// The table.
        table: Address,
        /// The message of the panic.
        message: String,
    },
    /// The table contradicts the records that were made when it was finished.
    #[error(
        "the index in table {table} is damaged: {defect}; delete `{}` to rebuild it", .table.folder()
    )]
    Damaged {
        /// The table.
        table: Address,
        /// The problem.
        defect: String,
    },
    /// An unfinished table has other documents than the dataset has now.
    #[error(
        "cannot resume the build of table {table}: {difference}; delete `{}` to rebuild it", .table.folder()
    )]
    Diverged {
        /// The table.
        table: Address,
        /// The difference.
        difference: String,
    },
    /// The documents cannot be indexed: there are none, or one of them cannot be searched or told from another.
    #[error("{problem}")]
    Corpus {
        /// The problem.
        problem: String,
    },
    /// A setting of the chunks or of the full-text index is not usable.
    #[error("{problem}")]
    Setting {
        /// The problem.
        problem: String,
    },
    /// A document could not be read.
    #[error("cannot read document {number}")]
    Documents {
        /// Number of the document, from 1.
        number: usize,
        /// The reader's error.
        source: Box<dyn Error + Send + Sync>,
    },
    /// Chunks could not be embedded.
    #[error("cannot embed chunks of the documents from `{document}` on")]
    Embed {
        /// The first document of the batch.
        document: String,
        /// The embedder's error.
        source: Box<EmbedError>,
    },
    /// The embedder returned vectors that cannot be searched.
    #[error("the embedding by `{model}` of chunk {ordinal} of document `{document}` is unusable")]
    Embedding {
        /// The model that embedded it.
        model: ModelIdentity,
        /// The document.
        document: String,
        /// The chunk's number within it.
        ordinal: u32,
        /// The defect.
        source: EmbeddingDefect,
    },
    /// The question could not be embedded.
    #[error("cannot embed the question `{question}`")]
    Question {
        /// The question.
        question: String,
        /// The embedder's error, or the defect of its vector.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A question searched on its own has another result than the same question searched with others.
    #[error(
        "searching `{question}` by `{profile}` on its own and with all questions at once gave different results, which is an error of \
         this program; report it, and search one by one with a `search.latency_sample` of all questions"
    )]
    Inconsistent {
        /// The profile.
        profile: String,
        /// The question.
        question: String,
    },
    /// The profile compares vectors, and the index has none.
    #[error("the profile `{profile}` needs embeddings, which the index does not have")]
    NoEmbeddings {
        /// The profile.
        profile: Profile,
    },
    /// The index of the vectors does not exist, and nothing may be built.
    #[error("`{uri}` has no finished index of the vectors for approximate search: {search}")]
    NoVectorIndex {
        /// The store.
        uri: String,
        /// The parameters of the search.
        search: String,
    },
    /// The settings of the vector search do not fit the index.
    #[error("bad value for `search.index.{}`", .0.parameter)]
    VectorSearch(#[source] VectorSearchError),
    /// The storage engine would not search the index of the vectors, or would also search outside it: comparing the question with other rows
    /// would give other results and times.
    #[error("{problem}")]
    IndexNotUsed {
        /// The problem.
        problem: String,
    },
    /// The filter is not a condition over the columns of documents.
    #[error("the filter `{filter}` is not a condition over the columns {columns}{hint}")]
    Filter {
        /// The filter.
        filter: String,
        /// The columns, each in backticks.
        columns: String,
        /// Advice for the user, after a semicolon; may be empty.
        hint: &'static str,
        /// The engine's error.
        source: EngineError,
    },
    /// The filter is a condition, but computing it failed for the documents of the index.
    #[error("the filter `{filter}` cannot be applied to the documents")]
    FilterFailed {
        /// The filter.
        filter: String,
        /// The engine's error.
        source: EngineError,
    },
    /// Somebody wrote to the table after it was opened.
    #[error(
        "the index changed while it was searched: row {row_id} did not exist when it was opened"
    )]
    Changed {
        /// The engine's number of the row.
        row_id: u64,
    },
    /// A search returned hits that cannot be ranked.
    #[error("the search results cannot be ranked")]
    Ranking(#[from] RankingError),
    /// The storage engine failed.
    #[error("cannot {action}")]
    Engine {
        /// The action that failed.
        action: &'static str,
        /// The engine's error.
        source: EngineError,
    },
    /// The storage engine failed on a table: the disk is full, or the table was deleted while it was searched.
    #[error("cannot {action} in table {table}")]
    Table {
        /// The table.
        table: Address,
        /// The action that failed.
        action: &'static str,
        /// The engine's error.
        source: EngineError,
    },
    /// A task of the build ended without a result.
    #[error("a task of the build stopped early")]
    Task(#[from] tokio::task::JoinError),
}

impl IndexError {
    /// Makes an error of the engine's failure to do `action`; an argument for `map_err`.
    pub(crate) fn during<E>(action: &'static str) -> impl Fn(E) -> Self
    where
        E: Error + Send + Sync + 'static,
    {
        move |source| Self::Engine {
            action,
            source: EngineError::new(Box::new(source)),
        }
    }

    /// The error of a table that cannot be read.
    pub(crate) fn unreadable(table: Address, source: EngineError) -> Self {
        if source.store_fault().is_none() {
            return Self::Unreadable { table, source };
        }
        // The files are sound.
        let action = "read the index";
        Self::Table {
            table,
            action,
            source,
        }
    }

    /// Makes an error of documents that cannot be indexed.
    pub(crate) fn corpus(problem: impl Into<String>) -> Self {
        Self::Corpus {
            problem: problem.into(),
        }
    }

    /// Adds the table to an error of the engine.
    pub(crate) fn on_table(self, table: &Address) -> Self {
        match self {
            Self::Engine { action, source } => Self::Table {
                table: table.clone(),
                action,
                source,
            },
            other => other,
        }
    }

    /// Adds the store to an error of the engine, if the store failed.
    pub(crate) fn in_store(self, uri: &str) -> Self {
        match self {
            Self::Engine { source, .. } if source.store_fault().is_some() => Self::Store {
                uri: uri.to_owned(),
                source,
            },
            other => other,
        }
    }

    /// The kind of the operating system's error behind a failure of the storage engine, if there was one.
    pub fn io_error_kind(&self) -> Option<io::ErrorKind> {
        match self {
            Self::Engine { source, .. }
            | Self::Table { source, .. }
            | Self::Unreadable { source, .. } => source.io_error_kind(),
            _ => None,
        }
    }

    /// The location of the store behind this error, where the error names it.
    pub fn store_uri(&self) -> Option<&str> {
        match self {
            Self::Store { uri, .. } => Some(uri),
            Self::Trial { source, .. } => source.store_uri(),
            Self::Table { table, .. } => Some(table.store()),
            _ => None,
        }
    }

    /// The failure of the object store behind this error, if there was one.
    pub fn store_fault(&self) -> Option<StoreFault> {
        match self {
            Self::Store { source, .. }
            | Self::Engine { source, .. }
            | Self::Table { source, .. } => source.store_fault().cloned(),
            Self::Trial { source, .. } => source.store_fault(),
            _ => None,
        }
    }
}

/// The engine has repeated the request to an object store already. It would do so for each other question, too.
impl From<IndexError> for SearchError {
    fn from(error: IndexError) -> Self {
        if error.store_fault().is_some() {
            Self::of_every_search(error)
        } else {
            Self::new(error)
        }
    }
}

/// Most tables that a message names.
const NAMED: usize = 10;

/// The names of tables, for a message.
pub(crate) fn names(tables: &[String]) -> String {
    let named = tables.iter().take(NAMED);
    let named: Vec<String> = named.map(|table| format!("`{table}`")).collect();
    let others = match tables.len() - named.len() {
        0 => String::new(),
        others => format!(" and {}", quantity::of(others, "other")),
    };
    let noun = if tables.len() == 1 { "table" } else { "tables" };
    format!("the {noun} {}{others}", named.join(", "))
}

/// The table that differs from the settings in the fewest fields, for a message.
fn list(tables: &[TableSummary]) -> String {
    let unlike = |table: &&TableSummary| match table.state {
        TableState::Unreadable => usize::MAX,
        _ => table.differences.len(),
    };
    let Some(nearest) = tables.iter().min_by_key(unlike) else {
        return "; the store is empty".to_owned();
    };
    match tables.len() - 1 {
        0 => format!("\n  {nearest}"),
        others => format!("; the nearest of {}\n  {nearest}", others + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn finds_the_error_of_the_operating_system() {
        let engine = |error: io::Error| IndexError::Engine {
            action: "write",
            source: EngineError::new(error.into()),
        };
        let full = || io::Error::from_raw_os_error(28);
        let wrapped = io::Error::other(io::Error::other(full()));
        for error in [full(), wrapped] {
            assert_eq!(
                engine(error).io_error_kind(),
                Some(io::ErrorKind::StorageFull)
            );
        }
        assert_eq!(engine(io::Error::other("engine")).io_error_kind(), None);
    }
}
