//! What a benchmark adds to the figures of its reports.

use evals::{CaseReport, Domain};
use evals_evaluators::Untyped;
use evals_metrics::interpolated_precision;
use evals_rag::{Ending, Missing, Qa, Question, Retrieval};

/// A benchmark whose reports have figures.
pub(crate) trait Figured: Domain {
    /// The endings of its cases, in the order of the stages; empty if its reports do not say where a case broke.
    const ENDINGS: &'static [Ending];

    /// How a run of a case ended; `None` if the report does not say.
    fn ending(case: &CaseReport<Self>) -> Option<Ending>;

    /// The interpolated precision of a run's ranking, or the reason why it is undefined. `None` if the benchmark does not rank.
    fn precision(case: &CaseReport<Self>) -> Option<Result<[f64; 11], String>>;
}

impl Figured for Retrieval {
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
        if found.missing.contains(&Missing::Documents) {
            return Some(Err(Missing::Documents.reason().to_owned()));
        }
        let judgements = case.expected.clone().unwrap_or_default();
        let precision = interpolated_precision(&judgements, &found.ranking);
        Some(precision.map_err(|undefined| undefined.to_string()))
    }
}

impl Figured for Qa {
    const ENDINGS: &'static [Ending] = &Ending::OF_ANSWERS;

    fn ending(case: &CaseReport<Self>) -> Option<Ending> {
        Some(Ending::of_answer(case))
    }

    /// A run of question answering ranks only as many documents as the answerer is shown, which is too few for a curve.
    fn precision(_case: &CaseReport<Self>) -> Option<Result<[f64; 11], String>> {
        None
    }
}

impl Figured for Untyped {
    const ENDINGS: &'static [Ending] = &[];

    fn ending(_case: &CaseReport<Self>) -> Option<Ending> {
        None
    }

    fn precision(_case: &CaseReport<Self>) -> Option<Result<[f64; 11], String>> {
        None
    }
}
