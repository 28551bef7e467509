//! A mean over all questions, corrected by people's values of those that were drawn.

use crate::arithmetic::{ROUNDING, as_f64, share};
use crate::distribution::student_upper_quantile;
use crate::statistics::check_level;
use crate::{Interval, IntervalMethod, NoStatistic};

/// A question with the value of a measure by the model's judgements, and by people's if it was drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolUnit {
    /// The value by the model's judgements. `None` where there is none, or the measure is undefined.
    pub model: Option<f64>,
    /// Whether people judged it, because it is among the first of a [drawn order](super::drawn_order).
    pub is_drawn: bool,
    /// The value by people's judgements if it was drawn. `None` where the measure is undefined, such as recall where people find nothing
    /// relevant.
    pub people: Option<f64>,
}

/// The mean that people would have found.
#[derive(Debug, Clone, PartialEq)]
pub struct CorrectedMean {
    /// The mean over all units for which people would define the measure, cut to 0 and 1.
    pub value: f64,
    /// How many units were drawn.
    pub drawn: usize,
    /// The number of all units.
    pub units: usize,
    /// The interval of the mean over these questions, had people judged everything: how little was drawn is the only source of error. `None` if
    /// people corrected every drawn unit by the same amount, because they then show no spread.
    pub interval: Option<Interval>,
    /// The standard deviation, over units, of what people change.
    pub spread: f64,
    /// The part of each unit in the mean, in the order of the units. Their mean is the value before it is cut. Other statistics over
    /// questions may resample them in place of people's values, which are known for some units only.
    pub contributions: Vec<f64>,
}

/// With fewer drawn units, nothing is estimated.
const FEWEST: usize = 5;

/// Estimates the mean of a measure from 0 to 1 over all units that people would have found, had they judged all.
///
/// ```text
/// mean     = Σ_all f / N + Σ_drawn (y - f) / n
/// variance = (1 - n / N) Σ_drawn (e - ē)² / (n - 1) / n,   e = y - f
/// ```
///
/// where f are the model's values of all N units and y people's of the n that were drawn. If units are undefined, the mean is the quotient of
/// two such means, of value and of "is defined", and the interval is that of the linearised quotient.
///
/// This is prediction-powered inference, known in surveys as the difference estimator. Nothing is assumed about the model: the mean is unbiased
/// for any (a quotient's bias falls with the number drawn). Without any value of the model it is the inverse probability estimate: each unit is
/// drawn with probability n / N, so the weighted mean is that of the drawn units. Intervals are Student's t with n - 1 degrees of freedom,
/// cut to 0 and 1.
///
/// # Errors
///
/// Refuses fewer than five drawn units, numbers that are not finite, a level outside 0 to 1, and units of which people define none.
///
/// Sources: for the weights, Horvitz and Thompson, "A Generalization of Sampling Without Replacement from a Finite Universe", Journal of the
/// American Statistical Association 47 (1952); for the model's values, Angelopoulos et al., "Prediction-Powered Inference", Science 382 (2023),
/// with λ = 1 of Angelopoulos, Duchi and Zrnic, "PPI++: Efficient Prediction-Powered Inference", arXiv 2311.01453, and Särndal, Swensson and
/// Wretman, *Model Assisted Survey Sampling* (1992), sections 5.7 (quotients) and 6.3 (differences).
///
/// ```
/// use evals_metrics::{PoolUnit, corrected_mean};
///
/// // The model finds an nDCG of 0.8 everywhere, and people, in 6 of 60 questions, one that is lower by 0.1 to 0.3.
/// let units: Vec<PoolUnit> = (0..60)
///     .map(|question| PoolUnit {
///         model: Some(0.8),
///         is_drawn: question % 10 == 0,
///         people: Some([0.7, 0.6, 0.5][question / 10 % 3]),
///     })
///     .collect();
/// let found = corrected_mean(&units, 0.95)?;
/// let interval = found.interval.expect("people correct by different amounts");
/// assert_eq!(format!("{:.2} [{:.2}, {:.2}]", found.value, interval.low, interval.high), "0.60 [0.51, 0.69]");
/// assert_eq!(found.drawn_for(0.1), Some(13));
/// # Ok::<(), evals_metrics::NoStatistic>(())
/// ```
pub fn corrected_mean(units: &[PoolUnit], level: f64) -> Result<CorrectedMean, NoStatistic> {
    check_level(level)?;
    let drawn: Vec<&PoolUnit> = units.iter().filter(|unit| unit.is_drawn).collect();
    let by_model = units.iter().filter_map(|unit| unit.model);
    let by_people = drawn.iter().filter_map(|unit| unit.people);
    if !by_model.clone().chain(by_people).all(f64::is_finite) {
        return Err(NoStatistic::NotFinite);
    }
    if drawn.len() < FEWEST {
        let (n, least) = (drawn.len(), FEWEST);
        return Err(NoStatistic::TooFew { n, least });
    }
    let defined = corrected(units, |value| f64::from(u8::from(value.is_some())));
    if defined <= ROUNDING {
        return Err(NoStatistic::NoValues);
    }
    let mean = corrected(units, |value| value.unwrap_or(0.0)) / defined;
    // How far a unit moves the mean, to first order. An undefined one does not.
    let distance = |value: Option<f64>| value.map_or(0.0, |value| (value - mean) / defined);
    let change = |unit: &PoolUnit| distance(unit.people) - distance(unit.model);
    let (n, all) = (as_f64(drawn.len()), as_f64(units.len()));
    let shift = drawn.iter().map(|unit| change(unit)).sum::<f64>() / n;
    let squares = drawn.iter().map(|unit| (change(unit) - shift).powi(2));
    let contributions = units.iter().map(|unit| {
        let own = f64::from(u8::from(unit.is_drawn)) * (change(unit) - shift);
        mean + distance(unit.model) + shift + own * all / n
    });
    let mut found = CorrectedMean {
        value: mean.clamp(0.0, 1.0),
        drawn: drawn.len(),
        units: units.len(),
        interval: None,
        spread: (squares.sum::<f64>() / (n - 1.0)).sqrt(),
        contributions: contributions.collect(),
    };
    if found.spread > ROUNDING || drawn.len() == units.len() {
        let reach = found.reach(drawn.len(), level);
        found.interval = Some(Interval {
            low: (mean - reach).clamp(0.0, 1.0),
            high: (mean + reach).clamp(0.0, 1.0),
            level,
            method: match by_model.count() {
                0 => IntervalMethod::InverseProbability,
                _ => IntervalMethod::PredictionPoweredFull,
            },
        });
    }
    Ok(found)
}

/// The mean of `value` by the model over all units, and of what people change in it over those drawn.
fn corrected(units: &[PoolUnit], value: fn(Option<f64>) -> f64) -> f64 {
    let drawn = units.iter().filter(|unit| unit.is_drawn);
    let model: f64 = units.iter().map(|unit| value(unit.model)).sum();
    let changes = drawn
        .clone()
        .map(|unit| value(unit.people) - value(unit.model));
    model / as_f64(units.len()) + changes.sum::<f64>() / as_f64(drawn.count())
}

impl CorrectedMean {
    /// How many of the units have to be drawn until the interval is at most this wide, if the spread stays what it is. Times the mean size of a
    /// question's pool, this is a number of judgements. `None` if the drawn units show no spread, or the width is not above 0.
    pub fn drawn_for(&self, width: f64) -> Option<usize> {
        let level = self.interval?.level;
        if self.spread <= ROUNDING || width.is_nan() || width <= 0.0 {
            return None;
        }
        let too_few: Vec<usize> = (FEWEST..self.units).collect();
        Some(FEWEST + too_few.partition_point(|&n| 2.0 * self.reach(n, level) > width))
    }

    /// How far the interval reaches to each side if this many units are drawn.
    fn reach(&self, drawn: usize, level: f64) -> f64 {
        let n = as_f64(drawn);
        let left = 1.0 - share(drawn, self.units);
        student_upper_quantile((1.0 - level) / 2.0, n - 1.0) * self.spread * (left / n).sqrt()
    }
}
