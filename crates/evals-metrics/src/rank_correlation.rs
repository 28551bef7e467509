//! Whether two kinds of judgements rank systems equally.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::arithmetic::{as_f64, share};
use crate::percentiles::quantile;
use crate::statistics::{check_finite, check_level};
use crate::{Bootstrap, Estimate, Interval, IntervalMethod, NoStatistic, Xoshiro256PlusPlus};

/// Kendall's `τ_b`: how far two lists of scores rank the same systems equally. 1 is the same ranking, -1 the opposite, and 0 what chance gives.
///
/// ```text
/// τ_b = (C - D) / √((P - T_1) (P - T_2))
/// ```
///
/// where C of the P pairs of systems have the same order in both lists, D the opposite one, and `T_1` and `T_2` are tied in either list. Without
/// ties this is Kendall's τ.
///
/// # Errors
///
/// Undefined for fewer than two systems, lists of different length, scores that are not finite, and if all scores of a list are equal.
///
/// Source: Kendall, "The Treatment of Ties in Ranking Problems", Biometrika 33 (1945). Equals `scipy.stats.kendalltau`.
///
/// ```
/// use evals_metrics::kendalls_tau;
///
/// let tau = kendalls_tau(&[0.71, 0.68, 0.52, 0.44], &[0.80, 0.83, 0.61, 0.60])?;
/// assert_eq!(format!("{tau:.3}"), "0.667");
/// # Ok::<(), evals_metrics::NoStatistic>(())
/// ```
pub fn kendalls_tau(one: &[f64], other: &[f64]) -> Result<f64, NoStatistic> {
    check(one, other)?;
    let (mut balance, mut ordered, mut other_ordered) = (0.0, 0_usize, 0_usize);
    for place in 1..one.len() {
        for above in 0..place {
            let sign = order(one[above], one[place]);
            let other_sign = order(other[above], other[place]);
            balance += sign * other_sign;
            ordered += usize::from(sign.abs() > 0.0);
            other_ordered += usize::from(other_sign.abs() > 0.0);
        }
    }
    if ordered == 0 || other_ordered == 0 {
        return Err(NoStatistic::NoSpread);
    }
    Ok(balance / (as_f64(ordered) * as_f64(other_ordered)).sqrt())
}

/// `τ_AP`: as [`kendalls_tau`], but errors among the best systems count more. It is not symmetric: `truth` has the scores that are right, such
/// as those by people's judgements, and `estimated` those to be tested.
///
/// ```text
/// τ_AP = 2 / (N - 1) Σ_{i=2..N} C(i) / (i - 1) - 1
/// ```
///
/// where `C(i)` of the i - 1 systems above rank i of the estimated ranking are above that system in truth, too. Ties of either list count as
/// the mean over all orders in which they can be broken: a tie in truth is half right, and tied estimates share their ranks.
///
/// # Errors
///
/// As [`kendalls_tau`].
///
/// Sources: Yilmaz, Aslam and Robertson, "A New Rank Correlation Coefficient for Information Retrieval", SIGIR (2008); for ties in the
/// estimated ranking, `τ_AP,a` of Urbano and Marrero, "The Treatment of Ties in AP Correlation", ICTIR (2017).
///
/// ```
/// use evals_metrics::tau_ap;
///
/// let truth = [0.9, 0.8, 0.7, 0.6];
/// let tau = |estimated: &[f64]| tau_ap(&truth, estimated).map(|tau| format!("{tau:.2}"));
/// assert_eq!(tau(&[0.8, 0.9, 0.7, 0.6])?, "0.33");
/// assert_eq!(tau(&[0.9, 0.8, 0.6, 0.7])?, "0.78");
/// # Ok::<(), evals_metrics::NoStatistic>(())
/// ```
pub fn tau_ap(truth: &[f64], estimated: &[f64]) -> Result<f64, NoStatistic> {
    check(truth, estimated)?;
    for scores in [truth, estimated] {
        if scores
            .iter()
            .all(|score| score.total_cmp(&scores[0]).is_eq())
        {
            return Err(NoStatistic::NoSpread);
        }
    }
    let mut systems: Vec<(f64, f64)> = estimated
        .iter()
        .copied()
        .zip(truth.iter().copied())
        .collect();
    systems.sort_by(|one, other| other.0.total_cmp(&one.0));
    let (mut above, mut sum) = (0, 0.0);
    for tied in systems.chunk_by(|one, other| one.0.total_cmp(&other.0).is_eq()) {
        // Which of its pairs with systems above a tied system has right, on average over those tied.
        let right = tied.iter().map(|(_, place)| {
            let pairs = systems[..above].iter();
            pairs
                .map(|(_, better)| f64::midpoint(1.0, order(*better, *place)))
                .sum::<f64>()
        });
        let right = right.sum::<f64>() / as_f64(tied.len());
        // Of the tied systems that come before it at random, half are right.
        let ranks = (0..tied.len()).filter(|before| above + before > 0);
        sum += ranks
            .map(|before| (right + as_f64(before) / 2.0) / as_f64(above + before))
            .sum::<f64>();
        above += tied.len();
    }
    Ok(2.0 * sum / as_f64(above - 1) - 1.0)
}

/// How far the systems' ranking by a model's judgements agrees with that by people's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RankAgreement {
    /// Kendall's `τ_b`. Its n is the number of questions.
    pub tau: Estimate,
    /// `τ_AP`, with people's ranking as the truth. Its n is the number of questions.
    pub tau_ap: Estimate,
}

/// Correlates the rankings of systems by their mean scores, from `people`'s and the `model`'s judgements. Both hold, for each system in the same
/// order, one score for each of the same questions.
///
/// The intervals are the percentile bootstrap's over questions: each resample draws questions, the same for all systems and both kinds of
/// judgements, and correlates the means. They say what other questions would give, not what other systems would. A resample in
/// which all systems tie has no correlation, and does not count. There is no interval if these are more than half, or if all resamples agree,
/// which shows no spread. If people judged some questions only, give the [`contributions`](crate::CorrectedMean::contributions) of
/// corrected means as their scores.
///
/// # Errors
///
/// As [`kendalls_tau`], of the means; fewer than two questions; questions without a score; and a level outside 0 to 1.
///
/// Source: Efron and Tibshirani, *An Introduction to the Bootstrap* (1993), chapter 13.
pub fn rank_agreement(
    people: &[Vec<f64>],
    model: &[Vec<f64>],
    settings: &Bootstrap,
) -> Result<RankAgreement, NoStatistic> {
    check_level(settings.level)?;
    let questions = people.first().ok_or(NoStatistic::NoValues)?.len();
    let mut systems = people.iter().chain(model);
    if people.len() != model.len() || systems.any(|scores| scores.len() != questions) {
        return Err(NoStatistic::Shape);
    }
    if questions < 2 {
        return Err(NoStatistic::OneValue);
    }
    let correlations = |people: &[f64], model: &[f64]| -> Result<[f64; 2], NoStatistic> {
        Ok([kendalls_tau(people, model)?, tau_ap(people, model)?])
    };
    let sums = |side: &[Vec<f64>], drawn: &[usize]| -> Vec<f64> {
        let systems = side.iter();
        let sum = |scores: &Vec<f64>| drawn.iter().map(|&question| scores[question]).sum::<f64>();
        systems.map(sum).collect()
    };
    let all: Vec<usize> = (0..questions).collect();
    let values = correlations(&sums(people, &all), &sums(model, &all))?;
    let mut random = Xoshiro256PlusPlus::seeded(settings.seed);
    let mut resampled = [Vec::new(), Vec::new()];
    for _ in 0..settings.resamples.get() {
        let drawn: Vec<usize> = all.iter().map(|_| random.index(questions)).collect();
        if let Ok(found) = correlations(&sums(people, &drawn), &sums(model, &drawn)) {
            resampled[0].push(found[0]);
            resampled[1].push(found[1]);
        }
    }
    let [tau, tau_ap] = resampled.map(|values| percentile_interval(values, settings));
    let estimate = |value, interval| Estimate {
        value,
        n: questions,
        interval,
    };
    Ok(RankAgreement {
        tau: estimate(values[0], tau),
        tau_ap: estimate(values[1], tau_ap),
    })
}

fn percentile_interval(mut values: Vec<f64>, settings: &Bootstrap) -> Option<Interval> {
    let resamples = settings.resamples.get() as usize;
    values.sort_unstable_by(f64::total_cmp);
    let has_spread = values.first()? < values.last()?;
    if !has_spread || share(values.len(), resamples) < 0.5 {
        return None;
    }
    let tail = (1.0 - settings.level) / 2.0;
    Some(Interval {
        low: quantile(&values, tail)?,
        high: quantile(&values, 1.0 - tail)?,
        level: settings.level,
        method: IntervalMethod::Bootstrap,
    })
}

/// 1 if the first score is the higher one, -1 if it is the lower one, and 0 for equal scores.
fn order(one: f64, other: f64) -> f64 {
    match one.partial_cmp(&other) {
        Some(Ordering::Greater) => 1.0,
        Some(Ordering::Less) => -1.0,
        _ => 0.0,
    }
}

fn check(one: &[f64], other: &[f64]) -> Result<(), NoStatistic> {
    check_finite(one)?;
    check_finite(other)?;
    match one.len() {
        n if n != other.len() => Err(NoStatistic::Shape),
        1 => Err(NoStatistic::OneValue),
        _ => Ok(()),
    }
}
