//! The values of one measure over all cases.

use std::collections::BTreeMap;

use evals_metrics::{Mean, arithmetic_mean, as_f64};

use super::accuracy::Accuracy;
use super::averaging::Averaging;
use super::labels::{CaseLabels, Labels};
use super::shown::Evaluator;
use crate::{CaseId, CaseReport, Direction, Domain, EvaluatorOrigin, Unit, ValueKind};

/// A measure's value for each case that it applies to: the mean over repetitions, or the reason for its absence.
pub(crate) type Values<'a> = BTreeMap<&'a CaseId, Result<f64, &'a str>>;

/// The reasons why cases lack a value.
pub(crate) type Gaps<'a> = BTreeMap<&'a CaseId, Gap<'a>>;

/// Why a repetition or a case has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gap<'a> {
    TaskFailed,
    EvaluatorFailed,
    /// The value is undefined, for this reason.
    Undefined(&'a str),
}

impl<'a> Gap<'a> {
    pub(crate) fn reason(self) -> &'a str {
        match self {
            Self::TaskFailed => "task failed",
            Self::EvaluatorFailed => "evaluator failed",
            Self::Undefined(reason) => reason,
        }
    }
}

/// What a repetition returned: a number, or a label.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Returned<'a> {
    Number(f64),
    Label(&'a str),
}

/// What a repetition of a case returned, or why it returned nothing.
type Repetition<'a> = (&'a CaseId, Result<Returned<'a>, Gap<'a>>);

/// Collects the values of one measure, repetition by repetition.
#[derive(Debug)]
pub(super) struct MeasureColumn<'a> {
    pub(super) title: String,
    pub(super) kind: ValueKind,
    pub(super) better: Direction,
    /// The evaluator that returns it; `None` for a metric.
    pub(super) evaluator: Option<Evaluator<'a>>,
    /// Those of a case follow each other.
    repetitions: Vec<Repetition<'a>>,
    /// Whether the current repetition has a value.
    has_value: bool,
    /// Why the current repetition has no value.
    gap: Option<Gap<'a>>,
}

impl<'a> MeasureColumn<'a> {
    pub(super) fn new(
        title: String,
        kind: ValueKind,
        better: Direction,
        evaluator: Option<Evaluator<'a>>,
    ) -> Self {
        Self {
            title,
            kind,
            better,
            evaluator,
            repetitions: Vec::new(),
            has_value: false,
            gap: None,
        }
    }

    /// Adds one repetition's number.
    pub(super) fn add_number(&mut self, id: &'a CaseId, number: f64) {
        self.add(id, Returned::Number(number));
    }

    /// Adds whether one repetition passed.
    pub(super) fn add_assertion(&mut self, id: &'a CaseId, passed: bool) {
        self.add_number(id, if passed { 1.0 } else { 0.0 });
    }

    /// Adds one repetition's label.
    pub(super) fn add_label(&mut self, id: &'a CaseId, label: &'a str) {
        self.add(id, Returned::Label(label));
    }

    fn add(&mut self, id: &'a CaseId, value: Returned<'a>) {
        self.repetitions.push((id, Ok(value)));
        self.has_value = true;
    }

    /// Notes that the repetition has no value, if the measure applies to its case.
    pub(super) fn exclude<D: Domain>(&mut self, case: &CaseReport<D>, gap: Gap<'a>) {
        let applies = match self.evaluator {
            // Cases with as many own evaluators of this name.
            Some((EvaluatorOrigin::Case(number), name)) => {
                let own = case.own_evaluators.iter();
                own.filter(|own| own.name == name).count() >= number as usize
            }
            Some((EvaluatorOrigin::Dataset(_), _)) | None => true,
        };
        if applies {
            self.exclude_covered(gap);
        }
    }

    /// Notes that a repetition has no value, in a case that the measure applies to. The first reason counts.
    pub(super) fn exclude_covered(&mut self, gap: Gap<'a>) {
        self.gap.get_or_insert(gap);
    }

    /// Ends a repetition of a case.
    pub(super) fn close_repetition(&mut self, id: &'a CaseId) {
        let gap = self.gap.take();
        if !std::mem::take(&mut self.has_value) {
            self.repetitions.extend(gap.map(|gap| (id, Err(gap))));
        }
    }

    /// The repetitions of each case that the measure applies to.
    fn cases(&self) -> impl Iterator<Item = &[Repetition<'a>]> {
        self.repetitions
            .chunk_by(|(one, _), (other, _)| one == other)
    }

    /// The value of each case that the measure applies to: the mean of its numbers, or the first reason if no repetition has a value. A case
    /// with labels has neither.
    fn results(&self) -> impl Iterator<Item = (&'a CaseId, Result<f64, Gap<'a>>)> {
        self.cases().filter_map(|repetitions| {
            let (id, first) = repetitions[0];
            let numbers = repetitions.iter().filter_map(|(_, it)| match it {
                Ok(Returned::Number(number)) => Some(*number),
                Ok(Returned::Label(_)) | Err(_) => None,
            });
            let value = arithmetic_mean(&numbers.collect::<Vec<_>>()).map(Ok);
            let gap = first.err().filter(|_| !has_value(repetitions));
            Some((id, value.or(gap.map(Err))?))
        })
    }

    /// The mean of a measure in this unit.
    pub(super) fn mean(&self, unit: Unit, averaging: &Averaging<'_>) -> Mean {
        let results = self.results();
        let results = results.map(|(id, result)| (id, result.map_err(Gap::reason)));
        averaging.mean(results, unit.scale())
    }

    /// The value of each case that the measure applies to.
    pub(super) fn values(&self) -> Values<'a> {
        let results = self.results();
        results
            .map(|(id, result)| (id, result.map_err(Gap::reason)))
            .collect()
    }

    /// Why cases have no value.
    pub(super) fn gaps(&self) -> Gaps<'a> {
        let results = self.results();
        results
            .filter_map(|(id, result)| Some((id, result.err()?)))
            .collect()
    }

    /// The pass rate with its bounds. Repetitions without a value for a reason of their own count in neither.
    pub(super) fn accuracy(&self, averaging: &Averaging<'_>) -> Accuracy {
        let mut found = Accuracy {
            scored: self.mean(Unit::PassRate, averaging),
            ..Accuracy::default()
        };
        let (mut lowest, mut highest, mut coverage) = (0.0, 0.0, 0.0);
        for repetitions in self.cases() {
            let count = |wanted: &[Result<Returned<'_>, Gap<'_>>]| {
                let own = repetitions.iter();
                own.filter(|(_, it)| wanted.contains(it)).count()
            };
            let passed = count(&[Ok(Returned::Number(1.0))]);
            let failed = count(&[Ok(Returned::Number(0.0))]);
            let judge_failures = count(&[Err(Gap::EvaluatorFailed)]);
            let task_failures = count(&[Err(Gap::TaskFailed)]);
            let all = passed + failed + judge_failures + task_failures;
            found.passed += passed;
            found.failed += failed;
            found.judge_failures += judge_failures;
            found.task_failures += task_failures;
            found.undefined += repetitions.len() - all;
            if all > 0 {
                let share = |part: usize| as_f64(part) / as_f64(all);
                found.cases += 1;
                lowest += share(passed);
                highest += share(all - failed);
                coverage += share(passed + failed);
            }
        }
        let cases = found.cases;
        let mean = |sum: f64| (cases > 0).then(|| sum / as_f64(cases));
        let (worst, best) = match self.better {
            Direction::Higher | Direction::Unknown => (lowest, highest),
            Direction::Lower => (highest, lowest),
        };
        Accuracy {
            worst: mean(worst),
            best: mean(best),
            coverage: mean(coverage),
            ..found
        }
    }

    /// The labels of each case.
    pub(super) fn labels(&self) -> Labels<'a> {
        let labels = self.cases().map(|repetitions| {
            let mut labels = CaseLabels::default();
            for (_, returned) in repetitions {
                match returned {
                    Ok(Returned::Label(label)) => *labels.counts.entry(*label).or_default() += 1,
                    Ok(Returned::Number(_)) => {}
                    Err(gap) => labels.reasons.push(gap.reason()),
                }
            }
            (repetitions[0].0, labels)
        });
        labels.collect()
    }

    /// How many repetitions have no value, by reason.
    pub(super) fn valueless(&self) -> BTreeMap<String, usize> {
        by_reason(self.cases())
    }

    /// How many repetitions have no value in cases that have one, by reason.
    pub(super) fn missing(&self) -> BTreeMap<String, usize> {
        by_reason(self.cases().filter(|repetitions| has_value(repetitions)))
    }
}

fn has_value(repetitions: &[Repetition<'_>]) -> bool {
    repetitions.iter().any(|(_, it)| it.is_ok())
}

fn by_reason<'c, 'a: 'c>(
    cases: impl Iterator<Item = &'c [Repetition<'a>]>,
) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for gap in cases.flatten().filter_map(|(_, it)| it.err()) {
        *counts.entry(gap.reason().to_owned()).or_default() += 1;
    }
    counts
}
