use std::num::NonZeroUsize;

/// What a search is restricted to, how deep it goes, and what it returns besides the ranking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchOptions {
    /// A WHERE clause over `uri`, `title` and `metadata` (a JSON text, as in `metadata LIKE '%"topic":"Sports"%'`) that documents
    /// have to meet. Applied before ranking; the statistics behind BM25 stay those of the whole corpus.
    ///
    /// It is made of texts, numbers, `TRUE`, `FALSE` and `NULL`; `AND`, `OR`, `NOT`; `=`, `<>`, `<`, `<=`, `>`, `>=`; `IN`, `LIKE`,
    /// `ILIKE`, `BETWEEN`, `IS NULL`, `IS TRUE`; `CAST` and `TRY_CAST` to `INT`, `BIGINT` and `DOUBLE`; and the functions `btrim`,
    /// `character_length`, `coalesce`, `contains`, `ends_with`, `left`, `length`, `lower`, `ltrim`, `nullif`, `octet_length`,
    /// `reverse`, `right`, `rtrim`, `split_part`, `starts_with` and `upper`. Anything else is refused.
    pub filter: Option<String>,
    /// How many chunks each search contributes to a hybrid profile, which fuses them before it reduces them to documents. Default
    /// [`SearchOptions::CANDIDATES`].
    ///
    /// Fused scores depend on it, so it does not follow `k`: the ranking for a small `k` is the beginning of that for a large one.
    /// Only where the candidates hold fewer than `k` documents do the searches go deeper, and `k` decides. Profiles of a single
    /// search give the same ranking for any number.
    pub candidates: NonZeroUsize,
    /// How many of the best passages are returned with their texts; default 0, which reads none. Several may come from one
    /// document, and all come from the documents of the ranking.
    pub passages: usize,
    /// Of how many of the best documents the best passage is returned too, however far behind it is: what a reranker reads. Default 0.
    pub best_of: usize,
    /// Whether results are shared with other profiles.
    pub cache: CachePolicy,
}

impl SearchOptions {
    /// The default of [`candidates`](Self::candidates): ten for each document of a ranking of 100.
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

/// What happens to the embeddings of questions and to the results of the searches that profiles are made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CachePolicy {
    /// They are kept for all searchers of the index, up to 64 MiB. A stage served so keeps the duration of the original, marked as
    /// cached. Searchers share results of the same filter and the same number of candidates.
    #[default]
    Shared,
    /// They are computed for each question anew, as repeated measurements of latency need it.
    Fresh,
}
