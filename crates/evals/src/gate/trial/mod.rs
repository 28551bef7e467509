//! A self-test of a gate: how often it would fail without a reason, and how often it would see a drop.

mod population;
mod report;
mod simulation;

use super::rule::MeasureNames;
use std::num::NonZeroU32;

use evals_metrics::Xoshiro256PlusPlus;
use thiserror::Error;

pub use report::{Share, TrialReport, TrialRow, TrialShares};

use super::{Gate, GateError, Rule};
use crate::Snapshot;
use crate::measured::on_all_cores;
use population::Population;
use simulation::{Simulation, Verdicts};

/// This many simulations draw from one stream of random numbers, so that the result does not depend on the number of threads.
const SIMULATIONS_OF_A_STREAM: usize = 25;

/// The multiples of a tolerance that are simulated as true drops, beside none.
const MULTIPLES: [f64; 3] = [1.0, 2.0, 4.0];

/// A self-test of a gate by simulation.
///
/// Each simulation draws as many cases as the run has, with replacement, makes a pair of runs of them that are equally good, and lowers the
/// values of the second one by a true drop of a known size. The gate then judges the pair. Without a drop every failure of a rule about drops
/// is a false alarm. A floor or a ceiling that fails is none: resampled runs may break it.
///
/// A drop of size d breaks cases: each case loses its whole value, 0 of a measure from 0 to 1, with the probability that lowers the mean by
/// d. Of passes and failures that turns passes into failures. A measure with other values is shifted by d in every case.
#[derive(Clone, Debug)]
pub struct GateTrial<'g> {
    /// The gate. Drops of measures and limits of measures are simulated; limits of latency, cost and failures are not.
    pub gate: &'g Gate,
    /// True drops to simulate, in the measures' unit. If empty, 1, 2 and 4 times the tolerance of each rule.
    pub drops: &'g [f64],
    /// How many pairs to simulate for each size of drop.
    pub simulations: NonZeroU32,
    /// Seeds the random numbers.
    pub seed: u64,
}

/// Where the noise between two equally good runs comes from.
#[derive(Clone, Copy, Debug)]
pub enum Noise<'s> {
    /// Several runs. Each simulation takes two of them and swaps their values case by case at random. It assumes that two runs differ as
    /// much as these, and that neither is better.
    Runs(&'s [Snapshot]),
    /// The repetitions of one run, each as a snapshot. Each simulation splits the repetitions of every case at random into halves. It
    /// assumes that repetitions are independent, and shows the noise of runs with half as many repetitions.
    Repetitions(&'s [Snapshot]),
    /// One run without repetitions, which shows no noise: in each simulation a share of the cases gets the value of another case. It
    /// assumes that a change helps some cases and hurts others as much.
    Exchange {
        /// The run.
        run: &'s Snapshot,
        /// The share of the cases, from 0 to 1.
        share: f64,
    },
}

/// Why a gate cannot be tested.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum TrialError {
    /// The gate cannot be applied.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// No rule can be simulated.
    #[error(
        "no rule can be simulated: limits of latency, cost and failures are not; add `max-drop` or `min` of a measure"
    )]
    Nothing,
    /// Every tolerance is 0, so its multiples are no drops.
    #[error("multiples of a tolerance of 0 are not drops; name the sizes to simulate")]
    NoSize,
    /// A size is not a positive number.
    #[error("a true drop of {0} cannot be simulated; it has to be above 0")]
    Size(f64),
    /// The share is not one.
    #[error("{0} is not a share of cases from 0 to 1")]
    Share(f64),
    /// Two repetitions or runs are needed.
    #[error("noise needs at least two runs or repetitions")]
    Alone,
    /// The snapshots have no case with a value of the measure in common.
    #[error("the runs have no case in common with a value of `{0}`")]
    NoCases(String),
}

impl GateTrial<'_> {
    /// Simulates the gate. `names` says which measures the names in the rules mean.
    ///
    /// # Errors
    ///
    /// The gate is not valid, no rule can be simulated, or a setting is out of range.
    pub fn run(
        &self,
        noise: &Noise<'_>,
        names: &dyn MeasureNames,
    ) -> Result<TrialReport, TrialError> {
        self.gate.validate()?;
        if let Some(wrong) = self.drops.iter().find(|it| !(it.is_finite() && **it > 0.0)) {
            return Err(TrialError::Size(*wrong));
        }
        let population = Population::of(*noise, self.gate, names)?;
        let sizes = self.sizes(&population)?;
        let results: Vec<Option<Vec<Verdicts>>> = sizes
            .iter()
            .enumerate()
            .map(|(place, (_, size))| self.simulate(&population, place, size))
            .collect();
        Ok(TrialReport::new(self, &population, &sizes, &results))
    }

    /// The sizes to simulate: a label, and the drop of each rule's measure.
    fn sizes(&self, population: &Population<'_>) -> Result<Vec<(String, Vec<f64>)>, TrialError> {
        let rules = &population.rules;
        let mut sizes = vec![("none".to_owned(), vec![0.0; rules.len()])];
        for drop in self.drops {
            sizes.push((drop.to_string(), vec![*drop; rules.len()]));
        }
        if !self.drops.is_empty() {
            return Ok(sizes);
        }
        let tolerance = |rule: &Rule| match rule {
            Rule::MaxDrop { tolerance, .. } => *tolerance,
            Rule::Min { .. } | Rule::Max { .. } => 0.0,
        };
        let tolerances: Vec<f64> = rules.iter().map(|ruled| tolerance(&ruled.rule)).collect();
        let Some(largest) = tolerances.iter().copied().reduce(f64::max) else {
            return Err(TrialError::Nothing);
        };
        if largest <= 0.0 {
            return Err(TrialError::NoSize);
        }
        let is_one = tolerances.iter().all(|it| it.total_cmp(&largest).is_eq());
        for multiple in MULTIPLES {
            let label = if is_one {
                format!("{}", rounded(multiple * largest))
            } else {
                format!("{multiple} x tolerance")
            };
            // A rule without a tolerance watches the same measure drop by as much as the others do.
            let size = |own: &f64| {
                if *own > 0.0 {
                    multiple * own
                } else {
                    multiple * largest
                }
            };
            sizes.push((label, tolerances.iter().map(size).collect()));
        }
        Ok(sizes)
    }

    /// The verdicts of each simulation; `None` where a measure cannot drop that far.
    fn simulate(
        &self,
        population: &Population<'_>,
        place: usize,
        drops: &[f64],
    ) -> Option<Vec<Verdicts>> {
        let simulation = Simulation::new(self.gate, population, drops)?;
        let count = self.simulations.get() as usize;
        let mut random = Xoshiro256PlusPlus::seeded(self.seed.wrapping_add(place as u64));
        let firsts = (0..count).step_by(SIMULATIONS_OF_A_STREAM);
        let streams: Vec<(Xoshiro256PlusPlus, usize)> = firsts
            .map(|first| {
                (
                    random.split_off(),
                    SIMULATIONS_OF_A_STREAM.min(count - first),
                )
            })
            .collect();
        let parts = on_all_cores(&streams, |(random, size)| {
            let mut random = random.clone();
            let verdicts = (0..*size).map(|_| simulation.judge(&mut random));
            verdicts.collect::<Vec<_>>()
        });
        Some(parts.into_iter().flatten().collect())
    }
}

/// Without the noise of binary fractions: 3 times 0.1 is 0.3.
fn rounded(number: f64) -> f64 {
    (number * 1e12).round() / 1e12
}
