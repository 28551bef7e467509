//! Scores for programs: JSON and CSV, with all digits.

use anyhow::{Context as _, Result};
use evals_metrics::scoring::{Count, RunChanges, Scores, Statistic, Summary};
use serde_json::{Map, Value, json};

use super::ScoredRun;
use crate::cli::{QueryCluster, ScoreArgs, TrecEvalVersion};

/// One object: the options that change values, each run with its means and queries, and the tests.
pub(super) fn json(
    runs: &[ScoredRun],
    comparison: Option<&RunChanges>,
    arguments: &ScoreArgs,
) -> Result<String> {
    let shown: Vec<Value> = runs.iter().map(|run| run_object(run, arguments)).collect();
    let mut object = json!({
        "schema_version": 1,
        "options": {
            "trec_eval": if arguments.trec_eval == TrecEvalVersion::V9 { 9 } else { 10 },
            "complete": arguments.complete,
            "cluster": arguments.cluster.map(|it| it == QueryCluster::Document).map(|it| if it { "document" } else { "none" }),
            "relevance_level": arguments.relevance_level,
            "max_documents": arguments.max_documents,
            "judged_only": arguments.judged_only,
            "collection_size": arguments.collection_size,
        },
        "runs": shown,
    });
    if let Some(comparison) = comparison {
        object["baseline"] = json!(runs[comparison.baseline].name);
        object["headline_tests"] = json!(comparison.headline_tests);
        object["tests"] = json!(comparison.tests);
        object["changes"] = changes(runs, comparison);
    }
    let text = serde_json::to_string_pretty(&object).context("cannot write JSON")?;
    Ok(text + "\n")
}

fn changes(runs: &[ScoredRun], comparison: &RunChanges) -> Value {
    let name = |column: usize| runs[0].scores.columns()[column].statistic.to_string();
    comparison
        .changes
        .iter()
        .map(|change| {
            json!({
                "run": runs[change.run].name,
                "measure": name(change.column),
                "change": change.difference,
                "p_value_holm": change.adjusted,
            })
        })
        .collect()
}

fn run_object(run: &ScoredRun, arguments: &ScoreArgs) -> Value {
    let scores = &run.scores;
    let mut summary = Map::new();
    for (column, it) in scores.columns().iter().enumerate() {
        let value = match scores.summary(column) {
            Summary::None => continue,
            Summary::Text(text) => json!(text),
            Summary::Number(number) => json!(number),
            Summary::Count(count) => whole(count),
        };
        summary.insert(it.statistic.to_string(), value);
    }
    let mut object = json!({
        "run": run.name,
        "queries": scores.queries().len(),
        "queries_without_judgements": scores.unjudged(),
        "queries_without_ranking": scores.unranked(),
        "queries_without_relevant_documents": scores.without_relevant_documents(),
    });
    if !arguments.no_summary {
        object["all"] = summary.into();
    }
    if arguments.per_query {
        let queries = scores.queries().iter().enumerate();
        let queries = queries.map(|(index, query)| (query.clone(), query_object(scores, index)));
        object["per_query"] = Value::Object(queries.collect());
    }
    object
}

/// The values of a query; `null` where one is undefined.
fn query_object(scores: &Scores, query: usize) -> Value {
    let columns = scores.columns().iter().enumerate();
    let values = columns.filter_map(|(column, it)| {
        let value = match it.statistic {
            Statistic::RunId | Statistic::Count(Count::Queries) => return None,
            Statistic::Grades { .. } => json!(scores.text(query, column)),
            Statistic::Count(_) => whole(scores.values(query)[column].unwrap_or(0.0)),
            _ => json!(scores.values(query)[column].ok()),
        };
        Some((it.statistic.to_string(), value))
    });
    Value::Object(values.collect())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count"
)]
fn whole(count: f64) -> Value {
    json!(count as u64)
}

/// Rows of run, query, measure and value. The query `all` is the summary, and an undefined value is empty.
pub(super) fn csv(runs: &[ScoredRun], arguments: &ScoreArgs) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["run", "query", "measure", "value"])?;
    for run in runs {
        let object = run_object(run, arguments);
        let mut write = |query: &str, values: &Value| -> Result<()> {
            for (measure, value) in values.as_object().into_iter().flatten() {
                let value = match value {
                    Value::Null => String::new(),
                    Value::String(text) => text.clone(),
                    number => number.to_string(),
                };
                writer.write_record([run.name.as_str(), query, measure, value.as_str()])?;
            }
            Ok(())
        };
        for (query, values) in object["per_query"].as_object().into_iter().flatten() {
            write(query, values)?;
        }
        write("all", &object["all"])?;
    }
    let bytes = writer.into_inner().context("cannot write CSV")?;
    String::from_utf8(bytes).context("names are text")
}
