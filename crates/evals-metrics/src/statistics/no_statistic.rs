//! Why a statistic has no value.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why an interval, a test or an estimate has no value.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Error, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum NoStatistic {
    /// There is nothing to compute it from.
    #[error("no values")]
    NoValues,
    /// A value is NaN or infinite.
    #[error("a value is not a finite number")]
    NotFinite,
    /// One value says nothing about how values differ.
    #[error("a single value shows no spread")]
    OneValue,
    /// Equal values would give an interval of width 0 and a test statistic without a limit.
    #[error("all values are equal, so they show no spread")]
    NoSpread,
    /// Every difference is 0.
    #[error("no case changed")]
    NothingChanged,
    /// All values are in one cluster, so that nothing shows how clusters differ.
    #[error("all values are in one cluster")]
    OneCluster,
    /// The test ranks or counts single cases, which depend on each other within a cluster.
    #[error("this test has no form for cases in clusters")]
    NoClusterForm,
    /// The test ranks or counts changes.
    #[error("this test tests no mean, so no interval of the mean belongs to it")]
    NotOfMean,
    /// Fewer values than the method needs.
    #[error("{n} values are fewer than the {least} that the method needs")]
    TooFew {
        /// The number of values.
        n: usize,
        /// The least number that the method needs.
        least: usize,
    },
    /// Too few cases, or clusters of them, changed to know how changes scatter.
    #[error("too few changes to say: {changed}, and it takes {least}")]
    FewChanged {
        /// How many changed.
        changed: usize,
        /// How many have to.
        least: usize,
    },
    /// A confidence level, a significance level or a power is not between 0 and 1.
    #[error("a level or power is not between 0 and 1")]
    Level,
    /// A standard deviation is not above 0.
    #[error("the standard deviation is not above 0")]
    NoDeviation,
    /// No number of cases shows an effect of 0.
    #[error("the difference to detect is 0")]
    NoEffect,
    /// A pass rate cannot change by more than the share of the cases that change.
    #[error("the pass rate cannot change by more than the share of cases that change")]
    AboveDiscordant,
    /// A case cannot be both a gain and a loss, so gains and losses together are at most the number of cases.
    #[error("more cases changed than there are")]
    AboveCases,
    /// Systems are compared over the same questions.
    #[error("the systems do not have one value each for the same questions")]
    Shape,
    /// No effect of any size reaches the power with so small a sample.
    #[error("no difference of any size reaches this power with a sample this small")]
    OutOfReach,
}
