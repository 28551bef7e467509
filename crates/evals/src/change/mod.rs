//! What a change did: two reports of the same cases, case by case.

mod measure;
mod pairs;

use evals_metrics::PairedTest;
use serde::{Deserialize, Serialize};

pub use measure::{CaseChange, MeasureChange, Verdict};
pub use pairs::{CasePart, ChangedCase};

use crate::comparison::matched;
use crate::{CaseId, ComparedReport, Direction, Domain, Report, SchemaVersion, Summary, Unit};
use pairs::Pairs;

/// Two reports of the same cases: what became of each measure, and whether that is more than chance.
///
/// Two cases are a pair where id, input, expected output and metadata are the same: a question that was changed between the
/// reports says nothing about what is compared. The value of a case is the mean over its repetitions. Cases that have a value in
/// one report alone, because they were not run or failed in the other, are left out of both sides and counted, so that both
/// means are over the same cases. A difference is tested by swapping sides within cases ([`PairedTest`]). The p values of all measures whose
/// better end is known are corrected together by Holm's method: of many measures, one is below 0.05 by chance alone far more
/// often than that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Version of this document's JSON shape; it counts with that of [`Report`].
    pub schema_version: SchemaVersion,
    /// The report that is changed from.
    pub before: ComparedReport,
    /// The report that is changed to.
    pub after: ComparedReport,
    /// How many cases are pairs.
    #[serde(default)]
    pub pairs: usize,
    /// Cases of the first report that the second does not have.
    pub only_before: usize,
    /// Cases of the second report that the first does not have.
    pub only_after: usize,
    /// Which cases the first report alone has, in the order of their ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<CaseId>,
    /// Which cases the second report alone has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<CaseId>,
    /// Cases of both reports that are no pair, because they ask or expect something else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<ChangedCase>,
    /// Measures of the first report that the second does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measures_only_before: Vec<String>,
    /// Measures of the second report that the first does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measures_only_after: Vec<String>,
    /// What tells the two apart, as far as whoever compares them knows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made_by: Vec<String>,
    /// How the differences were tested.
    pub test: PairedTest,
    /// What evaluators said, in the order of the second report, then recorded numbers; of measures that both reports have.
    pub measures: Vec<MeasureChange>,
}

/// A report and its summary under a title.
#[derive(Debug)]
pub struct Titled<'r, D: Domain> {
    /// What the report is called.
    pub title: &'r str,
    /// The report.
    pub report: &'r Report<D>,
    /// Its summary.
    pub summary: &'r Summary,
}

impl Change {
    /// Compares two reports of one kind by the measures whose titles are `wanted`.
    pub fn between<D: Domain>(
        before: &Titled<'_, D>,
        after: &Titled<'_, D>,
        test: PairedTest,
        wanted: impl Fn(&str) -> bool,
    ) -> Self {
        let pairs = Pairs::of(before.report, after.report);
        let values = [before, after].map(|side| side.report.case_values());
        let summaries = [before, after].map(|side| (side.title, side.summary));
        let mut measures: Vec<(Option<usize>, MeasureChange)> = Vec::new();
        let mut only: [Vec<String>; 2] = Default::default();
        for unit in [Unit::Score, Unit::PassRate, Unit::Metric] {
            for matched in matched(&summaries, |summary| match unit {
                Unit::PassRate => &summary.assertions,
                Unit::Metric => &summary.metrics,
                Unit::Score | Unit::Share | Unit::Seconds => &summary.scores,
            }) {
                if !wanted(&matched.title) {
                    continue;
                }
                let (first, second) = match matched.titles[..] {
                    [Some(first), Some(second)] => (first, second),
                    [first, ..] => {
                        only[usize::from(first.is_none())].push(matched.title);
                        continue;
                    }
                    [] => continue,
                };
                // A recorded number is no judgement: whether more of it is better is for the reader to say.
                let better = match unit {
                    Unit::Metric => Direction::Unknown,
                    _ => matched.better,
                };
                let sides = [values[0].of(unit, first), values[1].of(unit, second)];
                let change = MeasureChange::of(matched.title, unit, better, sides, &pairs, test);
                let change = MeasureChange {
                    mean_title: matched.mean_title.filter(|_| unit == Unit::Score),
                    ..change
                };
                measures.push((after.summary.place(second), change));
            }
        }
        // A recorded number has no place among what evaluators said.
        measures.sort_by_key(|(place, _)| place.unwrap_or(usize::MAX));
        let mut measures: Vec<_> = measures.into_iter().map(|(_, change)| change).collect();
        measure::judge(&mut measures, test.level);
        let [measures_only_before, measures_only_after] = only;
        Self {
            schema_version: SchemaVersion,
            before: ComparedReport::new(before.title, before.summary),
            after: ComparedReport::new(after.title, after.summary),
            pairs: pairs.count(),
            only_before: pairs.removed.len(),
            only_after: pairs.added.len(),
            removed: pairs.removed,
            added: pairs.added,
            changed: pairs.changed,
            measures_only_before,
            measures_only_after,
            made_by: Vec::new(),
            test,
            measures,
        }
    }

    /// Says what tells the two apart: what was changed.
    #[must_use]
    pub fn made_by(self, differences: Vec<String>) -> Self {
        Self {
            made_by: differences,
            ..self
        }
    }
}
