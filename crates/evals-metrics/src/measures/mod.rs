//! The rank measures with formula and source.
//!
//! Rules for all measures: documents are in the order of [`Ranking`](crate::Ranking), which breaks
//! ties as `trec_eval` does. Unjudged documents and those with a negative grade count as not
//! relevant. If there are fewer than k documents, the missing ones count as not relevant.
//!
//! `rel` is the lowest relevant grade. A measure with a `cutoff` looks at the best k documents only.

mod average_precision;
mod bpref;
mod expected_reciprocal_rank;
mod g;
mod grades;
mod interpolated;
mod judged;
mod ndcg;
mod precision;
mod rank_biased_precision;
mod sets;

pub use grades::{Gains, MinimumGrade};

pub(crate) use average_precision::{average_precision, inferred_ap};
pub(crate) use bpref::bpref;
pub(crate) use expected_reciprocal_rank::{Continues, expected_reciprocal_rank, nearly_err};
pub(crate) use g::{binary_gain, normalized_gain};
pub(crate) use interpolated::{RecallLevels, interpolated_average, interpolated_precision_at};
pub(crate) use judged::{judged, unjudged};
pub(crate) use ndcg::{Gain, dcg, ndcg, ndcg_at_levels, ndcg_at_relevant};
pub(crate) use precision::{
    precision, r_precision, r_precision_multiple, recall, reciprocal_rank, relative_precision,
    success,
};
pub(crate) use rank_biased_precision::rank_biased_precision;
pub(crate) use sets::{set_ap, set_f, set_precision, set_recall, set_relative_precision};
