//! Writes the rankings and judgements of a retrieval run into its folder.

use anyhow::Result;
use evals::Report;
use evals_metrics::{Qrels, Run};
use evals_rag::Retrieval;
use evals_runs::run_folder::RunFolder;

use super::trec_ids::TrecIds;

/// Writes the rankings and judgements of a report. `label` is the profile, or the target.
pub fn write(folder: &RunFolder, report: &Report<Retrieval>, label: &str) -> Result<()> {
    let (qrels, run) = rankings(report);
    let ids = TrecIds::of(&qrels, &run);
    let tag = tag(label);
    folder.write("run.trec", |file| ids.write_run(file, &run, &tag))?;
    folder.write("qrels.trec", |file| ids.write_qrels(file, &qrels))
}

/// The name of a run in the last column of `run.trec`, which has no blanks.
fn tag(label: &str) -> String {
    label.split_whitespace().collect::<Vec<_>>().join("_")
}

/// The judgements and rankings of a report.
///
/// An unanswerable question has no judgements. Of repeated questions only the first repetition is exported; the report says whether the
/// others found the same.
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
