//! How the values of cases become a mean with its interval.

use std::num::NonZeroU32;

use evals_metrics::{Bootstrap, Mean, Scale, UndefinedAs, mean_interval};

use crate::CaseId;
use crate::clusters::CaseClusters;

/// How the values of cases become a mean with its interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Averaging<'a> {
    pub(crate) bootstrap: &'a Bootstrap,
    /// The clusters of the cases, if they come in any.
    pub(crate) clusters: Option<&'a CaseClusters<'a>>,
}

impl Averaging<'_> {
    /// The mean of the values of cases on this scale.
    pub(crate) fn mean<'r>(
        &self,
        results: impl Iterator<Item = (&'r CaseId, Result<f64, &'r str>)>,
        scale: Scale,
    ) -> Mean {
        let (ids, results): (Vec<&CaseId>, Vec<Result<f64, &str>>) = results.unzip();
        let of_all = |bootstrap: &Bootstrap| {
            let results = results.iter().copied();
            Mean::over(results, UndefinedAs::Excluded, scale, bootstrap)
        };
        let Some(clusters) = self.clusters else {
            return of_all(self.bootstrap);
        };
        let values = ids.iter().zip(&results);
        let values = values.filter_map(|(id, result)| Some((clusters.get(id), (*result).ok()?)));
        let values = values.filter(|(_, value)| value.is_finite());
        let (numbers, values): (Vec<usize>, Vec<f64>) = values.unzip();
        let interval = mean_interval(&values, Some(&numbers), scale, self.bootstrap);
        // The interval of independent cases is replaced, so it may be rough.
        let cheap = Bootstrap {
            resamples: NonZeroU32::MIN,
            ..*self.bootstrap
        };
        Mean {
            interval: interval.ok(),
            ..of_all(&cheap)
        }
    }
}
