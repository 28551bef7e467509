//! Means over a pool that a model judged completely and people in part: what people would have found, which units they judge next, and how
//! many it takes.
//!
//! # Which units to draw
//!
//! Measures such as nDCG, AP and recall are no sums over (question, passage) pairs: they divide by what the whole pool of the question
//! contains. From pairs drawn one by one, 10 % of a pool leave a few judgements for each question. Estimates of such a quotient are then
//! biased in most collections, whether they weight by inverse probabilities or linearise the measure at the model's judgements: in the
//! simulations of `benches/coverage/pools.rs`, their 95 % intervals cover the truth in as little as 1 and 38 %. So draw *questions*, and let
//! people judge the whole pool of those drawn. Then a question's measure by people is known exactly, its mean is a plain mean, and nothing
//! is linearised. P@k is a mean over the pairs of the top k. For it, and for other sums over pairs, pairs may be drawn one by one, which
//! takes far fewer judgements.

mod corrected_mean;
mod drawing;

pub use corrected_mean::{CorrectedMean, Drawn, ModelWeight, PoolUnit, corrected_mean};
pub use drawing::{Drawing, permanent_number};
