//! The order in which people judge, as a random sample that may stop anywhere.

use crate::NoStatistic;
use crate::arithmetic::{ROUNDING, share};
use crate::random::Xoshiro256PlusPlus;

/// Units (questions, or pairs of a question and a passage) in the order in which people should judge them, with the probability that a
/// unit is among the first n.
///
/// Each unit has a random number u of its own and a size s, and comes in the order of u / s. So a unit with a larger size tends to come
/// earlier, and the next unit to judge is the first one without a judgement. The first n units are a random sample for every n. They stay the
/// same when more are judged, and the numbers of the others stay the same when units join.
///
/// With equal sizes, each unit is among the first n of N with the probability n / N. Otherwise the probability is
///
/// ```text
/// min(1, s τ),   τ = u / s of unit n + 1
/// ```
///
/// which depends on the sample, but makes weighted sums unbiased, without covariance between units.
///
/// The variance of a corrected mean is smallest where sizes are proportional to how far the model's value of a unit is expected to be
/// from people's: see [`GradedAgreement::expected_error`](crate::GradedAgreement::expected_error). Equal sizes are right if nothing is known, and
/// for whole questions. Sizes that depend on judgements of people have to be chosen before the sample is drawn.
///
/// Sources: Duffield, Lund and Thorup, "Priority Sampling for Estimation of Arbitrary Subset Sums", Journal of the ACM 54 (2007); for the
/// permanent random numbers, Ohlsson, "Coordination of Samples Using Permanent Random Numbers", in *Business Survey Methods* (1995).
///
/// ```
/// use evals_metrics::Drawing;
///
/// let drawing = Drawing::new([("q1", 1.0), ("q2", 1.0), ("q3", 1.0), ("q4", 1.0)], 7)?;
/// assert_eq!(drawing.order().len(), 4);
/// assert_eq!(drawing.probabilities(1), [0.25; 4]);
/// # Ok::<(), evals_metrics::NoStatistic>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    sizes: Vec<f64>,
    /// u / s of each unit.
    priorities: Vec<f64>,
    order: Vec<usize>,
    is_uniform: bool,
}

impl Drawing {
    /// Orders units by their names, which are unique, and sizes, which are in any unit.
    ///
    /// # Errors
    ///
    /// [`NoStatistic::NoValues`] without units, and [`NoStatistic::NotFinite`] if a size is not a finite number above 0.
    pub fn new<'u>(
        units: impl IntoIterator<Item = (&'u str, f64)>,
        seed: u64,
    ) -> Result<Self, NoStatistic> {
        let (mut sizes, mut priorities) = (Vec::new(), Vec::new());
        for (name, size) in units {
            if !(size.is_finite() && size > 0.0) {
                return Err(NoStatistic::NotFinite);
            }
            sizes.push(size);
            priorities.push(permanent_number(name, seed) / size);
        }
        let &first = sizes.first().ok_or(NoStatistic::NoValues)?;
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        order.sort_by(|&one, &other| priorities[one].total_cmp(&priorities[other]));
        let is_uniform = sizes
            .iter()
            .all(|size| (size - first).abs() <= ROUNDING * first);
        Ok(Self {
            sizes,
            priorities,
            order,
            is_uniform,
        })
    }

    /// The units in the order of judging, as places in the list that the drawing was made of.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The probability of each unit to be among the first `drawn`, in the order of the list that the drawing was made of.
    pub fn probabilities(&self, drawn: usize) -> Vec<f64> {
        let units = self.sizes.len();
        let Some(&next) = self.order.get(drawn) else {
            return vec![1.0; units];
        };
        if self.is_uniform {
            return vec![share(drawn, units); units];
        }
        let threshold = self.priorities[next];
        let sizes = self.sizes.iter();
        sizes.map(|size| (size * threshold).min(1.0)).collect()
    }
}

/// A random number from 0 to 1 that belongs to a name: the first of a stream that is seeded by FNV-1a of the name.
///
/// What is drawn by such numbers stays drawn when other names join: see [`Drawing`].
pub fn permanent_number(name: &str, seed: u64) -> f64 {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let offset = Xoshiro256PlusPlus::seeded(seed).next();
    Xoshiro256PlusPlus::seeded(hash ^ offset).share()
}
