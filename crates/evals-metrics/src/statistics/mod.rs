//! Tests, effect sizes, power and intervals around paired measurements.

mod change_point;
mod clusters;
mod correction;
mod effect_size;
mod intervals;
mod mean_interval;
mod moments;
mod no_statistic;
mod pair_test;
mod paired_t;
mod permutation;
mod power;
mod sign;
mod swaps;
mod tango;
mod test_result;
mod wilcoxon;

pub use change_point::{ChangePoint, ChangePointTest};
pub use clusters::{ClusterCorrection, ClusterError, Clusters};
pub use correction::{Adjustment, Family, benjamini_hochberg, holm};
pub use effect_size::{EffectMethod, EffectSize, cohens_dz, hedges_g};
pub use intervals::clopper_pearson;
pub use mean_interval::{Scale, mean_interval};
pub(crate) use moments::{check_finite, check_level};
pub use no_statistic::NoStatistic;
pub use pair_test::{Inference, PairTest, are_verdicts};
pub use paired_t::paired_t;
pub use power::{MeanPower, PassRatePower, Plan, Sides, VerdictTest};
pub(crate) use sign::at_most;
pub use sign::{exact_mcnemar, sign_test};
pub use tango::tango_interval;
pub use test_result::{Alternative, TestMethod, TestResult};
pub use wilcoxon::wilcoxon;

pub use permutation::permutation_test;
