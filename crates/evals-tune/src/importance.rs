//! How much each knob matters.

use evals_metrics::{
    Interval, IntervalMethod, Xoshiro256PlusPlus, arithmetic_mean, as_f64, quantile,
};

use crate::max_t::Sums;
use crate::race::Race;
use crate::resampled::{drawn, weighted_mean};
use crate::{Setting, Values};

/// The numbers of a range fall into so many parts with about as many candidates each.
const PARTS: usize = 3;

/// Passes over the knobs that a fit makes: far more than designs take in which candidates tell knobs apart.
const PASSES: usize = 30;

/// Resamples of questions.
const RESAMPLES: usize = 2_000;

/// How much a knob matters, all others being equal.
#[derive(Debug, Clone, PartialEq)]
pub struct Importance {
    /// The name of the knob.
    pub knob: String,
    /// The values of a list that were measured by their labels, or parts of a range as `from..to`, each with its effect: the mean gain
    /// against the mean of all values.
    pub effects: Vec<(String, f64)>,
    /// The largest effect minus the smallest one. `None` if only one value was measured.
    pub range: Option<f64>,
    /// The bootstrap interval of the difference between these two values. With more than two values the pair was picked for being farthest
    /// apart, so its level allows for all pairs (Bonferroni).
    pub interval: Option<Interval>,
}

/// The labels of a knob's levels, and the level of each candidate; `None` where the knob has a value of no level.
type Levels = (Vec<String>, Vec<Option<usize>>);

/// Fits gains by a sum of one effect for each knob, by least squares, with candidates weighted by the number of their questions. The bootstrap
/// draws clusters and repeats the fit on each resample.
pub(crate) fn of(race: &Race) -> Vec<Importance> {
    let (candidates, sums): (Vec<usize>, Vec<Sums>) = (0..race.candidates.len())
        .filter(|it| race.is_sound(*it))
        .map(|it| (it, race.sums(it)))
        .filter(|(_, sums)| !sums.is_empty())
        .unzip();
    let knobs = race.space.knobs();
    let levels = |(place, knob): (usize, &crate::Knob)| {
        let settings = candidates.iter().map(|it| race.candidates[*it].0[place]);
        levels(&knob.values, &settings.collect::<Vec<_>>())
    };
    let levels: Vec<Levels> = knobs.iter().enumerate().map(levels).collect();
    let clusters = sums.iter().map(Vec::len).max().unwrap_or_default();
    let effects = fit(&levels, &sums, &vec![1.0; clusters]);
    let mut random = Xoshiro256PlusPlus::seeded(race.options.seed);
    let resampled: Vec<Vec<Vec<f64>>> = (0..RESAMPLES)
        .map(|_| fit(&levels, &sums, &drawn(clusters, &mut random)))
        .collect();
    let importance = |place: usize| {
        let (labels, own) = (&levels[place].0, &effects[place]);
        let mut order: Vec<usize> = (0..own.len()).collect();
        order.sort_by(|one, other| own[*one].total_cmp(&own[*other]));
        let ends = order
            .first()
            .zip(order.last())
            .filter(|(least, most)| least != most);
        let difference =
            |of: &[Vec<f64>]| ends.map(|(least, most)| of[place][*most] - of[place][*least]);
        let differences = resampled.iter().filter_map(|effects| difference(effects));
        let pairs = as_f64(own.len() * own.len().saturating_sub(1) / 2);
        Importance {
            knob: knobs[place].name.clone(),
            effects: labels.iter().cloned().zip(own.iter().copied()).collect(),
            range: difference(&effects),
            interval: interval(
                differences.collect(),
                1.0 - (1.0 - race.options.test.level) / pairs,
            ),
        }
    };
    (0..knobs.len()).map(importance).collect()
}

/// The percentile interval of a difference; `None` without resamples.
fn interval(mut differences: Vec<f64>, level: f64) -> Option<Interval> {
    differences.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - level) / 2.0;
    Some(Interval {
        low: quantile(&differences, tail)?,
        high: quantile(&differences, 1.0 - tail)?,
        level,
        method: IntervalMethod::Bootstrap,
    })
}

/// The effects of each knob's levels, each knob's adding up to 0, where each cluster counts so many times. By backfitting, which comes to the
/// least squares: each knob in turn takes what the others leave.
///
/// Source: Buja, Hastie and Tibshirani, "Linear Smoothers and Additive Models", The Annals of Statistics 17 (1989).
fn fit(levels: &[Levels], sums: &[Sums], times: &[f64]) -> Vec<Vec<f64>> {
    let means = sums.iter().map(|sums| weighted_mean(sums, times));
    // A resample may lack every question of a candidate.
    let mut left: Vec<(usize, f64)> = means
        .enumerate()
        .filter_map(|(candidate, mean)| Some((candidate, mean?)))
        .collect();
    let weights: Vec<f64> = sums
        .iter()
        .map(|of| of.iter().map(|(_, n)| n).sum())
        .collect();
    let mut effects: Vec<Vec<f64>> = levels
        .iter()
        .map(|(labels, _)| vec![0.0; labels.len()])
        .collect();
    for _ in 0..PASSES {
        for ((_, level_of), effects) in levels.iter().zip(&mut effects) {
            let mut changes = vec![(0.0, 0.0); effects.len()];
            for (candidate, rest) in &left {
                let Some(level) = level_of[*candidate] else {
                    continue;
                };
                let change = &mut changes[level];
                change.0 += weights[*candidate] * rest;
                change.1 += weights[*candidate];
            }
            let changes: Vec<f64> = changes
                .iter()
                .map(|(sum, n)| if *n > 0.0 { sum / n } else { 0.0 })
                .collect();
            for (candidate, rest) in &mut left {
                *rest -= level_of[*candidate].map_or(0.0, |level| changes[level]);
            }
            for (effect, change) in effects.iter_mut().zip(changes) {
                *effect += change;
            }
        }
    }
    for effects in &mut effects {
        let mean = arithmetic_mean(effects).unwrap_or_default();
        for effect in effects {
            *effect -= mean;
        }
    }
    effects
}

/// The labels of levels that some setting has, and the level of each setting.
fn levels(values: &Values, settings: &[Option<Setting>]) -> Levels {
    let set = settings.iter().flatten();
    let mut numbers: Vec<f64> = set.map(|setting| setting.number()).collect();
    numbers.sort_unstable_by(f64::total_cmp);
    let level = |setting: &Setting| match setting {
        Setting::Listed(place) => *place,
        // Equal numbers are in one part.
        Setting::Number(number) => {
            PARTS * numbers.partition_point(|it| it < number) / numbers.len()
        }
    };
    let of: Vec<Option<usize>> = settings.iter().map(|it| it.as_ref().map(level)).collect();
    let mut used: Vec<usize> = of.iter().flatten().copied().collect();
    used.sort_unstable();
    used.dedup();
    let label = |level: &usize| match values {
        Values::Listed(labels) => labels[*level].clone(),
        Values::Range { .. } => {
            let inside = settings.iter().zip(&of);
            let inside = inside.filter(|(_, of)| of.as_ref() == Some(level));
            let inside = || {
                inside
                    .clone()
                    .filter_map(|(it, _)| Some(it.as_ref()?.number()))
            };
            let [from, to] = [
                inside().fold(f64::MAX, f64::min),
                inside().fold(f64::MIN, f64::max),
            ];
            format!("{}..{}", short(from), short(to))
        }
    };
    let place = |level: &usize| used.partition_point(|used| used < level);
    (
        used.iter().map(label).collect(),
        of.iter().map(|it| it.as_ref().map(place)).collect(),
    )
}

/// A number with at most three decimals.
fn short(number: f64) -> f64 {
    (number * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_range_have_about_as_many_numbers() {
        let range = Values::Range {
            from: 0.0,
            to: 9.0,
            whole: true,
        };
        let levels = |numbers: &[f64]| {
            let settings = numbers.iter().map(|it| Some(Setting::Number(*it)));
            super::levels(&range, &settings.collect::<Vec<_>>())
        };
        let (labels, of) = levels(&[6.0, 1.0, 2.0, 5.0, 3.0, 4.0]);
        assert_eq!(labels, ["1..2", "3..4", "5..6"]);
        assert_eq!(of, [2, 0, 0, 2, 1, 1].map(Some));
        let (labels, of) = levels(&[7.0, 7.0]);
        assert_eq!((labels, of), (vec!["7..7".to_owned()], vec![Some(0); 2]));
    }

    #[test]
    fn only_values_that_were_measured_are_levels() {
        let listed = Values::Listed(["a", "b", "c"].map(str::to_owned).to_vec());
        let (labels, of) = levels(
            &listed,
            &[Some(Setting::Listed(2)), None, Some(Setting::Listed(0))],
        );
        assert_eq!(labels, ["a", "c"]);
        assert_eq!(of, [Some(1), None, Some(0)]);
    }

    /// By hand: the candidates (0, 0), (1, 0) and (1, 1) have effects that fit them exactly.
    #[test]
    fn a_fit_tells_two_knobs_apart_that_go_together() {
        let label = || vec!["0".to_owned(), "1".to_owned()];
        let level = |of: [usize; 3]| of.map(Some).to_vec();
        let levels = [(label(), level([0, 1, 1])), (label(), level([0, 0, 1]))];
        let sums = [0.0, 0.2, 0.5].map(|mean| vec![(10.0 * mean, 10.0)]);
        let effects = fit(&levels, &sums, &[1.0]);
        for (effects, range) in effects.iter().zip([0.2, 0.3]) {
            assert!(
                (effects[1] - effects[0] - range).abs() < 1e-6,
                "{effects:?}"
            );
        }
    }
}
