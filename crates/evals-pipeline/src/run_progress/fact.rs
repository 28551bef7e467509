//! What is known about a running run beside its measures, in words.

use std::time::Duration;

use evals_messages::quantity;
use evals_terminal::progress::spoken;

use super::pace::printed_pace;
use super::progress::{Counts, Progress, Spent};
use crate::spending::dollars;

/// Something known about a running run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Its name, where the value stands beside it.
    pub name: &'static str,
    pub value: String,
    /// Both, where it stands in a sentence.
    pub phrase: String,
}

impl Fact {
    fn new(name: &'static str, value: String, phrase: String) -> Self {
        Self {
            name,
            value,
            phrase,
        }
    }
}

impl Progress {
    /// The failures, the pace, the time left and the cost, each if there is something to say. Empty for a run without a journal.
    pub fn facts(&self) -> Vec<Fact> {
        let Some(counts) = self.counts else {
            return Vec::new();
        };
        let time_left = self
            .time_left
            .filter(|_| counts.finished < counts.planned)
            .map(time_left);
        let mut facts = failures(counts);
        facts.extend(self.rate.map(pace));
        facts.extend(time_left);
        facts.extend(cost(self.spent));
        facts
    }
}

fn failures(counts: Counts) -> Vec<Fact> {
    let Counts {
        finished,
        failed,
        evaluator_failures,
        damaged_lines,
        ..
    } = counts;
    let mut facts = Vec::new();
    if failed > 0 {
        facts.push(Fact::new(
            "failed cases",
            format!("{failed} of {finished}"),
            format!("{failed} failed"),
        ));
    }
    if evaluator_failures > 0 {
        facts.push(Fact::new(
            "failed evaluations",
            evaluator_failures.to_string(),
            format!("{} failed", quantity::of(evaluator_failures, "evaluation")),
        ));
    }
    if damaged_lines > 0 {
        facts.push(Fact::new(
            "damaged lines of the journal",
            damaged_lines.to_string(),
            format!(
                "{} of the journal damaged",
                quantity::of(damaged_lines, "line")
            ),
        ));
    }
    facts
}

fn pace(rate: f64) -> Fact {
    let pace = printed_pace(rate);
    Fact::new("pace", pace.clone(), pace)
}

fn time_left(left: Duration) -> Fact {
    let left = format!("about {}", spoken(left));
    Fact::new("time left", left.clone(), format!("{left} left"))
}

fn cost(spent: Spent) -> Option<Fact> {
    match spent {
        Spent::Nothing => None,
        Spent::Unknown => Some(Fact::new(
            "cost",
            "unknown (no price in `prices`)".to_owned(),
            dollars(None),
        )),
        Spent::Dollars(cost) => {
            let cost = dollars(Some(cost));
            Some(Fact::new("cost", cost.clone(), format!("{cost} so far")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evals_runs::run_folder::RunState;

    fn progress(counts: Counts, spent: Spent) -> Progress {
        Progress {
            state: RunState::Running,
            counts: Some(counts),
            summary: None,
            spent,
            rate: Some(0.5),
            time_left: Some(Duration::from_mins(2)),
        }
    }

    #[test]
    fn facts_name_failures_pace_time_and_cost() {
        let counts = Counts {
            planned: 100,
            finished: 40,
            failed: 2,
            evaluator_failures: 1,
            damaged_lines: 3,
        };
        let facts = progress(counts, Spent::Dollars(0.031_25)).facts();
        let named = facts
            .iter()
            .map(|fact| format!("{}: {}", fact.name, fact.value));
        assert_eq!(
            named.collect::<Vec<_>>().join(", "),
            "failed cases: 2 of 40, failed evaluations: 1, damaged lines of the journal: 3, pace: 30.0 per minute, \
             time left: about 2m, cost: $0.0312"
        );
        let phrases = facts.into_iter().map(|fact| fact.phrase);
        assert_eq!(
            phrases.collect::<Vec<_>>().join(", "),
            "2 failed, 1 evaluation failed, 3 lines of the journal damaged, 30.0 per minute, about 2m left, $0.0312 so far"
        );
    }

    #[test]
    fn nothing_is_said_about_what_there_is_not() {
        let counts = Counts {
            planned: 4,
            finished: 4,
            ..Counts::default()
        };
        let facts = progress(counts, Spent::Nothing).facts();
        assert_eq!(facts.len(), 1, "{facts:?}");
        assert_eq!(facts[0].name, "pace");
    }
}
