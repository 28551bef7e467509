//! Writes the merged run of a retrieval benchmark.

use anyhow::{Context as _, Result};
use evals::Report;
use evals_pipeline::finished_run::FinishedRun;
use evals_pipeline::indexed_documents;
use evals_pipeline::rankings::TimedQuestions;
use evals_pipeline::run_ending::Reached;
use evals_pipeline::run_models::{reranker, rewriter};
use evals_pipeline::vector_search;
use evals_rag::Retrieval;
use evals_rag::targets::{DocumentScores, settle_matches};
use evals_runs::clock;
use evals_runs::run_folder::RunFolder;
use serde_json::Value;

use super::joining::{Joined, Joining, Merged, TARGET_KEYS, target_facts};

pub(super) async fn write(joining: &Joining<'_>) -> Result<Merged> {
    let Joined {
        mut report,
        parts,
        group_by,
        ..
    } = joining.join::<Retrieval>(TARGET_KEYS)?;
    let chosen = joining.chosen(&parts[0])?;
    let mut lines = Vec::from_iter(vector_search::fact_of_run(&joining.record));
    lines.extend(chosen.lines("questions"));
    chosen.enter(&mut report.metadata)?;
    let timed = TimedQuestions::of_report(&report, joining.seed());
    lines.extend(timed.map(TimedQuestions::fact));
    if let Some(model) = joining.record.models.get("rewriter") {
        let account = rewriter::account(model, &report, &joining.prices()?);
        lines.push((rewriter::LABEL.to_owned(), account));
    }
    let reranking = reranking(joining, &report)?;
    lines.extend(
        reranking
            .iter()
            .map(|line| (reranker::LABEL.to_owned(), line.clone())),
    );
    if let Some(target) = joining.record.target() {
        settle_matches(&mut report);
        let facts = target_facts(&report, &parts).with_scores(DocumentScores::of(&report));
        facts.enter(&mut report, target)?;
        lines.extend(facts.lines());
    }
    if !lines.is_empty() {
        let key = Report::<Retrieval>::FACTS.to_owned();
        report.metadata.insert(key, serde_json::to_value(lines)?);
    }
    let label = parts[0].get("profile").and_then(Value::as_str);
    let label = label.with_context(|| joining.damaged())?.to_owned();
    let summary = joining.summary(&report, &group_by);
    let record = &joining.record;
    let documents = indexed_documents::of_stored(&report, Some(record)).await;

    let runs = joining.session.directories.runs();
    let name = format!("{}-{label}", record.name);
    let folder = RunFolder::create(&runs, clock::now(), &name)?;
    folder.write_record(record)?;
    let printer = joining.session.printer;
    let shown = (joining.seed(), documents);
    let finished = FinishedRun::write_rankings(
        printer,
        shown,
        (report, summary),
        folder,
        Reached::default(),
    )?;
    Merged::written(printer, finished)
}

/// The line on reranking; `None` if the profile does not rerank.
fn reranking(joining: &Joining<'_>, report: &Report<Retrieval>) -> Result<Option<String>> {
    let Some(model) = joining.record.models.get("reranker") else {
        return Ok(None);
    };
    let candidates = joining.record.settings.get("reranking.candidates")?;
    let candidates = candidates.with_context(|| joining.damaged())?;
    let prices = joining.prices()?;
    Ok(Some(reranker::account(model, candidates, report, &prices)))
}
