//! What tells the runs of a table apart: models, chunks, profile, settings.

use super::rows::{Benchmark, StoredRun};

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
                let others = alike.iter().map(|run| &run.configuration);
                let distinction = run.configuration.distinction(others, &run.started());
                if distinction.is_empty() && alike.len() > 1 {
                    format!("run of {}", run.started())
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
    let manifest = &run.manifest;
    let searched = [
        manifest.model("embedder"),
        manifest.chunks(),
        profile(run),
        manifest.model("reranker"),
    ];
    match benchmark {
        Benchmark::Retrieval => searched.into(),
        Benchmark::Qa => [manifest.model("answerer"), manifest.judges()]
            .into_iter()
            .chain(searched)
            .collect(),
        Benchmark::Eval => vec![manifest.target(), manifest.judges()],
    }
}

/// The profile, with the filter if the run had one.
fn profile(run: &StoredRun) -> String {
    match &run.manifest.filter {
        Some(filter) => format!("{} where `{filter}`", run.manifest.profile),
        None => run.manifest.profile.clone(),
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
