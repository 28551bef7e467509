//! The values of one measure over all cases.

use std::collections::BTreeMap;

use evals_metrics::{Bootstrap, Mean, UndefinedAs};

use super::{LabelShares, count};
use crate::Value;

/// How the values of a measure are aggregated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Score,
    Assertion,
    Label,
}

impl Kind {
    /// The kind of a value, or `None` for an undefined one, which takes the kind of the other cases.
    pub(super) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Score(_) => Some(Self::Score),
            Value::Assertion(_) => Some(Self::Assertion),
            Value::Label(_) => Some(Self::Label),
            Value::Undefined => None,
        }
    }
}

/// Collects one measure, case by case.
#[derive(Debug)]
pub(super) struct Column<'a> {
    pub(super) name: &'a str,
    pub(super) kind: Kind,
    /// One entry for each closed case: a number, or the reason why there is none. Labels leave no numbers.
    cases: Vec<Result<f64, &'a str>>,
    labels: BTreeMap<&'a str, usize>,
    open: Repetitions<'a>,
}

/// The repetitions of the case that is being read.
#[derive(Debug, Default)]
struct Repetitions<'a> {
    sum: f64,
    numbers: usize,
    labels: usize,
    reason: Option<&'a str>,
}

impl<'a> Column<'a> {
    pub(super) fn new(name: &'a str, kind: Kind) -> Self {
        Self {
            name,
            kind,
            cases: Vec::new(),
            labels: BTreeMap::new(),
            open: Repetitions::default(),
        }
    }

    /// Adds one repetition's number.
    pub(super) fn add_number(&mut self, number: f64) {
        self.open.sum += number;
        self.open.numbers += 1;
    }

    /// Adds one repetition's label.
    pub(super) fn add_label(&mut self, label: &'a str) {
        *self.labels.entry(label).or_default() += 1;
        self.open.labels += 1;
    }

    /// Notes that a repetition has no value; the first reason of a case stands for it.
    pub(super) fn exclude(&mut self, reason: &'a str) {
        self.open.reason.get_or_insert(reason);
    }

    /// Ends a case: its repetitions become one value, or one exclusion when none of them has a value.
    pub(super) fn close_case(&mut self) {
        let repetitions = std::mem::take(&mut self.open);
        if repetitions.numbers > 0 {
            self.cases
                .push(Ok(repetitions.sum / count(repetitions.numbers)));
        } else if repetitions.labels == 0
            && let Some(reason) = repetitions.reason
        {
            self.cases.push(Err(reason));
        }
    }

    pub(super) fn mean(&self, bootstrap: &Bootstrap) -> Mean {
        Mean::over(self.cases.iter().copied(), UndefinedAs::Excluded, bootstrap)
    }

    pub(super) fn label_shares(&self) -> LabelShares {
        let mut excluded: BTreeMap<String, usize> = BTreeMap::new();
        for reason in self.cases.iter().filter_map(|case| case.err()) {
            *excluded.entry(reason.to_owned()).or_default() += 1;
        }
        LabelShares {
            counts: self
                .labels
                .iter()
                .map(|(label, count)| ((*label).to_owned(), *count))
                .collect(),
            n: self.labels.values().sum(),
            excluded,
        }
    }
}
