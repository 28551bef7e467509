//! The choice at the end of a search.

use evals_metrics::{ClusterCorrection, Clusters, arithmetic_mean};

use crate::race::{Fate, OWN, Race};

/// Costs count as equal up to this factor: the same settings never cost the same twice.
const SAME_COST: f64 = 1.01;

/// The candidate to choose: of those that no standard error parts from the best, the cheapest, then the one with the fewest knobs that differ
/// from own settings, then the best. `None` if nobody is within the limits, or has values.
///
/// Source of the rule of one standard error: Breiman, Friedman, Olshen and Stone, *Classification and Regression Trees* (1984), section 3.4.3.
pub(crate) fn choose(race: &Race) -> Option<usize> {
    let contenders = contenders(race);
    let gain = |it: usize| race.gain(it, OWN, race.questions()).unwrap_or(f64::MIN);
    let by_gain = |one: &usize, other: &usize| gain(*one).total_cmp(&gain(*other));
    // The last of equal ones wins, so the first is the last here.
    let best = contenders.iter().rev().copied().max_by(by_gain)?;
    let mut tied: Vec<usize> = contenders
        .into_iter()
        .filter(|it| *it == best || is_tied(race, *it, best))
        .collect();
    let cost = |it: &usize| race.cost(*it).unwrap_or(f64::INFINITY);
    let least = tied.iter().map(cost).fold(f64::INFINITY, f64::min);
    tied.retain(|it| cost(it) <= SAME_COST * least);
    let changes = |it: &usize| race.candidates[*it].distance(&race.candidates[OWN]);
    let simplest = tied.iter().map(changes).min()?;
    tied.retain(|it| changes(it) == simplest);
    tied.into_iter().rev().max_by(by_gain)
}

/// Those in the race to its end that are within the limits, have values, and answered at least half as much as any of them: the budget may end
/// a race in the middle of a round.
fn contenders(race: &Race) -> Vec<usize> {
    let stayed = |it: &usize| {
        let has_values = race.gain(*it, OWN, race.questions()).is_some();
        race.fates[*it] == Fate::Stayed && has_values
    };
    let mut contenders: Vec<usize> = (0..race.candidates.len()).filter(stayed).collect();
    let others = contenders
        .iter()
        .filter(|it| **it != OWN)
        .map(|it| race.asked(*it));
    let most = others.max().unwrap_or_default();
    contenders.retain(|it| race.meets_limits(*it) && 2 * race.asked(*it) >= most);
    contenders
}

fn is_tied(race: &Race, candidate: usize, best: usize) -> bool {
    let gains: Vec<(usize, f64)> = race.gains(best, candidate, &race.split.search).collect();
    let lead = arithmetic_mean(&gains.iter().map(|(_, gain)| *gain).collect::<Vec<_>>());
    let error = Clusters::new(gains).standard_error(ClusterCorrection::Cr2);
    // Without an error all gains are equal.
    let error = error.map_or(0.0, |error| error.value);
    lead.is_some_and(|lead| lead <= error)
}
