//! The change of one measure between two reports.

use std::collections::BTreeMap;

use evals_metrics::{PairedDifference, PairedTest, Scale, difference};
use serde::{Deserialize, Serialize};

use super::pairs::Pairs;
use crate::clusters::CaseClusters;
use crate::pair_testing::{self, Finding, PairTesting, Tested};
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
    /// The test's corrected p value and verdict.
    #[serde(flatten)]
    pub finding: Finding,
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
        let scale = unit.scale(&measure);
        let tested = Tested::of(&values, clusters.as_deref(), scale, &testing.paired);
        let change = Self {
            measure,
            mean_title: None,
            unit,
            better,
            difference: tested.as_ref().map(|it| it.difference.clone()),
            finding: Finding::of(tested.as_ref()),
            only_before: only[0],
            only_after: only[1],
            excluded,
            worst: most_changed(&pairs, better.gain().map(|sign| -sign)),
            best: most_changed(&pairs, better.gain()),
        };
        Judged {
            change,
            tested,
            values,
            clusters,
            scale,
        }
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
pub(super) struct Judged {
    change: MeasureChange,
    tested: Option<Tested>,
    /// The values of each pair.
    values: Vec<(f64, f64)>,
    /// The number of each pair's cluster, if cases come in clusters.
    clusters: Option<Vec<usize>>,
    scale: Scale,
}

impl Judged {
    /// The place of the headline measure: the first with a known better direction.
    pub(super) fn headline(measures: &[Self]) -> Option<usize> {
        let mut measures = measures.iter();
        measures.position(|it| it.change.better != Direction::Unknown)
    }

    /// Sets the name of the measure's mean in tables.
    pub(super) fn titled(self, mean_title: Option<String>) -> Self {
        let change = MeasureChange {
            mean_title,
            ..self.change
        };
        Self { change, ..self }
    }

    /// Repeats the test if it made too few swaps for its p value.
    fn refine(&mut self, testing: &PairTesting, finer: &PairedTest) {
        let is_rough = |it: &Tested| it.is_rough(testing, finer);
        if self.tested.as_ref().is_some_and(is_rough) {
            let clusters = self.clusters.as_deref();
            self.tested = Tested::of(&self.values, clusters, self.scale, finer);
            self.change.difference = self.tested.as_ref().map(|it| it.difference.clone());
        }
    }
}

/// Corrects the p values and sets the verdicts. The one at `headline` is tested first. Returns the number of the other tests too.
pub(super) fn judge(
    mut measures: Vec<Judged>,
    headline: Option<usize>,
    testing: &PairTesting,
) -> (usize, Vec<MeasureChange>) {
    let differences = measures.iter();
    let differences = differences.map(|it| (it.tested.as_ref(), it.change.better));
    let finer = testing.resolving(pair_testing::tests(differences));
    for judged in &mut measures {
        judged.refine(testing, &finer);
    }
    let judged = measures.iter_mut().enumerate();
    let mut findings: Vec<_> = judged
        .map(|(place, it)| pair_testing::Judged {
            finding: &mut it.change.finding,
            tested: it.tested.as_ref(),
            better: it.change.better,
            is_headline: headline == Some(place),
        })
        .collect();
    let [_, tests] = pair_testing::judge(&mut findings, testing);
    let measures = measures.into_iter().map(|it| it.change);
    (tests, measures.collect())
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
