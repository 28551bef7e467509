//! `evaluations score`: rank measures of any TREC run.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use evals_guard::regular_file;
use evals_messages::quantity;
use evals_metrics::{
    Bootstrap, Measure, Queries, RunScores, Undefined, UndefinedAs, score_run, trec,
};

use crate::cli::ScoreArgs;
use crate::exit::Exit;
use crate::session::Session;

/// Largest file of judgements or rankings, in bytes: some ten million lines.
const LARGEST: u64 = 1_000_000_000;

/// The measures without `--measure`.
const DEFAULT_MEASURES: [&str; 6] = ["AP", "nDCG@10", "RR", "P@10", "R@100", "Rprec"];

pub(super) fn execute(session: &Session<'_>, arguments: &ScoreArgs) -> Result<Exit> {
    let qrels = parse(&arguments.qrels, trec::parse_qrels)?;
    let run = parse(&arguments.run, trec::parse_run)?;
    let queries = if arguments.complete {
        Queries::Judged
    } else {
        Queries::Both
    };
    let scores = score_run(&qrels, &run, &measures(arguments), queries);
    if scores.is_empty() {
        bail!(
            "no query of `{}` has judgements in `{}`; check that both files belong to the same collection",
            arguments.run.display(),
            arguments.qrels.display()
        );
    }
    warn_of_skipped(session, arguments, &scores);
    session
        .printer
        .result(&table(&scores, arguments.per_query))?;
    Ok(Exit::Done)
}

fn measures(arguments: &ScoreArgs) -> Vec<Measure> {
    if arguments.measures.is_empty() {
        DEFAULT_MEASURES
            .iter()
            .map(|name| name.parse().expect("a default measure is a measure"))
            .collect()
    } else {
        arguments.measures.clone()
    }
}

fn parse<T, E>(path: &Path, parse: impl FnOnce(&str) -> Result<T, E>) -> Result<T>
where
    E: std::error::Error + Send + Sync + 'static,
{
    let text = regular_file::read_named(path, LARGEST)?;
    parse(&text).with_context(|| format!("`{}` is not a TREC file", path.display()))
}

fn warn_of_skipped(session: &Session<'_>, arguments: &ScoreArgs, scores: &RunScores) {
    let warn = |queries: &[String], one: &str, several: &str| match queries {
        [] => {}
        [only] => session.printer.warn(&format!("query `{only}` {one}")),
        [first, ..] => {
            let queries = quantity::of(queries.len(), "query");
            let text = format!("{queries} {several}, the first is `{first}`");
            session.printer.warn(&text);
        }
    };
    warn(
        scores.unjudged(),
        "of the run has no judgements and is skipped",
        "of the run have no judgements and are skipped",
    );
    if !arguments.complete {
        warn(
            scores.unranked(),
            "has judgements but is missing from the run and is skipped (--complete counts it as 0)",
            "have judgements but are missing from the run and are skipped (--complete counts them as 0)",
        );
    }
    let undefined = scores
        .iter()
        .filter(|(_, row)| row.contains(&Err(Undefined::NoRelevantDocuments)))
        .count();
    if undefined > 0 {
        session.printer.warn(&format!(
            "{} without relevant documents {} as 0, as in trec_eval",
            quantity::of(undefined, "query"),
            if undefined == 1 { "counts" } else { "count" }
        ));
    }
}

/// One line for each measure: measure, query or `all`, value, as trec_eval prints them.
fn table(scores: &RunScores, per_query: bool) -> String {
    let mut text = String::new();
    if per_query {
        for (query, row) in scores.iter() {
            for (measure, score) in scores.measures().iter().zip(row) {
                line(&mut text, *measure, query, score.unwrap_or(0.0));
            }
        }
    }
    // With undefined scores counted as 0, every mean has a value. Intervals are not printed here.
    for (measure, mean) in scores.means(UndefinedAs::Zero, &Bootstrap::default()) {
        if let Some(value) = mean.value {
            line(&mut text, measure, "all", value);
        }
    }
    text
}

fn line(text: &mut String, measure: Measure, query: &str, value: f64) {
    writeln!(text, "{:<22}\t{query}\t{value:.4}", measure.to_string())
        .expect("a string takes any text");
}
