//! Writes the results of a retrieval run into its folder.

use anyhow::Result;
use evals::{Report, Summary};
use evals_metrics::{Qrels, Run};
use evals_rag::Retrieval;
use evals_runs::run_folder::RunFolder;

use super::trec_ids::TrecIds;
use crate::page::{PageSource, RunPage};
use crate::terminal::Printer;

/// The finished retrieval run of one profile or target.
#[derive(Debug)]
pub(crate) struct FinishedRankings {
    /// The profile, or the target.
    pub(crate) label: String,
    pub(crate) report: Report<Retrieval>,
    pub(crate) summary: Summary,
    /// What its page shows beside the report.
    pub(crate) source: PageSource,
    /// The folder for the report.
    pub(crate) folder: RunFolder,
    /// The calls, tokens and cost of reranking, in one line.
    pub(crate) reranking: Option<String>,
    /// Whether as many searches failed as `--max-failures` allows.
    pub(crate) too_many_failed: bool,
}

/// Writes rankings, judgements, report and page of a finished run.
pub(crate) fn record(printer: &Printer, finished: &FinishedRankings) -> Result<()> {
    let FinishedRankings {
        report,
        summary,
        folder,
        source,
        ..
    } = finished;
    let (qrels, run) = rankings(report);
    let ids = TrecIds::of(&qrels, &run);
    let tag = tag(&finished.label);
    folder.write("run.trec", |file| ids.write_run(file, &run, &tag))?;
    folder.write("qrels.trec", |file| ids.write_qrels(file, &qrels))?;
    folder.write_report(report, summary, &[])?;
    let page = RunPage {
        report,
        summary,
        source,
    };
    printer.warn_of(page.write_into(folder).as_deref());
    Ok(())
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
