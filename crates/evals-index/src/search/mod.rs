//! Searching a finished index: the two searches, their results, and the profiles that combine them.

mod batch;
mod cache;
pub(crate) mod engine_query;
mod filter;
mod fusion;
mod hit;
mod leg;
mod options;
pub(crate) mod passages;
mod question;
mod searcher;
mod timings;
mod unranked;

pub(crate) use batch::{BatchSearcher, Cosines, compare_all, reading, scan};
pub(crate) use cache::Cache;
pub(crate) use filter::Filter;
pub(crate) use hit::Hit;
pub(crate) use leg::UsualTies;
pub(crate) use searcher::IndexSearcher;

pub use batch::{BatchObserver, BatchProgress, BatchStage, QuestionBatch};
pub use options::{CachePolicy, SearchOptions};
