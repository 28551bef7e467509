//! Rows as Markdown tables.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use evals::Summary;
use evals_messages::visible;
use evals_metrics::Mean;
use evals_rag::qa::Equivalence;
use evals_rag::retrieval;
use evals_runs::run_record::Benchmark;
use evals_runs::stored_runs::StoredRun;

use super::labels::{Labels, NONE};
use super::rows::grouped;

/// One table for each benchmark and dataset, with a heading where there are several.
pub(super) fn tables(runs: &[StoredRun]) -> String {
    let groups = grouped(runs);
    let headed = groups.len() > 1;
    let tables = groups.into_iter().map(|((dataset, benchmark), runs)| {
        let table = match benchmark {
            Benchmark::Retrieval => ranking(&runs),
            Benchmark::Qa => answering(&runs),
            Benchmark::Eval => evaluating(&runs),
        };
        if headed {
            format!("**{dataset}**, {}\n\n{table}", benchmark.title())
        } else {
            table
        }
    });
    tables.collect::<Vec<_>>().join("\n")
}

fn ranking(runs: &[&StoredRun]) -> String {
    let mut measures: Vec<&str> = Vec::new();
    let summaries = || runs.iter().filter_map(|run| run.results().summary.as_ref());
    for (name, _) in summaries().flat_map(|summary| &summary.scores) {
        if !measures.contains(&name.as_str()) {
            measures.push(name);
        }
    }
    let Labels { columns, rows } = Labels::of(Benchmark::Retrieval, runs);
    let mut table = MarkdownTable::new(&columns);
    let left_out: Vec<String> = runs
        .iter()
        .map(|run| {
            run.results()
                .summary
                .as_ref()
                .map(left_out)
                .unwrap_or_default()
        })
        .collect();
    let any_left_out = left_out.iter().any(|text| !text.is_empty());
    table.numbers(&["n"]);
    if any_left_out {
        table.numbers(&["left out"]);
    }
    for measure in &measures {
        let title = retrieval::mean_title(measure);
        table.numbers(&[title.as_deref().unwrap_or(measure)]);
    }
    for ((run, mut cells), left_out) in runs.iter().zip(rows).zip(left_out) {
        cells.push(run.results().summary.as_ref().map_or_else(dash, size));
        if any_left_out {
            cells.push(left_out);
        }
        let scores = run
            .results()
            .summary
            .iter()
            .flat_map(|summary| &summary.scores);
        let scores: BTreeMap<_, _> = scores.map(|(name, mean)| (name, mean)).collect();
        cells.extend(measures.iter().map(|name| {
            scores
                .get(&(*name).to_owned())
                .map_or_else(dash, |mean| print(mean))
        }));
        table.row(&cells);
    }
    table.text
}

/// The number of questions in the means, as a range if the means differ.
fn size(summary: &Summary) -> String {
    let sizes = || summary.scores.iter().map(|(_, mean)| mean.n);
    match (sizes().min(), sizes().max()) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
        (_, most) => most.unwrap_or_default().to_string(),
    }
}

/// The number of questions that the means exclude, by reason. Of each reason, it is the largest number that any mean excludes.
fn left_out(summary: &Summary) -> String {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for (reason, count) in summary.scores.iter().flat_map(|(_, mean)| &mean.excluded) {
        let most = reasons.entry(reason).or_default();
        *most = (*most).max(*count);
    }
    let reasons = reasons.into_iter();
    let reasons = reasons.map(|(reason, count)| format!("{count} {reason}"));
    reasons.collect::<Vec<_>>().join(", ")
}

fn answering(runs: &[&StoredRun]) -> String {
    let Labels { columns, rows } = Labels::of(Benchmark::Qa, runs);
    let mut table = MarkdownTable::new(&columns);
    table.numbers(&["passages", "cases", "equivalent", "worst case", "coverage"]);
    for (run, mut cells) in runs.iter().zip(rows) {
        let mut accuracies = run
            .results()
            .summary
            .iter()
            .flat_map(|summary| &summary.accuracy);
        let accuracy = accuracies
            .find(|(name, _)| name == Equivalence::OUTCOME)
            .map(|(_, accuracy)| accuracy);
        let share = |value: Option<f64>| value.map_or_else(dash, |value| format!("{value:.4}"));
        cells.extend([
            // A target decides by itself how many passages it reads.
            if run.record.target().is_some() {
                dash()
            } else {
                run.record
                    .measured
                    .as_ref()
                    .map_or(0, |it| it.k)
                    .to_string()
            },
            accuracy.map_or(0, |accuracy| accuracy.cases).to_string(),
            accuracy.map_or_else(dash, |accuracy| print(&accuracy.scored)),
            share(accuracy.and_then(|accuracy| accuracy.worst)),
            share(accuracy.and_then(|accuracy| accuracy.coverage)),
        ]);
        table.row(&cells);
    }
    table.text
}

/// The pass rate over all assertions, then each score that any of the runs has.
fn evaluating(runs: &[&StoredRun]) -> String {
    let mut scores: Vec<&str> = Vec::new();
    let summaries = || runs.iter().filter_map(|run| run.results().summary.as_ref());
    for (name, _) in summaries().flat_map(|summary| &summary.scores) {
        if !scores.contains(&name.as_str()) {
            scores.push(name);
        }
    }
    let Labels { columns, rows } = Labels::of(Benchmark::Eval, runs);
    let mut table = MarkdownTable::new(&columns);
    table.numbers(&["cases", "failed", "passed"]);
    table.numbers(&scores);
    for (run, mut cells) in runs.iter().zip(rows) {
        let summary = run.results().summary.as_ref();
        let passed = summary.and_then(|summary| summary.pass_rate.as_ref()?.value);
        cells.extend([
            run.record.dataset.questions.to_string(),
            summary.map_or_else(dash, |summary| summary.failed.to_string()),
            passed.map_or_else(dash, |share| format!("{share:.4}")),
        ]);
        let means = summary.into_iter().flat_map(|summary| &summary.scores);
        let means: BTreeMap<&str, _> = means.map(|(name, mean)| (name.as_str(), mean)).collect();
        let mean = |name: &&str| means.get(*name).map_or_else(dash, |mean| print(mean));
        cells.extend(scores.iter().map(mean));
        table.row(&cells);
    }
    table.text
}

fn print(mean: &Mean) -> String {
    match (mean.value, mean.interval) {
        (Some(value), Some(interval)) => {
            format!("{value:.4} [{:.4}, {:.4}]", interval.low, interval.high)
        }
        (Some(value), None) => format!("{value:.4}"),
        (None, _) => dash(),
    }
}

fn dash() -> String {
    NONE.to_owned()
}

/// A markdown table that grows by rows.
struct MarkdownTable {
    text: String,
    header: Vec<String>,
    rules: Vec<&'static str>,
}

impl MarkdownTable {
    /// Creates a table whose first columns hold text.
    fn new(texts: &[&str]) -> Self {
        let header = texts.iter().map(|text| escape(text)).collect::<Vec<_>>();
        Self {
            text: String::new(),
            rules: vec![":--"; header.len()],
            header,
        }
    }

    /// Appends columns of numbers.
    fn numbers(&mut self, names: &[&str]) {
        self.header.extend(names.iter().map(|name| escape(name)));
        self.rules.resize(self.header.len(), "--:");
    }

    fn row(&mut self, cells: &[String]) {
        if self.text.is_empty() {
            self.text = format!(
                "| {} |\n| {} |\n",
                self.header.join(" | "),
                self.rules.join(" | ")
            );
        }
        let cells: Vec<String> = cells.iter().map(|cell| escape(cell)).collect();
        writeln!(self.text, "| {} |", cells.join(" | ")).expect("a string takes any text");
    }
}

/// Escapes the characters that would end a cell or its line.
fn escape(cell: &str) -> String {
    let cell = cell.replace('|', "\\|").replace(['\n', '\r'], " ");
    visible::line(&cell)
}
