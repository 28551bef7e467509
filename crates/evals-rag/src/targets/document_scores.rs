//! The scores that a target gave to relevant and to other documents.

use evals::{CaseReport, Report};
use evals_messages::quantity;
use evals_metrics::quantile;
use serde::{Deserialize as _, Serialize};

use super::matching::{MatchRecord, ScoreUse};
use crate::Retrieval;

/// The scores that a target gave to documents, of the questions that have a relevant one.
#[derive(Debug, Default)]
pub struct DocumentScores {
    /// The scores of relevant documents, in ascending order.
    pub relevant: Vec<f64>,
    /// The scores of documents that are not relevant, in ascending order.
    pub other: Vec<f64>,
    /// Questions whose scores contradict the order of their documents.
    out_of_order: usize,
}

/// The numbers of a distribution.
#[derive(Debug, Serialize)]
struct Distribution {
    n: usize,
    least: f64,
    median: f64,
    most: f64,
}

impl DocumentScores {
    /// The scores of a report; `None` if its target gave none.
    pub fn of(report: &Report<Retrieval>) -> Option<Self> {
        let mut all = Self::default();
        for case in report.cases.iter().filter(|case| case.repeat == 1) {
            match score_use(case) {
                Some(ScoreUse::Kept) => all.add(case),
                Some(ScoreUse::OutOfOrder) => all.out_of_order += 1,
                None => {}
            }
        }
        all.relevant.sort_by(f64::total_cmp);
        all.other.sort_by(f64::total_cmp);
        let is_empty = all.relevant.is_empty() && all.other.is_empty();
        (!is_empty || all.out_of_order > 0).then_some(all)
    }

    fn add(&mut self, case: &CaseReport<Retrieval>) {
        let judged = case.expected.as_ref().filter(|_| case.metadata.answerable);
        let is_relevant = |id: &str| judged.and_then(|it| it.grade(id)).is_some_and(|it| it > 0);
        let has_relevant = judged.is_some_and(|it| it.iter().any(|(_, grade)| grade > 0));
        let found = case.result.output().filter(|_| has_relevant);
        for document in found.iter().flat_map(|found| found.ranking.iter()) {
            let scores = if is_relevant(&document.id) {
                &mut self.relevant
            } else {
                &mut self.other
            };
            scores.push(f64::from(document.score));
        }
    }

    /// The distributions for programs.
    pub fn entry(&self) -> serde_json::Value {
        serde_json::json!({
            "relevant": distribution(&self.relevant),
            "other": distribution(&self.other),
            "questions_out_of_order": self.out_of_order,
        })
    }

    /// The distributions in one line; `None` if every question is out of order.
    pub fn line(&self) -> Option<String> {
        let printed = |name: &str, scores: &[f64]| {
            let Distribution {
                n,
                least,
                median,
                most,
            } = distribution(scores)?;
            let [least, median, most] = [least, median, most].map(number);
            Some(format!("{name} median {median}, {least} to {most} (n {n})"))
        };
        let parts = [
            printed("relevant documents", &self.relevant),
            printed("others", &self.other),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// The warning about scores that contradict the order of the list.
    pub fn contradiction(&self) -> Option<String> {
        (self.out_of_order > 0).then(|| {
            format!(
                "the target gave higher scores to later documents in {}: their order counts, and reports and run.trec have numbers that count \
                 down to 1 in place of these scores; sort `documents` by score, best first, or leave `score` out",
                quantity::of(self.out_of_order, "question")
            )
        })
    }
}

fn score_use(case: &CaseReport<Retrieval>) -> Option<ScoreUse> {
    let record = case.attributes.get(MatchRecord::ATTRIBUTE)?;
    MatchRecord::deserialize(record).ok()?.scores
}

fn distribution(ascending: &[f64]) -> Option<Distribution> {
    Some(Distribution {
        n: ascending.len(),
        least: *ascending.first()?,
        median: quantile(ascending, 0.5)?,
        most: *ascending.last()?,
    })
}

/// A score with four significant digits, as scores may be anything from reciprocal ranks to products of vectors.
fn number(score: f64) -> String {
    let magnitude = score.abs().log10().floor();
    if !(-4.0..15.0).contains(&magnitude) {
        return format!("{score:.3e}").replace("0.000e0", "0");
    }
    let decimals = (3.0 - magnitude).clamp(0.0, 7.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is a whole number from 0 to 7"
    )]
    let decimals = decimals as usize;
    format!("{score:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_have_four_significant_digits() {
        let printed = [6.17, 0.016_393, 1234.56, -0.5, 0.0, 3e-9].map(number);
        assert_eq!(
            printed,
            ["6.170", "0.01639", "1235", "-0.5000", "0", "3.000e-9"]
        );
    }
}
