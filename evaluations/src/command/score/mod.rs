//! `evaluations score`: rank measures of runs, as trec_eval computes them, and the fusion of runs.

mod clusters;
mod fuse;
mod rows;
mod table;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use evals_messages::quantity;
use evals_metrics::measures::MinimumGrade;
use evals_metrics::scoring::{
    Judged, Options, Ranked, Request, RunChanges, Scores, TrecEvalLayout, have_same_queries, score,
    trec_eval_layout,
};
use evals_metrics::{Queries, TrecEval};
use evals_pipeline::exit::Exit;
use evals_pipeline::ranking_file;
use evals_pipeline::session::Session;

use self::clusters::QueryClusters;
use crate::cli::{
    Baseline, QueryCluster, ScoreArgs, ScoreCommand, ScoreFormat, ScoreOrFuseArgs, TrecEvalVersion,
};

/// The measures without `--measure`.
const DEFAULT_MEASURES: [&str; 6] = ["AP", "nDCG@10", "RR", "P@10", "R@100", "Rprec"];

/// The scores of one run.
struct ScoredRun {
    name: String,
    scores: Scores,
}

pub(super) fn execute(session: &Session<'_>, arguments: &ScoreOrFuseArgs) -> Result<Exit> {
    match (&arguments.command, &arguments.score) {
        (Some(ScoreCommand::Fuse(fuse)), _) => fuse::execute(session, fuse),
        (None, Some(score)) => score_runs(session, score),
        (None, None) => unreachable!("the parser asks for options where no command is named"),
    }
}

fn score_runs(session: &Session<'_>, arguments: &ScoreArgs) -> Result<Exit> {
    let request = request(arguments)?;
    ranking_file::check_stdin([&arguments.qrels].into_iter().chain(&arguments.runs))?;
    if arguments.format == ScoreFormat::TrecEval && arguments.runs.len() > 1 {
        bail!(
            "`--format trec_eval` prints one run; name one `--run`, or choose a different format"
        );
    }
    if arguments.cluster.is_some() && arguments.runs.len() == 1 {
        bail!(
            "`--cluster` is for the tests of two runs or more; name another `--run`, or leave it out"
        );
    }
    let qrels = ranking_file::read(&arguments.qrels)?;
    let judged = Judged::read(&qrels).with_context(|| unreadable(&arguments.qrels))?;
    let names = names(&arguments.runs);
    let mut runs = Vec::with_capacity(names.len());
    for (path, name) in arguments.runs.iter().zip(names) {
        let text = ranking_file::read(path)?;
        let ranked = Ranked::read(&text).with_context(|| unreadable(path))?;
        let scores = score(&judged, &ranked, &request, &options(arguments));
        let scores = scores.map_err(|error| named(error, &arguments.qrels, path))?;
        warn_of_skipped(session, arguments, &scores, path);
        runs.push(ScoredRun { name, scores });
    }
    let changes = if runs.len() > 1 {
        Some(changes(session, arguments, &judged, &runs)?)
    } else {
        None
    };
    let printed = match arguments.format {
        ScoreFormat::TrecEval => {
            let layout = TrecEvalLayout {
                per_query: arguments.per_query,
                summary: !arguments.no_summary,
                ..TrecEvalLayout::default()
            };
            runs.iter()
                .map(|run| trec_eval_layout(&run.scores, layout))
                .collect()
        }
        ScoreFormat::Table => table::render(session.printer, &runs, changes.as_ref(), arguments),
        ScoreFormat::Json => rows::json(&runs, changes.as_ref(), arguments)?,
        ScoreFormat::Csv => rows::csv(&runs, arguments)?,
    };
    session.printer.result(&printed)?;
    Ok(Exit::Done)
}

/// The changes between runs, with notes and a warning on what a reader of them has to know.
fn changes(
    session: &Session<'_>,
    arguments: &ScoreArgs,
    judged: &Judged<'_>,
    runs: &[ScoredRun],
) -> Result<RunChanges> {
    let scores: Vec<&Scores> = runs.iter().map(|run| &run.scores).collect();
    let is_same = have_same_queries(&scores);
    let with_best = arguments.baseline == Baseline::Best;
    if with_best && !is_same {
        bail!(
            "`--baseline best` compares means, and the runs rank different queries; add `--complete`, which counts missing ones as 0, or leave \
             `--baseline best` out to compare with the first run"
        );
    }
    let shared = QueryClusters::of(judged, options(arguments).relevant_from)?;
    let is_asked = arguments.cluster == Some(QueryCluster::Document);
    if arguments.cluster != Some(QueryCluster::None)
        && let Some(note) = shared.note(scores[0].queries(), is_asked)
    {
        session.printer.note(&note);
    }
    let changes = RunChanges::of(&scores, is_asked.then_some(shared.numbers()), with_best);
    if !is_same {
        session.printer.warn(
            "the runs rank different queries, so their means cannot be compared; the tests use the queries that both runs have \
             (--complete counts missing ones as 0)",
        );
    }
    Ok(changes)
}

fn request(arguments: &ScoreArgs) -> Result<Request> {
    let measures = arguments.measures.iter().map(String::as_str);
    Ok(if arguments.measures.is_empty() {
        Request::parse(DEFAULT_MEASURES).context("a default measure is not a measure")?
    } else {
        Request::parse(measures)?
    })
}

fn options(arguments: &ScoreArgs) -> Options {
    Options {
        queries: if arguments.complete {
            Queries::Judged
        } else {
            Queries::Both
        },
        relevant_from: MinimumGrade::new(arguments.relevance_level),
        max_documents: arguments.max_documents,
        judged_only: arguments.judged_only,
        collection_size: arguments.collection_size,
        version: match arguments.trec_eval {
            TrecEvalVersion::V9 => TrecEval::V9,
            TrecEvalVersion::V10 => TrecEval::V10,
        },
    }
}

/// The name of each run: that of its file, with as many of the folders above as no other run shares.
fn names(paths: &[PathBuf]) -> Vec<String> {
    let end = |path: &Path, length: usize| -> PathBuf {
        let parts: Vec<_> = path.components().collect();
        parts[parts.len().saturating_sub(length)..].iter().collect()
    };
    let name = |path: &PathBuf| {
        let most = path.components().count();
        let is_unique = |length: &usize| {
            let own = end(path, *length);
            let same = paths.iter().filter(|other| end(other, *length) == own);
            same.count() == 1
        };
        let length = (1..most).find(is_unique).unwrap_or(most);
        end(path, length).display().to_string()
    };
    paths.iter().map(name).collect()
}

fn unreadable(path: &Path) -> String {
    format!("cannot read `{}`", path.display())
}

/// The error with the file in the place of its role.
fn named(error: evals_metrics::scoring::ScoringError, qrels: &Path, run: &Path) -> anyhow::Error {
    use evals_metrics::scoring::{File, ScoringError};

    match error {
        ScoringError::Invalid { file, error } => {
            let (path, option) = match file {
                File::Judgements => (qrels, "judgements"),
                File::Rankings => (run, "rankings"),
            };
            anyhow::Error::new(error).context(format!(
                "`{}` does not hold {option} in a form that can be read: TREC, JSON, or CSV or TSV with a header such as \
                 `query-id,corpus-id,score`",
                path.display()
            ))
        }
        other => anyhow::Error::new(other).context(format!(
            "cannot score `{}` with `{}`",
            run.display(),
            qrels.display()
        )),
    }
}

fn warn_of_skipped(session: &Session<'_>, arguments: &ScoreArgs, scores: &Scores, path: &Path) {
    let file = match arguments.runs.len() {
        1 => String::new(),
        _ => format!("`{}`: ", path.display()),
    };
    let warn = |queries: &[String], one: &str, several: &str| match queries {
        [] => {}
        [only] => session.printer.warn(&format!("{file}query `{only}` {one}")),
        [first, ..] => {
            let queries = quantity::of(queries.len(), "query");
            let text = format!("{file}{queries} {several}, the first is `{first}`");
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
    let undefined = scores.without_relevant_documents();
    if undefined > 0 {
        session.printer.warn(&format!(
            "{file}{} without relevant documents {} as 0, as in trec_eval",
            quantity::of(undefined, "query"),
            if undefined == 1 { "counts" } else { "count" }
        ));
    }
}
