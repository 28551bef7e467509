//! The change of one measure between two reports.

use std::collections::BTreeMap;

use evals_metrics::{EffectSize, PairedDifference, difference};
use serde::{Deserialize, Serialize};

use super::pairs::Pairs;
use crate::pair_testing::{CaseClusters, PairTesting, Tested};
use crate::summary::Values;
use crate::{CaseId, Direction, Unit};

/// How many cases are listed at most as the worst, and as the best, of a measure.
const NAMED: usize = 5;

/// The change of one measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasureChange {
    /// Name of the measure.
    pub measure: String,
    /// The name of its mean in tables, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_title: Option<String>,
    /// The unit of its numbers.
    pub unit: Unit,
    /// Which direction is better.
    pub better: Direction,
    /// Both means and their difference; `None` where no case has both values.
    pub difference: Option<PairedDifference>,
    /// The p value, corrected for the number of measures. `None` where there is no difference to test, neither direction is
    /// better, or no case changed.
    pub adjusted_p_value: Option<f64>,
    /// The verdict on the difference.
    pub verdict: Verdict,
    /// The reason why the test gives no p value; `None` if it gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untested: Option<String>,
    /// Cohen's d for paired values: the mean difference in standard deviations of the differences. `None` if no case changed, or all
    /// by the same amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<EffectSize>,
    /// The smallest true difference that a test of these cases finds with the power of [`PairTesting`], at the level of the strictest
    /// of the corrected tests. `None` if neither direction is better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detectable: Option<f64>,
    /// Why there is no such difference, if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undetectable: Option<String>,
    /// Pairs that have a value in the first report only.
    pub only_before: usize,
    /// Pairs that have a value in the second report only.
    pub only_after: usize,
    /// Pairs without a value in either report, by the second report's reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub excluded: BTreeMap<String, usize>,
    /// The cases that got worse, worst first, five at most; empty where neither direction is better.
    pub worst: Vec<CaseChange>,
    /// The cases that got better, best first, five at most; empty where neither direction is better.
    pub best: Vec<CaseChange>,
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

/// The change of one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseChange {
    /// The case.
    pub id: CaseId,
    /// Its value in the first report.
    pub before: f64,
    /// Its value in the second report.
    pub after: f64,
}

impl MeasureChange {
    /// Compares the values of the pairs; [`judge`] sets the verdict later.
    pub(super) fn of(
        measure: String,
        unit: Unit,
        better: Direction,
        [before, after]: [&Values<'_>; 2],
        paired: &Pairs<'_>,
        clusters: Option<&CaseClusters<'_>>,
        testing: &PairTesting,
    ) -> Judged {
        let mut only = [0, 0];
        let mut excluded = BTreeMap::new();
        let mut pairs: Vec<CaseChange> = Vec::new();
        for id in paired.same() {
            let Some(first) = before.get(id) else {
                continue;
            };
            match (first, after.get(id)) {
                (Ok(before), Some(Ok(after))) => pairs.push(CaseChange {
                    id: id.clone(),
                    before: *before,
                    after: *after,
                }),
                (Ok(_), Some(Err(_))) => only[0] += 1,
                (Err(_), Some(Ok(_))) => only[1] += 1,
                (Err(_), Some(Err(reason))) => {
                    *excluded.entry((*reason).to_owned()).or_default() += 1;
                }
                (_, None) => {}
            }
        }
        let values: Vec<_> = pairs.iter().map(|pair| (pair.before, pair.after)).collect();
        let ids = pairs.iter().map(|pair| &pair.id);
        let clusters = clusters.map(|clusters| clusters.among(ids));
        let tested = Tested::of(&values, clusters.as_deref(), testing);
        let change = Self {
            measure,
            mean_title: None,
            unit,
            better,
            difference: tested.as_ref().map(|it| it.difference.clone()),
            adjusted_p_value: None,
            verdict: Verdict::None,
            untested: tested
                .as_ref()
                .and_then(|it| it.p_value.err())
                .map(|reason| reason.to_string()),
            effect: tested.as_ref().and_then(|it| it.effect),
            detectable: None,
            undetectable: None,
            only_before: only[0],
            only_after: only[1],
            excluded,
            worst: most_changed(&pairs, better.gain().map(|sign| -sign)),
            best: most_changed(&pairs, better.gain()),
        };
        Judged { change, tested }
    }
}

impl MeasureChange {
    /// The name of the measure's mean in tables.
    pub fn title(&self) -> &str {
        self.mean_title.as_deref().unwrap_or(&self.measure)
    }
}

/// A change with its test, before p values are corrected.
#[derive(Debug)]
pub(crate) struct Judged {
    change: MeasureChange,
    tested: Option<Tested>,
}

impl Judged {
    /// Sets the name of the measure's mean in tables.
    pub(super) fn titled(self, mean_title: Option<String>) -> Self {
        let change = MeasureChange {
            mean_title,
            ..self.change
        };
        Self { change, ..self }
    }
}

impl Verdict {
    /// The verdict on a corrected p value at a level of significance. `gained` is above 0 if the difference is an improvement.
    pub(crate) fn on(p_value: f64, significance: f64, gained: f64) -> Self {
        if p_value > significance {
            Self::Unclear
        } else if gained > 0.0 {
            Self::Better
        } else {
            Self::Worse
        }
    }
}

/// Corrects the p values together and sets the verdicts. A measure that changed in no case is not a test: no swap of sides can change its
/// difference.
pub(crate) fn judge(mut measures: Vec<Judged>, testing: &PairTesting) -> Vec<MeasureChange> {
    let significance = testing.significance();
    let mut family: Vec<(&mut MeasureChange, f64, f64)> = Vec::new();
    for Judged { change, tested } in &mut measures {
        let (Some(gain), Some(tested)) = (change.better.gain(), tested) else {
            continue;
        };
        let found = &tested.difference;
        if found.equal() == found.n {
            change.verdict = Verdict::Same;
        } else if let Ok(p_value) = tested.p_value {
            family.push((change, gain * found.difference, p_value));
        }
    }
    let p_values: Vec<f64> = family.iter().map(|(_, _, p_value)| *p_value).collect();
    let adjusted = testing.adjustment.apply(&p_values);
    for ((change, gained, _), adjusted) in family.iter_mut().zip(adjusted) {
        change.adjusted_p_value = Some(adjusted);
        change.verdict = Verdict::on(adjusted, significance, *gained);
    }
    let strictest = testing.adjustment.strictest(significance, p_values.len());
    for Judged { change, tested } in &mut measures {
        let Some(tested) = tested.as_ref().filter(|_| change.better.gain().is_some()) else {
            continue;
        };
        match tested.sensitivity.detectable(strictest, testing.power) {
            Ok(detectable) => change.detectable = Some(detectable),
            Err(reason) => change.undetectable = Some(reason.to_string()),
        }
    }
    measures.into_iter().map(|it| it.change).collect()
}

/// The cases with the largest differences of one sign, largest first; ties by id.
fn most_changed(pairs: &[CaseChange], sign: Option<f64>) -> Vec<CaseChange> {
    let Some(sign) = sign else { return Vec::new() };
    let size = |pair: &CaseChange| sign * difference(pair.before, pair.after);
    let mut changed: Vec<_> = pairs.iter().filter(|pair| size(pair) > 0.0).collect();
    changed.sort_by(|left, right| {
        let larger_first = size(right).total_cmp(&size(left));
        larger_first.then_with(|| left.id.cmp(&right.id))
    });
    changed.into_iter().take(NAMED).cloned().collect()
}
