//! Distribution functions and quantiles of the tests and intervals.

mod beta;
mod normal;
mod root;
mod stirling;
mod student;

pub(crate) use beta::{beta_quantile, regularized_beta};
pub(crate) use normal::{lower_tail, upper_quantile, upper_tail};
pub(crate) use root::root;
pub(crate) use stirling::{binomial, gamma_ratio_of_half};
pub(crate) use student::{noncentral_t_cdf, student_upper_quantile, student_upper_tail};
