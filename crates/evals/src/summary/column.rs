//! The values of one measure over all cases.

use std::collections::BTreeMap;

use evals_metrics::{Mean, Scale, as_f64};

use super::accuracy::Accuracy;
use super::averaging::Averaging;
use super::labels::{CaseLabels, LabelShares, Labels};
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

/// The cases that a measure applies to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scope<'a> {
    Every,
    /// Cases with at least this many own evaluators of this name.
    Own(&'a str, u32),
}

impl<'a> Scope<'a> {
    pub(super) fn of(origin: EvaluatorOrigin, evaluator: &'a str) -> Self {
        match origin {
            EvaluatorOrigin::Case(number) => Self::Own(evaluator, number),
            EvaluatorOrigin::Dataset(_) => Self::Every,
        }
    }

    fn covers<D: Domain>(self, case: &CaseReport<D>) -> bool {
        match self {
            Self::Every => true,
            Self::Own(evaluator, number) => {
                let own = case.own_evaluators.iter();
                own.filter(|own| own.name == evaluator).count() >= number as usize
            }
        }
    }
}

/// Collects the values of one measure, case by case.
#[derive(Debug)]
pub(super) struct Column<'a> {
    pub(super) title: String,
    pub(super) kind: ValueKind,
    pub(super) better: Direction,
    scope: Scope<'a>,
    /// One entry for each closed case: a number, or why there is none. Labels add no numbers.
    cases: Vec<(&'a CaseId, Result<f64, Gap<'a>>)>,
    /// The labels of each closed case that has one, or lacks one for a reason.
    labels: Vec<(&'a CaseId, CaseLabels<'a>)>,
    /// Counts for assertions.
    attempts: Attempts,
    /// How many repetitions have no value, by reason.
    valueless: BTreeMap<&'a str, usize>,
    /// How many of them belong to a case that has a value from other repetitions.
    missing: BTreeMap<&'a str, usize>,
    repetition: Repetition<'a>,
    case: OpenCase<'a>,
}

/// The current repetition.
#[derive(Debug, Default)]
struct Repetition<'a> {
    has_value: bool,
    gap: Option<Gap<'a>>,
}

/// The repetitions of the current case.
#[derive(Debug, Default)]
struct OpenCase<'a> {
    numbers: Vec<f64>,
    labels: BTreeMap<&'a str, usize>,
    gaps: Vec<Gap<'a>>,
}

impl<'a> Column<'a> {
    pub(super) fn new(title: String, kind: ValueKind, better: Direction, scope: Scope<'a>) -> Self {
        Self {
            title,
            kind,
            better,
            scope,
            cases: Vec::new(),
            labels: Vec::new(),
            attempts: Attempts::default(),
            valueless: BTreeMap::new(),
            missing: BTreeMap::new(),
            repetition: Repetition::default(),
            case: OpenCase::default(),
        }
    }

    /// Adds one repetition's number.
    pub(super) fn add_number(&mut self, number: f64) {
        self.case.numbers.push(number);
        self.repetition.has_value = true;
    }

    /// Adds whether one repetition passed.
    pub(super) fn add_assertion(&mut self, passed: bool) {
        self.add_number(if passed { 1.0 } else { 0.0 });
        self.attempts.score(passed);
    }

    /// Adds one repetition's label.
    pub(super) fn add_label(&mut self, label: &'a str) {
        *self.case.labels.entry(label).or_default() += 1;
        self.repetition.has_value = true;
    }

    /// Notes that the repetition has no value, if the measure applies to its case.
    pub(super) fn exclude<D: Domain>(&mut self, case: &CaseReport<D>, gap: Gap<'a>) {
        if self.scope.covers(case) {
            self.exclude_covered(gap);
        }
    }

    /// Notes that a repetition has no value, in a case that the measure applies to. The first reason counts.
    pub(super) fn exclude_covered(&mut self, gap: Gap<'a>) {
        self.repetition.gap.get_or_insert(gap);
    }

    /// Ends a repetition.
    pub(super) fn close_repetition(&mut self) {
        let repetition = std::mem::take(&mut self.repetition);
        if !repetition.has_value
            && let Some(gap) = repetition.gap
        {
            self.attempts.miss(gap);
            let reason = gap.reason();
            *self.valueless.entry(reason).or_default() += 1;
            self.case.gaps.push(gap);
        }
    }

    /// Ends a case: its repetitions become one value, or one exclusion with the first reason if none has a value.
    pub(super) fn close_case(&mut self, id: &'a CaseId) {
        self.attempts.close_case();
        let case = std::mem::take(&mut self.case);
        if self.kind == ValueKind::Label && !(case.labels.is_empty() && case.gaps.is_empty()) {
            let labels = CaseLabels {
                counts: case.labels.clone(),
                reasons: case.gaps.iter().map(|gap| gap.reason()).collect(),
            };
            self.labels.push((id, labels));
        }
        if case.numbers.is_empty() && case.labels.is_empty() {
            let gap = case.gaps.first().copied();
            self.cases.extend(gap.map(|gap| (id, Err(gap))));
            return;
        }
        for gap in case.gaps {
            *self.missing.entry(gap.reason()).or_default() += 1;
        }
        if !case.numbers.is_empty() {
            self.cases.push((id, Ok(mean(&case.numbers))));
        }
    }

    pub(super) fn mean(&self, averaging: &Averaging<'_>) -> Mean {
        let unit = match self.kind {
            ValueKind::Assertion => Unit::PassRate,
            ValueKind::Score | ValueKind::Label => Unit::Score,
        };
        self.mean_on(unit.scale(), averaging)
    }

    /// The mean of a metric.
    pub(super) fn mean_amount(&self, averaging: &Averaging<'_>) -> Mean {
        self.mean_on(Scale::Amount, averaging)
    }

    fn mean_on(&self, scale: Scale, averaging: &Averaging<'_>) -> Mean {
        let cases = self.cases.iter();
        let results = cases.map(|(id, result)| (*id, result.map_err(Gap::reason)));
        averaging.mean(results, scale)
    }

    /// The value of each case that the measure applies to.
    pub(super) fn values(&self) -> Values<'a> {
        let cases = self.cases.iter();
        cases
            .map(|(id, result)| (*id, result.map_err(Gap::reason)))
            .collect()
    }

    /// Why cases have no value.
    pub(super) fn gaps(&self) -> Gaps<'a> {
        let cases = self.cases.iter();
        cases
            .filter_map(|(id, result)| Some((*id, result.err()?)))
            .collect()
    }

    pub(super) fn accuracy(&self, averaging: &Averaging<'_>) -> Accuracy {
        let mean = self.mean(averaging);
        self.attempts.accuracy(mean, self.better)
    }

    pub(super) fn label_shares(&self) -> LabelShares {
        LabelShares::over(self.labels.iter().map(|(_, labels)| labels))
    }

    /// The labels of each case.
    pub(super) fn case_labels(&self) -> Labels<'a> {
        self.labels.iter().cloned().collect()
    }

    /// How many repetitions have no value, by reason.
    pub(super) fn valueless(&self) -> &BTreeMap<&'a str, usize> {
        &self.valueless
    }

    /// How many repetitions have no value in cases that have one, by reason.
    pub(super) fn missing(&self) -> BTreeMap<String, usize> {
        owned(&self.missing)
    }
}

/// Counts an assertion's repetitions, case by case.
#[derive(Debug, Default)]
struct Attempts {
    total: Counts,
    case: Counts,
    undefined: usize,
    cases: usize,
    /// Sums over the cases.
    lowest: f64,
    highest: f64,
    coverage: f64,
}

#[derive(Debug, Default)]
struct Counts {
    passed: usize,
    failed: usize,
    judge_failures: usize,
    task_failures: usize,
}

impl Attempts {
    fn score(&mut self, passed: bool) {
        if passed {
            self.case.passed += 1;
        } else {
            self.case.failed += 1;
        }
    }

    fn miss(&mut self, gap: Gap<'_>) {
        match gap {
            Gap::TaskFailed => self.case.task_failures += 1,
            Gap::EvaluatorFailed => self.case.judge_failures += 1,
            Gap::Undefined(_) => self.undefined += 1,
        }
    }

    fn close_case(&mut self) {
        let case = std::mem::take(&mut self.case);
        let all = case.all();
        if all > 0 {
            let share = |part: usize| as_f64(part) / as_f64(all);
            self.cases += 1;
            self.lowest += share(case.passed);
            self.highest += share(all - case.failed);
            self.coverage += share(case.passed + case.failed);
        }
        self.total.add(&case);
    }

    fn accuracy(&self, scored: Mean, better: Direction) -> Accuracy {
        let mean = |sum: f64| (self.cases > 0).then(|| sum / as_f64(self.cases));
        let (lowest, highest) = (mean(self.lowest), mean(self.highest));
        let (worst, best) = match better {
            Direction::Higher | Direction::Unknown => (lowest, highest),
            Direction::Lower => (highest, lowest),
        };
        Accuracy {
            scored,
            worst,
            best,
            coverage: mean(self.coverage),
            cases: self.cases,
            passed: self.total.passed,
            failed: self.total.failed,
            judge_failures: self.total.judge_failures,
            task_failures: self.total.task_failures,
            undefined: self.undefined,
        }
    }
}

impl Counts {
    fn all(&self) -> usize {
        self.passed + self.failed + self.judge_failures + self.task_failures
    }

    fn add(&mut self, case: &Self) {
        self.passed += case.passed;
        self.failed += case.failed;
        self.judge_failures += case.judge_failures;
        self.task_failures += case.task_failures;
    }
}

/// The mean of at least one number.
fn mean(numbers: &[f64]) -> f64 {
    let n = as_f64(numbers.len());
    let mean = numbers.iter().sum::<f64>() / n;
    if mean.is_finite() {
        mean
    } else {
        // The sum overflowed; sums of quotients do not.
        numbers.iter().map(|number| number / n).sum()
    }
}

fn owned(counts: &BTreeMap<&str, usize>) -> BTreeMap<String, usize> {
    let counts = counts.iter();
    counts
        .map(|(name, count)| ((*name).to_owned(), *count))
        .collect()
}
