//! The estimate without a held-out part: every resample chooses on the questions it drew, and is judged by those it did not draw.

use evals_metrics::{Xoshiro256PlusPlus, arithmetic_mean, quantile};
use serde::{Deserialize, Serialize};

use crate::max_t::Sums;

/// What resamples say of a choice without a held-out part.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Resampled {
    /// The gain over own settings to expect of a choice made like this one.
    pub gain: f64,
    /// The lower end of its percentile interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The gain over own settings to expect from choosing the best of these candidates, and its percentile interval: bootstrap bias corrected
/// cross-validation. A resample of clusters chooses the candidate with the largest mean gain, or own settings if none has one above 0.
/// Its gain on the clusters outside of the resample knows nothing of the choice. `None` below two clusters.
///
/// Source: Tsamardinos, Greasidou and Borboudakis, "Bootstrapping the out-of-sample predictions for efficient and accurate cross-validation",
/// Machine Learning 107 (2018).
pub(crate) fn bias_corrected(
    candidates: &[Sums],
    resamples: u32,
    level: f64,
    random: &mut Xoshiro256PlusPlus,
) -> Option<Resampled> {
    let clusters = candidates.iter().map(Vec::len).max()?;
    let one = |_| {
        let times = drawn(clusters, random);
        let inside = candidates
            .iter()
            .filter_map(|of| Some((weighted_mean(of, &times)?, of)));
        let best = inside.max_by(|(one, _), (other, _)| one.total_cmp(other));
        let outside: Vec<f64> = times.iter().map(|times| f64::from(*times <= 0.0)).collect();
        match best.filter(|(gain, _)| *gain > 0.0) {
            Some((_, best)) => weighted_mean(best, &outside),
            None => outside.contains(&1.0).then_some(0.0),
        }
    };
    let mut gains: Vec<f64> = (0..resamples).filter_map(one).collect();
    gains.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - level) / 2.0;
    Some(Resampled {
        gain: arithmetic_mean(&gains)?,
        low: quantile(&gains, tail)?,
        high: quantile(&gains, 1.0 - tail)?,
    })
}

/// How often a resample of so many clusters has each of them.
pub(crate) fn drawn(clusters: usize, random: &mut Xoshiro256PlusPlus) -> Vec<f64> {
    let mut times = vec![0.0; clusters];
    for _ in 0..clusters {
        times[random.index(clusters)] += 1.0;
    }
    times
}

/// The mean of clusters' values, each cluster counted so many times. `None` without a value.
pub(crate) fn weighted_mean(sums: &[(f64, f64)], times: &[f64]) -> Option<f64> {
    let weighted = sums
        .iter()
        .zip(times)
        .map(|((sum, n), times)| (sum * times, n * times));
    let (sum, n) = weighted.fold((0.0, 0.0), |total, it| (total.0 + it.0, total.1 + it.1));
    (n > 0.0).then(|| sum / n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_counts_clusters_as_often_as_they_were_drawn() {
        let sums = [(1.0, 2.0), (4.0, 1.0), (9.0, 3.0)];
        assert_eq!(weighted_mean(&sums, &[2.0, 1.0, 0.0]), Some(6.0 / 5.0));
        assert_eq!(weighted_mean(&sums, &[0.0; 3]), None);
    }
}
