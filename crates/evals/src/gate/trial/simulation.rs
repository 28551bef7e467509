//! One simulated gate.

use evals_metrics::{PairedTest, Xoshiro256PlusPlus};

use super::super::drop::Drop;
use super::super::limit;
use super::super::pairing::Values;
use super::super::power::Sights;
use super::super::{Gate, GateVerdict, Rule, Strictness};
use super::Noise;
use super::population::{Population, Ruled};
use crate::{Adjustment, Family};
use evals_metrics::as_f64;

/// The simulation of one size of drop.
#[derive(Debug)]
pub(super) struct Simulation<'p> {
    gate: &'p Gate,
    population: &'p Population<'p>,
    /// How each rule's measure drops.
    damage: Vec<Damage>,
    /// The test of a drop.
    test: PairedTest,
    /// What the tests can see.
    sights: Sights,
}

/// How a measure drops.
#[derive(Clone, Copy, Debug)]
enum Damage {
    /// A case loses its whole value with this probability.
    Break { probability: f64, worst: f64 },
    /// Every case gets worse by this much, with its sign.
    Shift(f64),
}

/// The verdicts of one simulated gate on each rule: by default, and strict.
pub(super) type Verdicts = Vec<[GateVerdict; 2]>;

impl<'p> Simulation<'p> {
    /// Prepares drops of these sizes, one for each rule. `None` if a measure cannot drop that far.
    pub(super) fn new(
        gate: &'p Gate,
        population: &'p Population<'p>,
        drops: &[f64],
    ) -> Option<Self> {
        let rules = population.rules.iter().zip(drops);
        let damage = rules.map(|(ruled, drop)| Damage::of(ruled, *drop));
        let tests = population.rules.iter().filter(|it| it.is_drop()).count();
        let strictest = gate.significance() / as_f64(tests.max(1));
        Some(Self {
            gate,
            population,
            damage: damage.collect::<Option<_>>()?,
            test: gate.test(),
            sights: Sights::at(strictest),
        })
    }

    /// Draws a pair of runs and judges it.
    pub(super) fn judge(&self, random: &mut Xoshiro256PlusPlus) -> Verdicts {
        let drawn = self.draw(random);
        let rules = &self.population.rules;
        let drops: Vec<Option<Drop>> = rules
            .iter()
            .zip(&drawn)
            .map(|(ruled, drawn)| {
                let clusters = drawn.clusters.as_deref();
                let drop = || {
                    Drop::of(
                        &drawn.pairs,
                        clusters,
                        ruled.better,
                        ruled.scale,
                        &self.test,
                    )
                };
                ruled.is_drop().then(drop).flatten()
            })
            .collect();
        let significant = self.significant(&drops);
        let of_rules = rules
            .iter()
            .zip(&drawn)
            .enumerate()
            .map(
                |(place, (ruled, drawn))| match (&drops[place], &ruled.rule) {
                    (Some(drop), Rule::MaxDrop { tolerance, .. }) => {
                        [Strictness::Default, Strictness::Strict].map(|strictness| {
                            let sight = || self.sights.of(&drop.sensitivity);
                            let is_significant = significant[place];
                            let verdict =
                                drop.verdict(strictness, *tolerance, is_significant, sight);
                            verdict.0
                        })
                    }
                    (_, rule) => {
                        let after = drawn.pairs.iter().map(|(_, after)| *after);
                        let verdict = limit::on_numbers(
                            rule,
                            (&after.collect::<Vec<f64>>(), drawn.clusters.as_deref()),
                            (ruled.unit, ruled.scale),
                            self.gate.bound,
                            self.gate.level,
                        );
                        let strict = match verdict {
                            GateVerdict::Passed => GateVerdict::Passed,
                            GateVerdict::CannotTell | GateVerdict::Failed => GateVerdict::Failed,
                        };
                        [verdict, strict]
                    }
                },
            );
        of_rules.collect()
    }

    /// Whether each drop is significant after Holm's correction.
    fn significant(&self, drops: &[Option<Drop>]) -> Vec<bool> {
        let p_values = drops.iter().map(|drop| drop.as_ref()?.change.p_value);
        let significance = self.gate.significance();
        let family = Family::of(p_values, Adjustment::Holm, significance);
        let is_significant = |p_value: &Option<f64>| p_value.is_some_and(|it| it <= significance);
        family.adjusted().iter().map(is_significant).collect()
    }

    /// A pair of runs, for each rule.
    fn draw(&self, random: &mut Xoshiro256PlusPlus) -> Vec<Values> {
        let Population {
            clusters,
            is_clustered,
            rules,
            ..
        } = self.population;
        let sides = rules.first().map_or(0, |ruled| ruled.values.len());
        let two = two_of(sides, random);
        let none = rules.iter().map(|_| Values::new(*is_clustered));
        let mut all: Vec<Values> = none.collect();
        for number in 0..clusters.len() {
            let cluster = &clusters[random.index(clusters.len())];
            let source = DrawnValues::draw(self.population, two, random);
            for (place, case) in cluster.iter().enumerate() {
                let luck = random.share();
                for ((ruled, damage), drawn) in rules.iter().zip(&self.damage).zip(&mut all) {
                    if let Some((before, after)) = source.values(ruled, *case, place) {
                        drawn.push((before, damage.applied(after, luck)), Some(number));
                    }
                }
            }
        }
        all
    }
}

/// Where the two values of the cases of one drawn cluster come from.
#[derive(Debug)]
enum DrawnValues<'p> {
    /// Two snapshots.
    Runs(usize, usize),
    /// Two halves of the snapshots.
    Halves(Vec<usize>),
    /// The cases themselves, and themselves or those of another cluster, from a place in it.
    Cases(Option<(&'p [usize], usize)>),
}

impl<'p> DrawnValues<'p> {
    fn draw(
        population: &'p Population<'p>,
        two: [usize; 2],
        random: &mut Xoshiro256PlusPlus,
    ) -> Self {
        match population.noise {
            Noise::Runs(_) => {
                let [one, other] = two;
                if random.index(2) == 0 {
                    Self::Runs(one, other)
                } else {
                    Self::Runs(other, one)
                }
            }
            Noise::Repetitions(_) => {
                let sides = population
                    .rules
                    .first()
                    .map_or(0, |ruled| ruled.values.len());
                let mut order: Vec<usize> = (0..sides).collect();
                for place in (1..sides).rev() {
                    order.swap(place, random.index(place + 1));
                }
                Self::Halves(order)
            }
            Noise::Exchange { share, .. } => {
                let is_exchanged = random.share() < share;
                // A uniform case, so that each given value has the mean of all cases, whatever the sizes of clusters.
                let (number, place) = population.places[random.index(population.places.len())];
                let other = population.clusters[number].as_slice();
                Self::Cases(is_exchanged.then_some((other, place)))
            }
        }
    }

    /// The values of a case at a place of the cluster.
    fn values(&self, ruled: &Ruled, case: usize, place: usize) -> Option<(f64, f64)> {
        let value = |side: usize, case: usize| ruled.values[side][case];
        match self {
            Self::Runs(one, other) => Some((value(*one, case)?, value(*other, case)?)),
            Self::Halves(order) => {
                let half = order.len() / 2;
                let mean = |sides: &[usize]| {
                    let sum = sides
                        .iter()
                        .map(|side| value(*side, case))
                        .sum::<Option<f64>>()?;
                    Some(sum / as_f64(sides.len()))
                };
                Some((mean(&order[..half])?, mean(&order[half..2 * half])?))
            }
            Self::Cases(other) => {
                let own = value(0, case)?;
                // A case without a value cannot lose it.
                let other = other.map(|(other, first)| other[(first + place) % other.len()]);
                let given = other.and_then(|other| value(0, other)).unwrap_or(own);
                Some((own, given))
            }
        }
    }
}

/// Two different snapshots of several; the first twice if there is only one.
fn two_of(sides: usize, random: &mut Xoshiro256PlusPlus) -> [usize; 2] {
    if sides < 2 {
        return [0, 0];
    }
    let one = random.index(sides);
    let other = (one + 1 + random.index(sides - 1)) % sides;
    [one, other]
}

impl Damage {
    fn of(ruled: &Ruled, drop: f64) -> Option<Self> {
        let sign = -ruled.better.gain().unwrap_or(1.0);
        if !ruled.is_share {
            return Some(Self::Shift(sign * drop));
        }
        let (worst, room) = if sign > 0.0 {
            (1.0, 1.0 - ruled.mean)
        } else {
            (0.0, ruled.mean)
        };
        let probability = if drop > 0.0 { drop / room } else { 0.0 };
        (probability <= 1.0).then_some(Self::Break { probability, worst })
    }

    /// The value after the drop. `luck` is uniform from 0 to 1, and the same for all measures of a case: what breaks one measure
    /// breaks others.
    fn applied(self, value: f64, luck: f64) -> f64 {
        match self {
            Self::Break { probability, worst } if luck < probability => worst,
            Self::Break { .. } => value,
            Self::Shift(shift) => value + shift,
        }
    }
}
