//! The rank measures, one file each, with formula and source.
//!
//! Rules for all measures: documents are in the order of [`Ranking`](crate::Ranking), which breaks
//! ties as `trec_eval` does. Unjudged documents and those with a negative grade count as not
//! relevant. If there are fewer than k documents, the missing ones count as not relevant.

mod average_precision;
mod bpref;
mod expected_reciprocal_rank;
mod g;
mod gains;
mod inferred_ap;
mod interpolated;
mod judged;
mod minimum_grade;
mod ndcg;
mod ndcg_averages;
mod nearly_err;
mod precision;
mod r_precision;
mod r_precision_multiple;
mod rank_biased_precision;
mod recall;
mod reciprocal_rank;
mod relative_precision;
mod sets;
mod success;
mod unjudged;

pub use average_precision::AveragePrecision;
pub use bpref::Bpref;
pub use expected_reciprocal_rank::ExpectedReciprocalRank;
pub use g::{BinaryGain, NormalizedGain};
pub use gains::Gains;
pub use inferred_ap::InferredAp;
pub use interpolated::{InterpolatedAverage, InterpolatedPrecision, RecallLevels};
pub use judged::Judged;
pub use minimum_grade::MinimumGrade;
pub use ndcg::{Gain, Ndcg};
pub use ndcg_averages::{NdcgAtLevels, NdcgAtRelevant};
pub use nearly_err::{Continues, NearlyErr};
pub use precision::Precision;
pub use r_precision::RPrecision;
pub use r_precision_multiple::RPrecisionMultiple;
pub use rank_biased_precision::RankBiasedPrecision;
pub use recall::Recall;
pub use reciprocal_rank::ReciprocalRank;
pub use relative_precision::RelativePrecision;
pub use sets::{SetAp, SetF, SetPrecision, SetRecall, SetRelativePrecision};
pub use success::Success;
pub use unjudged::Unjudged;
