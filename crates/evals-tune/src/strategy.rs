//! How a search goes on: the trait that a strategy implements, and racing, which is the default.

use std::fmt::Debug;

use evals_metrics::as_f64;

use crate::race::OWN;
use crate::{Candidate, Race};

/// Fewest questions in the first round. A t test of fewer is unreliable.
const LEAST_ROUND: usize = 24;

/// The first round asks this fraction of the search's questions. Each round then doubles the questions and halves the candidates, so 64
/// candidates take about a quarter of the work of the whole grid.
const ROUNDS_OF_ALL: usize = 7;

/// The probability that the best candidate leaves by a test, over all tests.
const LEVEL: f64 = 0.05;

/// The best candidates whose neighbours are tried.
const PARENTS: usize = 3;

/// The length of a step in a range, as a share of it, in the first wave of neighbours. Each wave halves it.
const STEP: f64 = 0.25;

/// How far a candidate is to be measured next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Goal {
    /// The number of the candidate.
    pub candidate: usize,
    /// On how many questions of the search, counted from the first.
    pub questions: usize,
}

/// Decides which candidates are measured on how many questions. Own settings are measured as far as any other candidate without being named.
pub trait Strategy: Debug + Send {
    /// The goals of the next round, by what was measured so far. Candidates that it does not name leave the race. Without goals the search
    /// ends, and the candidates of the last goals stay.
    fn next(&mut self, race: &mut Race) -> Vec<Goal>;
}

/// Racing over questions in random order: after each round, candidates leave that are worse than the best beyond chance, and with halving the
/// worse half. Rounds double.
///
/// The whole grid is in the race if it has at most as many points as there may be trials. Otherwise three quarters of the trials are random
/// candidates, and the rest are neighbours of the best ones, in waves: greedy steps, which halve in ranges.
///
/// The test is a paired t test against the best so far, one-sided, at the level divided by all candidates and rounds (Bonferroni). Without a
/// held-out part every candidate answers every question, and no neighbours are tried: resampling would not see how they were found.
///
/// Sources: Maron and Moore, "Hoeffding Races" (NIPS 1994); López-Ibáñez et al., "The irace package: Iterated racing for automatic algorithm
/// configuration", Operations Research Perspectives 3 (2016); Jamieson and Talwalkar, "Non-stochastic Best Arm Identification and
/// Hyperparameter Optimization" (AISTATS 2016), for halving.
#[derive(Debug, Clone)]
pub struct Racing {
    /// Whether at most half of the candidates of a round go on to the next. Without it, candidates that are equal or nearly so all answer
    /// every question of the search. Default: true.
    pub halving: bool,
    running: Vec<usize>,
    kept: Vec<usize>,
    reached: usize,
    waves: i32,
}

impl Default for Racing {
    fn default() -> Self {
        Self {
            halving: true,
            running: Vec::new(),
            kept: Vec::new(),
            reached: 0,
            waves: 0,
        }
    }
}

impl Strategy for Racing {
    fn next(&mut self, race: &mut Race) -> Vec<Goal> {
        if self.reached == 0 {
            self.running = first(race);
        } else {
            self.prune(race);
            if self.reached == race.questions() {
                self.kept.append(&mut self.running);
                self.running = self.newcomers(race);
                self.reached = 0;
            }
        }
        if self.running.is_empty() && self.reached == 0 {
            return Vec::new();
        }
        self.reached = following(self.reached, race);
        let goal = |questions| {
            move |&candidate: &usize| Goal {
                candidate,
                questions,
            }
        };
        let running = self.running.iter().map(goal(self.reached));
        running
            .chain(self.kept.iter().map(goal(race.questions())))
            .collect()
    }
}

/// The number of questions of the round that follows.
fn following(reached: usize, race: &Race) -> usize {
    let all = race.questions();
    let first = all.div_ceil(ROUNDS_OF_ALL).max(LEAST_ROUND);
    race.whole(match reached {
        _ if !race.has_held_out() => all,
        0 => first.min(all),
        // A last round that adds little is not worth one of its own.
        _ if 3 * reached >= all => all,
        _ => 2 * reached,
    })
}

fn rounds(race: &Race) -> usize {
    let next = |reached: &usize| (*reached < race.questions()).then(|| following(*reached, race));
    std::iter::successors(Some(0), next).count() - 1
}

/// The candidates of the first wave.
fn first(race: &mut Race) -> Vec<usize> {
    let trials = race.options().trials;
    let grid = race.space().grid(trials);
    let candidates = grid.unwrap_or_else(|| {
        let neighbours = if race.has_held_out() { trials / 4 } else { 0 };
        let known = race.candidates().to_vec();
        let space = race.space().clone();
        space.draw(trials - neighbours, &known, race.random())
    });
    race.admit(candidates)
}

impl Racing {
    fn prune(&mut self, race: &Race) {
        let reached = self.reached;
        let sound = |candidate: &usize| race.is_sound(*candidate);
        self.running.retain(sound);
        self.kept.retain(sound);
        let gain = |candidate: usize| race.gain(candidate, OWN, reached).unwrap_or(f64::MIN);
        let mut contenders: Vec<usize> = [&[OWN], &self.running[..], &self.kept].concat();
        // Equal ones stay in order of their costs, so that halving keeps the cheaper.
        let cost = |it: usize| race.cost(it).unwrap_or_default();
        contenders.sort_by(|one, other| {
            let by_gain = gain(*other).total_cmp(&gain(*one));
            by_gain.then(cost(*one).total_cmp(&cost(*other)))
        });
        let best = contenders.iter().copied().find(|it| race.meets_limits(*it));
        let tests = race.options().trials.max(race.candidates().len()) * rounds(race);
        let level = LEVEL / as_f64(tests);
        let keeps = |it: usize| best.is_none_or(|best| !race.is_worse(it, best, reached, level));
        let half = self.running.len().div_ceil(2);
        self.running.retain(|it| keeps(*it));
        self.kept.retain(|it| keeps(*it));
        if self.halving && reached < race.questions() {
            let place = |it: &usize| contenders.iter().position(|contender| contender == it);
            self.running
                .sort_by_key(|it| (!race.meets_limits(*it), place(it)));
            self.running.truncate(half);
            self.running.sort_unstable();
        }
    }

    /// Neighbours of the best candidates, as far as trials are left.
    fn newcomers(&mut self, race: &mut Race) -> Vec<usize> {
        let trials = race.options().trials;
        let left = (trials + 1).saturating_sub(race.candidates().len());
        if left == 0 || !race.has_held_out() || race.space().grid(trials).is_some() {
            return Vec::new();
        }
        let gain = |it: &usize| race.gain(*it, OWN, race.questions()).unwrap_or(f64::MIN);
        let mut parents: Vec<usize> = [&[OWN], &self.kept[..]].concat();
        parents.retain(|it| race.meets_limits(*it));
        parents.sort_by(|one, other| gain(other).total_cmp(&gain(one)));
        parents.truncate(PARENTS);
        let step = STEP / 2_f64.powi(self.waves);
        self.waves += 1;
        let around = parents
            .iter()
            .map(|it| race.space().neighbours(&race.candidates()[*it], step));
        let mut unknown: Vec<Candidate> = Vec::new();
        for candidate in around.flatten() {
            if !race.candidates().contains(&candidate) && !unknown.contains(&candidate) {
                unknown.push(candidate);
            }
        }
        unknown.truncate(left.min((trials / 8).max(1)));
        race.admit(unknown)
    }
}
