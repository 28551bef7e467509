//! Undefined measures: their reasons, and how a mean treats them.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a measure has no value for a query.
///
/// An undefined measure is not a bad score: the mean excludes it and counts it by reason, unless
/// the caller asks for [`UndefinedAs::Zero`].
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Error, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Undefined {
    /// The query has no relevant document, so no ranking is better than another.
    #[error("no relevant documents")]
    NoRelevantDocuments,
    /// Nothing was retrieved, and the measure is a share of the retrieved documents.
    #[error("empty ranking")]
    EmptyRanking,
    /// A grade is above the highest one that the measure was given, so its gain would be above 1.
    #[error("grade above max_rel")]
    GradeAboveMaximum,
    /// The question has no evidence spans to find.
    #[error("no evidence spans")]
    NoEvidence,
}

/// How a mean treats queries without a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UndefinedAs {
    /// Excludes them, and counts them by reason.
    #[default]
    Excluded,
    /// Counts them as 0, which is `trec_eval`'s rule. Use it only to match published figures: it
    /// lowers the mean by the share of queries that no system could have answered.
    Zero,
}
