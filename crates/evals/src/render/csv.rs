//! Comma-separated values as RFC 4180 defines them.
//!
//! Cells are written as they are, control characters and line breaks included. The one exception: text that begins with `=`,
//! `+`, `-`, `@`, a tab or a carriage return, and is not a number, gets an apostrophe in front. Otherwise a spreadsheet
//! would run it as a formula, and labels, errors and reasons may come from a model or from a document.

use std::collections::BTreeSet;
use std::io::{self, Write};

use ::csv::{Terminator, WriterBuilder};

use crate::naming::Names;
use crate::{CaseOutcome, CaseReport, Domain, Report, Value};

/// Writes one row for each case.
///
/// The columns are: case, repetition, why the task failed, which evaluators failed and why, task time; then one for each
/// outcome in first-seen order, one for each metric, and the seconds of each stage, with cached stages in columns of their
/// own. A cell is empty if the value is absent or undefined. If an outcome is undefined in any case, a column `<name>
/// reason` follows it. A repeated title gets `_2`.
pub fn report<D: Domain>(out: impl Write, report: &Report<D>) -> io::Result<()> {
    let columns = Columns::of(&report.cases);
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(out);
    writer.write_record(columns.titles())?;
    for case in &report.cases {
        writer.write_record(columns.row(case))?;
    }
    writer.flush()
}

const FIXED: [&str; 5] = ["case", "repeat", "failure", "evaluator_failures", "seconds"];

/// The columns that occur in any case.
#[derive(Default)]
struct Columns<'a> {
    outcomes: Vec<&'a str>,
    /// The outcomes that are undefined in any case.
    undefined: BTreeSet<&'a str>,
    metrics: BTreeSet<&'a str>,
    stages: Vec<(&'a str, bool)>,
}

impl<'a> Columns<'a> {
    fn of<D: Domain>(cases: &'a [CaseReport<D>]) -> Self {
        let mut columns = Self::default();
        let mut seen_outcomes = BTreeSet::new();
        let mut seen_stages = BTreeSet::new();
        for case in cases {
            for outcome in &case.outcomes {
                if seen_outcomes.insert(outcome.name.as_str()) {
                    columns.outcomes.push(&outcome.name);
                }
                if outcome.value == Value::Undefined {
                    columns.undefined.insert(&outcome.name);
                }
            }
            columns
                .metrics
                .extend(case.metrics.keys().map(String::as_str));
            let stages = case
                .timings
                .iter()
                .map(|timing| (timing.stage.as_str(), timing.cached));
            columns
                .stages
                .extend(stages.filter(|stage| seen_stages.insert(*stage)));
        }
        columns
    }

    fn titles(&self) -> Vec<String> {
        let fixed = FIXED.map(str::to_owned).into_iter();
        let outcomes = self.outcomes.iter().flat_map(|name| {
            let reason = self.undefined.contains(name);
            let reason = reason.then(|| format!("{name} reason"));
            std::iter::once((*name).to_owned()).chain(reason)
        });
        let metrics = self.metrics.iter().map(|name| (*name).to_owned());
        let stages = self.stages.iter().map(|(stage, cached)| match cached {
            false => format!("{stage}_seconds"),
            true => format!("{stage}_cached_seconds"),
        });
        let mut names = Names::default();
        let titles = fixed.chain(outcomes).chain(metrics).chain(stages);
        titles.map(|title| guarded(names.claim(&title))).collect()
    }

    fn row<D: Domain>(&self, case: &CaseReport<D>) -> Vec<String> {
        let failure = case.result.failure().map(|failure| failure.message.clone());
        let evaluators = case.evaluator_failures.iter();
        let evaluators: Vec<String> = evaluators
            .map(|failure| format!("{}: {}", failure.evaluator, failure.message))
            .collect();
        let mut row = vec![
            case.id.to_string(),
            case.repeat.to_string(),
            failure.unwrap_or_default(),
            evaluators.join("; "),
            case.duration.as_secs_f64().to_string(),
        ];
        for name in &self.outcomes {
            let outcome = case.outcome(name);
            row.push(outcome.map(value).unwrap_or_default());
            if self.undefined.contains(name) {
                row.push(outcome.and_then(reason).unwrap_or_default());
            }
        }
        row.extend(self.metrics.iter().map(|name| {
            case.metrics
                .get(*name)
                .map(f64::to_string)
                .unwrap_or_default()
        }));
        row.extend(self.stages.iter().map(|stage| seconds(case, *stage)));
        row.into_iter().map(guarded).collect()
    }
}

/// Keeps a spreadsheet from running text as a formula.
fn guarded(text: String) -> String {
    let is_number = || text.parse::<f64>().is_ok_and(f64::is_finite);
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number() {
        format!("'{text}")
    } else {
        text
    }
}

fn value(outcome: &CaseOutcome) -> String {
    match &outcome.value {
        Value::Assertion(passed) => passed.to_string(),
        Value::Score(score) => score.to_string(),
        Value::Label(label) => label.clone(),
        Value::Undefined => String::new(),
    }
}

/// The reason for an undefined outcome.
fn reason(outcome: &CaseOutcome) -> Option<String> {
    match outcome.value {
        Value::Undefined => outcome.reason.clone(),
        Value::Assertion(_) | Value::Score(_) | Value::Label(_) => None,
    }
}

/// The time of a stage in one case, summed where the stage ran several times.
fn seconds<D: Domain>(case: &CaseReport<D>, (stage, cached): (&str, bool)) -> String {
    let runs = case
        .timings
        .iter()
        .filter(|timing| timing.stage == stage && timing.cached == cached);
    let total = runs
        .map(|timing| timing.duration)
        .reduce(|left, right| left + right);
    total
        .map(|duration| duration.as_secs_f64().to_string())
        .unwrap_or_default()
}
