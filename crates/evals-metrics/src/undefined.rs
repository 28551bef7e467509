//! Why a measure has no value, and what a mean does about that.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a measure has no value for a query.
///
/// An undefined measure is not a bad one: it is left out of the mean and counted there with its
/// reason, unless the caller asks for [`UndefinedAs::Zero`].
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Error, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Undefined {
    /// The query has no relevant document, so that no ranking could be better or worse than
    /// another.
    #[error("no relevant documents")]
    NoRelevantDocuments,
    /// Nothing was retrieved, and the measure is a share of what was.
    #[error("empty ranking")]
    EmptyRanking,
}

/// What a mean makes of queries without a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UndefinedAs {
    /// Leaves them out, and counts them by reason.
    #[default]
    Excluded,
    /// Counts them as 0, which is `trec_eval`'s rule. Only for figures that have to match published
    /// ones: it lowers the mean by the share of queries that nobody could have answered.
    Zero,
}
