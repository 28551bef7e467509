//! The course of a tuning: the search, and then the one meeting with the held-out part.

use evals_metrics::{Percentiles, Xoshiro256PlusPlus, as_f64};

use crate::answers::{Answered, Answers};
use crate::choice::choose;
use crate::race::{Fate, OWN, Race};
use crate::{
    Budget, Candidate, Figure, Goal, Importance, Options, Outcome, Question, Racing, Space, Split,
    Strategy, TuneError,
};

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Measure these, in this order: candidates side by side share what is expensive to compute.
    Measure(Vec<Trial>),
    /// Nothing is left to measure.
    Done,
}

/// Questions to ask with the settings of a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// The number of the candidate.
    pub candidate: usize,
    /// The positions of the questions.
    pub questions: Vec<usize>,
}

/// What is known of a candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// Its settings.
    pub candidate: Candidate,
    /// How far it came.
    pub fate: Fate,
    /// How many questions of the search it was asked.
    pub questions: usize,
    /// How many answers have no value, with the most frequent reason.
    pub without_value: Option<(usize, String)>,
    /// The mean gain over own settings in the search: positive if it is better. It flatters the best of many.
    pub gain: Option<f64>,
    /// The latency of all its answers, in seconds.
    pub latency: Percentiles,
    /// The mean cost of a question, in USD.
    pub cost: Option<f64>,
    /// Whether it is within all limits.
    pub meets_limits: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Search,
    HeldOut,
    Done,
}

/// A tuning: asks for answers, and ends in an [`Outcome`].
///
/// To resume, the caller makes a new tuning with the same arguments and records the answers that it kept. The tuning is deterministic, so it
/// then asks for the rest.
#[derive(Debug)]
pub struct Tuning {
    race: Race,
    strategy: Box<dyn Strategy>,
    goals: Vec<Goal>,
    phase: Phase,
    chosen: Option<usize>,
    spent: Budget,
    answered: usize,
    ended_early: bool,
}

impl Tuning {
    /// Prepares a tuning by [`Racing`]. `own` has the user's own settings, with `None` for each knob whose own value the space lacks.
    ///
    /// # Errors
    ///
    /// Fails without questions, for own settings that do not fit the space, and for options out of range.
    pub fn new(
        space: Space,
        own: Candidate,
        questions: &[Question],
        options: Options,
    ) -> Result<Self, TuneError> {
        options.check()?;
        if questions.is_empty() {
            return Err(TuneError::NoQuestions);
        }
        if !space.has(&own) {
            return Err(TuneError::Own);
        }
        let split = Split::new(questions, options.hold_out, options.seed);
        let race = Race {
            candidates: vec![space.effective(own)],
            space,
            answers: vec![Answers::new(questions.len())],
            fates: vec![Fate::Stayed],
            split,
            random: Xoshiro256PlusPlus::seeded(options.seed).split_off(),
            options,
        };
        Ok(Self {
            race,
            strategy: Box::new(Racing::default()),
            goals: Vec::new(),
            phase: Phase::Search,
            chosen: None,
            spent: Budget::default(),
            answered: 0,
            ended_early: false,
        })
    }

    /// Searches by another strategy. For a tuning that has not begun.
    #[must_use]
    pub fn with_strategy(self, strategy: Box<dyn Strategy>) -> Self {
        Self { strategy, ..self }
    }

    /// What to measure next, without what was recorded already. A caller may ask again before it has measured all: where the budget ends, so
    /// does the search.
    pub fn next_step(&mut self) -> Step {
        loop {
            let open = self.open();
            if self.phase == Phase::Done {
                return Step::Done;
            }
            if !open.is_empty() && self.affords(&open) {
                return Step::Measure(open);
            }
            match self.phase {
                Phase::Search if open.is_empty() => self.advance(),
                Phase::Search => {
                    self.ended_early = true;
                    self.end_search();
                }
                Phase::HeldOut | Phase::Done => self.phase = Phase::Done,
            }
        }
    }

    /// Takes what a candidate did with a question. The first answer to a question counts.
    pub fn record(&mut self, candidate: usize, question: usize, answered: Answered) {
        if self.race.record(candidate, question, answered) {
            self.answered += 1;
        }
    }

    /// Drops a candidate, such as one whose settings are refused. Own settings stay.
    pub fn drop(&mut self, candidate: usize, reason: impl Into<String>) {
        if candidate != OWN {
            self.race.fates[candidate] = Fate::Failed(reason.into());
        }
    }

    /// Takes what was spent since the last call.
    pub fn spend(&mut self, usd: f64, seconds: f64) {
        let add = |sum: Option<f64>, spent: f64| Some(sum.unwrap_or_default() + spent.max(0.0));
        self.spent.usd = add(self.spent.usd, usd);
        self.spent.seconds = add(self.spent.seconds, seconds);
    }

    /// Which questions the search sees.
    pub fn split(&self) -> &Split {
        &self.race.split
    }

    /// The settings of a candidate.
    pub fn candidate(&self, number: usize) -> &Candidate {
        &self.race.candidates[number]
    }

    /// What is known of each candidate, by their numbers.
    pub fn standings(&self) -> Vec<Standing> {
        let standing = |number: usize| {
            let answers = &self.race.answers[number];
            Standing {
                candidate: self.race.candidates[number].clone(),
                fate: self.race.fates[number].clone(),
                questions: self.race.asked(number),
                without_value: answers.without_value(),
                gain: self.race.gain(number, OWN, self.race.questions()),
                latency: answers.latency(),
                cost: self.race.cost(number),
                meets_limits: self.race.meets_limits(number),
            }
        };
        (0..self.race.candidates.len()).map(standing).collect()
    }

    /// How many answers were recorded, and how many the grid of all candidates over all questions has.
    pub fn work(&self) -> (usize, usize) {
        let grid = self.race.candidates.len() * self.race.split.clusters.len();
        (self.answered, grid)
    }

    /// Whether the budget ended the search before its strategy did.
    pub fn ended_early(&self) -> bool {
        self.ended_early
    }

    /// The verdict, with what it rests on. `None` before [`next_step`](Self::next_step) says that nothing is left to measure.
    pub fn outcome(&self) -> Option<Outcome> {
        (self.phase == Phase::Done).then(|| Outcome::of(&self.race, self.chosen))
    }

    /// How much each knob matters, in the order of the knobs.
    pub fn importance(&self) -> Vec<Importance> {
        crate::importance::of(&self.race)
    }

    /// The candidates that no other one beats in gain, this figure of latency, and cost together, of those that answered at least half of the search.
    pub fn trade_offs(&self, latency: Figure) -> Vec<usize> {
        crate::trade_offs::of(&self.race, latency)
    }

    /// The trials of this phase that are not measured yet.
    fn open(&self) -> Vec<Trial> {
        let [search, held_out] = [&self.race.split.search, &self.race.split.held_out];
        let open = |candidate: usize, questions: &[usize]| {
            let answers = &self.race.answers[candidate];
            let questions = questions.iter().copied().filter(|it| answers.is_open(*it));
            Trial {
                candidate,
                questions: questions.collect(),
            }
        };
        let mut trials: Vec<Trial> = match self.phase {
            Phase::Search => {
                let farthest = self.goals.iter().map(|goal| goal.questions).max();
                let own = open(
                    OWN,
                    &search[..farthest.unwrap_or_default().min(search.len())],
                );
                let goals = self
                    .goals
                    .iter()
                    .filter(|goal| self.race.is_sound(goal.candidate));
                let others = goals
                    .map(|goal| open(goal.candidate, &search[..goal.questions.min(search.len())]));
                [own].into_iter().chain(others).collect()
            }
            Phase::HeldOut => {
                let chosen = self.chosen.filter(|chosen| self.race.is_sound(*chosen));
                let both = chosen.into_iter().flat_map(|chosen| [OWN, chosen]);
                both.map(|candidate| open(candidate, held_out)).collect()
            }
            Phase::Done => Vec::new(),
        };
        trials.retain(|trial| !trial.questions.is_empty());
        let settings = |trial: &Trial| &self.race.candidates[trial.candidate];
        trials.sort_by(|one, other| self.race.space.order(settings(one), settings(other)));
        trials
    }

    /// Whether the budget is likely to suffice for these trials, and for the held-out part after them.
    fn affords(&self, trials: &[Trial]) -> bool {
        let asked: usize = trials.iter().map(|trial| trial.questions.len()).sum();
        let reserve = match self.phase {
            Phase::Search => 2 * self.race.split.held_out.len(),
            Phase::HeldOut | Phase::Done => 0,
        };
        // The first answers have no price yet that could be foreseen.
        let of_spent = match self.answered {
            0 => 0.0,
            answered => as_f64(asked + reserve) / as_f64(answered),
        };
        let suffices = |spent: Option<f64>, budget: Option<f64>| match (spent, budget) {
            (Some(spent), Some(budget)) => spent + spent * of_spent <= budget,
            _ => true,
        };
        suffices(self.spent.usd, self.race.options.budget.usd)
            && suffices(self.spent.seconds, self.race.options.budget.seconds)
    }

    /// Ends a round, and starts the next one or ends the search.
    fn advance(&mut self) {
        self.race.drop_failing();
        // An objective that is undefined for the first questions is so for the dataset.
        let is_undefined = self.race.asked(OWN) > 0 && !self.race.has_values(OWN);
        let goals = if is_undefined {
            Vec::new()
        } else {
            self.strategy.next(&mut self.race)
        };
        if goals.is_empty() {
            self.end_search();
            return;
        }
        self.race.keep(&goals);
        self.goals = goals;
    }

    fn end_search(&mut self) {
        self.race.drop_failing();
        self.chosen = choose(&self.race);
        let is_own = self.chosen.is_none_or(|chosen| chosen == OWN);
        self.phase = if is_own { Phase::Done } else { Phase::HeldOut };
    }
}
