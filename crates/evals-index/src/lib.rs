//! An index over [LanceDB](https://lancedb.github.io/lancedb): documents are cut into chunks, embedded and written to a table with
//! a full-text index, and profiles search it. No other crate of the workspace knows the engine.
//!
//! A [`Recipe`] says what an index is made of; its [`Identity`] names the table and is stored in it, so that a [`Store`] holds one
//! index for each combination of settings and none is taken for another. [`Index::build`] streams documents in and may be killed at
//! any time: it continues after the last document that it committed, and only a table with a record of its completion is ever
//! searched. No text stays in memory: of each document that it has read, a build keeps a fingerprint of the uri (24 bytes, about
//! twice that in the set that finds duplicates) and an open index the uri and 24 bytes.
//!
//! Rankings are made to be compared:
//!
//! * Search is exact. The engine's approximate indexes are never used, nor its own fusion of the two searches.
//! * Of equal scores, the document with the greater id comes first, as in `trec_eval`. The engine breaks such ties at random, so it
//!   is asked for more than needed until no chunk outside the answer can have the score at the cut.
//! * Rankings are of documents, each with the score of its best chunk. Searches go deeper until `k` distinct documents are found.
//!   Hybrid profiles fuse chunks, and reduce them to documents afterwards; how many chunks is a setting of its own
//!   ([`SearchOptions::candidates`]), so that asking for fewer documents gives the first of the same ranking.
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
mod chunking;
mod embedding_defect;
mod engine_error;
mod environment;
mod error;
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
mod search;
mod store;
mod summary;
mod table;
/// Shared with the tests of the public interface.
#[cfg(test)]
#[path = "../tests/it/words.rs"]
mod words;

pub use address::Address;
pub use chunking::Chunker;
pub use embedding_defect::EmbeddingDefect;
pub use engine_error::EngineError;
pub use environment::environment;
pub use error::IndexError;
pub use full_text::FullText;
pub use header::CutChunks;
pub use identity::{ChunkingIdentity, Difference, EmbedderIdentity, Identity};
pub use index::{Built, Index, IndexStatistics};
pub use ingest::{BuildObserver, BuildOptions, BuildProgress, BuildReport, BuildStage, Unobserved};
pub use lock_holder::LockHolder;
pub use profile::{Fusion, Profile, UnknownProfile};
pub use recipe::Recipe;
pub use search::{CachePolicy, SearchOptions};
pub use store::{Store, StoreSettings};
pub use summary::{TableState, TableSummary};
