//! The order of cases in their table: the worst first.

use std::cmp::Ordering;

use crate::{CaseReport, Direction, Domain, Value};

/// The cases in this order.
pub(super) fn worst_first<'c, D: Domain>(
    cases: impl Iterator<Item = &'c CaseReport<D>>,
) -> Vec<&'c CaseReport<D>> {
    let mut cases: Vec<_> = cases.map(|case| (Badness::of(case), case)).collect();
    cases.sort_by(|(one, _), (other, _)| one.order(other));
    cases.into_iter().map(|(_, case)| case).collect()
}

/// How bad a case is; the least one comes first.
#[derive(Debug)]
struct Badness {
    /// 0 if the task failed, 1 if an evaluator failed, else 2.
    class: u8,
    /// The share of assertions that hold.
    passed: f64,
    /// The mean of the scores, each turned so that higher is better.
    score: f64,
}

impl Badness {
    fn of<D: Domain>(case: &CaseReport<D>) -> Self {
        let class = match () {
            () if case.result.failure().is_some() => 0,
            () if !case.evaluator_failures.is_empty() => 1,
            () => 2,
        };
        let mut assertions = Vec::new();
        let mut scores = Vec::new();
        for outcome in &case.outcomes {
            let is_higher_better = outcome.better == Direction::Higher;
            match outcome.value {
                Value::Assertion(passed) => {
                    assertions.push(f64::from(u8::from(passed == is_higher_better)));
                }
                Value::Score(score) if is_higher_better => scores.push(score),
                Value::Score(score) => scores.push(-score),
                Value::Label(_) | Value::Undefined => {}
            }
        }
        Self {
            class,
            passed: mean(&assertions),
            score: mean(&scores),
        }
    }

    fn order(&self, other: &Self) -> Ordering {
        (self.class.cmp(&other.class))
            .then(self.passed.total_cmp(&other.passed))
            .then(self.score.total_cmp(&other.score))
    }
}

/// The mean; beyond all numbers without any, so that such cases come last.
fn mean(values: &[f64]) -> f64 {
    if values.is_empty() {
        return f64::INFINITY;
    }
    let count = u32::try_from(values.len()).map_or(f64::INFINITY, f64::from);
    values.iter().sum::<f64>() / count
}
