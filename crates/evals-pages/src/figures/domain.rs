//! What a benchmark adds to the figures of its reports.

use evals::{CaseReport, Domain, Report};
use evals_evaluators::Untyped;
use evals_metrics::interpolated_precision;
use evals_rag::qa::Refusal;
use evals_rag::{Ending, Purpose, Qa, Question, Retrieval};

use evals_rag::targets::DocumentScores;

/// A benchmark whose reports have figures.
pub trait HasFigures: Domain {
    /// The endings of its cases, in the order of the stages; empty if its reports do not say where a case broke.
    const ENDINGS: &'static [Ending];

    /// How a run of a case ended; `None` if the report does not say.
    fn ending(case: &CaseReport<Self>) -> Option<Ending>;

    /// The interpolated precision of a run's ranking, or the reason why it is undefined. `None` if the benchmark does not rank.
    fn precision(case: &CaseReport<Self>) -> Option<Result<[f64; 11], String>>;

    /// What the endings of a report leave open; empty if nothing.
    fn about_endings(_report: &Report<Self>) -> &'static str {
        ""
    }

    /// The scores that a target gave to documents; `None` if the benchmark does not rank, or if there are none.
    fn document_scores(_report: &Report<Self>) -> Option<DocumentScores> {
        None
    }

    /// How many documents a run's ranking holds; 0 if the benchmark does not rank.
    fn ranked(_case: &CaseReport<Self>) -> usize {
        0
    }
}

impl HasFigures for Retrieval {
    const ENDINGS: &'static [Ending] = &Ending::OF_RANKINGS;

    fn ending(case: &CaseReport<Self>) -> Option<Ending> {
        Some(Ending::of_ranking(case))
    }

    fn precision(case: &CaseReport<Self>) -> Option<Result<[f64; 11], String>> {
        let Some(found) = case.result.output() else {
            return Some(Err("task failed".to_owned()));
        };
        if !case.metadata.answerable {
            return Some(Err(Question::UNANSWERABLE.to_owned()));
        }
        if let Some(reason) = found.unranked() {
            return Some(Err(reason.to_owned()));
        }
        let judgements = case.expected.clone().unwrap_or_default();
        let precision = interpolated_precision(&judgements, &found.ranking);
        Some(precision.map_err(|undefined| undefined.to_string()))
    }

    fn document_scores(report: &Report<Self>) -> Option<DocumentScores> {
        DocumentScores::of(report)
    }

    fn ranked(case: &CaseReport<Self>) -> usize {
        let found = case.result.output();
        found.map_or(0, |found| found.ranking.len())
    }
}

impl HasFigures for Qa {
    const ENDINGS: &'static [Ending] = &Ending::OF_ANSWERS;

    fn ending(case: &CaseReport<Self>) -> Option<Ending> {
        Some(Ending::of_answer(case))
    }

    fn about_endings(report: &Report<Self>) -> &'static str {
        let is_judged = |case: &CaseReport<Self>| {
            let mut stages = case.timings.iter().map(|it| it.stage.as_str());
            let mut failures = case.evaluator_failures.iter();
            stages.any(|it| Purpose::of_stage(it) == Some(Purpose::RefusalJudge))
                || failures.any(|it| it.evaluator == Refusal::EVALUATOR)
        };
        if report.cases.iter().any(is_judged) {
            ""
        } else {
            "Only known refusal sentences count as refusals, because no judge of refusals ran."
        }
    }

    /// A run of question answering ranks only as many documents as the answerer is shown, which is too few for a curve.
    fn precision(_case: &CaseReport<Self>) -> Option<Result<[f64; 11], String>> {
        None
    }
}

impl HasFigures for Untyped {
    const ENDINGS: &'static [Ending] = &[];

    fn ending(_case: &CaseReport<Self>) -> Option<Ending> {
        None
    }

    fn precision(_case: &CaseReport<Self>) -> Option<Result<[f64; 11], String>> {
        None
    }
}
