//! Scores as tables for people.

use std::fmt::Write as _;

use evals::render::Narrow;
use evals::render::tables::Table;
use evals::test_names;
use evals_messages::{quantity, visible};
use evals_metrics::scoring::{Count, RunChanges, Scores, Statistic, Summary, have_same_queries};
use evals_terminal::{Printer, table_text, wrapped};

use super::ScoredRun;
use crate::cli::ScoreArgs;

const BEST: &str = "★";
/// What an undefined value is shown as.
const UNDEFINED: &str = "-";

pub(super) fn render(
    printer: &Printer,
    runs: &[ScoredRun],
    comparison: Option<&RunChanges>,
    arguments: &ScoreArgs,
) -> String {
    let mut text = String::new();
    if arguments.per_query {
        for run in runs {
            if runs.len() > 1 {
                writeln!(text, "{}", visible::line(&run.name)).expect("a string takes any text");
            }
            text.push_str(&queries(printer, &run.scores, !arguments.no_summary));
            if runs.len() > 1 {
                text.push('\n');
            }
        }
    }
    match (comparison, runs) {
        (_, []) => {}
        (Some(comparison), _) if !arguments.no_summary => {
            text.push_str(&several(printer, runs, comparison));
        }
        (None, [run, ..]) if !arguments.per_query => text.push_str(&one(printer, &run.scores)),
        _ => {}
    }
    text
}

/// A row for each measure.
fn one(printer: &Printer, scores: &Scores) -> String {
    let mut rows = Vec::new();
    for (column, it) in scores.columns().iter().enumerate() {
        if let Some(value) = summary(scores, column) {
            rows.push(vec![it.statistic.to_string(), value]);
        }
    }
    rows.push(vec![
        "queries".to_owned(),
        scores.queries().len().to_string(),
    ]);
    let heads = ["measure", "all"].map(str::to_owned).to_vec();
    table(printer, heads, rows, Narrow::Fold)
}

/// A row for each query, and one for all.
fn queries(printer: &Printer, scores: &Scores, with_summary: bool) -> String {
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
    let heads = row("query", header);
    let mut rows = Vec::new();
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
    table(printer, heads, rows, Narrow::Fold)
}

/// A row for each run, and the changes from one of them.
fn several(printer: &Printer, runs: &[ScoredRun], comparison: &RunChanges) -> String {
    let columns = runs[0].scores.columns();
    let header = columns.iter().map(|it| it.statistic.to_string());
    let heads = row("run", header.chain(["queries".to_owned()]));
    let mut rows = Vec::new();
    let scores: Vec<&Scores> = runs.iter().map(|run| &run.scores).collect();
    let is_comparable = have_same_queries(&scores);
    for run in runs {
        let cells = (0..columns.len()).map(|column| {
            let value = summary(&run.scores, column).unwrap_or_default();
            if is_comparable && is_best(runs, column, &value) {
                format!("{value} {BEST}")
            } else {
                value
            }
        });
        let queries = run.scores.queries().len().to_string();
        rows.push(row(&run.name, cells.chain([queries])));
    }
    let mut text = table(printer, heads, rows, Narrow::Fold);
    let legend = if is_comparable {
        format!("{BEST} best of its column, after rounding")
    } else {
        "the runs rank different queries, so no run is best".to_owned()
    };
    writeln!(text, "{legend}").expect("a string takes any text");
    let baseline = visible::line(&runs[comparison.baseline].name);
    if !comparison.changes.is_empty() {
        writeln!(text, "\nChanges from {baseline}").expect("a string takes any text");
        text.push_str(&changes(printer, runs, comparison));
        text.push_str(&wrapped(printer, &explained(comparison)));
    } else if !is_comparable {
        writeln!(
            text,
            "no run ranks a query that {baseline} ranks, so there are no changes"
        )
        .expect("a string takes any text");
    }
    text
}

/// A row for each change from the baseline.
fn changes(printer: &Printer, runs: &[ScoredRun], comparison: &RunChanges) -> String {
    let titles = [
        "run",
        "measure",
        "change",
        "95 % interval",
        "p",
        "p (Holm)",
        "n",
        "verdict",
    ];
    let columns = runs[0].scores.columns();
    let shown = |p: Option<f64>| p.map_or_else(|| UNDEFINED.to_owned(), p_value);
    let rows = comparison.changes.iter().map(|change| {
        let it = &change.difference;
        let interval = it.interval.as_ref().map_or_else(
            || UNDEFINED.to_owned(),
            |interval| format!("{:+.4} to {:+.4}", interval.low, interval.high),
        );
        vec![
            runs[change.run].name.clone(),
            columns[change.column].statistic.to_string(),
            format!("{:+.4}", it.difference),
            interval,
            shown(it.p_value),
            shown(change.adjusted),
            it.n.to_string(),
            change.verdict().to_owned(),
        ]
    });
    let heads = titles.map(str::to_owned).to_vec();
    let narrow = Narrow::Drop(&["n", "p", "p (Holm)", "95 % interval"]);
    table(printer, heads, rows.collect(), narrow)
}

/// What the p values mean.
fn explained(comparison: &RunChanges) -> String {
    let all = comparison.headline_tests + comparison.tests;
    if all == 0 {
        return "No query changed in any measure, so there is nothing to test.".to_owned();
    }
    let tests = |count| quantity::of(count, "test");
    let others = match comparison.tests {
        0 => String::new(),
        several => format!(", and for the {} of the others", tests(several)),
    };
    let family = format!(
        "the {} of the first measure{others}",
        tests(comparison.headline_tests)
    );
    let family = if comparison.is_best {
        format!(
            "{family}, of all pairs of runs, because the means of these queries chose the baseline. On other queries, its lead is likely \
             to be smaller"
        )
    } else {
        family
    };
    let tested = comparison.changes.iter();
    let tested = tested.filter(|it| it.adjusted.is_some());
    format!(
        "p: {}; intervals belong to it. p (Holm) is corrected for {family}. A row in which no query changed is not a test. In rows without \
         a verdict, chance alone could explain the change.",
        if comparison.is_clustered {
            "t test by clusters of queries that share a relevant document".to_owned()
        } else {
            test_names(tested.map(|it| &it.difference))
        }
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
    if !matches!(statistic, Statistic::Mean(_)) || statistic.is_lower_better() {
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

fn table(printer: &Printer, heads: Vec<String>, rows: Vec<Vec<String>>, narrow: Narrow) -> String {
    let table = Table {
        heads,
        rows,
        notes: Vec::new(),
    };
    table_text(printer, &table, narrow)
}
