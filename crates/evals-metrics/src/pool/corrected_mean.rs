//! A mean over all units, corrected by people's values of those that were drawn.

use serde::{Deserialize, Serialize};

use crate::arithmetic::{ROUNDING, as_f64, share};
use crate::distribution::student_upper_quantile;
use crate::statistics::check_level;
use crate::{ClusterCorrection, Clusters, Interval, IntervalMethod, NoStatistic, Scale};

/// A question, or a pair of a question and a passage, with its value by the model's judgements, and by people's if it was drawn.
///
/// The value of a question is a measure of its ranking, or the difference of two rankings' measures. The value of a pair is its part of a
/// mean over pairs: for P@k, 1 if the passage is relevant and 0 if not, over all pairs of the top k.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolUnit {
    /// The number of the question: units with one number may depend on each other.
    pub question: usize,
    /// The value by the model's judgements. `None` where the measure is undefined.
    pub model: Option<f64>,
    /// What people found, if the unit was drawn.
    pub drawn: Option<Drawn>,
}

/// What people found for a unit that was drawn for them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drawn {
    /// The value by people's judgements. `None` where the measure is undefined, such as recall where people find nothing relevant.
    pub people: Option<f64>,
    /// The probability that the unit was drawn, above 0 and at most 1: see [`Drawing::probabilities`](super::Drawing::probabilities).
    pub probability: f64,
}

/// How much the model's values count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelWeight {
    /// Not at all, λ = 0: people's values with inverse probabilities. Needs no model, and has the widest interval unless the model is bad.
    Ignored,
    /// Fully, λ = 1: prediction-powered inference.
    #[default]
    Full,
    /// By the λ with the smallest variance, estimated from what was drawn: PPI++. Of use if the model is bad or biased towards extremes. With
    /// fewer than some 30 drawn units the estimate of λ costs more than it gains, and intervals cover less than they promise.
    Tuned,
}

/// The mean that people would have found.
#[derive(Debug, Clone, PartialEq)]
pub struct CorrectedMean {
    /// The mean over all units for which people would define the measure.
    pub value: f64,
    /// How much the model's values counted: λ.
    pub weight: f64,
    /// How many units were drawn.
    pub drawn: usize,
    /// The number of all units.
    pub units: usize,
    /// The interval of the mean over these questions, had people judged everything: how little was drawn is the only source of error. `None` if
    /// people corrected every drawn unit by the same amount, because they then show no spread.
    pub interval: Option<Interval>,
    /// The interval of the mean over all questions that these are a sample of. It is the wider one, and the one to compare systems by.
    pub population: Option<Interval>,
    /// The standard deviation, over units, of what is left after the correction.
    pub spread: f64,
    /// The part of each unit in the mean, in the order of the units. Their mean is the value before it is cut to a scale. Other statistics over
    /// questions may resample or test them in place of people's values, which are known for some units only.
    pub contributions: Vec<f64>,
}

/// With fewer drawn units, nothing is estimated.
const FEWEST: usize = 5;

/// Estimates the mean over all units that people would have found, had they judged all.
///
/// ```text
/// mean = λ mean(f) + Σ_drawn w (y - λ f),   w = (1/π) / Σ_drawn 1/π
/// ```
///
/// where f are the model's values of all units, y people's of the drawn ones, and π the probabilities of the drawing. If units are
/// undefined, the mean is the quotient of two such means, of value and of "is defined", and the interval is that of the
/// linearised quotient. With λ = 0 this is Hájek's inverse probability estimate, and with λ = 1 prediction-powered inference, known in surveys as
/// the difference estimator. Nothing is assumed about the model: with equal probabilities and λ fixed, the mean is unbiased
/// for any model, and otherwise its bias falls with the number drawn. Intervals are Student's t with n - 1 degrees of freedom for n drawn units,
/// n - 2 if λ is tuned, and the variance
///
/// ```text
/// these questions: n / (n - 1) Σ_drawn (1 - π) w² (e - ē)²,   e = y - λ f
/// population:      that, and the variance of the mean of y over questions
/// ```
///
/// [`Scale::Share`] cuts value and intervals to 0 and 1.
///
/// # Errors
///
/// Refuses fewer than five drawn units (two more for a tuned λ), numbers that are not finite, probabilities outside 0 to 1, a level outside 0 to
/// 1, and units of which people define none.
///
/// Sources: for the weights, Horvitz and Thompson, "A Generalization of Sampling Without Replacement from a Finite Universe", Journal of the
/// American Statistical Association 47 (1952), and Hájek, "Comment on an Essay by D. Basu", in *Foundations of Statistical Inference* (1971);
/// for the model's values, Angelopoulos et al., "Prediction-Powered Inference", Science 382 (2023), Angelopoulos, Duchi and Zrnic,
/// "PPI++: Efficient Prediction-Powered Inference", arXiv 2311.01453, and Särndal, Swensson and Wretman, *Model Assisted Survey Sampling* (1992),
/// sections 5.7 (quotients) and 6.3 (differences).
///
/// ```
/// use evals_metrics::{Drawn, ModelWeight, PoolUnit, Scale, corrected_mean};
///
/// // The model finds an nDCG of 0.8 everywhere, and people, in 6 of 60 questions, one that is lower by 0.1 to 0.3.
/// let units: Vec<PoolUnit> = (0..60)
///     .map(|question| PoolUnit {
///         question,
///         model: Some(0.8),
///         drawn: (question % 10 == 0).then(|| Drawn {
///             people: Some([0.7, 0.6, 0.5][question / 10 % 3]),
///             probability: 0.1,
///         }),
///     })
///     .collect();
/// let found = corrected_mean(&units, ModelWeight::Full, Scale::Share, 0.95)?;
/// let interval = found.interval.expect("people correct by different amounts");
/// assert_eq!(format!("{:.2} [{:.2}, {:.2}]", found.value, interval.low, interval.high), "0.60 [0.51, 0.69]");
/// assert_eq!(found.drawn_for(0.1), Some(13));
/// # Ok::<(), evals_metrics::NoStatistic>(())
/// ```
pub fn corrected_mean(
    units: &[PoolUnit],
    weight: ModelWeight,
    scale: Scale,
    level: f64,
) -> Result<CorrectedMean, NoStatistic> {
    check(units, weight, level)?;
    let pool = Pool::of(units);
    let (weight, estimated, method) = match weight {
        ModelWeight::Ignored => (0.0, 1.0, IntervalMethod::InverseProbability),
        ModelWeight::Full => (1.0, 1.0, IntervalMethod::PredictionPoweredFull),
        ModelWeight::Tuned => (pool.tuned()?, 2.0, IntervalMethod::PredictionPowered),
    };
    let quotient = pool.quotient(weight)?;
    let correction = pool.correction(quotient, weight, estimated);
    let contributions = pool.contributions(quotient, weight, &correction);
    let questions = units.iter().map(|unit| unit.question);
    let clusters = Clusters::new(questions.zip(contributions.iter().copied()));
    let between = clusters.standard_error(ClusterCorrection::Cr1).ok();
    let (n, mean) = (as_f64(pool.drawn.len()), quotient.mean);
    let drawing = correction.variance;
    // The variance over questions contains that of the drawing, without its correction for degrees of freedom.
    let between = between.map(|error| error.value.powi(2) + drawing * estimated / n);

    let quantile = student_upper_quantile((1.0 - level) / 2.0, n - estimated);
    let around = |variance: f64| {
        let reach = quantile * variance.sqrt();
        let interval = Interval {
            low: mean - reach,
            high: mean + reach,
            level,
            method,
        };
        match scale {
            Scale::Share => interval.within(0.0, 1.0),
            _ => interval,
        }
    };
    let is_known = correction.spread > ROUNDING || pool.drawn.len() == units.len();
    Ok(CorrectedMean {
        value: match scale {
            Scale::Share => mean.clamp(0.0, 1.0),
            _ => mean,
        },
        weight,
        drawn: pool.drawn.len(),
        units: units.len(),
        interval: is_known.then(|| around(drawing)),
        population: between.filter(|_| is_known).map(around),
        spread: correction.spread,
        contributions,
    })
}

impl CorrectedMean {
    /// How many of the units have to be drawn, with equal probabilities, until the interval over these questions is at most this wide, if the
    /// spread stays what it is. Times the mean size of a question's pool, this is a number of judgements. `None` if the drawn units
    /// show no spread, or the width is not above 0.
    pub fn drawn_for(&self, width: f64) -> Option<usize> {
        let interval = self
            .interval
            .filter(|_| self.spread > ROUNDING && width > 0.0)?;
        let tail = (1.0 - interval.level) / 2.0;
        let is_enough = |drawn: usize| {
            let n = as_f64(drawn);
            let error = self.spread * ((1.0 - share(drawn, self.units)).max(0.0) / n).sqrt();
            2.0 * student_upper_quantile(tail, n - 1.0) * error <= width
        };
        // Bisection: the width falls with every unit, and is 0 with all of them.
        let (mut few, mut enough) = (FEWEST - 1, self.units);
        while enough - few > 1 {
            let middle = usize::midpoint(few, enough);
            if is_enough(middle) {
                enough = middle;
            } else {
                few = middle;
            }
        }
        Some(enough)
    }
}

fn check(units: &[PoolUnit], weight: ModelWeight, level: f64) -> Result<(), NoStatistic> {
    check_level(level)?;
    let drawn = units.iter().filter_map(|unit| unit.drawn);
    let people = drawn.clone().filter_map(|drawn| drawn.people);
    let mut values = people.chain(units.iter().filter_map(|unit| unit.model));
    if !values.all(f64::is_finite) {
        return Err(NoStatistic::NotFinite);
    }
    let is_probability = |drawn: Drawn| drawn.probability > 0.0 && drawn.probability <= 1.0;
    if !drawn.clone().all(is_probability) {
        return Err(NoStatistic::Probability);
    }
    let (n, least) = match weight {
        ModelWeight::Tuned => (drawn.count(), FEWEST + 2),
        _ => (drawn.count(), FEWEST),
    };
    if n < least {
        return Err(NoStatistic::TooFew { n, least });
    }
    Ok(())
}

/// The units, and those of them that were drawn.
struct Pool<'u> {
    units: &'u [PoolUnit],
    /// With their places among all units.
    drawn: Vec<(usize, &'u PoolUnit, Drawn)>,
    /// The inverse probabilities of those drawn, scaled to a sum of 1.
    weights: Vec<f64>,
}

impl<'u> Pool<'u> {
    fn of(units: &'u [PoolUnit]) -> Self {
        let places = units.iter().enumerate();
        let drawn = places.filter_map(|(place, unit)| Some((place, unit, unit.drawn?)));
        let drawn: Vec<_> = drawn.collect();
        let inverses = drawn.iter().map(|(_, _, drawn)| 1.0 / drawn.probability);
        let sum: f64 = inverses.clone().sum();
        Self {
            weights: inverses.map(|inverse| inverse / sum).collect(),
            units,
            drawn,
        }
    }

    fn map(&self, value: impl Fn(&PoolUnit, Drawn) -> f64) -> Vec<f64> {
        let drawn = self.drawn.iter();
        drawn.map(|(_, unit, drawn)| value(unit, *drawn)).collect()
    }

    /// The mean over the drawn units by inverse probabilities.
    fn weighted(&self, values: &[f64]) -> f64 {
        let pairs = values.iter().zip(&self.weights);
        pairs.map(|(value, weight)| value * weight).sum()
    }

    /// The corrected mean of `value` over all units.
    fn corrected(&self, weight: f64, value: impl Fn(Option<f64>) -> f64) -> f64 {
        let all: f64 = self.units.iter().map(|unit| value(unit.model)).sum();
        let errors = self.map(|unit, drawn| value(drawn.people) - weight * value(unit.model));
        weight * all / as_f64(self.units.len()) + self.weighted(&errors)
    }

    /// The corrected mean over the units for which it is defined.
    fn quotient(&self, weight: f64) -> Result<Quotient, NoStatistic> {
        let defined = self.corrected(weight, |value| f64::from(u8::from(value.is_some())));
        if defined <= ROUNDING {
            return Err(NoStatistic::NoValues);
        }
        let sum = self.corrected(weight, |value| value.unwrap_or(0.0));
        Ok(Quotient {
            mean: sum / defined,
            defined,
        })
    }

    /// What people change, where as many parameters as `estimated` come from the drawn units.
    fn correction(&self, quotient: Quotient, weight: f64, estimated: f64) -> Correction {
        let errors = self.map(|unit, drawn| {
            quotient.distance(drawn.people) - weight * quotient.distance(unit.model)
        });
        let shift = self.weighted(&errors);
        let pairs = errors.iter().zip(&self.weights);
        let parts: Vec<f64> = pairs
            .map(|(error, weight)| weight * (error - shift))
            .collect();
        let n = as_f64(errors.len());
        let scale = n / (n - estimated);
        let pairs = parts.iter().zip(&self.drawn);
        let drawing = pairs.map(|(part, (_, _, drawn))| (1.0 - drawn.probability) * part * part);
        let pairs = parts.iter().zip(&errors);
        let squares = pairs.map(|(part, error)| part * (error - shift));
        Correction {
            variance: scale * drawing.sum::<f64>(),
            spread: (scale * squares.sum::<f64>()).sqrt(),
            shift,
            parts,
        }
    }

    /// The part of each unit in the mean.
    fn contributions(&self, quotient: Quotient, weight: f64, correction: &Correction) -> Vec<f64> {
        let model = self.units.iter().map(|unit| quotient.distance(unit.model));
        let mut contributions: Vec<f64> = model
            .map(|distance| quotient.mean + weight * distance + correction.shift)
            .collect();
        for ((place, ..), part) in self.drawn.iter().zip(&correction.parts) {
            contributions[*place] += as_f64(self.units.len()) * part;
        }
        contributions
    }

    /// The λ of the smallest variance: the slope of people's values on the model's.
    fn tuned(&self) -> Result<f64, NoStatistic> {
        let quotient = self.quotient(1.0)?;
        let centred = |values: Vec<f64>| -> Vec<f64> {
            let mean = self.weighted(&values);
            values.into_iter().map(|value| value - mean).collect()
        };
        let people = centred(self.map(|_, drawn| quotient.distance(drawn.people)));
        let model = centred(self.map(|unit, _| quotient.distance(unit.model)));
        let product = |other: &[f64]| -> f64 {
            let pairs = model.iter().zip(other);
            self.weighted(&pairs.map(|(one, other)| one * other).collect::<Vec<_>>())
        };
        let variance = product(&model);
        Ok(if variance > 0.0 {
            (product(&people) / variance).clamp(0.0, 1.0)
        } else {
            0.0
        })
    }
}

/// What people change in the mean.
struct Correction {
    /// The weighted mean of what they change in the drawn units.
    shift: f64,
    /// The distance of each drawn unit's change from that, weighted.
    parts: Vec<f64>,
    /// The variance of the mean by the drawing.
    variance: f64,
    /// The standard deviation of the changes.
    spread: f64,
}

/// A mean over the units for which it is defined.
#[derive(Clone, Copy)]
struct Quotient {
    mean: f64,
    /// The share of units for which it is defined.
    defined: f64,
}

impl Quotient {
    /// How far a unit moves the mean, to first order. An undefined one does not.
    fn distance(self, value: Option<f64>) -> f64 {
        value.map_or(0.0, |value| (value - self.mean) / self.defined)
    }
}
