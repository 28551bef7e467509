//! The verdict of a tuning, and what it rests on.

use evals_metrics::{PairedDifference, PairedTest, Xoshiro256PlusPlus};
use serde::{Deserialize, Serialize};

use crate::max_t::{SignFlips, Sums, by_cluster, fisher, luck, p_value, shifted, statistic};
use crate::race::{Fate, OWN, Race};
use crate::resampled::{Resampled, bias_corrected};

/// Halvings that place the bound of a gain: it is then known to a millionth of the largest gain.
const HALVINGS: u32 = 20;

/// What a tuning found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The chosen settings are better than the user's own.
    Better {
        /// By at least this much, with a confidence of 1 minus the significance.
        at_least: f64,
    },
    /// Nothing is better than own settings beyond chance.
    NothingBetter,
    /// The space has nothing but own settings.
    OnlyOwn,
    /// Every candidate has the values of own settings on every question: nothing uses the knobs.
    EveryTrialEqual,
    /// Every candidate failed. The reasons are in their standings.
    EveryTrialFailed,
    /// No candidate is within all limits, nor are own settings.
    NobodyWithinLimits,
    /// Own settings have no value on any question, for this reason.
    Undefined(String),
    /// The chosen settings did not meet own ones on the held-out part: the budget was spent, or they failed there.
    Unchecked,
}

/// How the choice was judged on questions that it was not made on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// The chosen settings met own ones on the held-out part: own settings first, in the unit of the objective. Its p value is two-sided, and of
    /// this part alone.
    HeldOut(PairedDifference),
    /// No question is held out; [`Split::no_hold_out`](crate::Split::no_hold_out) says why. Each resample of the questions chose settings again,
    /// and the questions that it left out measured its choice.
    Resampled(Resampled),
    /// There is none: own settings were chosen, or there was nothing to choose or to measure.
    None,
}

/// The verdict, with the figures that say what luck contributed. Gains are positive where the chosen settings are better.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// The number of the chosen candidate; 0 is own settings.
    pub chosen: Option<usize>,
    /// The mean gain of the chosen candidate in the search, which flatters it.
    pub gain_in_search: Option<f64>,
    /// How it was judged.
    pub check: Check,
    /// The gain in the search minus that of the check.
    pub optimism: Option<f64>,
    /// The gain in the search that the best of so many candidates shows on average if all are as good as own settings.
    pub luck: Option<f64>,
    /// The one-sided p value of the verdict: that of the largest statistic in the search, combined with that of the held-out part if there is
    /// one.
    pub p_value: Option<f64>,
    /// The names of knobs that change no value on any question, as far as candidates were measured that differ in nothing else. Empty if
    /// the space was only sampled.
    pub unused: Vec<String>,
}

/// What speaks for the chosen candidate, as sums of gains by cluster.
#[derive(Debug)]
struct Evidence {
    search: Sums,
    largest: Vec<f64>,
    held_out: Option<Sums>,
    test: PairedTest,
}

impl Outcome {
    pub(crate) fn of(race: &Race, chosen: Option<usize>) -> Self {
        let outcome = Self {
            verdict: Verdict::NothingBetter,
            chosen,
            gain_in_search: chosen.and_then(|it| race.gain(it, OWN, race.questions())),
            check: Check::None,
            optimism: None,
            luck: None,
            p_value: None,
            unused: unused(race),
        };
        match (without_test(race), chosen) {
            (Some(verdict), _) => Self { verdict, ..outcome },
            (None, None) => Self {
                verdict: Verdict::NobodyWithinLimits,
                ..outcome
            },
            (None, Some(chosen)) => outcome.tested(race, chosen),
        }
    }

    /// Adds what random signs and the check say.
    fn tested(self, race: &Race, chosen: usize) -> Self {
        let options = &race.options;
        let mut random = Xoshiro256PlusPlus::seeded(options.seed);
        let columns: Vec<Sums> = (1..race.candidates.len()).map(|it| race.sums(it)).collect();
        let search = race.sums(chosen);
        let asked = search.iter().map(|(_, n)| n).sum();
        let luck = luck(&columns, asked, options.draws.div_ceil(10), &mut random);
        if chosen == OWN {
            return Self { luck, ..self };
        }
        let held_out = race.gains(chosen, OWN, &race.split.held_out);
        let evidence = Evidence {
            search,
            largest: SignFlips::new(columns).largest(options.draws, &mut random),
            held_out: race.has_held_out().then(|| by_cluster(held_out)),
            test: options.test,
        };
        let (check, gain) = check(race, chosen, &mut random);
        let optimism = self
            .gain_in_search
            .zip(gain)
            .map(|(search, check)| search - check);
        let p_value = gain.map(|_| evidence.p_value(0.0));
        let verdict = match (gain, p_value) {
            (Some(gain), Some(p_value)) if gain > 0.0 && p_value <= options.significance => {
                let bound = gain.max(gain + optimism.unwrap_or_default());
                let at_least = evidence.at_least(bound, options.significance);
                Verdict::Better { at_least }
            }
            (Some(_), _) => Verdict::NothingBetter,
            (None, _) => Verdict::Unchecked,
        };
        Self {
            verdict,
            check,
            optimism,
            luck,
            p_value,
            ..self
        }
    }
}

/// The verdict if there is nothing to test.
fn without_test(race: &Race) -> Option<Verdict> {
    let own = &race.answers[OWN];
    let mut sound = (1..race.candidates.len())
        .filter(|it| race.is_sound(*it))
        .peekable();
    if race.candidates.len() == 1 {
        Some(Verdict::OnlyOwn)
    } else if !race.has_values(OWN) {
        own.without_value()
            .map(|(_, reason)| Verdict::Undefined(reason))
    } else if sound.peek().is_none() {
        Some(Verdict::EveryTrialFailed)
    } else {
        let is_equal = |it| {
            race.gains(it, OWN, &race.split.search)
                .all(|(_, gain)| gain.abs() <= 0.0)
        };
        sound.all(is_equal).then_some(Verdict::EveryTrialEqual)
    }
}

/// How the choice was judged, with its gain.
fn check(race: &Race, chosen: usize, random: &mut Xoshiro256PlusPlus) -> (Check, Option<f64>) {
    let options = &race.options;
    if !race.has_held_out() {
        let within = |it: &usize| race.is_sound(*it) && race.meets_limits(*it);
        let candidates = (1..race.candidates.len()).filter(within);
        let sums: Vec<Sums> = candidates.map(|it| race.sums(it)).collect();
        let found = bias_corrected(
            &sums,
            options.draws.div_ceil(10),
            options.test.level,
            random,
        );
        return (
            found.map_or(Check::None, Check::Resampled),
            found.map(|found| found.gain),
        );
    }
    let [own, other] = [OWN, chosen].map(|it| &race.answers[it]);
    let held_out = &race.split.held_out;
    let both = held_out.iter().filter_map(|question| {
        let pair = (own.value(*question)?, other.value(*question)?);
        Some((pair, race.split.clusters[*question]))
    });
    let (pairs, clusters): (Vec<_>, Vec<_>) = both.unzip();
    let is_open = |question: &usize| own.is_open(*question) || other.is_open(*question);
    if race.fates[chosen] != Fate::Stayed || held_out.iter().any(is_open) {
        return (Check::None, None);
    }
    let found = options.test.compare(&pairs, Some(&clusters), options.scale);
    let gain = found.as_ref().map(|found| found.difference);
    (found.map_or(Check::None, Check::HeldOut), gain)
}

impl Evidence {
    /// The one-sided p value against a gain of at most `shift`: the parts share no question, so that Fisher's product holds.
    fn p_value(&self, shift: f64) -> f64 {
        let search = p_value(statistic(&shifted(&self.search, shift)), &self.largest);
        self.held_out.as_ref().map_or(search, |sums| {
            let sums = shifted(sums, shift);
            let sum: f64 = sums.iter().sum();
            let changed = sums.iter().any(|it| it.abs() > 0.0);
            let both = self.test.p_value(&sums).filter(|_| changed);
            let one_sided = |both: f64| {
                if sum > 0.0 {
                    both / 2.0
                } else {
                    1.0 - both / 2.0
                }
            };
            let held_out = both.map_or(1.0, one_sided);
            fisher(search, held_out)
        })
    }

    /// The largest gain up to `bound` that the p value excludes, given that it excludes 0.
    fn at_least(&self, bound: f64, significance: f64) -> f64 {
        let (mut low, mut high) = (0.0, bound);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if self.p_value(middle) <= significance {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }
}

/// The knobs that no two candidates show an effect of, of those that some two differ in alone.
fn unused(race: &Race) -> Vec<String> {
    // Of a space that is only sampled, few pairs differ in one knob alone, and these may be where it has no effect.
    if race.space.grid(race.options.trials).is_none() {
        return Vec::new();
    }
    let pairs = |place: usize| {
        let all = 0..race.candidates.len();
        let pairs = all.flat_map(|one| (0..one).map(move |other| (one, other)));
        pairs.filter(move |(one, other)| {
            let [one, other] = [one, other].map(|it| &race.candidates[*it]);
            one.0[place] != other.0[place] && one.distance(other) == 1
        })
    };
    let gains = |(one, other)| race.gains(one, other, &race.split.search);
    let knobs = race.space.knobs().iter().enumerate().filter(|(place, _)| {
        let mut seen = false;
        let mut gains = pairs(*place).flat_map(gains).inspect(|_| seen = true);
        gains.all(|(_, gain)| gain.abs() <= 0.0) && seen
    });
    knobs.map(|(_, knob)| knob.name.clone()).collect()
}
