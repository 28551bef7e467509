//! The change of one measure between two reports.

use std::collections::BTreeMap;

use evals_metrics::{PairedDifference, PairedTest, difference, holm};
use serde::{Deserialize, Serialize};

use super::pairs::Pairs;
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
        test: PairedTest,
    ) -> Self {
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
        Self {
            measure,
            mean_title: None,
            unit,
            better,
            difference: test.compare(&values),
            adjusted_p_value: None,
            verdict: Verdict::None,
            only_before: only[0],
            only_after: only[1],
            excluded,
            worst: most_changed(&pairs, gain(better).map(|sign| -sign)),
            best: most_changed(&pairs, gain(better)),
        }
    }
}

impl MeasureChange {
    /// The name of the measure's mean in tables.
    pub fn title(&self) -> &str {
        self.mean_title.as_deref().unwrap_or(&self.measure)
    }
}

/// Corrects the p values together and sets the verdicts at a level of confidence. A measure that changed in no case is not a
/// test: no swap of sides can change its difference.
pub(crate) fn judge(measures: &mut [MeasureChange], level: f64) {
    let mut tested: Vec<_> = measures
        .iter_mut()
        .filter_map(|measure| {
            let sign = gain(measure.better)?;
            let found = measure.difference.clone()?;
            if found.equal() == found.n {
                measure.verdict = Verdict::Same;
                return None;
            }
            Some((measure, sign * found.difference, found.p_value))
        })
        .collect();
    let p_values: Vec<f64> = tested.iter().map(|(_, _, p_value)| *p_value).collect();
    for ((measure, gain, _), adjusted) in tested.iter_mut().zip(holm(&p_values)) {
        measure.adjusted_p_value = Some(adjusted);
        measure.verdict = if adjusted > 1.0 - level {
            Verdict::Unclear
        } else if *gain > 0.0 {
            Verdict::Better
        } else {
            Verdict::Worse
        };
    }
}

/// The sign of an improvement.
fn gain(better: Direction) -> Option<f64> {
    match better {
        Direction::Higher => Some(1.0),
        Direction::Lower => Some(-1.0),
        Direction::Unknown => None,
    }
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
