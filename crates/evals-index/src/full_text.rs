use std::fmt;

use lancedb::index::Index;
use lancedb::index::scalar::FtsIndexBuilder;
use lancedb::table::Table;
use serde::{Deserialize, Serialize};

use crate::table::TEXT;
use crate::{EngineError, IndexError};

/// What cuts text into terms, as an identity records it: terms may change with its version.
pub(crate) const ANALYZER: &str = "lance 14.0.2";

/// How text is cut into the terms that BM25 counts.
///
/// Terms are maximal runs of letters and digits of at most 40 bytes, in lower case, stemmed, without stop words, and folded to
/// ASCII, in this order. The score of a chunk `d` for a question `q` over `N` chunks is
///
/// ```text
/// Σ over the terms t of q, repeated ones included:  idf(t) · (k1 + 1) · tf / (tf + k1 · (1 − b + b · |d| / mean |d|))
/// idf(t) = ln(1 + (N − n + 0.5) / (n + 0.5)),   k1 = 1.2,   b = 0.75
/// ```
///
/// with `tf` the occurrences of `t` in `d` and `n` the number of chunks that hold `t` (Robertson and Zaragoza, *The Probabilistic
/// Relevance Framework: BM25 and Beyond*, 2009, with Lucene's idf, which is never negative). A filter leaves `N`, `n` and the
/// mean length as they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FullText {
    /// Language of the stemmer and the stop words, by its English name: `English` (default), `German`, `French` …
    pub language: String,
    /// Whether terms are reduced to their stems (Snowball). Default true.
    pub stem: bool,
    /// Whether words such as *the* are left out, of chunks and of questions. Default true.
    pub remove_stop_words: bool,
}

impl Default for FullText {
    fn default() -> Self {
        Self {
            language: "English".to_owned(),
            stem: true,
            remove_stop_words: true,
        }
    }
}

impl fmt::Display for FullText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |present, name| if present { name } else { "" };
        write!(
            formatter,
            "{}{}{}",
            self.language,
            part(self.stem, ", stemmed"),
            part(self.remove_stop_words, ", without stop words")
        )
    }
}

/// Name of the full-text index in the table.
const INDEX_NAME: &str = "text_full_text";

impl FullText {
    fn parameters(&self) -> Result<FtsIndexBuilder, IndexError> {
        let parameters = FtsIndexBuilder::default()
            .language(&self.language)
            .map_err(|source| IndexError::Language {
                language: self.language.clone(),
                source: EngineError::new(source.into()),
            })?;
        Ok(parameters
            .stem(self.stem)
            .remove_stop_words(self.remove_stop_words))
    }

    /// Refuses a language that is not known, before anything is read or written.
    pub(crate) fn validate(&self) -> Result<(), IndexError> {
        self.parameters().map(drop)
    }

    /// Indexes all rows of `table`, replacing an index that an interrupted build may have left.
    pub(crate) async fn build(&self, table: &Table) -> Result<(), IndexError> {
        table
            .create_index(&[TEXT], Index::FTS(self.parameters()?))
            .name(INDEX_NAME.to_owned())
            .execute()
            .await
            .map_err(EngineError::during("build the full-text index"))
    }
}

/// Chunks up to which the full-text index is read into memory before it is searched. With the 5,183 of `SciFact` a process peaks
/// some 10 MB higher, so that this many take about 100 MB.
const MOST_HELD: usize = 50_000;

/// Reads the full-text index of `table` into memory where it is small: each search would else read the lists of its terms, and
/// plan for it.
pub(crate) async fn hold(table: &Table, chunks: usize) -> Result<(), IndexError> {
    // What a server holds is its own affair.
    if chunks > MOST_HELD || table.dataset().is_none() {
        return Ok(());
    }
    let held = table.prewarm_index(INDEX_NAME).await;
    held.map_err(EngineError::during("read the full-text index"))
}

/// How many rows the full-text index of `table` covers and leaves out. A row left out is scored by other corpus statistics than
/// the rest, so nothing may be searched before it is covered.
pub(crate) async fn coverage(table: &Table) -> Result<Option<Coverage>, IndexError> {
    let statistics = table
        .index_stats(INDEX_NAME)
        .await
        .map_err(EngineError::during("read the full-text index's statistics"))?;
    Ok(statistics.map(|statistics| Coverage {
        indexed: statistics.num_indexed_rows,
        left_out: statistics.num_unindexed_rows,
    }))
}

/// Rows inside and outside an index.
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
        let error = klingon.validate().unwrap_err();
        assert_eq!(
            error.to_string(),
            "full-text search has no language `Klingon`"
        );
        assert!(FullText::default().validate().is_ok());
    }

    #[test]
    fn names_what_it_does() {
        assert_eq!(
            FullText::default().to_string(),
            "English, stemmed, without stop words"
        );
        let plain = FullText {
            stem: false,
            remove_stop_words: false,
            ..FullText::default()
        };
        assert_eq!(plain.to_string(), "English");
    }
}
