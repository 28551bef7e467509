use lancedb::table::Table;
use serde::{Deserialize, Serialize};

use crate::table::{CUT, VECTOR};
use crate::{EngineError, IndexError, table};

/// Of how many chunks of an index the embedding model read only the beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutChunks {
    /// Chunks of which it is known.
    pub cut: usize,
    /// Embedded chunks of which it is not known: the model, or the store that had their vectors, does not tell.
    pub unknown: usize,
}

impl CutChunks {
    /// Counts the chunks of a table; `None` where it has no vectors, and where an earlier version began it.
    pub(crate) async fn count(table: &Table) -> Result<Option<Self>, IndexError> {
        if !table::has_column(table, CUT).await? {
            return Ok(None);
        }
        let count = async |filter: String| {
            let counted = table.count_rows(Some(filter)).await;
            counted.map_err(EngineError::during("count the chunks that were cut"))
        };
        Ok(Some(Self {
            cut: count(CUT.to_owned()).await?,
            unknown: count(format!("{CUT} IS NULL AND {VECTOR} IS NOT NULL")).await?,
        }))
    }
}
