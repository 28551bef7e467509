//! The measures of two reports, compared over pairs of their cases.

use super::measure::{Judged, MeasureChange};
use super::pairs::Pairs;
use crate::clusters::CaseClusters;
use crate::comparison::matched;
use crate::pair_testing::PairTesting;
use crate::summary::CaseValues;
use crate::{Direction, Domain, Summary, Titled, Unit};

/// The values of two reports.
#[derive(Debug)]
pub(super) struct MeasuredPairs<'a> {
    summaries: [(&'a str, &'a Summary); 2],
    values: [CaseValues<'a>; 2],
}

impl<'a> MeasuredPairs<'a> {
    pub(super) fn new<D: Domain>(before: &Titled<'a, D>, after: &Titled<'a, D>) -> Self {
        Self {
            summaries: [before, after].map(|side| (side.title, side.summary)),
            values: [before, after].map(|side| side.report.case_values()),
        }
    }

    /// The change of each measure, without verdicts, and the measures that only one of the reports has.
    pub(super) fn compare(
        &self,
        pairs: &Pairs<'_>,
        clusters: Option<&CaseClusters<'_>>,
        testing: &PairTesting,
    ) -> (Vec<Judged>, [Vec<String>; 2]) {
        let [_, (_, after)] = self.summaries;
        let mut measures: Vec<(Option<usize>, Judged)> = Vec::new();
        let mut only: [Vec<String>; 2] = Default::default();
        for unit in [Unit::Score, Unit::PassRate, Unit::Metric] {
            for matched in matched(&self.summaries, |summary| match unit {
                Unit::PassRate => &summary.assertions,
                Unit::Metric => &summary.metrics,
                Unit::Score | Unit::Share | Unit::Seconds => &summary.scores,
            }) {
                let (first, second) = match matched.titles[..] {
                    [Some(first), Some(second)] => (first, second),
                    [first, ..] => {
                        only[usize::from(first.is_none())].push(matched.title);
                        continue;
                    }
                    [] => continue,
                };
                // A recorded metric has no known better direction: the reader decides whether more is better.
                let better = match unit {
                    Unit::Metric => Direction::Unknown,
                    _ => matched.better,
                };
                let sides = [
                    self.values[0].of(unit, first),
                    self.values[1].of(unit, second),
                ];
                let change =
                    MeasureChange::of(matched.title, unit, better, sides, pairs, clusters, testing);
                let change = change.titled(matched.mean_title.filter(|_| unit == Unit::Score));
                measures.push((after.place(second), change));
            }
        }
        // Recorded metrics have no evaluator, so they come last.
        measures.sort_by_key(|(place, _)| place.unwrap_or(usize::MAX));
        let measures = measures.into_iter().map(|(_, judged)| judged).collect();
        (measures, only)
    }
}
