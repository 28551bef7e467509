//! What a test says about a difference: its corrected p value, its verdict, and how much it could have found.

use std::cmp::Ordering;

use evals_metrics::EffectSize;
use serde::{Deserialize, Serialize};

use super::{Family, PairTesting, Tested};
use crate::Direction;

/// What a test says about a difference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The corrected p value. Those of the headline measure are corrected for each other, so that the one of a single pair of reports is as
    /// it was, and those of all other measures for each other. `None` if neither direction is better, no case changed, or the test has no p
    /// value.
    pub adjusted_p_value: Option<f64>,
    /// The verdict on the difference, in the direction that the test finds.
    pub verdict: Verdict,
    /// The reason why the test gives no p value; `None` if it gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untested: Option<String>,
    /// The number of clusters of cases; `None` if cases do not come in clusters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<usize>,
    /// Cohen's d for paired values: the mean difference in standard deviations of the differences. `None` if no case changed, or all
    /// by the same amount. It has no interval where cases come in clusters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<EffectSize>,
    /// The smallest true difference that a test of these cases finds with the power of [`PairTesting`], at the level of the strictest
    /// of the corrected tests. `None` if neither direction is better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detectable: Option<f64>,
    /// Why there is no such difference, if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undetectable: Option<String>,
}

/// The verdict on a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Better, by more than chance explains.
    Better,
    /// Worse, by more than chance explains.
    Worse,
    /// Chance alone could explain the difference. It does not mean that nothing changed.
    Unclear,
    /// No case changed.
    Same,
    /// Neither direction is better, or no case has both values.
    None,
}

impl Finding {
    /// The finding of a test before its p value is corrected; `None` stands for a difference without values.
    pub(crate) fn of(tested: Option<&Tested>) -> Self {
        let reason = tested
            .filter(|it| it.is_changed())
            .and_then(|it| it.p_value().err());
        Self {
            adjusted_p_value: None,
            verdict: Verdict::None,
            untested: reason.map(|reason| reason.to_string()),
            clusters: tested.and_then(|it| it.sensitivity.clusters()),
            effect: tested.and_then(|it| it.effect),
            detectable: None,
            undetectable: None,
        }
    }

    /// Whether the test tells the two sides apart.
    pub fn is_significant(&self) -> bool {
        matches!(self.verdict, Verdict::Better | Verdict::Worse)
    }

    /// Whether the test finds a gain although the mean did not improve, or a loss although it did not get worse. Tests of ranks and signs
    /// can: they weigh how many cases changed, and not by how much.
    pub fn is_against_mean(&self, difference: f64, better: Direction) -> bool {
        let gained = better.gain().map(|gain| gain * difference);
        match self.verdict {
            Verdict::Better => gained.is_some_and(|gained| gained <= 0.0),
            Verdict::Worse => gained.is_some_and(|gained| gained >= 0.0),
            Verdict::Unclear | Verdict::Same | Verdict::None => false,
        }
    }
}

impl Verdict {
    /// The verdict on a corrected p value at a level of significance. `gained` is the direction that the test finds:
    /// [`Greater`](Ordering::Greater) for an improvement.
    fn on(p_value: f64, significance: f64, gained: Ordering) -> Self {
        match gained {
            _ if p_value > significance => Self::Unclear,
            Ordering::Greater => Self::Better,
            Ordering::Less => Self::Worse,
            Ordering::Equal => Self::Unclear,
        }
    }
}

/// The p value of a difference that counts as a test; `None` if neither direction is better, no case changed, or it has no p value.
fn p_value(tested: Option<&Tested>, better: Direction) -> Option<f64> {
    let tested = tested.filter(|_| better.gain().is_some())?;
    tested.p_value().ok().filter(|_| tested.is_changed())
}

/// How many of the differences count as tests. A correction covers their p values together.
pub(crate) fn tests<'t>(
    differences: impl Iterator<Item = (Option<&'t Tested>, Direction)>,
) -> usize {
    let p_values = differences.filter_map(|(tested, better)| p_value(tested, better));
    p_values.count()
}

/// A finding that waits for the correction of its p value.
pub(crate) struct UncorrectedFinding<'f> {
    pub(crate) finding: &'f mut Finding,
    pub(crate) tested: Option<&'f Tested>,
    pub(crate) better: Direction,
    /// Whether it is about the headline measure.
    pub(crate) is_headline: bool,
}

/// Corrects the p values of the findings and sets the verdicts. The findings about the headline measure are one family, which is tested first
/// at the full level; the others are another one. Returns the numbers of tests of both. A difference of which neither direction is
/// better is not tested.
pub(crate) fn judge(findings: &mut [UncorrectedFinding<'_>], testing: &PairTesting) -> [usize; 2] {
    let tests = findings.iter();
    let tests = tests.map(|it| (it.is_headline, p_value(it.tested, it.better)));
    let tests: Vec<(bool, Option<f64>)> = tests.collect();
    let [headline, others] =
        Family::headline_first(&tests, testing.adjustment, testing.significance());
    for (place, judged) in findings.iter_mut().enumerate() {
        let family = if judged.is_headline {
            &headline
        } else {
            &others
        };
        judged.settle(family.adjusted()[place], family.strictest(), testing);
    }
    [headline.tests(), others.tests()]
}

impl UncorrectedFinding<'_> {
    /// Sets the corrected p value, the verdict, and what a test at the strictest level detects.
    fn settle(&mut self, adjusted: Option<f64>, strictest: f64, testing: &PairTesting) {
        let (Some(tested), Some(gain)) = (self.tested, self.better.gain()) else {
            return;
        };
        let finding = &mut *self.finding;
        if !tested.is_changed() {
            finding.verdict = Verdict::Same;
        } else if let Some(adjusted) = adjusted {
            let gained = if gain > 0.0 {
                tested.direction()
            } else {
                tested.direction().reverse()
            };
            finding.adjusted_p_value = Some(adjusted);
            finding.verdict = Verdict::on(adjusted, testing.significance(), gained);
        }
        match tested.sensitivity.detectable(strictest, testing.power) {
            Ok(detectable) => finding.detectable = Some(detectable),
            Err(reason) => finding.undetectable = Some(reason.to_string()),
        }
    }
}
