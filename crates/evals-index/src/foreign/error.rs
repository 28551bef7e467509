//! Why a table of another program cannot be searched.

use thiserror::Error;

use crate::address::Address;
use crate::engine_error::EngineError;
use crate::error::{IndexError, names};

/// Why a table that another program wrote could not be opened or searched.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ForeignError {
    /// Nothing exists at the location.
    #[error("no database at `{uri}`")]
    NoDatabase {
        /// The location.
        uri: String,
    },
    /// The database has no such table, or several and none was named.
    #[error("{}", no_table(.table.as_deref(), .uri, .tables))]
    NoTable {
        /// The database.
        uri: String,
        /// The table that was asked for, if one was.
        table: Option<String>,
        /// The tables that it has.
        tables: Vec<String>,
    },
    /// The table cannot be opened.
    #[error(
        "cannot open the table {table}; either its files are damaged, or a newer version of LanceDB than this program knows wrote it"
    )]
    Open {
        /// The table.
        table: Address,
        /// The engine's error.
        source: EngineError,
    },
    /// No column can hold what is needed, or several can.
    #[error("the table {table} {problem}")]
    Column {
        /// The table.
        table: Address,
        /// What the column holds: `document`, `title`, `text` or `vector`.
        role: &'static str,
        /// The problem, as the end of a sentence about the table.
        problem: String,
    },
    /// The table lacks an index that the search needs.
    #[error("the table {table} {problem}")]
    Index {
        /// The table.
        table: Address,
        /// The problem, as the end of a sentence about the table.
        problem: String,
    },
    /// The vectors are not of the model.
    #[error(
        "the vectors of the table {table} have {found} dimensions, and those of the embedding model `{model}` have {asked}; set `embeddings.model` to \
         the model that made them"
    )]
    Dimension {
        /// The table.
        table: Address,
        /// The dimensions of the column.
        found: usize,
        /// The dimensions of the model.
        asked: usize,
        /// The model.
        model: String,
    },
    /// The filter is not a condition over the table's columns.
    #[error("the filter `{filter}` cannot be applied to the table {table}")]
    Filter {
        /// The table.
        table: Address,
        /// The filter.
        filter: String,
        /// The engine's error.
        source: EngineError,
    },
    /// The filter leaves nothing to search.
    #[error("no row of the table {table} matches the filter `{filter}`")]
    NothingLeft {
        /// The table.
        table: Address,
        /// The filter.
        filter: String,
    },
    /// The engine failed.
    #[error("cannot {action} the table {table}")]
    Engine {
        /// The table.
        table: Address,
        /// The action that failed.
        action: &'static str,
        /// The engine's error.
        source: EngineError,
    },
    /// The engine panicked.
    #[error("the storage engine panicked on the table {table}: {message}")]
    Panicked {
        /// The table.
        table: Address,
        /// The message of the panic.
        message: String,
    },
    /// The location cannot be used.
    #[error(transparent)]
    Store(Box<IndexError>),
}

impl From<IndexError> for ForeignError {
    fn from(error: IndexError) -> Self {
        Self::Store(Box::new(error))
    }
}

impl ForeignError {
    /// Makes an error of the engine's failure to do `action` to a table; an argument for `map_err`.
    pub(super) fn during<E>(table: &Address, action: &'static str) -> impl Fn(E) -> Self + use<E>
    where
        E: std::error::Error + Send + Sync + 'static,
    {
        let table = table.clone();
        move |source| Self::Engine {
            table: table.clone(),
            action,
            source: EngineError::new(Box::new(source)),
        }
    }
}

fn no_table(table: Option<&str>, uri: &str, tables: &[String]) -> String {
    if tables.is_empty() {
        return format!("the database `{uri}` has no tables");
    }
    let problem = match table {
        Some(table) => format!("`{uri}` has no table `{table}`"),
        None => format!("`{uri}` is a database; name a table of it, as in `{uri}#TABLE`"),
    };
    format!("{problem}; it has {}", names(tables))
}
