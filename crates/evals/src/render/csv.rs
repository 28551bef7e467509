//! Comma-separated values as RFC 4180 defines them.
//!
//! Cells are written as they are, control characters and line breaks included. The one exception: text that begins with `=`,
//! `+`, `-`, `@` (also in full width), a tab or a line break, and is not a number, gets an apostrophe in front. Otherwise a
//! spreadsheet would run it as a formula, and labels, errors and reasons may come from a model or from a document.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::time::Duration;

use ::csv::{Terminator, WriterBuilder};
use serde::Serialize;

use crate::case_field::text_of;
use crate::groups::metadata_keys;
use crate::naming::Names;
use crate::{CaseOutcome, CaseReport, CaseTable, Domain, Report, Standings, Timing, Value};

/// Writes one row for each case.
///
/// The columns are: case, repetition, why the task failed, which evaluators failed and why, task time; then one for each
/// outcome in first-seen order, one for each metric, and the seconds of each stage, with cached stages in columns of their
/// own. Then follow the keys of the metadata (`metadata topic`), the recorded facts (`attribute route`), and the [parts](Domain::case_fields) of the case that are not
/// long, such as question, answer and reference. A cell is empty if the value is absent or undefined. If an outcome has a
/// reason in any case, a column `<name> reason` follows it. A repeated title gets `_2`.
pub fn report<D: Domain>(out: impl Write, report: &Report<D>) -> io::Result<()> {
    let columns = columns(&report.cases);
    let rows = report.cases.iter().map(|case| row(&columns, case));
    write(out, titles(&columns), rows)
}

/// Writes one row for each pair of runs and measure: the measure, its unit and which direction is better; both runs with their means;
/// n, the difference (second minus first), its interval; the p value of the test, the corrected one, the method and the verdict on the
/// second run; `d_z`, the detectable difference, and the letters of both runs.
pub fn standings(out: impl Write, standings: &Standings) -> io::Result<()> {
    let rows = standings.measures.iter().flat_map(|measure| {
        let letters = move |report: usize| {
            let own = measure.standings.iter().find(|it| it.report == report);
            own.map(|it| it.letters.clone()).unwrap_or_default()
        };
        measure.pairs.iter().map(move |pair| {
            let found = &pair.difference;
            let number = |value: Option<f64>| value.map(|it| it.to_string()).unwrap_or_default();
            let ends = found.interval.map(|it| (it.low, it.high));
            vec![
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
            ]
        })
    });
    write(out, PAIR.split(' ').map(str::to_owned), rows)
}

/// Writes one row for each case: its id and its text, then for each report the rank of the first relevant document and the values. A cell is
/// empty if the value is undefined or the report lacks the case.
pub fn case_table(out: impl Write, table: &CaseTable) -> io::Result<()> {
    let mut titles = vec!["case".to_owned(), "text".to_owned()];
    for title in &table.titles {
        let measures = table.measures.iter().map(|(name, _)| name.as_str());
        let columns = std::iter::once("rank").chain(measures);
        titles.extend(columns.map(|it| format!("{title}: {it}")));
    }
    let rows = table.rows.iter().map(|case| {
        let mut row = vec![case.id.to_string(), case.text.clone()];
        for (values, ranks) in case.values.iter().zip(&case.ranks) {
            row.push(ranks.clone());
            let value = |it: &Option<f64>| it.map(|it| it.to_string()).unwrap_or_default();
            row.extend(values.iter().map(value));
        }
        row
    });
    write(out, titles, rows)
}

fn write(
    out: impl Write,
    titles: impl IntoIterator<Item = String>,
    rows: impl Iterator<Item = Vec<String>>,
) -> io::Result<()> {
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(out);
    writer.write_record(titles.into_iter().map(guarded))?;
    for row in rows {
        writer.write_record(row.into_iter().map(guarded))?;
    }
    writer.flush()
}

/// The name of a value of an enumeration in JSON.
fn name_of(value: impl Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .as_ref()
        .and_then(text_of)
        .unwrap_or_default()
}

const PAIR: &str = "measure unit better first second n first_mean second_mean difference low high p adjusted_p method verdict d_z detectable \
                    first_letters second_letters";

const FIXED: [&str; 5] = ["case", "repeat", "failure", "evaluator_failures", "seconds"];

/// What a column holds, in the order of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ColumnKind {
    Outcome,
    Metric,
    Stage {
        cached: bool,
    },
    Metadata,
    Attribute,
    Field,
    /// The reason for an outcome, whose column follows that of the outcome.
    Reason,
}

/// A column: what it holds, and the name of that.
type Column = (ColumnKind, String);

/// The columns that occur in any case: stages, keys of metadata and the rest in the order in which cases show them, metrics and facts by
/// their names.
fn columns<D: Domain>(cases: &[CaseReport<D>]) -> Vec<Column> {
    let mut seen = BTreeSet::new();
    let mut columns: Vec<Column> = Vec::new();
    for (column, _) in cases.iter().flat_map(cells) {
        if seen.insert(column.clone()) && column.0 != ColumnKind::Reason {
            columns.push(column);
        }
    }
    columns.sort_by(|(left, name), (right, other)| match (left, right) {
        (ColumnKind::Metric, ColumnKind::Metric)
        | (ColumnKind::Attribute, ColumnKind::Attribute) => name.cmp(other),
        // Stages from a cache stand among the others.
        (ColumnKind::Stage { .. }, ColumnKind::Stage { .. }) => Ordering::Equal,
        _ => left.cmp(right),
    });
    let with_reason = columns.into_iter().flat_map(|column| {
        let reason = (ColumnKind::Reason, column.1.clone());
        let has_reason = column.0 == ColumnKind::Outcome && seen.contains(&reason);
        std::iter::once(column).chain(has_reason.then_some(reason))
    });
    with_reason.collect()
}

fn titles(columns: &[Column]) -> impl Iterator<Item = String> {
    let mut names = Names::default();
    let own = columns.iter().map(|(kind, name)| match kind {
        ColumnKind::Outcome | ColumnKind::Metric | ColumnKind::Field => name.clone(),
        ColumnKind::Reason => format!("{name} reason"),
        ColumnKind::Stage { cached: false } => format!("{name}_seconds"),
        ColumnKind::Stage { cached: true } => format!("{name}_cached_seconds"),
        ColumnKind::Metadata => format!("metadata {name}"),
        ColumnKind::Attribute => format!("attribute {name}"),
    });
    let titles = FIXED.map(str::to_owned).into_iter().chain(own);
    titles.map(move |title| names.claim(&title))
}

fn row<D: Domain>(columns: &[Column], case: &CaseReport<D>) -> Vec<String> {
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
    let mut found = BTreeMap::new();
    for (column, text) in cells(case) {
        // Of several with one name, the first counts.
        found.entry(column).or_insert(text);
    }
    let own = columns.iter();
    row.extend(own.map(|column| found.remove(column).unwrap_or_default()));
    row
}

/// The cells of a case beside the fixed ones. A stage that ran several times has the sum of its times.
fn cells<D: Domain>(case: &CaseReport<D>) -> impl Iterator<Item = (Column, String)> {
    let outcomes = case.outcomes.iter().flat_map(|outcome| {
        let cell = ((ColumnKind::Outcome, outcome.name.clone()), value(outcome));
        let reason = outcome.reason.clone();
        let reason = reason.map(|text| ((ColumnKind::Reason, outcome.name.clone()), text));
        std::iter::once(cell).chain(reason)
    });
    let metrics = case.metrics.iter();
    let metrics = metrics.map(|(name, it)| ((ColumnKind::Metric, name.clone()), it.to_string()));
    let stages = case.timings.iter().map(|Timing { stage, cached, .. }| {
        let same = case.timings.iter();
        let same = same.filter(|it| it.stage == *stage && it.cached == *cached);
        let total: Duration = same.map(|it| it.duration).sum();
        let kind = ColumnKind::Stage { cached: *cached };
        ((kind, stage.clone()), total.as_secs_f64().to_string())
    });
    let metadata = metadata_keys(&case.metadata).into_iter();
    let metadata = metadata.map(|(key, it)| {
        (
            (ColumnKind::Metadata, key),
            text_of(&it).unwrap_or_default(),
        )
    });
    let attributes = case.attributes.iter();
    let attributes = attributes.map(|(key, it)| {
        (
            (ColumnKind::Attribute, key.clone()),
            text_of(it).unwrap_or_default(),
        )
    });
    let fields = D::case_fields(case).into_iter();
    let fields = fields.filter(|field| !field.is_long);
    let fields = fields.map(|it| ((ColumnKind::Field, it.name.to_owned()), it.text));
    let recorded = outcomes.chain(metrics).chain(stages);
    recorded.chain(metadata).chain(attributes).chain(fields)
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

/// The text of a cell that [`guarded`] may have changed.
pub fn unguarded(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(text) if guarded(text.to_owned()) == cell => text,
        _ => cell,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_a_spreadsheet_would_run_is_defused() {
        for formula in ["=1+1", "@SUM(A1)", "\n=1+1", "\u{ff1d}1+1", "-2+3"] {
            assert_eq!(guarded(formula.to_owned()), format!("'{formula}"));
            assert_eq!(unguarded(&format!("'{formula}")), formula);
        }
        for plain in ["-2.5", "+1e3", "1=1", "", "text"] {
            assert_eq!(guarded(plain.to_owned()), plain);
        }
    }
}
