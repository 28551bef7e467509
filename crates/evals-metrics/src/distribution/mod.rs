//! Distribution functions and quantiles of the tests and intervals.

mod beta;
mod noncentral_t;
mod normal;
mod root;
mod stirling;
mod student;

pub(crate) use beta::{beta_quantile, regularized_beta};
pub(crate) use noncentral_t::noncentral_t_cdf;
pub(crate) use normal::{lower_tail, upper_quantile, upper_tail};
pub(crate) use root::root;
pub(crate) use stirling::{binomial, gamma_ratio_of_half};
pub(crate) use student::{student_upper_quantile, student_upper_tail};
