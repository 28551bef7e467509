//! The full-text index of a table: building it, and making sure that it covers every row.

use lancedb::index::Index;
use lancedb::index::scalar::FtsIndexBuilder;
use lancedb::table::Table;

use super::TEXT;
use crate::error::IndexError;
use crate::full_text::FullText;

/// Name of the full-text index within the table.
pub(super) const INDEX_NAME: &str = "text_full_text";

/// Most memory for the lists of terms while the index is built, in MiB. The engine's default is 2 GiB for each worker, which holds the
/// lists of a whole corpus. Beyond the limit it writes a partition, and every search looks into each. Scores are computed with the
/// statistics of all partitions: 30,000 chunks in 12 partitions had the bits of those in one.
const BUILD_MEGABYTES: u64 = 256;

fn parameters(settings: &FullText) -> Result<FtsIndexBuilder, IndexError> {
    let parameters = FtsIndexBuilder::default()
        .language(&settings.language)
        .map_err(|_| IndexError::Setting {
            problem: format!("full-text search has no language `{}`", settings.language),
        })?;
    Ok(parameters
        .stem(settings.stem)
        .remove_stop_words(settings.remove_stop_words)
        .memory_limit_mb(BUILD_MEGABYTES))
}

/// Fails for an unknown language, before anything is read or written.
pub(crate) fn validate(settings: &FullText) -> Result<(), IndexError> {
    parameters(settings).map(drop)
}

/// Indexes all rows of `table`, and replaces an index that an interrupted build may have left.
pub(crate) async fn build(settings: &FullText, table: &Table) -> Result<(), IndexError> {
    table
        .create_index(&[TEXT], Index::FTS(parameters(settings)?))
        .name(INDEX_NAME.to_owned())
        .execute()
        .await
        .map_err(IndexError::during("build the full-text index"))
}

/// Most chunks of an index whose full-text index is loaded into memory. For the 5,183 chunks of `SciFact`, a process needs about 10 MB
/// more, so that this many chunks need about 100 MB.
const MOST_LOADED: usize = 50_000;

/// Loads a small full-text index of `table` into memory. Otherwise each search plans and performs reads of its terms' lists.
pub(crate) async fn load(table: &Table, chunks: usize) -> Result<(), IndexError> {
    if chunks > MOST_LOADED {
        return Ok(());
    }
    let loaded = table.prewarm_index(INDEX_NAME).await;
    loaded.map_err(IndexError::during("read the full-text index"))
}

/// How many rows the full-text index of `table` covers. A row that it does not cover is scored with other corpus statistics than the
/// rest, so nothing may be searched before all rows are covered.
pub(crate) async fn coverage(table: &Table) -> Result<Option<Coverage>, IndexError> {
    let statistics = table
        .index_stats(INDEX_NAME)
        .await
        .map_err(IndexError::during("read the full-text index's statistics"))?;
    Ok(statistics.map(|statistics| Coverage {
        indexed: statistics.num_indexed_rows,
        left_out: statistics.num_unindexed_rows,
    }))
}

/// Rows inside and outside a full-text index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Coverage {
    pub(crate) indexed: usize,
    pub(crate) left_out: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_languages_are_refused() {
        let klingon = FullText {
            language: "Klingon".to_owned(),
            ..FullText::default()
        };
        let error = validate(&klingon).unwrap_err();
        assert_eq!(
            error.to_string(),
            "full-text search has no language `Klingon`"
        );
        assert!(validate(&FullText::default()).is_ok());
    }
}
