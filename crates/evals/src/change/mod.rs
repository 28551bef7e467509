//! The effect of a change: two reports of the same cases, compared case by case.

mod measure;
mod pairs;

use evals_metrics::PairedTest;
use serde::{Deserialize, Serialize};

pub use measure::{CaseChange, MeasureChange, Verdict};
pub use pairs::{CasePart, ChangedCase};

use crate::comparison::matched;
use crate::{CaseId, ComparedReport, Direction, Domain, Report, SchemaVersion, Summary, Unit};
pub(crate) use pairs::Pairs;

/// Compares two reports of the same cases: how each measure changed, and whether chance alone explains the change.
///
/// Two cases are a pair when id, input, expected output and metadata are the same: an edited question says nothing about the
/// systems under comparison. The value of a case is the mean over its repetitions. Cases that have a value in only one
/// report, because they failed or did not run in the other, are dropped from both sides and counted. Both means are
/// therefore over the same cases. A difference is tested by swapping sides within cases ([`PairedTest`]). Holm's method
/// corrects the p values of all measures with a known better direction together: among many measures, some p value falls
/// below 0.05 by chance far more often than one time in twenty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Version of this document's JSON schema, shared with [`Report`].
    pub schema_version: SchemaVersion,
    /// The report before the change.
    pub before: ComparedReport,
    /// The report after the change.
    pub after: ComparedReport,
    /// The number of pairs.
    #[serde(default)]
    pub pairs: usize,
    /// Cases of the first report that the second does not have.
    pub only_before: usize,
    /// Cases of the second report that the first does not have.
    pub only_after: usize,
    /// Cases that only the first report has, by id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<CaseId>,
    /// Cases that only the second report has, by id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<CaseId>,
    /// Cases with the same id in both reports but different content, which are therefore not paired.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<ChangedCase>,
    /// Measures of the first report that the second does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measures_only_before: Vec<String>,
    /// Measures of the second report that the first does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measures_only_after: Vec<String>,
    /// The differences between the two runs, as far as the caller knows them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made_by: Vec<String>,
    /// How the differences were tested.
    pub test: PairedTest,
    /// The measures that both reports have: those of evaluators in the order of the second report, then recorded metrics.
    pub measures: Vec<MeasureChange>,
}

/// A report and its summary under a title.
#[derive(Debug)]
pub struct Titled<'r, D: Domain> {
    /// The report's title.
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
                // A recorded metric has no known better direction: the reader decides whether more is better.
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
        // Recorded metrics have no evaluator, so they come last.
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

    /// Sets the differences between the two runs.
    #[must_use]
    pub fn made_by(self, differences: Vec<String>) -> Self {
        Self {
            made_by: differences,
            ..self
        }
    }
}
