//! The effect of a change: two reports of the same cases, compared case by case.

mod groups;
mod measure;
mod pairs;

use std::collections::BTreeSet;

use evals_metrics::{PairedDifference, PairedTest};
use serde::{Deserialize, Serialize};

pub use groups::{ChangedGroup, ChangedGroups};
pub use measure::{CaseChange, MeasureChange};
pub use pairs::{CasePart, ChangedCase};

use crate::clusters::CaseClusters;
use crate::measured::{Compared, Titled, UntestedMeasure, measured, tested};
use crate::pair_testing::PairTesting;
use crate::{ByPeople, CaseId, ComparedReport, Domain, SchemaVersion};
pub(crate) use pairs::Pairs;

/// Compares two reports of the same cases: how each measure changed, and whether chance alone explains the change.
///
/// Two cases are a pair when id, input, expected output and metadata are the same: an edited question says nothing about the
/// systems under comparison. The value of a case is the mean over its repetitions. Cases that have a value in only one
/// report, because they failed or did not run in the other, are dropped from both sides and counted. Both means are
/// therefore over the same cases. [`PairedTest`] gives the interval and the p value of a difference. The first measure with a known better
/// direction is the headline, which is tested at the full level. Holm's method corrects the p values of all other such measures together: among
/// many measures, some p value falls below 0.05 by chance far more often than one time in twenty. Neither depends on the measures that are
/// shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Version of this document's JSON schema, shared with [`Report`](crate::Report).
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
    pub test: PairTesting,
    /// The measure that is tested first, at the full level: the first one with a known better direction. Its p value is not corrected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headline: Option<String>,
    /// How many p values of other measures were corrected together, also of measures that are not shown.
    #[serde(default)]
    pub tests: usize,
    /// The measures that both reports have: those of evaluators in the order of the second report, then recorded metrics.
    pub measures: Vec<MeasureChange>,
    /// The changes of judges' measures, corrected by labels of people, as far as the caller knows them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_people: Vec<ByPeople>,
    /// The measures in each group of cases, if asked for: see [`grouped`](Self::grouped).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<ChangedGroups>,
}

/// The tests of these differences in print, each once, such as `paired t test, Tango's score test`.
pub fn test_names<'d>(tested: impl IntoIterator<Item = &'d PairedDifference>) -> String {
    let mut names: Vec<String> = Vec::new();
    for method in tested.into_iter().filter_map(|it| it.method) {
        let name = method.to_string();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

/// The changes of measures of two reports, with the p values of all but the headline corrected together: how many these are comes first.
fn tested_measures<'r>(
    measured: impl Iterator<Item = UntestedMeasure<'r>>,
    headline: Option<usize>,
    testing: &PairTesting,
) -> (usize, Vec<MeasureChange>) {
    let measured: Vec<UntestedMeasure<'_>> = measured.collect();
    let ([_, tests], outcomes) = tested(&measured, |place| headline == Some(place), testing);
    let measures = measured.into_iter().zip(outcomes);
    let measures = measures.map(|(measured, outcomes)| {
        let outcome = outcomes.into_iter().next();
        MeasureChange::of(measured, outcome)
    });
    (tests, measures.collect())
}

impl Change {
    /// Compares two reports of one kind, the earlier one first, and shows the measures whose titles are `wanted`.
    pub fn between<D: Domain>(
        sides: &[Titled<'_, D>; 2],
        test: PairedTest,
        wanted: impl Fn(&str) -> bool,
    ) -> Self {
        Self::by(sides, PairTesting::by(test), wanted)
    }

    /// The same with another test or another correction. Cases come in the clusters of the second report, or else of the first.
    pub fn by<D: Domain>(
        sides: &[Titled<'_, D>; 2],
        mut test: PairTesting,
        wanted: impl Fn(&str) -> bool,
    ) -> Self {
        let [before, after] = sides;
        let (key, clusters) = CaseClusters::of_any([after.report, before.report]);
        test.cluster = key;
        let pairs = Pairs::of(before.report, after.report);
        let same: BTreeSet<&CaseId> = pairs.same().collect();
        let (measured, alone) = measured(sides, &same, clusters.as_ref(), Compared::Change);
        let place = UntestedMeasure::headline(&measured);
        let headline = place.map(|place| measured[place].measure.clone());
        let (tests, mut measures) = tested_measures(measured.into_iter(), place, &test);
        measures.retain(|it| wanted(&it.measure));
        let cases = [before.report, after.report].map(pairs::cases);
        for measure in &mut measures {
            let listed = measure.worst.iter_mut().chain(&mut measure.best);
            listed.for_each(|case| case.tell(&cases));
        }
        let only = |side: usize| {
            let own = alone.iter().filter(|(report, _)| *report == side);
            let names = own.map(|(_, name)| name.clone());
            names.filter(|name| wanted(name)).collect()
        };
        Self {
            schema_version: SchemaVersion,
            before: ComparedReport::new(before.title, before.summary),
            after: ComparedReport::new(after.title, after.summary),
            pairs: same.len(),
            only_before: pairs.removed.len(),
            only_after: pairs.added.len(),
            measures_only_before: only(0),
            measures_only_after: only(1),
            removed: pairs.removed,
            added: pairs.added,
            changed: pairs.changed,
            made_by: Vec::new(),
            test,
            headline,
            tests,
            measures,
            by_people: Vec::new(),
            groups: Vec::new(),
        }
    }

    /// The tests of the measures in print, such as `paired t test, Tango's score test`.
    pub fn test_name(&self) -> String {
        let tested = self.measures.iter();
        let tested = tested.filter(|it| it.finding.adjusted_p_value.is_some());
        test_names(tested.filter_map(|it| it.difference.as_ref()))
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
