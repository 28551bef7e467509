//! What a retrieval run leaves in its folder.

use anyhow::Result;
use evals::{Report, render};
use evals_metrics::{Qrels, Run};
use evals_rag::Retrieval;

use super::benchmark::Finished;
use super::trec_ids::TrecIds;

/// Writes what a finished run found.
pub(super) fn record(finished: &Finished) -> Result<()> {
    let Finished {
        report,
        summary,
        folder,
        ..
    } = finished;
    let (qrels, run) = rankings(report);
    let ids = TrecIds::of(&qrels, &run);
    let tag = finished.profile.to_string();
    folder.write("run.trec", |file| ids.write_run(file, &run, &tag))?;
    folder.write("qrels.trec", |file| ids.write_qrels(file, &qrels))?;
    folder.write("report.md", |file| {
        render::markdown::report(file, report, summary)
    })?;
    // The report comes last: a folder that has one has everything.
    folder.write("report.json", |file| {
        render::json::report(file, report, summary)
    })
}

/// The judgements and rankings of a report. A question that the corpus does not answer has no judgements. Of repeated questions the first repetition counts; the others found the
/// same, or the report says otherwise.
fn rankings(report: &Report<Retrieval>) -> (Qrels, Run) {
    let mut qrels = Qrels::new();
    let mut run = Run::new();
    for case in report.cases.iter().filter(|case| case.repeat == 1) {
        if case.metadata.answerable
            && let Some(judgements) = &case.expected
        {
            qrels.insert(case.id.to_string(), judgements.clone());
        }
        if let Some(retrieved) = case.result.output() {
            run.insert(case.id.to_string(), retrieved.ranking.clone());
        }
    }
    (qrels, run)
}
