//! Comma-separated values as RFC 4180 defines them.
//!
//! Cells are written as they are, control characters and line breaks included. The one exception: text that begins with `=`,
//! `+`, `-`, `@` (also in full width), a tab or a line break, and is not a number, gets an apostrophe in front. Otherwise a
//! spreadsheet would run it as a formula, and labels, errors and reasons may come from a model or from a document.

use std::collections::BTreeSet;
use std::io::{self, Write};

use ::csv::{Terminator, WriterBuilder};
use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::naming::Names;
use crate::{CaseField, CaseOutcome, CaseReport, CaseTable, Domain, Report, Standings, Value};

/// Writes one row for each case.
///
/// The columns are: case, repetition, why the task failed, which evaluators failed and why, task time; then one for each
/// outcome in first-seen order, one for each metric, and the seconds of each stage, with cached stages in columns of their
/// own. Then follow the keys of the metadata (`metadata topic`), the recorded facts (`attribute route`), and the [parts](Domain::case_fields) of the case that are not
/// long, such as question, answer and reference. A cell is empty if the value is absent or undefined. If an outcome has a
/// reason in any case, a column `<name> reason` follows it. A repeated title gets `_2`.
pub fn report<D: Domain>(out: impl Write, report: &Report<D>) -> io::Result<()> {
    let columns = CsvColumns::of(&report.cases);
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(out);
    writer.write_record(columns.titles())?;
    for case in &report.cases {
        writer.write_record(columns.row(case))?;
    }
    writer.flush()
}

/// Writes one row for each pair of runs and measure: the measure, its unit and which direction is better; both runs with their means;
/// n, the difference (second minus first), its interval; the p value of the test, the corrected one, the method and the verdict on the
/// second run; `d_z`, the detectable difference, and the letters of both runs.
pub fn standings(out: impl Write, standings: &Standings) -> io::Result<()> {
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(out);
    writer.write_record(PAIR)?;
    for measure in &standings.measures {
        let letters = |report: usize| {
            let own = measure.standings.iter().find(|it| it.report == report);
            own.map(|it| it.letters.clone()).unwrap_or_default()
        };
        for pair in &measure.pairs {
            let found = &pair.difference;
            let number = |value: Option<f64>| value.map(|it| it.to_string()).unwrap_or_default();
            let ends = found.interval.map(|it| (it.low, it.high));
            let row = [
                measure.measure.clone(),
                name_of(measure.unit),
                name_of(measure.better),
                standings.title(pair.first).to_owned(),
                standings.title(pair.second).to_owned(),
                found.n.to_string(),
                found.before.to_string(),
                found.after.to_string(),
                found.difference.to_string(),
                number(ends.map(|(low, _)| low)),
                number(ends.map(|(_, high)| high)),
                number(found.p_value),
                number(pair.finding.adjusted_p_value),
                found.method.map(name_of).unwrap_or_default(),
                name_of(pair.finding.verdict),
                number(pair.finding.effect.map(|it| it.value)),
                number(pair.finding.detectable),
                letters(pair.first),
                letters(pair.second),
            ];
            writer.write_record(row.map(guarded))?;
        }
    }
    writer.flush()
}

/// Writes one row for each case: its id and its text, then for each report the rank of the first relevant document and the values. A cell is
/// empty if the value is undefined or the report lacks the case.
pub fn case_table(out: impl Write, table: &CaseTable) -> io::Result<()> {
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(out);
    let mut titles = vec!["case".to_owned(), "text".to_owned()];
    for title in &table.titles {
        let measures = table.measures.iter().map(|(name, _)| name.as_str());
        let columns = std::iter::once("rank").chain(measures);
        titles.extend(columns.map(|it| format!("{title}: {it}")));
    }
    writer.write_record(titles.into_iter().map(guarded))?;
    for case in &table.rows {
        let mut row = vec![case.id.to_string(), case.text.clone()];
        for (values, ranks) in case.values.iter().zip(&case.ranks) {
            row.push(ranks.clone());
            let value = |it: &Option<f64>| it.map(|it| it.to_string()).unwrap_or_default();
            row.extend(values.iter().map(value));
        }
        writer.write_record(row.into_iter().map(guarded))?;
    }
    writer.flush()
}

/// The name of a value of an enumeration in JSON.
fn name_of(value: impl Serialize) -> String {
    cell(serde_json::to_value(value).ok().as_ref())
}

const PAIR: [&str; 19] = [
    "measure",
    "unit",
    "better",
    "first",
    "second",
    "n",
    "first_mean",
    "second_mean",
    "difference",
    "low",
    "high",
    "p",
    "adjusted_p",
    "method",
    "verdict",
    "d_z",
    "detectable",
    "first_letters",
    "second_letters",
];

const FIXED: [&str; 5] = ["case", "repeat", "failure", "evaluator_failures", "seconds"];

/// The columns that occur in any case.
#[derive(Default)]
struct CsvColumns<'a> {
    outcomes: Vec<&'a str>,
    /// The outcomes that have a reason in any case.
    reasons: BTreeSet<&'a str>,
    metrics: BTreeSet<&'a str>,
    stages: Vec<(&'a str, bool)>,
    metadata: Vec<String>,
    attributes: BTreeSet<&'a str>,
    fields: Vec<&'static str>,
}

impl<'a> CsvColumns<'a> {
    fn of<D: Domain>(cases: &'a [CaseReport<D>]) -> Self {
        let mut columns = Self::default();
        let mut seen_outcomes = BTreeSet::new();
        let mut seen_stages = BTreeSet::new();
        let mut seen_keys = BTreeSet::new();
        for case in cases {
            for outcome in &case.outcomes {
                if seen_outcomes.insert(outcome.name.as_str()) {
                    columns.outcomes.push(&outcome.name);
                }
                if outcome.reason.is_some() {
                    columns.reasons.insert(&outcome.name);
                }
            }
            columns
                .metrics
                .extend(case.metrics.keys().map(String::as_str));
            columns
                .attributes
                .extend(case.attributes.keys().map(String::as_str));
            let stages = case
                .timings
                .iter()
                .map(|timing| (timing.stage.as_str(), timing.cached));
            columns
                .stages
                .extend(stages.filter(|stage| seen_stages.insert(*stage)));
            for key in metadata(case).keys() {
                if seen_keys.insert(key.clone()) {
                    columns.metadata.push(key.clone());
                }
            }
            for field in cells(case) {
                if !columns.fields.contains(&field.name) {
                    columns.fields.push(field.name);
                }
            }
        }
        columns
    }

    fn titles(&self) -> Vec<String> {
        let fixed = FIXED.map(str::to_owned).into_iter();
        let outcomes = self.outcomes.iter().flat_map(|name| {
            let reason = self.reasons.contains(name);
            let reason = reason.then(|| format!("{name} reason"));
            std::iter::once((*name).to_owned()).chain(reason)
        });
        let metrics = self.metrics.iter().map(|name| (*name).to_owned());
        let stages = self.stages.iter().map(|(stage, cached)| match cached {
            false => format!("{stage}_seconds"),
            true => format!("{stage}_cached_seconds"),
        });
        let mut names = Names::default();
        let metadata = self.metadata.iter().map(|key| format!("metadata {key}"));
        let attributes = self.attributes.iter().map(|key| format!("attribute {key}"));
        let fields = self.fields.iter().map(|name| (*name).to_owned());
        let titles = fixed.chain(outcomes).chain(metrics).chain(stages);
        let titles = titles.chain(metadata).chain(attributes).chain(fields);
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
            if self.reasons.contains(name) {
                let reason = outcome.and_then(|outcome| outcome.reason.clone());
                row.push(reason.unwrap_or_default());
            }
        }
        row.extend(self.metrics.iter().map(|name| {
            case.metrics
                .get(*name)
                .map(f64::to_string)
                .unwrap_or_default()
        }));
        row.extend(self.stages.iter().map(|stage| seconds(case, *stage)));
        let metadata = metadata(case);
        let keys = self.metadata.iter();
        row.extend(keys.map(|key| cell(metadata.get(key))));
        let keys = self.attributes.iter();
        row.extend(keys.map(|key| cell(case.attributes.get(*key))));
        let fields: Vec<CaseField> = cells(case).collect();
        row.extend(self.fields.iter().map(|name| {
            let field = fields.iter().find(|field| field.name == *name);
            field.map(|field| field.text.clone()).unwrap_or_default()
        }));
        row.into_iter().map(guarded).collect()
    }
}

/// The characters that can start a formula. Some spreadsheets skip white space before them, or accept signs in full width.
const FORMULA: [char; 11] = [
    '=', '+', '-', '@', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}',
];

/// Keeps a spreadsheet from running text as a formula: puts an apostrophe before text that may be one.
pub fn guarded(text: String) -> String {
    let is_number = || text.parse::<f64>().is_ok_and(f64::is_finite);
    if text.starts_with(FORMULA) && !is_number() {
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

/// A text as it is, anything else as JSON.
fn cell(value: Option<&Json>) -> String {
    match value {
        None | Some(Json::Null) => String::new(),
        Some(Json::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// The metadata of a case, if it is an object.
fn metadata<D: Domain>(case: &CaseReport<D>) -> Map<String, Json> {
    match serde_json::to_value(&case.metadata) {
        Ok(Json::Object(metadata)) => metadata,
        _ => Map::new(),
    }
}

/// The parts of a case that fit into cells.
fn cells<D: Domain>(case: &CaseReport<D>) -> impl Iterator<Item = CaseField> {
    let fields = D::case_fields(case).into_iter();
    fields.filter(|field| !field.is_long)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_a_spreadsheet_would_run_is_defused() {
        for formula in ["=1+1", "@SUM(A1)", "\n=1+1", "\u{ff1d}1+1", "-2+3"] {
            assert_eq!(guarded(formula.to_owned()), format!("'{formula}"));
        }
        for plain in ["-2.5", "+1e3", "1=1", "", "text"] {
            assert_eq!(guarded(plain.to_owned()), plain);
        }
    }
}
