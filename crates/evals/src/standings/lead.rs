//! The lead of the best of several reports.

use std::cmp::Ordering::{Greater, Less};

use evals_metrics::{PairedDifference, arithmetic_mean, difference};
use serde::{Deserialize, Serialize};

use crate::measured::UntestedMeasure;
use crate::pair_testing::{Finding, PairTesting, Tested, UncorrectedFinding, judge};
use crate::{Direction, Unit};

/// The best of several reports by one measure, and whether chance explains its lead.
///
/// The best report is tested against each other one at the level of significance, two-sided. It leads if every test says so, which is to say if
/// the test with the largest p value does: that against its rival, whose standardised difference from it is smallest. The claim is wrong only if
/// another report is at least as good, and then the test against that one has erred, so no correction for the other tests is needed.
///
/// Sources: Hung and Fithian, "Rank Verification for Exponential Families", arXiv 1610.03944 (2016); for reports that share cases, arXiv
/// 2503.01065.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lead {
    /// Name of the measure.
    pub measure: String,
    /// The name of its mean in tables, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_title: Option<String>,
    /// The unit of its numbers.
    pub unit: Unit,
    /// The position of the report with the best mean. Several have the same value in every case, so none of them leads the others.
    pub best: Vec<usize>,
    /// How many other reports there are.
    pub rivals: usize,
    /// The position of the rival; `None` if there is no other report.
    pub rival: Option<usize>,
    /// The means of the rival and of the best report, and their difference.
    pub difference: Option<PairedDifference>,
    /// The verdict on the best report against its rival. The p value of a group is corrected for the groups.
    #[serde(flatten)]
    pub finding: Finding,
}

/// A lead with its test, before p values are corrected.
#[derive(Debug)]
pub(super) struct TestedLead {
    lead: Lead,
    tested: Option<Tested>,
    better: Direction,
}

impl TestedLead {
    /// The lead in a measure; `None` if neither direction is better, or without cases.
    pub(super) fn of(measured: &UntestedMeasure<'_>, testing: &PairTesting) -> Option<Self> {
        let gain = measured.better.gain()?;
        let means: Vec<f64> = measured
            .values
            .iter()
            .map(|values| Some(gain * arithmetic_mean(values)?))
            .collect::<Option<_>>()?;
        let best = (0..means.len()).reduce(|best, next| {
            if difference(means[best], means[next]) > 0.0 {
                next
            } else {
                best
            }
        })?;
        let is_equal = |place: &usize| {
            let pairs = measured.values[best].iter().zip(&measured.values[*place]);
            let mut changes = pairs.map(|(one, other)| difference(*one, *other));
            changes.all(|change| change.abs() <= 0.0)
        };
        let (equal, others): (Vec<usize>, Vec<usize>) = (0..means.len()).partition(is_equal);
        let rivals = others.iter().filter_map(|other| {
            let tested = measured.test((*other, best), &testing.paired)?;
            // A test of ranks or signs may favour the report with the worse mean.
            let favours_best = tested.direction() == if gain > 0.0 { Greater } else { Less };
            let p_value = tested.p_value().ok().filter(|_| favours_best);
            Some((p_value.unwrap_or(1.0), *other, tested))
        });
        let rival = rivals.max_by(|(left, one, _), (right, other, _)| {
            // Of equal p values, that of the better report.
            let order = left.total_cmp(right);
            order.then_with(|| means[*one].total_cmp(&means[*other]))
        });
        let tested = rival.as_ref().map(|(_, _, tested)| tested.clone());
        Some(Self {
            lead: Lead {
                measure: measured.measure.clone(),
                mean_title: measured.mean_title.clone(),
                unit: measured.unit,
                best: equal.iter().map(|it| measured.reports[*it]).collect(),
                rivals: others.len(),
                rival: rival.map(|(_, place, _)| measured.reports[place]),
                difference: tested.as_ref().map(|it| it.difference.clone()),
                finding: Finding::of(tested.as_ref()),
            },
            tested,
            better: measured.better,
        })
    }

    /// Corrects the p values of the leads together, and sets their verdicts.
    pub(super) fn judged(
        mut leads: Vec<Option<Self>>,
        testing: &PairTesting,
    ) -> impl Iterator<Item = Option<Lead>> {
        let findings = leads.iter_mut().flatten();
        let mut findings: Vec<UncorrectedFinding<'_>> = findings
            .map(|it| UncorrectedFinding {
                finding: &mut it.lead.finding,
                tested: it.tested.as_ref(),
                better: it.better,
                is_headline: true,
            })
            .collect();
        judge(&mut findings, testing);
        leads.into_iter().map(|it| it.map(|it| it.lead))
    }
}

impl Lead {
    /// The lead in a measure, as [`TestedLead::of`].
    pub(super) fn of(measured: &UntestedMeasure<'_>, testing: &PairTesting) -> Option<Self> {
        TestedLead::judged(vec![TestedLead::of(measured, testing)], testing)
            .flatten()
            .next()
    }

    /// The lead by the main measure. If several reports have the same values in it, the next lead is that of one of them over the others
    /// in the first measure that tells them apart.
    pub(super) fn first(measured: &[&UntestedMeasure<'_>], testing: &PairTesting) -> Vec<Self> {
        let mut leads = measured.iter().filter_map(|it| Self::of(it, testing));
        let Some(first) = leads.next() else {
            return Vec::new();
        };
        let among_best = measured.iter().map(|it| it.of_reports(&first.best));
        let mut among_best = among_best.filter_map(|it| Self::of(&it, testing));
        let decisive = among_best.find(|it| it.best.len() < first.best.len());
        std::iter::once(first).chain(decisive).collect()
    }

    /// The name of the measure's mean in tables.
    pub fn title(&self) -> &str {
        self.mean_title.as_deref().unwrap_or(&self.measure)
    }
}
