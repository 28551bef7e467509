//! The settings of a searcher.

use std::num::NonZeroUsize;

/// Which documents a search may find, how deep it goes, and what it returns besides the ranking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchOptions {
    /// A WHERE clause over `uri`, `title` and `metadata` (a JSON text, as in `metadata LIKE '%"topic":"Sports"%'`) that documents
    /// have to meet. It applies before ranking; BM25 keeps the statistics of the whole corpus.
    ///
    /// It may contain texts, numbers, `TRUE`, `FALSE` and `NULL`; `AND`, `OR`, `NOT`; `=`, `<>`, `<`, `<=`, `>`, `>=`; `IN`, `LIKE`,
    /// `ILIKE`, `BETWEEN`, `IS NULL`, `IS TRUE`; `CAST` and `TRY_CAST` to `INT`, `BIGINT` and `DOUBLE`; and the functions `btrim`,
    /// `character_length`, `coalesce`, `contains`, `ends_with`, `left`, `length`, `lower`, `ltrim`, `nullif`, `octet_length`,
    /// `reverse`, `right`, `rtrim`, `split_part`, `starts_with` and `upper`. Anything else is an error.
    pub filter: Option<String>,
    /// How many chunks each search contributes to a hybrid profile, which fuses them before it reduces them to documents. Default
    /// [`SearchOptions::CANDIDATES`].
    ///
    /// Fused scores depend on this number. It is independent of `k`, so that the ranking for a small `k` is the beginning of the one
    /// for a large `k`. The searches go deeper only if the candidates belong to fewer than `k` documents. Profiles of a single search
    /// give the same ranking for any number of candidates.
    pub candidates: NonZeroUsize,
    /// How many of the best passages are returned with their texts. Default 0, which reads no texts. Several passages may come from
    /// one document; all come from documents of the ranking.
    pub passages: usize,
    /// For how many of the best documents the best passage is returned as well, however low its score: a reranker reads these.
    /// Default 0.
    pub best_of: usize,
    /// Whether searchers share results.
    pub cache: CachePolicy,
}

impl SearchOptions {
    /// The default of [`candidates`](Self::candidates): ten chunks for each document of a ranking of 100.
    pub const CANDIDATES: NonZeroUsize = NonZeroUsize::new(1000).expect("1000 is not 0");
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            filter: None,
            candidates: Self::CANDIDATES,
            passages: 0,
            best_of: 0,
            cache: CachePolicy::default(),
        }
    }
}

/// Whether the embeddings of questions and the results of searches are cached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CachePolicy {
    /// All searchers of the index share them, up to 64 MiB. A stage that is served from the cache reports the original duration and is
    /// marked as cached. Searchers share results for the same filter and the same number of candidates.
    #[default]
    Shared,
    /// They are computed again for each question, as measurements of latency need.
    Fresh,
}
