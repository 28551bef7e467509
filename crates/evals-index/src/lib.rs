//! An index over [LanceDB](https://lancedb.github.io/lancedb): it splits documents into chunks, embeds them, writes them to a table with
//! a full-text index, and searches the table by profiles. No other crate of the workspace depends on the engine.
//!
//! A [`Recipe`] states what an index is made from. Its [`Identity`] names the table and is stored in it, so a [`Store`] holds one index
//! for each combination of settings and never confuses two of them. [`Index::build`] reads documents as a stream and may be killed at
//! any time: the next build resumes after the last committed document, and only a table with a record of its completion is ever
//! searched. No text stays in memory. For each document, a build keeps a fingerprint of the uri (24 bytes, about twice that in the set
//! that finds duplicates), and an open index keeps the uri and 24 bytes.
//!
//! Rankings are reproducible and comparable:
//!
//! * Search is exact unless [`Index::with_vector_search`] asks for an approximate index of the engine, and then the engine's plan is checked:
//!   it has to use that index and nothing else. The engine's own fusion of the two searches is never used.
//! * Among equal scores, the document with the greater id comes first, as in `trec_eval`. The engine breaks ties arbitrarily, so it is
//!   asked for more chunks until none outside the answer can have the score at the cut.
//! * A ranking consists of documents, each with the score of its best chunk. Searches go deeper until they find `k` distinct documents.
//!   Hybrid profiles fuse chunks and then reduce them to documents. The number of fused chunks is a setting of its own
//!   ([`SearchOptions::candidates`]), so that the ranking of fewer documents is the beginning of the ranking of more.
//!
//! ```
//! # #![recursion_limit = "256"]
//! use std::convert::Infallible;
//!
//! use evals_index::{BuildOptions, Chunker, Index, Profile, Recipe, SearchOptions, Store, Unobserved};
//! use evals_rag::Document;
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let store = Store::open(folder.path().to_str().expect("the path is UTF-8")).await?;
//! let recipe = Recipe::new("fruit, edition 1", Chunker::whole_documents());
//! let documents = [("a", "apples and pears"), ("b", "a pear tree")].map(|(uri, text)| {
//!     let (title, metadata) = (None, serde_json::Map::new());
//!     Ok::<_, Infallible>(Document { uri: uri.to_owned(), title, text: text.to_owned(), metadata })
//! });
//! let built = Index::build(&store, &recipe, documents, &BuildOptions::default(), &Unobserved).await?;
//! let searcher = built.index.searcher(Profile::Bm25, &SearchOptions::default()).await?;
//! let retrieved = searcher.search("Which tree?", 10).await?;
//! let ids: Vec<_> = retrieved.ranking.iter().map(|document| document.id.as_str()).collect();
//! assert_eq!(ids, ["b"]);
//! # Ok(())
//! # }
//! ```
#![recursion_limit = "256"]

mod address;
mod approximation;
mod chunking;
mod embedding_defect;
mod engine_error;
mod environment;
mod error;
mod foreign;
mod full_text;
mod guard;
mod header;
mod identity;
mod index;
mod ingest;
mod lock_holder;
mod neighbours;
mod profile;
mod recipe;
mod retries;
mod search;
mod store;
mod store_fault;
mod summary;
mod table;
mod vector_table;
mod vectors;
/// Shared with the tests of the public interface.
#[cfg(test)]
#[path = "../tests/it/words.rs"]
mod words;

pub use address::Address;
pub use approximation::{Approximation, VectorIndex};
pub use chunking::Chunker;
pub use embedding_defect::EmbeddingDefect;
pub use engine_error::EngineError;
pub use environment::environment;
pub use error::IndexError;
pub use foreign::{
    ForeignDistance, ForeignError, ForeignHit, ForeignMode, ForeignSearch, ForeignTable,
};
pub use full_text::FullText;
pub use header::CutChunks;
pub use identity::{ChunkingIdentity, Difference, EmbedderIdentity, Identity};
pub use index::{Built, Index, IndexStatistics};
pub use ingest::{BuildObserver, BuildOptions, BuildProgress, BuildReport, BuildStage, Unobserved};
pub use lock_holder::LockHolder;
pub use profile::{Fusion, Profile, UnknownProfile};
pub use recipe::Recipe;
pub use retries::{StoreRetry, watch_retries};
pub use search::{
    BatchObserver, BatchProgress, BatchStage, CachePolicy, QuestionBatch, SearchOptions,
};
pub use store::{Store, StoreSettings};
pub use store_fault::StoreFault;
pub use summary::{TableState, TableSummary};
pub use vectors::{VectorCollection, VectorNeighbour, VectorWriter};
