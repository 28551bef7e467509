//! Rank measures and statistics: pure functions, no I/O of their own, no async.
//!
//! A [`Ranking`] is what a system returned for one query, a [`Judgements`] what people said about that query's documents.

mod judgements;
mod mean;
mod qrels;
mod ranking;
mod undefined;

pub use judgements::Judgements;
pub use mean::{Interval, Mean};
pub use qrels::Qrels;
pub use ranking::{Ranking, RankingError, Run, ScoredDocument};
pub use undefined::{Undefined, UndefinedAs};
