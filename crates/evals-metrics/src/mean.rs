//! A mean with its number of values and its exclusions.

use std::collections::BTreeMap;
use std::fmt::Display;

use serde::{Deserialize, Serialize};

use crate::arithmetic::arithmetic_mean;
use crate::{Bootstrap, Interval, Scale, UndefinedAs, mean_interval};

/// A mean with the facts that a reader needs to trust it: the number of values, the number of
/// exclusions by reason, and a confidence interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Mean {
    /// The arithmetic mean, or `None` without values.
    pub value: Option<f64>,
    /// The number of values in the mean.
    pub n: usize,
    /// How many values were excluded, by reason.
    pub excluded: BTreeMap<String, usize>,
    /// The confidence interval of the mean, or `None` if the values show no spread: see
    /// [`mean_interval`].
    pub interval: Option<Interval>,
}

impl Mean {
    /// Averages values. Each missing value has a reason.
    ///
    /// Both policies exclude a value that is not finite, with the reason `not a finite number`; the
    /// mean of finite ones is finite. The order of the values affects only the last digits, and the
    /// seed only the interval of amounts.
    ///
    /// ```
    /// use evals_metrics::{Bootstrap, Mean, Scale, Undefined, UndefinedAs};
    ///
    /// let scores = [Ok(1.0), Ok(0.5), Err(Undefined::NoRelevantDocuments)];
    /// let mean = Mean::over(scores, UndefinedAs::Excluded, Scale::Share, &Bootstrap::default());
    /// assert_eq!((mean.value, mean.n), (Some(0.75), 2));
    /// assert_eq!(mean.excluded["no relevant documents"], 1);
    ///
    /// let published = Mean::over(scores, UndefinedAs::Zero, Scale::Share, &Bootstrap::default());
    /// assert_eq!((published.value, published.n), (Some(0.5), 3));
    /// ```
    pub fn over<Reason: Display>(
        results: impl IntoIterator<Item = Result<f64, Reason>>,
        undefined: UndefinedAs,
        scale: Scale,
        bootstrap: &Bootstrap,
    ) -> Self {
        let mut values = Vec::new();
        let mut excluded: BTreeMap<String, usize> = BTreeMap::new();
        let mut exclude = |reason: String| *excluded.entry(reason).or_default() += 1;
        for result in results {
            match (result, undefined) {
                (Ok(value), _) if value.is_finite() => values.push(value),
                (Ok(_), _) => exclude("not a finite number".to_owned()),
                (Err(_), UndefinedAs::Zero) => values.push(0.0),
                (Err(reason), UndefinedAs::Excluded) => exclude(reason.to_string()),
            }
        }
        Self {
            value: arithmetic_mean(&values),
            n: values.len(),
            excluded,
            interval: mean_interval(&values, None, scale, bootstrap).ok(),
        }
    }
}
