/// What a search is restricted to, and what it returns besides the ranking.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchOptions {
    /// A WHERE clause over `uri`, `title` and `metadata` (a JSON text) that documents have to meet. Applied before ranking; the
    /// statistics behind BM25 stay those of the whole corpus.
    pub filter: Option<String>,
    /// How many of the best passages are returned with their texts; default 0, which reads none. Several may come from one
    /// document, and all come from the documents of the ranking.
    pub passages: usize,
    /// Whether results are shared with other profiles.
    pub cache: CachePolicy,
}

/// What happens to the embeddings of questions and to the results of the searches that profiles are made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CachePolicy {
    /// They are kept for all searchers of the index. A stage served so keeps the duration of the original, marked as cached.
    #[default]
    Shared,
    /// They are computed for each question anew, as repeated measurements of latency need it.
    Fresh,
}
