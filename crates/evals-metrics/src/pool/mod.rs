//! Means over a pool that a model judged completely and people in part: what people would have found, which questions they judge next, and how
//! many it takes.
//!
//! People judge the whole pool of *drawn questions*, because measures such as nDCG, AP and recall are no sums over (question, passage) pairs:
//! they divide by what the pool of the question contains. From pairs drawn one by one, 10 % of a pool leave a few judgements for each question,
//! and what is estimated from them is biased: in the simulations of `benches/coverage/pools.rs`, 95 % intervals cover the truth in as little as
//! 38 %. If the whole pool of a question is judged, its measure by people is known exactly, and the mean over questions is a plain mean.

mod corrected_mean;
mod drawing;

pub use corrected_mean::{CorrectedMean, PoolUnit, corrected_mean};
pub use drawing::{drawn_order, permanent_number};
