//! The state of a search: its candidates, and what they answered.

use evals_metrics::{
    Alternative, ClusterCorrection, Clusters, Xoshiro256PlusPlus, arithmetic_mean, as_f64,
    difference,
};
use serde::{Deserialize, Serialize};

use crate::answers::{Answered, Answers};
use crate::max_t::{Sums, by_cluster};
use crate::{Candidate, Goal, Options, Space, Split};

/// The number of the candidate with the user's own settings.
pub const OWN: usize = 0;

/// A candidate without a value for more than this share of the questions that own settings have one for is dropped: the others alone would
/// flatter it.
const MOST_MISSING: f64 = 0.2;

/// How far a candidate came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It was in the race to its end.
    Stayed,
    /// The search went on without it: others did better.
    Left,
    /// It failed, for this reason.
    Failed(String),
}

/// The candidates of a search, and what they answered, for a [`Strategy`](crate::Strategy) to decide by. Candidates have numbers; 0 is the
/// user's own settings. Gains are positive where a candidate is better.
#[derive(Debug)]
pub struct Race {
    pub(crate) space: Space,
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) answers: Vec<Answers>,
    pub(crate) fates: Vec<Fate>,
    pub(crate) split: Split,
    pub(crate) options: Options,
    pub(crate) random: Xoshiro256PlusPlus,
}

impl Race {
    /// The space of settings.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// All candidates so far, by their numbers.
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// How many questions the search has.
    pub fn questions(&self) -> usize {
        self.split.search.len()
    }

    /// The least number of questions of the search, from its first and at least this many, that cuts no conversation.
    pub fn whole(&self, questions: usize) -> usize {
        let mut ends = self.split.ends.iter().copied();
        ends.find(|end| *end >= questions)
            .unwrap_or(self.questions())
    }

    /// The options of the tuning.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Whether there is a held-out part. Without one, estimates come from resampling, which asks for all answers of every candidate.
    pub fn has_held_out(&self) -> bool {
        !self.split.held_out.is_empty()
    }

    /// Adds candidates that are not known yet, and returns their numbers.
    pub fn admit(&mut self, candidates: impl IntoIterator<Item = Candidate>) -> Vec<usize> {
        let first = self.candidates.len();
        for candidate in candidates {
            if self.space.has(&candidate) && !self.candidates.contains(&candidate) {
                self.candidates.push(candidate);
                self.answers.push(Answers::new(self.split.clusters.len()));
                self.fates.push(Fate::Stayed);
            }
        }
        (first..self.candidates.len()).collect()
    }

    /// The random numbers of the search, which its seed decides.
    pub fn random(&mut self) -> &mut Xoshiro256PlusPlus {
        &mut self.random
    }

    /// Whether a candidate did not fail.
    pub fn is_sound(&self, candidate: usize) -> bool {
        !matches!(self.fates[candidate], Fate::Failed(_))
    }

    /// Whether a candidate is within all limits, as far as it was measured.
    pub fn meets_limits(&self, candidate: usize) -> bool {
        let mut limits = self.options.limits.iter();
        limits.all(|(figure, most)| {
            let value = self.answers[candidate].figure(*figure);
            value.is_none_or(|value| value <= *most)
        })
    }

    /// The mean cost of a candidate's questions, in USD.
    pub fn cost(&self, candidate: usize) -> Option<f64> {
        self.answers[candidate].cost()
    }

    /// The mean gain of a candidate over another on the first questions of the search. `None` without a question that both have a value for.
    pub fn gain(&self, candidate: usize, over: usize, questions: usize) -> Option<f64> {
        let gains = self.gains(candidate, over, &self.split.search[..questions]);
        arithmetic_mean(&gains.map(|(_, gain)| gain).collect::<Vec<_>>())
    }

    /// Whether a candidate is worse than another on the first questions of the search by the paired t test at this level, with the
    /// cluster-robust standard error CR2.
    pub fn is_worse(&self, candidate: usize, than: usize, questions: usize, level: f64) -> bool {
        let gains = self.gains(candidate, than, &self.split.search[..questions]);
        let test = Clusters::new(gains).t_test(ClusterCorrection::Cr2, Alternative::Less);
        test.is_ok_and(|test| test.p_value < level)
    }

    /// The gains over another candidate on questions that both have a value for, each with the number of its cluster.
    pub(crate) fn gains<'r>(
        &'r self,
        candidate: usize,
        over: usize,
        questions: &'r [usize],
    ) -> impl Iterator<Item = (usize, f64)> + 'r {
        let [one, other] = [candidate, over].map(|number| &self.answers[number]);
        questions.iter().filter_map(move |&question| {
            let gain = difference(other.value(question)?, one.value(question)?);
            Some((self.split.clusters[question], gain))
        })
    }

    /// The gains over own settings of everything that the search measured, added up by cluster.
    pub(crate) fn sums(&self, candidate: usize) -> Sums {
        by_cluster(self.gains(candidate, OWN, &self.split.search))
    }

    pub(crate) fn record(&mut self, candidate: usize, question: usize, answered: Answered) -> bool {
        self.answers[candidate].record(question, answered)
    }

    /// Whether a candidate has a value for a question of the search.
    pub(crate) fn has_values(&self, candidate: usize) -> bool {
        self.split
            .search
            .iter()
            .any(|question| self.answers[candidate].value(*question).is_some())
    }

    /// How many questions of the search a candidate was asked.
    pub(crate) fn asked(&self, candidate: usize) -> usize {
        let asked = self.split.search.iter();
        asked
            .filter(|question| !self.answers[candidate].is_open(**question))
            .count()
    }

    /// Drops candidates that lack too many values, with their most frequent reason.
    pub(crate) fn drop_failing(&mut self) {
        for candidate in 1..self.candidates.len() {
            let [own, tried] = [OWN, candidate].map(|number| &self.answers[number]);
            let asked = self.split.search.iter();
            let expected = asked.filter(|it| own.value(**it).is_some() && !tried.is_open(**it));
            let (found, missing): (Vec<usize>, _) = expected
                .copied()
                .partition(|question| tried.value(*question).is_some());
            let fails = as_f64(missing.len()) > MOST_MISSING * as_f64(found.len() + missing.len());
            if let (true, Some((_, reason))) = (fails, tried.without_value()) {
                self.fates[candidate] = Fate::Failed(reason);
            }
        }
    }

    /// Sets apart the candidates that a round goes on with.
    pub(crate) fn keep(&mut self, goals: &[Goal]) {
        for (candidate, fate) in self.fates.iter_mut().enumerate().skip(1) {
            if *fate == Fate::Stayed && !goals.iter().any(|goal| goal.candidate == candidate) {
                *fate = Fate::Left;
            }
        }
    }
}
