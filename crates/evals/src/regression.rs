//! The cases of a report that deserve another look: those that failed, and those that got worse.

use std::collections::BTreeSet;

use crate::change::Pairs;
use crate::{CaseId, CaseReport, Direction, Domain, MeasureValues, Report, TaskResult, Value};

impl<D: Domain> CaseReport<D> {
    /// Whether the task or an evaluator failed.
    pub fn is_broken(&self) -> bool {
        matches!(self.result, TaskResult::Failure(_)) || !self.evaluator_failures.is_empty()
    }
}

impl<D: Domain> Report<D> {
    /// Whether a case failed: its task or one of its evaluators failed, or an assertion did not hold.
    ///
    /// In a report that [does not pool its assertions](Report::pools_assertions) only the first measure counts: other
    /// assertions, such as whether an answer cites, say nothing about right and wrong.
    pub fn failed_cases(&self) -> BTreeSet<&CaseId> {
        let values = self.case_values();
        let first = values.measures().next().map(|first| &first.title);
        let counts = |name: &str| self.pools_assertions || first.is_some_and(|it| it == name);
        let has_failed = |case: &&CaseReport<D>| {
            case.is_broken()
                || case.outcomes.iter().any(|outcome| {
                    let passed = match outcome.value {
                        Value::Assertion(passed) => passed,
                        Value::Score(_) | Value::Label(_) | Value::Undefined => return false,
                    };
                    match outcome.better {
                        Direction::Higher => !passed && counts(&outcome.name),
                        Direction::Lower => passed && counts(&outcome.name),
                        Direction::Unknown => false,
                    }
                })
        };
        let failed = self.cases.iter().filter(has_failed);
        failed.map(|case| &case.id).collect()
    }

    /// The cases that are below the best one by the first measure with a better direction, and the title of this measure. `None` if none is.
    pub fn lower_cases(&self) -> Option<(String, BTreeSet<&CaseId>)> {
        let measures = self.measure_values();
        let (main, sign) = measures
            .iter()
            .find_map(|it| Some((it, it.better.gain()?)))?;
        let values = || {
            let values = main.of_cases.iter();
            values.filter_map(|(id, value)| Some((*id, sign * value.ok()?)))
        };
        let best = values().map(|(_, value)| value).reduce(f64::max)?;
        let lower = values().filter(|(_, value)| *value < best);
        let lower: BTreeSet<&CaseId> = lower.map(|(id, _)| id).collect();
        (!lower.is_empty()).then(|| (main.title.clone(), lower))
    }

    /// The cases of this report that got worse than in `before`: by the first measure that has a better direction in both,
    /// or because they had a value of it there and failed here. A case whose content changed in between is not compared.
    ///
    /// `None` if the reports have no such measure in common.
    pub fn worse_than<'r>(&'r self, before: &'r Self) -> Option<BTreeSet<&'r CaseId>> {
        let [old, new] = [before, self].map(Report::case_values);
        let (first, sign) = new.measures().find_map(|measure| {
            let sign = measure.better.gain()?;
            let is_there =
                |it: &MeasureValues<'_>| it.unit == measure.unit && it.title == measure.title;
            old.measures().any(is_there).then_some((measure, sign))
        })?;
        let broken: BTreeSet<&CaseId> = self
            .cases
            .iter()
            .filter(|case| case.is_broken())
            .map(|case| &case.id)
            .collect();
        let pairs = Pairs::of(before, self);
        let [old, new] = [&old, &new].map(|values| values.of(first.unit, &first.title));
        let is_worse = |id: &&CaseId| match (old.get(id), new.get(id)) {
            (Some(Ok(before)), Some(Ok(after))) => sign * (after - before) < 0.0,
            (Some(Ok(_)), _) => broken.contains(id),
            (Some(Err(_)) | None, _) => false,
        };
        let paired = self.cases.iter().map(|case| &case.id);
        Some(paired.filter(|id| pairs.has(id)).filter(is_worse).collect())
    }
}
