//! The interval that belongs to the randomization test.

use super::NoStatistic;
use crate::arithmetic::{RESAMPLES, ROUNDING, as_f64};
use crate::random::Xoshiro256PlusPlus;
use crate::{Interval, IntervalMethod, PairedTest};

/// Up to this many units, all swaps are enumerated.
const ENUMERATED: usize = 13;

impl PairedTest {
    /// The mean changes that the randomization test does not reject, for units of cases that are swapped together: the sum of each unit's
    /// changes, and its number of cases. `p_value` is that of no change. The interval contains 0 exactly if it is above 1 minus the level.
    ///
    /// If the true mean change is δ, swapping the set S of units gives a mean at least as far from δ as the observed one, d, exactly if the
    /// mean change of S, or that of all other units, is not between δ and d. So the ends of the interval are quantiles of the lower, and of
    /// the higher, of these two means over all swaps.
    ///
    /// Source: Hartigan, "Using Subsample Values as Typical Values", Journal of the American Statistical Association 64 (1969).
    pub(super) fn inverted(
        &self,
        units: &[(f64, f64)],
        p_value: f64,
    ) -> Result<Interval, NoStatistic> {
        super::moments::check_level(self.level)?;
        let (sum, weight) = total(units);
        let mean = sum / weight;
        check_spread(units, mean)?;
        let swaps = self.swapped(units, [sum, weight]);
        let [low, high] =
            [1.0, -1.0].map(|side| self.end(&swaps, units.len(), side, [mean, p_value]));
        if !(low.is_finite() && high.is_finite()) {
            return Err(NoStatistic::TooFew {
                n: units.len(),
                least: fewest_units(1.0 - self.level),
            });
        }
        Ok(Interval {
            low,
            high: -high,
            level: self.level,
            method: IntervalMethod::Randomization,
        })
    }

    /// The lower end of the interval, or minus the higher one for a `side` of -1.
    fn end(&self, swaps: &[[f64; 2]], units: usize, side: f64, [mean, p_value]: [f64; 2]) -> f64 {
        let significance = 1.0 - self.level;
        // Without a swap, an observed difference is as extreme as itself: random swaps count it too.
        let itself = if units <= ENUMERATED { 0.0 } else { 1.0 };
        let all = as_f64(swaps.len()) + itself;
        let rejected = significance * all - itself + ROUNDING * all;
        let mut ends: Vec<f64> = swaps.iter().map(|means| unrejected(*means, side)).collect();
        ends.sort_unstable_by(f64::total_cmp);
        let mut places = ends.iter().zip(0..);
        let place = places.find(|(_, place)| as_f64(*place) > rejected - 1.0);
        let found = place.map_or(f64::NEG_INFINITY, |(end, _)| *end);
        let observed = side * mean;
        if p_value > significance {
            found.min(0.0)
        } else if observed > 0.0 && found <= 0.0 && found.is_finite() {
            // The random swaps of the test and these disagree by a few.
            let above = ends.into_iter().find(|end| *end > 0.0);
            above.map_or(observed, |end| end.min(observed))
        } else {
            found
        }
    }

    /// For each swap, the mean of the swapped units and that of the others; not finite for the mean of none.
    fn swapped(&self, units: &[(f64, f64)], [sum, weight]: [f64; 2]) -> Vec<[f64; 2]> {
        let means = |is_swapped: &mut dyn FnMut(usize) -> bool| {
            let own = units
                .iter()
                .enumerate()
                .filter(|(place, _)| is_swapped(*place));
            let (own_sum, own_weight) = own.fold((0.0, 0.0), |(sum, weight), (_, unit)| {
                (sum + unit.0, weight + unit.1)
            });
            [
                own_sum / own_weight,
                (sum - own_sum) / (weight - own_weight),
            ]
        };
        if units.len() <= ENUMERATED {
            let swaps = 0..1_usize << units.len();
            return swaps
                .map(|swap| means(&mut |place| swap >> place & 1 == 1))
                .collect();
        }
        let mut random = Xoshiro256PlusPlus::seeded(self.seed);
        let draws = 0..self.resamples.get().min(RESAMPLES.get());
        draws
            .map(|_| {
                let mut bits = 0;
                means(&mut |place| {
                    if place % 64 == 0 {
                        bits = random.next();
                    }
                    bits >> (place % 64) & 1 == 1
                })
            })
            .collect()
    }
}

/// Refuses a single unit, and units of one mean.
fn check_spread(units: &[(f64, f64)], mean: f64) -> Result<(), NoStatistic> {
    let means = || units.iter().map(|(sum, weight)| sum / weight);
    let largest = means().fold(0.0_f64, |size, it| size.max(it.abs()));
    let are_equal = means().all(|it| (it - mean).abs() <= ROUNDING * largest);
    match units.len() {
        _ if !are_equal => Ok(()),
        0 | 1 => Err(NoStatistic::OneValue),
        _ => Err(NoStatistic::NoSpread),
    }
}

/// The fewest units that can be significant: if all change in one direction, 2 of 2^n swaps are as extreme.
fn fewest_units(significance: f64) -> usize {
    let mut fewest = 2;
    let mut p_value = 0.5;
    while p_value > significance && p_value > 0.0 {
        fewest += 1;
        p_value /= 2.0;
    }
    fewest
}

/// The sums of both numbers.
fn total(units: &[(f64, f64)]) -> (f64, f64) {
    let add = |(sum, weight), (own, size): &(f64, f64)| (sum + own, weight + size);
    units.iter().fold((0.0, 0.0), add)
}

/// The lower of two means, or minus the higher one for a `side` of -1. A swap of all units or of none rejects every change.
fn unrejected([one, other]: [f64; 2], side: f64) -> f64 {
    if one.is_finite() && other.is_finite() {
        (side * one).min(side * other)
    } else {
        f64::NEG_INFINITY
    }
}
