//! What tells the runs of a table apart: models, chunks, profile, settings.

use evals_messages::quantity;
use evals_pipeline::question_answering::JUDGES;
use evals_runs::run_record::{Benchmark, RunRecord};
use evals_runs::stored_runs::StoredRun;
use serde::de::DeserializeOwned;

/// The labels of runs of one benchmark, column by column.
#[derive(Debug)]
pub(super) struct Labels {
    pub(super) columns: Vec<&'static str>,
    /// One row for each run, with a label for each column.
    pub(super) rows: Vec<Vec<String>>,
}

/// A run has no model in this role.
pub(super) const NONE: &str = "–";

impl Labels {
    /// Labels runs. If rows would have the same labels, the column `settings` tells them apart.
    pub(super) fn of(benchmark: Benchmark, runs: &[&StoredRun]) -> Self {
        let mut columns = columns(benchmark).to_vec();
        let mut rows: Vec<Vec<String>> = runs.iter().map(|run| row(benchmark, run)).collect();
        let distinctions: Vec<String> = runs
            .iter()
            .zip(&rows)
            .map(|(run, own)| {
                let alike = runs.iter().zip(&rows).filter(|(_, other)| *other == own);
                let alike: Vec<&StoredRun> = alike.map(|(run, _)| *run).collect();
                let others = alike.iter().map(|run| run.configuration());
                let started = run.started().unwrap_or_else(|| "unknown".to_owned());
                let distinction = run.configuration().distinction(others, &started);
                if distinction.is_empty() && alike.len() > 1 {
                    format!("run of {started}")
                } else {
                    distinction
                }
            })
            .collect();
        if distinctions.iter().any(|text| !text.is_empty()) {
            columns.push("settings");
            for (labels, distinction) in rows.iter_mut().zip(distinctions) {
                labels.push(distinction);
            }
        }
        Self { columns, rows }
    }

    /// One label for each run, of those columns in which the runs differ. Models lose their provider and organisation where their own
    /// names are enough.
    pub(super) fn joined(&self) -> Vec<String> {
        let differs = |column: usize| {
            self.rows
                .iter()
                .any(|row| row[column] != self.rows[0][column])
        };
        let mut shown: Vec<usize> = (0..self.columns.len()).filter(|it| differs(*it)).collect();
        let name = ["profile", "QA model", "target"];
        let is_name = |column: &usize| name.contains(&self.columns[*column]);
        if shown.is_empty() {
            shown.extend((0..self.columns.len()).find(is_name));
        }
        // What people call a run comes first.
        shown.sort_by_key(|column| !is_name(column));
        let label = |shorten: fn(&str) -> &str| -> Vec<String> {
            let rows = self.rows.iter().map(|row| {
                let parts = shown.iter().map(|column| shorten(&row[*column]));
                let parts = parts.filter(|part| !part.is_empty() && *part != NONE);
                parts.collect::<Vec<_>>().join(", ")
            });
            rows.collect()
        };
        let short = label(short);
        if is_unique(&short) {
            short
        } else {
            label(|text| text)
        }
    }

    /// The position of the group that each run belongs to: runs of one model.
    pub(super) fn groups(&self) -> Vec<usize> {
        let Some(model) = (0..self.columns.len()).find(|it| self.columns[*it].contains("model"))
        else {
            return vec![0; self.rows.len()];
        };
        let mut seen: Vec<&str> = Vec::new();
        let groups = self.rows.iter().map(|row| {
            let known = seen.iter().position(|it| *it == row[model]);
            known.unwrap_or_else(|| {
                seen.push(&row[model]);
                seen.len() - 1
            })
        });
        groups.collect()
    }
}

fn columns(benchmark: Benchmark) -> &'static [&'static str] {
    match benchmark {
        Benchmark::Retrieval => &["embedding model", "chunks", "profile", "reranker"],
        Benchmark::Qa => &[
            "QA model",
            "judge",
            "embedding model",
            "chunks",
            "profile",
            "reranker",
        ],
        Benchmark::Eval => &["target", "judge"],
    }
}

fn row(benchmark: Benchmark, run: &StoredRun) -> Vec<String> {
    let labelled = Labelled(&run.record);
    let searched = [
        labelled.model("embedder"),
        labelled.chunks(),
        profile(run),
        labelled.model("reranker"),
    ];
    match benchmark {
        Benchmark::Retrieval => searched.into(),
        Benchmark::Qa => [labelled.model("answerer"), labelled.judges()]
            .into_iter()
            .chain(searched)
            .collect(),
        Benchmark::Eval => vec![labelled.target(), labelled.judges()],
    }
}

/// The sort key of a table's rows.
pub(super) fn order(run: &StoredRun) -> impl Ord + use<> {
    let labelled = Labelled(&run.record);
    (
        run.record.benchmark,
        run.record.dataset.name.clone(),
        labelled.model("embedder"),
        labelled.chunks(),
        run.record.profile.clone(),
        labelled.model("answerer"),
        labelled.judges(),
        labelled.model("reranker"),
        labelled.target(),
    )
}

/// A run as labels name it.
struct Labelled<'r>(&'r RunRecord);

impl Labelled<'_> {
    /// A model's name, or a dash if the run had no model in that role.
    fn model(&self, role: &str) -> String {
        let Some(model) = self.0.models.get(role) else {
            return NONE.to_owned();
        };
        // The number format of a local model changes its results.
        let dtype = match role {
            "embedder" => self.setting::<String>("embeddings.model.dtype"),
            "reranker" => self.setting("reranking.model.dtype"),
            _ => None,
        };
        match dtype {
            Some(dtype) => format!("{model} ({dtype})"),
            None => model.to_string(),
        }
    }

    /// A setting, if it is set as this version sets it.
    fn setting<T: DeserializeOwned>(&self, path: &str) -> Option<T> {
        self.0.settings.get(path).ok().flatten()
    }

    /// The judges, with the votes of each where one is asked several times; a dash without a judge.
    fn judges(&self) -> String {
        let judges = JUDGES.into_iter();
        let judges = judges.filter_map(|role| self.0.models.get(role));
        let judges: Vec<String> = judges.map(ToString::to_string).collect();
        if judges.is_empty() {
            return NONE.to_owned();
        }
        let names = judges.join(" + ");
        match self.setting::<u64>("evaluations.panel.repeats") {
            Some(repeats) if repeats > 1 => format!("{names}, {repeats} votes each"),
            Some(_) | None => names,
        }
    }

    /// The system under test as users name it, with its version; a dash for our own pipeline.
    fn target(&self) -> String {
        let target = self.0.target();
        target.map_or_else(|| NONE.to_owned(), ToString::to_string)
    }

    /// The size of chunks, as printed.
    fn chunks(&self) -> String {
        match self.setting::<usize>("processing.chunk_size") {
            // A target has chunks of its own, if any.
            _ if self.0.target().is_some() => NONE.to_owned(),
            Some(size) => quantity::of(size, "token"),
            None => "whole documents".to_owned(),
        }
    }
}

/// The profile, with the filter if the run had one.
fn profile(run: &StoredRun) -> String {
    let profile = &run.record.profile;
    let measured = run.record.measured.as_ref();
    match measured.and_then(|it| it.filter.as_ref()) {
        Some(filter) => format!("{profile} where `{filter}`"),
        None => profile.clone(),
    }
}

/// The name of a model without its provider and organisation: `all-MiniLM-L6-v2` of `local:sentence-transformers/all-MiniLM-L6-v2`. Other
/// texts stay.
fn short(label: &str) -> &str {
    const PROVIDERS: [&str; 4] = ["embedded:", "local:", "ollama:", "openai:"];
    let mut providers = PROVIDERS.iter();
    let Some(model) = providers.find_map(|it| label.strip_prefix(it)) else {
        return label;
    };
    model.rsplit_once('/').map_or(model, |(_, name)| name)
}

fn is_unique(labels: &[String]) -> bool {
    let mut sorted: Vec<&String> = labels.iter().collect();
    sorted.sort();
    sorted.windows(2).all(|pair| pair[0] != pair[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(rows: &[[&str; 3]]) -> Labels {
        Labels {
            columns: vec!["embedding model", "profile", "reranker"],
            rows: rows
                .iter()
                .map(|row| row.map(str::to_owned).into())
                .collect(),
        }
    }

    #[test]
    fn a_label_holds_what_tells_the_runs_apart() {
        let profiles = labels(&[["local:a/b", "bm25", "–"], ["local:a/b", "hybrid", "–"]]);
        assert_eq!(profiles.joined(), ["bm25", "hybrid"]);
        let models = labels(&[
            ["local:org/mini (int8)", "hybrid", "–"],
            ["embedded:static-minilm", "hybrid", "local:m/cross"],
        ]);
        assert_eq!(models.joined(), ["mini (int8)", "static-minilm, cross"]);
        assert_eq!(models.groups(), [0, 1]);
        let one = labels(&[["local:a/b", "bm25", "–"]]);
        assert_eq!(one.joined(), ["bm25"]);
    }

    #[test]
    fn names_that_would_be_equal_stay_whole() {
        let alike = labels(&[["local:a/mini", "bm25", "–"], ["ollama:mini", "bm25", "–"]]);
        assert_eq!(alike.joined(), ["local:a/mini", "ollama:mini"]);
    }
}
