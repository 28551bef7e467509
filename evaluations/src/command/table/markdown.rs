//! Rows as Markdown tables.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use evals::Summary;
use evals_messages::visible;
use evals_metrics::Mean;
use evals_rag::qa::Equivalence;
use evals_rag::retrieval;

use super::rows::{Benchmark, StoredRun};

/// One table for each benchmark and dataset, with a heading where there are several.
pub(super) fn tables(runs: &[StoredRun]) -> String {
    let mut groups: BTreeMap<(&str, Benchmark), Vec<&StoredRun>> = BTreeMap::new();
    for run in runs {
        let key = (run.manifest.dataset.name.as_str(), run.manifest.benchmark);
        groups.entry(key).or_default().push(run);
    }
    let headed = groups.len() > 1;
    let tables = groups.into_iter().map(|((dataset, benchmark), runs)| {
        let table = match benchmark {
            Benchmark::Retrieval => ranking(&runs),
            Benchmark::Qa => answering(&runs),
            Benchmark::Eval => evaluating(&runs),
        };
        if headed {
            format!("**{dataset}**, {}\n\n{table}", benchmark.name())
        } else {
            table
        }
    });
    tables.collect::<Vec<_>>().join("\n")
}

fn ranking(runs: &[&StoredRun]) -> String {
    let mut measures: Vec<&str> = Vec::new();
    let summaries = || runs.iter().filter_map(|run| run.summary.as_ref());
    for (name, _) in summaries().flat_map(|summary| &summary.scores) {
        if !measures.contains(&name.as_str()) {
            measures.push(name);
        }
    }
    let columns = ["embedding model", "chunks", "profile", "reranker"];
    let (mut table, labels) = labelled(&columns, runs, |run| {
        let manifest = &run.manifest;
        [
            manifest.model("embedder"),
            manifest.chunks(),
            profile(run),
            manifest.model("reranker"),
        ]
    });
    let left_out: Vec<String> = runs
        .iter()
        .map(|run| run.summary.as_ref().map(left_out).unwrap_or_default())
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
    for ((run, mut cells), left_out) in runs.iter().zip(labels).zip(left_out) {
        cells.push(run.summary.as_ref().map_or_else(dash, size));
        if any_left_out {
            cells.push(left_out);
        }
        let scores = run.summary.iter().flat_map(|summary| &summary.scores);
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
    let columns = [
        "QA model",
        "judge",
        "embedding model",
        "chunks",
        "profile",
        "reranker",
    ];
    let (mut table, labels) = labelled(&columns, runs, |run| {
        let manifest = &run.manifest;
        [
            manifest.model("answerer"),
            manifest.model("judge"),
            manifest.model("embedder"),
            manifest.chunks(),
            profile(run),
            manifest.model("reranker"),
        ]
    });
    table.numbers(&["passages", "cases", "accuracy", "worst case", "coverage"]);
    for (run, mut cells) in runs.iter().zip(labels) {
        let mut accuracies = run.summary.iter().flat_map(|summary| &summary.accuracy);
        let accuracy = accuracies
            .find(|(name, _)| name == Equivalence::OUTCOME)
            .map(|(_, accuracy)| accuracy);
        let share = |value: Option<f64>| value.map_or_else(dash, |value| format!("{value:.4}"));
        cells.extend([
            // A target decides by itself how many passages it reads.
            if run.manifest.is_target() {
                dash()
            } else {
                run.manifest.k.to_string()
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
    let summaries = || runs.iter().filter_map(|run| run.summary.as_ref());
    for (name, _) in summaries().flat_map(|summary| &summary.scores) {
        if !scores.contains(&name.as_str()) {
            scores.push(name);
        }
    }
    let columns = ["target", "judge"];
    let (mut table, labels) = labelled(&columns, runs, |run| {
        [run.manifest.target(), run.manifest.model("judge")]
    });
    table.numbers(&["cases", "failed", "passed"]);
    table.numbers(&scores);
    for (run, mut cells) in runs.iter().zip(labels) {
        let summary = run.summary.as_ref();
        let passed = summary.and_then(|summary| summary.pass_rate.as_ref()?.value);
        cells.extend([
            run.manifest.dataset.questions.to_string(),
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

/// A table whose rows start with labels, and the labels of each run. If rows would have the same labels, the column `settings` tells
/// them apart.
fn labelled<const N: usize>(
    columns: &[&str; N],
    runs: &[&StoredRun],
    labels: impl Fn(&StoredRun) -> [String; N],
) -> (Table, Vec<Vec<String>>) {
    let labels: Vec<_> = runs.iter().map(|run| labels(run)).collect();
    let distinctions: Vec<String> = runs
        .iter()
        .zip(&labels)
        .map(|(run, own)| {
            let alike = runs.iter().zip(&labels).filter(|(_, other)| *other == own);
            let alike: Vec<&StoredRun> = alike.map(|(run, _)| *run).collect();
            let others = alike.iter().map(|run| &run.configuration);
            let distinction = run.configuration.distinction(others, &run.started());
            if distinction.is_empty() && alike.len() > 1 {
                format!("run of {}", run.started())
            } else {
                distinction
            }
        })
        .collect();
    let mut columns = columns.to_vec();
    let mut labels: Vec<Vec<String>> = labels.into_iter().map(Vec::from).collect();
    if distinctions.iter().any(|text| !text.is_empty()) {
        columns.push("settings");
        for (labels, distinction) in labels.iter_mut().zip(distinctions) {
            labels.push(distinction);
        }
    }
    (Table::new(&columns), labels)
}

/// The profile, with the filter if the run had one.
fn profile(run: &StoredRun) -> String {
    match &run.manifest.filter {
        Some(filter) => format!("{} where `{filter}`", run.manifest.profile),
        None => run.manifest.profile.clone(),
    }
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
    "–".to_owned()
}

/// A markdown table that grows by rows.
struct Table {
    text: String,
    header: Vec<String>,
    rules: Vec<&'static str>,
}

impl Table {
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
