//! A table of cases, the worst first.

use std::cmp::Ordering;
use std::io::{self, Write};

use evals_messages::visible::single_line;
use serde::Serialize;
use serde_json::Value as Json;

use super::paint::Style;
use super::table::{Align, Column, Entry, Table};
use super::{Page, wrap};
use crate::{CaseOutcome, CaseReport, Direction, Domain, Report, Value, number};

/// The most columns of the terminal for one cell of free text.
const LONGEST_CELL: usize = 40;

/// Which cases are shown, and how.
#[derive(Clone, Copy, Debug)]
pub struct Cases {
    /// At most this many.
    pub most: usize,
    /// Whether the reasons of outcomes and failures are listed below the table.
    pub reasons: bool,
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

/// A column that is left out where no case fills it.
#[derive(Clone, Copy, Debug)]
enum Optional {
    Assertions,
    Scores,
    Labels,
    Output,
    Metrics,
}

impl<W: Write> Page<W> {
    pub(super) fn cases<D: Domain>(&mut self, report: &Report<D>, shown: Cases) -> io::Result<()> {
        let all = report.cases.len();
        let cases = report.cases.iter();
        let mut cases: Vec<_> = cases.map(|case| (Badness::of(case), case)).collect();
        cases.sort_by(|(one, _), (other, _)| one.order(other));
        cases.truncate(shown.most);
        let cases: Vec<&CaseReport<D>> = cases.into_iter().map(|(_, case)| case).collect();
        if cases.is_empty() {
            return Ok(());
        }
        let table = self.table_of(report, &cases);
        self.table(&table)?;
        if cases.len() < all {
            let note = format!("{} of {all} cases, failed and lowest first", cases.len());
            self.line(Style::Dim, &note)?;
        }
        if shown.reasons {
            self.reasons(report, &cases)?;
        }
        Ok(())
    }

    fn table_of<D: Domain>(&self, report: &Report<D>, cases: &[&CaseReport<D>]) -> Table {
        let optional = Optional::filled_by(cases);
        let mut columns = vec![Column::new("Case", Align::Left)];
        columns.extend(
            optional
                .iter()
                .map(|it| Column::new(it.title(), Align::Left)),
        );
        columns.push(Column::new("Time", Align::Right));
        let mut table = Table::new(columns).dropping(&["Metrics", "Output", "Labels", "Time"]);
        for case in cases {
            let label = single_line(&case.label(report.repeat).to_string());
            let mut row = vec![Entry::plain(self.cut(&label))];
            row.extend(optional.iter().map(|column| self.cell(case, *column)));
            row.push(Entry::plain(
                self.glyphs.duration(case.duration.as_secs_f64()),
            ));
            table.push(row);
        }
        table
    }

    fn cell<D: Domain>(&self, case: &CaseReport<D>, column: Optional) -> Entry {
        let outcomes = || case.outcomes.iter();
        let text = match column {
            Optional::Assertions => {
                let marks = outcomes().filter_map(|outcome| match outcome.value {
                    Value::Assertion(true) => Some(self.glyphs.passed),
                    Value::Assertion(false) => Some(self.glyphs.not_passed),
                    Value::Score(_) | Value::Label(_) | Value::Undefined => None,
                });
                let failed = case.evaluator_failures.iter();
                let failed = failed.map(|_| self.glyphs.undefined);
                return Entry::plain(marks.chain(failed).collect());
            }
            Optional::Scores => named(outcomes().filter_map(|outcome| match outcome.value {
                Value::Score(score) => Some((outcome.name.as_str(), number::score(score))),
                Value::Assertion(_) | Value::Label(_) | Value::Undefined => None,
            })),
            Optional::Labels => named(outcomes().filter_map(|outcome| match &outcome.value {
                Value::Label(label) => Some((outcome.name.as_str(), single_line(label))),
                Value::Assertion(_) | Value::Score(_) | Value::Undefined => None,
            })),
            Optional::Metrics => named(
                case.metrics
                    .iter()
                    .map(|(name, value)| (name.as_str(), number::metric(*value))),
            ),
            Optional::Output => match case.result.output() {
                Some(output) => text_of(output),
                None => "failed".to_owned(),
            },
        };
        Entry::plain(self.cut(&single_line(&text)))
    }

    fn cut(&self, text: &str) -> String {
        wrap::cut(text, LONGEST_CELL, self.glyphs.ellipsis)
    }

    /// Lists why outcomes are what they are, case by case.
    fn reasons<D: Domain>(
        &mut self,
        report: &Report<D>,
        cases: &[&CaseReport<D>],
    ) -> io::Result<()> {
        for case in cases {
            let task = case.result.failure();
            let task = task.map(|failure| ("task".to_owned(), failure.message.as_str()));
            let outcomes = case.outcomes.iter().filter_map(|outcome| {
                let reason = outcome.reason.as_deref()?;
                let value = self.value_of(outcome);
                Some((format!("{} {value}", outcome.name), reason))
            });
            let failures = case.evaluator_failures.iter();
            let failures =
                failures.map(|failure| (failure.evaluator.clone(), failure.message.as_str()));
            let lines: Vec<(String, &str)> =
                task.into_iter().chain(outcomes).chain(failures).collect();
            if lines.is_empty() {
                continue;
            }
            writeln!(self.out)?;
            let label = single_line(&case.label(report.repeat).to_string());
            self.wrapped(Style::Bold, &label)?;
            for (what, reason) in lines {
                let line = format!("{}: {}", single_line(&what), single_line(reason));
                self.wrapped(Style::Plain, &line)?;
            }
        }
        Ok(())
    }

    fn value_of(&self, outcome: &CaseOutcome) -> String {
        match &outcome.value {
            Value::Assertion(true) => self.glyphs.passed.to_owned(),
            Value::Assertion(false) => self.glyphs.not_passed.to_owned(),
            Value::Score(score) => number::score(*score),
            Value::Label(label) => single_line(label),
            Value::Undefined => self.glyphs.undefined.to_owned(),
        }
    }
}

impl Optional {
    const ALL: [Self; 5] = [
        Self::Assertions,
        Self::Scores,
        Self::Labels,
        Self::Output,
        Self::Metrics,
    ];

    fn filled_by<D: Domain>(cases: &[&CaseReport<D>]) -> Vec<Self> {
        let all = Self::ALL.into_iter();
        all.filter(|column| cases.iter().any(|case| column.is_filled_by(case)))
            .collect()
    }

    fn is_filled_by<D: Domain>(self, case: &CaseReport<D>) -> bool {
        let has = |is_of_kind: fn(&Value) -> bool| {
            let mut outcomes = case.outcomes.iter();
            outcomes.any(|outcome| is_of_kind(&outcome.value))
        };
        match self {
            Self::Assertions => {
                !case.evaluator_failures.is_empty() || has(|it| matches!(it, Value::Assertion(_)))
            }
            Self::Scores => has(|it| matches!(it, Value::Score(_))),
            Self::Labels => has(|it| matches!(it, Value::Label(_))),
            Self::Output => case.result.output().is_some(),
            Self::Metrics => !case.metrics.is_empty(),
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Assertions => "Assertions",
            Self::Scores => "Scores",
            Self::Labels => "Labels",
            Self::Output => "Output",
            Self::Metrics => "Metrics",
        }
    }
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

fn named<'n>(values: impl Iterator<Item = (&'n str, String)>) -> String {
    let values: Vec<String> = values
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    values.join(", ")
}

/// A text as it is, anything else as JSON.
fn text_of(output: &impl Serialize) -> String {
    match serde_json::to_value(output) {
        Ok(Json::String(text)) => text,
        Ok(value) => value.to_string(),
        Err(error) => error.to_string(),
    }
}
