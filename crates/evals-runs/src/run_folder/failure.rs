//! What failed in every case of a run.

use std::fmt;

use evals::Summary;
use evals_rag::Missing;
use evals_rag::qa::Equivalence;

/// Why a run measured nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunFailure {
    /// Every case failed.
    EveryCase,
    /// The target returned documents, but none of the corpus.
    NoMatch,
    /// There are answers, but the judge gave no verdict on any.
    NoVerdict,
    /// There are outputs, but no evaluator gave a value for any, and some failed.
    NoOutcome,
}

impl RunFailure {
    /// The reason why a run with this summary measured nothing, if it did not.
    pub fn of(summary: &Summary) -> Option<Self> {
        if summary.finished > 0 && summary.failed == summary.finished {
            return Some(Self::EveryCase);
        }
        let mut accuracies = summary.accuracy.iter();
        let judged = accuracies.find(|(name, _)| name == Equivalence::OUTCOME);
        if judged.is_some_and(|(_, judged)| judged.scored.n == 0 && judged.judge_failures > 0) {
            return Some(Self::NoVerdict);
        }
        let means = || summary.scores.iter().chain(&summary.assertions);
        let mut labels = summary.labels.iter().map(|(_, labels)| labels.n);
        if means().any(|(_, mean)| mean.n > 0) || labels.any(|n| n > 0) {
            return None;
        }
        let unmatched = Missing::Matches.reason();
        if means().any(|(_, mean)| mean.excluded.contains_key(unmatched)) {
            return Some(Self::NoMatch);
        }
        let has_failed = !summary.failed_evaluators.is_empty();
        has_failed.then_some(Self::NoOutcome)
    }

    /// What failed in every case of a run with this summary: all cases, or an evaluator. A command that ends with this has exit
    /// code 1, even if the run measured something.
    pub fn message(summary: &Summary) -> Option<String> {
        let what = match (Self::of(summary), summary.failed_evaluators.as_slice()) {
            (Some(Self::EveryCase), _) => "every case failed".to_owned(),
            (Some(Self::NoMatch), _) => {
                "no document of the target is in the corpus, so every rank measure is undefined"
                    .to_owned()
            }
            (Some(Self::NoVerdict), _) => "no answer was judged".to_owned(),
            (_, []) => return None,
            (_, [one]) => format!("the evaluator `{one}` failed in all of its cases"),
            (_, several) => {
                let names: Vec<String> = several.iter().map(|name| format!("`{name}`")).collect();
                let names = names.join(", ");
                format!("the evaluators {names} failed in all of their cases")
            }
        };
        Some(format!("{what}; see the report for the reasons"))
    }
}

impl fmt::Display for RunFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::EveryCase => "failed in every case",
            Self::NoMatch => "failed, no document of the target is in the corpus",
            Self::NoVerdict => "failed, no answer was judged",
            Self::NoOutcome => "failed, no evaluator gave a value",
        })
    }
}
