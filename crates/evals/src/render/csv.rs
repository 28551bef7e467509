//! Comma-separated values as RFC 4180 defines them.

use std::collections::BTreeSet;
use std::io::{self, Write};

use ::csv::{Terminator, WriterBuilder};

use crate::naming::unique_name;
use crate::{CaseReport, Domain, Report, Value};

/// Writes one row for each case.
///
/// The columns are: case, repetition, why the task failed, which evaluators failed and why, task time; then one for each
/// outcome in first-seen order, one for each metric, and the seconds of each stage, cached ones apart. A cell is empty where
/// a case has no value, or an undefined one. A name that is taken gets `_2`, as within a case.
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

/// What the cases have between them.
#[derive(Default)]
struct Columns<'a> {
    outcomes: Vec<&'a str>,
    metrics: BTreeSet<&'a str>,
    stages: Vec<(&'a str, bool)>,
}

impl<'a> Columns<'a> {
    fn of<D: Domain>(cases: &'a [CaseReport<D>]) -> Self {
        let mut columns = Self::default();
        let mut seen_outcomes = BTreeSet::new();
        let mut seen_stages = BTreeSet::new();
        for case in cases {
            let outcomes = case.outcomes.iter().map(|outcome| outcome.name.as_str());
            columns
                .outcomes
                .extend(outcomes.filter(|name| seen_outcomes.insert(*name)));
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
        let stages = self.stages.iter().map(|(stage, cached)| match cached {
            false => format!("{stage}_seconds"),
            true => format!("{stage}_cached_seconds"),
        });
        let names = FIXED
            .iter()
            .chain(&self.outcomes)
            .chain(&self.metrics)
            .map(|name| (*name).to_owned());
        let mut taken = BTreeSet::new();
        let unique = names.chain(stages).map(|name| {
            let name = unique_name(name, |name| taken.contains(name));
            taken.insert(name.clone());
            name
        });
        unique.collect()
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
        row.extend(self.outcomes.iter().map(|name| outcome(case, name)));
        row.extend(self.metrics.iter().map(|name| {
            case.metrics
                .get(*name)
                .map(f64::to_string)
                .unwrap_or_default()
        }));
        row.extend(self.stages.iter().map(|stage| seconds(case, *stage)));
        row
    }
}

fn outcome<D: Domain>(case: &CaseReport<D>, name: &str) -> String {
    match case.outcome(name).map(|outcome| &outcome.value) {
        Some(Value::Assertion(passed)) => passed.to_string(),
        Some(Value::Score(score)) => score.to_string(),
        Some(Value::Label(label)) => label.clone(),
        Some(Value::Undefined) | None => String::new(),
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
