//! The interval of one mean, by the scale of its values: the one function that runs, scores and comparisons call.

use serde::{Deserialize, Serialize};

use super::intervals::{percentile_interval, student_interval};
use super::moments::{check_finite, check_level};
use super::{ClusterCorrection, Clusters, NoStatistic};
use crate::bootstrap::passes;
use crate::wilson::wilson_interval;
use crate::{Bootstrap, Interval};

/// The scale that the values of a measure are taken to be on, by its definition or its unit. It decides which interval a mean has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Scores without a known limit, such as grades.
    #[default]
    Open,
    /// Values from 0 to 1, such as verdicts and rank measures. With any other value among them they count as [`Open`](Self::Open).
    Share,
    /// Amounts, a few of which may be much larger than the others, such as costs, tokens and times.
    Amount,
}

impl Scale {
    /// Whether the values are from 0 to 1: they should be, and all of them are.
    pub(crate) fn is_share<'v>(self, values: impl IntoIterator<Item = &'v f64>) -> bool {
        let mut values = values.into_iter();
        self == Self::Share && values.all(|value| (0.0..=1.0).contains(value))
    }
}

/// The confidence interval of the mean of finite values. `clusters` has the number of each value's cluster, if values come in clusters.
///
/// | values | interval |
/// |---|---|
/// | amounts | the percentile bootstrap, over clusters if there are any |
/// | all 0 or 1 | Wilson's; with clusters Student's t with the cluster-robust standard error CR2 |
/// | others | Student's t; with clusters the same with CR2 |
///
/// Student's t ends at 0 and 1 where the scale does. Values in clusters that all passed, or all failed, get Wilson's interval of so many
/// clusters.
///
/// # Errors
///
/// Undefined without values and for values that are not finite; for a single value and for equal values, unless they are passes or failures;
/// for a single cluster; and at a level outside 0 to 1.
///
/// ```
/// use evals_metrics::{Bootstrap, NoStatistic, Scale, mean_interval};
///
/// let settings = Bootstrap::default();
/// let scores = mean_interval(&[0.2, 0.5, 0.6, 0.9], None, Scale::Share, &settings)?;
/// assert_eq!(format!("[{:.3}, {:.3}]", scores.low, scores.high), "[0.091, 1.000]");
///
/// let passes = mean_interval(&[1.0; 5], None, Scale::Share, &settings)?;
/// assert_eq!(format!("[{:.3}, {:.3}]", passes.low, passes.high), "[0.566, 1.000]");
///
/// let equal = mean_interval(&[0.5; 9], None, Scale::Share, &settings);
/// assert_eq!(equal, Err(NoStatistic::NoSpread));
/// # Ok::<(), NoStatistic>(())
/// ```
pub fn mean_interval(
    values: &[f64],
    clusters: Option<&[usize]>,
    scale: Scale,
    settings: &Bootstrap,
) -> Result<Interval, NoStatistic> {
    check_level(settings.level)?;
    check_finite(values)?;
    let verdicts = passes(values).filter(|_| scale != Scale::Amount);
    let clusters = clusters.and_then(|of| Clusters::sharing(of, values));
    let interval = match (&clusters, verdicts) {
        (None, Some(passes)) => return Ok(wilson_interval(passes, values.len(), settings.level)),
        (None, None) if scale == Scale::Amount => return percentile_interval(values, settings),
        (None, None) => student_interval(values, settings.level)?,
        (Some(clusters), _) if scale == Scale::Amount => {
            return clusters.bootstrap_interval(settings);
        }
        (Some(clusters), Some(passes)) if passes == 0 || passes == values.len() => {
            let passes = if passes == 0 { 0 } else { clusters.len() };
            return Ok(wilson_interval(passes, clusters.len(), settings.level));
        }
        (Some(clusters), _) => clusters.interval(ClusterCorrection::Cr2, settings.level)?,
    };
    let is_share = verdicts.is_some() || scale.is_share(values);
    Ok(if is_share {
        interval.within(0.0, 1.0)
    } else {
        interval
    })
}
