//! Scores as tables for people.

use std::fmt::Write as _;

use console::{Alignment, measure_text_width, pad_str};
use evals_messages::{quantity, visible};
use evals_metrics::scoring::{Count, Scores, Statistic, Summary};

use super::ScoredRun;
use super::comparison::{Comparison, lower_is_better};
use crate::cli::ScoreArgs;

const BEST: &str = "★";
/// What an undefined value is shown as.
const UNDEFINED: &str = "-";

pub(super) fn render(
    runs: &[ScoredRun],
    comparison: Option<&Comparison>,
    arguments: &ScoreArgs,
) -> String {
    let mut text = String::new();
    if arguments.per_query {
        for run in runs {
            if runs.len() > 1 {
                writeln!(text, "{}", visible::line(&run.name)).expect("a string takes any text");
            }
            text.push_str(&queries(&run.scores, !arguments.no_summary));
            if runs.len() > 1 {
                text.push('\n');
            }
        }
    }
    match (comparison, runs) {
        (_, []) => {}
        (Some(comparison), _) if !arguments.no_summary => {
            text.push_str(&several(runs, comparison));
        }
        (None, [run, ..]) if !arguments.per_query => text.push_str(&one(&run.scores)),
        _ => {}
    }
    text
}

/// A row for each measure.
fn one(scores: &Scores) -> String {
    let mut rows = vec![vec!["measure".to_owned(), "all".to_owned()]];
    for (column, it) in scores.columns().iter().enumerate() {
        if let Some(value) = summary(scores, column) {
            rows.push(vec![it.statistic.to_string(), value]);
        }
    }
    rows.push(vec![
        "queries".to_owned(),
        scores.queries().len().to_string(),
    ]);
    aligned(&rows)
}

/// A row for each query, and one for all.
fn queries(scores: &Scores, with_summary: bool) -> String {
    let shown: Vec<usize> = (0..scores.columns().len())
        .filter(|column| {
            !matches!(
                scores.columns()[*column].statistic,
                Statistic::RunId | Statistic::Count(Count::Queries)
            )
        })
        .collect();
    let header = shown
        .iter()
        .map(|it| scores.columns()[*it].statistic.to_string());
    let mut rows = vec![row("query", header)];
    for (index, query) in scores.queries().iter().enumerate() {
        let cells = shown.iter().map(|&column| {
            match (
                scores.columns()[column].statistic,
                scores.values(index)[column],
            ) {
                (Statistic::Grades { .. }, _) => {
                    scores.text(index, column).unwrap_or_default().to_owned()
                }
                (Statistic::Count(_), Ok(count)) => format!("{count:.0}"),
                (_, Ok(value)) => format!("{value:.4}"),
                (_, Err(_)) => UNDEFINED.to_owned(),
            }
        });
        rows.push(row(query, cells));
    }
    if with_summary {
        let cells = shown
            .iter()
            .map(|&it| summary(scores, it).unwrap_or_default());
        rows.push(row("all", cells));
    }
    aligned(&rows)
}

/// A row for each run, and the changes from one of them.
fn several(runs: &[ScoredRun], comparison: &Comparison) -> String {
    let columns = runs[0].scores.columns();
    let header = columns.iter().map(|it| it.statistic.to_string());
    let mut rows = vec![row("run", header.chain(["queries".to_owned()]))];
    for run in runs {
        let cells = (0..columns.len()).map(|column| {
            let value = summary(&run.scores, column).unwrap_or_default();
            if is_best(runs, column, &value) {
                format!("{value} {BEST}")
            } else {
                value
            }
        });
        let queries = run.scores.queries().len().to_string();
        rows.push(row(&run.name, cells.chain([queries])));
    }
    let mut text = aligned(&rows);
    writeln!(text, "{BEST} best of its column, after rounding\n").expect("a string takes any text");
    let baseline = visible::line(&runs[comparison.baseline].name);
    writeln!(text, "Changes from {baseline}").expect("a string takes any text");
    let titles = [
        "run",
        "measure",
        "change",
        "95 % interval",
        "p (Holm)",
        "n",
        "",
    ];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    for change in &comparison.changes {
        let it = &change.difference;
        let interval = it.interval.as_ref().map_or_else(
            || UNDEFINED.to_owned(),
            |interval| format!("{:+.4} to {:+.4}", interval.low, interval.high),
        );
        rows.push(vec![
            runs[change.run].name.clone(),
            columns[change.column].statistic.to_string(),
            format!("{:+.4}", it.difference),
            interval,
            change
                .adjusted
                .map_or_else(|| UNDEFINED.to_owned(), p_value),
            it.n.to_string(),
            change.verdict().to_owned(),
        ]);
    }
    text.push_str(&aligned(&rows));
    text.push_str(&explained(comparison));
    text
}

/// What the p values mean.
fn explained(comparison: &Comparison) -> String {
    let tests = quantity::of(comparison.tests, "test");
    let family = if comparison.is_best {
        format!(
            "the {tests} of all pairs of runs (Holm), because the means of these queries chose the baseline. On other queries, its lead \
             is likely to be smaller. A row"
        )
    } else {
        format!("the {tests} of this table (Holm), where a row")
    };
    format!(
        "Paired randomization tests; p values are corrected for {family} in which no query changed is not a test. In rows without a \
         verdict, chance alone could explain the change.\n"
    )
}

fn p_value(value: f64) -> String {
    if value < 0.001 {
        "< 0.001".to_owned()
    } else {
        format!("{value:.3}")
    }
}

/// Whether a shown value is the greatest of its column, if greater is better.
fn is_best(runs: &[ScoredRun], column: usize, shown: &str) -> bool {
    let statistic = runs[0].scores.columns()[column].statistic;
    if !matches!(statistic, Statistic::Mean(_)) || lower_is_better(statistic) {
        return false;
    }
    let number = |run: &ScoredRun| run.scores.summary(column).number();
    let greatest = runs.iter().filter_map(number).fold(f64::MIN, f64::max);
    format!("{greatest:.4}") == shown
}

/// The summary of a column; `None` for texts of queries.
fn summary(scores: &Scores, column: usize) -> Option<String> {
    match scores.summary(column) {
        Summary::None => None,
        Summary::Text(text) => Some(text),
        Summary::Count(count) => Some(format!("{count:.0}")),
        Summary::Number(number) => Some(format!("{number:.4}")),
    }
}

fn row(first: &str, cells: impl Iterator<Item = String>) -> Vec<String> {
    std::iter::once(first.to_owned()).chain(cells).collect()
}

/// Lines with the first column to the left and numbers to the right.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cell = |row: &[String], column: usize| -> String {
        row.get(column)
            .map_or_else(String::new, |it| visible::line(it))
    };
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            let cells = rows
                .iter()
                .map(|row| measure_text_width(&cell(row, column)));
            cells.max().unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, width) in widths.iter().enumerate() {
            let is_text = column == 0 || row.get(1).is_some_and(|_| is_text_column(rows, column));
            let alignment = if is_text {
                Alignment::Left
            } else {
                Alignment::Right
            };
            let gap = if column == 0 { "" } else { "  " };
            let padded = pad_str(&cell(row, column), *width, alignment, None).into_owned();
            write!(line, "{gap}{padded}").expect("a string takes any text");
        }
        writeln!(text, "{}", line.trim_end()).expect("a string takes any text");
    }
    text
}

/// Whether no cell below the header is a number.
fn is_text_column(rows: &[Vec<String>], column: usize) -> bool {
    rows.iter().skip(1).all(|row| {
        let digit =
            |cell: &String| cell.starts_with(|c: char| c.is_ascii_digit() || "+-<".contains(c));
        row.get(column).is_none_or(|cell| !digit(cell))
    })
}
