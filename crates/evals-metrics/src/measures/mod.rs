//! The rank measures, one file each, with formula and source.
//!
//! Rules for all measures: documents are in the order of [`Ranking`](crate::Ranking), which breaks
//! ties as `trec_eval` does. Unjudged documents and those with a negative grade count as not
//! relevant. If there are fewer than k documents, the missing ones count as not relevant.

mod average_precision;
mod judged;
mod minimum_grade;
mod ndcg;
mod precision;
mod r_precision;
mod recall;
mod reciprocal_rank;
mod success;

pub use average_precision::AveragePrecision;
pub use judged::Judged;
pub use minimum_grade::MinimumGrade;
pub use ndcg::{Gain, Ndcg};
pub use precision::Precision;
pub use r_precision::RPrecision;
pub use recall::Recall;
pub use reciprocal_rank::ReciprocalRank;
pub use success::Success;
