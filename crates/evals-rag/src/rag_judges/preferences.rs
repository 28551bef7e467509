//! The result of a pairwise comparison over all cases.

use std::collections::BTreeMap;

use async_trait::async_trait;
use evals::{Analysis, CaseOutcome, Domain, EvaluatorError, Report, ReportEvaluator, Value};
use evals_metrics::{Alternative, sign_test};
use serde_json::json;

use super::pairwise::Pairwise;
use crate::call::number;

/// A table of how many answers won, with the exact sign test and the judges' position bias.
///
/// The test counts cases, not pairs: a case that was repeated wins if it won more often than it lost. Cases without a winner are left out.
/// Position bias has two numbers: the share of shown pairs whose winner depends on the order, and, of all decisions for one answer, the share
/// that fell to the answer shown first. Without a bias the latter is 0.5.
#[derive(Debug, Clone, Copy, Default)]
pub struct Preferences;

/// Counts over all pairs.
#[derive(Debug, Default)]
struct Tally {
    pairs: usize,
    wins: usize,
    losses: usize,
    /// Pairs that were shown to judges.
    shown: usize,
    /// Shown pairs whose winner depends on the order.
    dependent: usize,
    /// Decisions for one of two answers, and how many of them for the one shown first.
    decided: usize,
    first: usize,
    /// Wins less losses of each case.
    cases: BTreeMap<String, f64>,
}

impl Preferences {
    /// Its name in reports.
    pub const NAME: &str = "preferences";
}

impl Tally {
    fn add(&mut self, case: &str, outcome: &CaseOutcome) {
        let Value::Label(label) = &outcome.value else {
            return;
        };
        self.pairs += 1;
        let net = self.cases.entry(case.to_owned()).or_default();
        match label.as_str() {
            "win" => {
                self.wins += 1;
                *net += 1.0;
            }
            "loss" => {
                self.losses += 1;
                *net -= 1.0;
            }
            _ => {}
        }
        let [one, other] = &outcome.evidence[..] else {
            return;
        };
        self.shown += 1;
        self.dependent += usize::from(one.verdict != other.verdict);
        // In the first order this answer comes first, in the second one the other.
        for (verdict, first) in [(&one.verdict, "this"), (&other.verdict, "other")] {
            self.decided += usize::from(verdict != "tie");
            self.first += usize::from(verdict == first);
        }
    }

    fn row(&self) -> Vec<serde_json::Value> {
        let share = |part: usize, whole: usize| {
            let share = (whole > 0).then(|| number(part) / number(whole));
            share.map_or(serde_json::Value::Null, |share| {
                json!((share * 1e4).round() / 1e4)
            })
        };
        let differences: Vec<f64> = self.cases.values().copied().collect();
        let p = match sign_test(&differences, Alternative::TwoSided) {
            Ok(result) => json!(result.p_value),
            Err(reason) => json!(format!("undefined: {reason}")),
        };
        vec![
            json!(self.pairs),
            json!(self.pairs - self.shown),
            json!(self.wins),
            json!(self.pairs - self.wins - self.losses),
            json!(self.losses),
            p,
            share(self.dependent, self.shown),
            share(self.first, self.decided),
        ]
    }
}

#[async_trait]
impl<D: Domain> ReportEvaluator<D> for Preferences {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    async fn evaluate(&self, report: &Report<D>) -> Result<Vec<Analysis>, EvaluatorError> {
        let mut tally = Tally::default();
        for case in &report.cases {
            for outcome in &case.outcomes {
                if outcome.evaluator == Pairwise::OUTCOME {
                    tally.add(case.id.as_str(), outcome);
                }
            }
        }
        if tally.pairs == 0 {
            return Ok(Vec::new());
        }
        let columns = [
            "pairs",
            "same answer",
            "wins",
            "ties",
            "losses",
            "p (exact sign test of cases)",
            "winner depends on the order",
            "decided for the first shown",
        ];
        Ok(vec![Analysis::Table {
            title: Self::NAME.to_owned(),
            description: Some(
                "Answers of this run against those of the other run. Judges see each pair of different answers in both orders; a winner that depends \
                 on the order is a tie. A pair of the same answer is a tie that no judge sees, and the last two columns leave it out."
                    .to_owned(),
            ),
            columns: columns.map(str::to_owned).to_vec(),
            rows: vec![tally.row()],
        }])
    }
}

#[cfg(test)]
mod tests {
    use evals::{Direction, EvaluatorOrigin, Evidence};

    use super::*;

    fn outcome(label: &str, orders: Option<[&str; 2]>) -> CaseOutcome {
        let evidence = orders.into_iter().flatten().map(|verdict| Evidence {
            verdict: verdict.to_owned(),
            ..Evidence::default()
        });
        CaseOutcome {
            name: Pairwise::OUTCOME.to_owned(),
            given_name: None,
            evaluator: Pairwise::OUTCOME.to_owned(),
            origin: EvaluatorOrigin::default(),
            better: Direction::Higher,
            value: Value::Label(label.to_owned()),
            reason: None,
            evidence: evidence.collect(),
        }
    }

    #[test]
    fn ties_by_order_count_as_position_bias_and_repeats_as_one_case() {
        let mut tally = Tally::default();
        tally.add("a", &outcome("win", Some(["this", "this"])));
        tally.add("a", &outcome("win", Some(["this", "this"])));
        tally.add("b", &outcome("win", Some(["this", "this"])));
        tally.add("c", &outcome("loss", Some(["other", "other"])));
        tally.add("d", &outcome("tie", Some(["this", "other"])));
        tally.add("e", &outcome("tie", None));
        // Two cases won and one lost: p = 2 · (C(3,0) + C(3,1)) / 2³ = 1. One of five shown pairs depends on the order. Of ten decisions
        // the first shown got 1 + 1 + 1 + 1 + 2 = 6.
        let row = tally.row();
        let expected = [
            json!(6),
            json!(1),
            json!(3),
            json!(2),
            json!(1),
            json!(1.0),
            json!(0.2),
            json!(0.6),
        ];
        assert_eq!(row, expected);
    }
}
