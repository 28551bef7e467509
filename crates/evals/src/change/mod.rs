//! The effect of a change: two reports of the same cases, compared case by case.

mod groups;
mod measure;
mod measured_pairs;
mod pairs;

use evals_metrics::{PairedTest, TestMethod};
use serde::{Deserialize, Serialize};

pub use groups::{ChangedGroup, ChangedGroups};
pub use measure::{CaseChange, MeasureChange};
pub use pairs::{CasePart, ChangedCase};

use crate::pair_testing::{CaseClusters, PairTesting};
use crate::{ByPeople, CaseId, ComparedReport, Domain, GroupError, Report, SchemaVersion, Summary};
use measure::judge;
use measured_pairs::MeasuredPairs;
pub(crate) use pairs::Pairs;

/// Compares two reports of the same cases: how each measure changed, and whether chance alone explains the change.
///
/// Two cases are a pair when id, input, expected output and metadata are the same: an edited question says nothing about the
/// systems under comparison. The value of a case is the mean over its repetitions. Cases that have a value in only one
/// report, because they failed or did not run in the other, are dropped from both sides and counted. Both means are
/// therefore over the same cases. A difference is tested by swapping sides within cases ([`PairedTest`]), unless [`PairTesting`] says otherwise. Holm's
/// method corrects the p values of all measures with a known better direction together: among many measures, some p value falls
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
    pub test: PairTesting,
    /// The measures that both reports have: those of evaluators in the order of the second report, then recorded metrics.
    pub measures: Vec<MeasureChange>,
    /// The changes of judges' measures, corrected by labels of people, as far as the caller knows them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_people: Vec<ByPeople>,
    /// The measures in each group of cases, if asked for: see [`grouped`](Self::grouped).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<ChangedGroups>,
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
        Self::tested(before, after, None, PairTesting::by(test), wanted)
    }

    /// The same with another test, another correction, or with cases in clusters.
    ///
    /// # Errors
    ///
    /// No case of the second report has metadata or a fact with the key of the clusters.
    pub fn by<D: Domain>(
        before: &Titled<'_, D>,
        after: &Titled<'_, D>,
        test: PairTesting,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Self, GroupError> {
        let clusters = CaseClusters::of(after.report, test.cluster.as_deref())?;
        Ok(Self::tested(before, after, clusters.as_ref(), test, wanted))
    }

    fn tested<D: Domain>(
        before: &Titled<'_, D>,
        after: &Titled<'_, D>,
        clusters: Option<&CaseClusters<'_>>,
        test: PairTesting,
        wanted: impl Fn(&str) -> bool,
    ) -> Self {
        let pairs = Pairs::of(before.report, after.report);
        let measured = MeasuredPairs::new(before, after);
        let (measures, only) = measured.compare(&pairs, clusters, &test, &wanted);
        let measures = judge(measures, &test);
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
            by_people: Vec::new(),
            groups: Vec::new(),
        }
    }

    /// The test's name in print. For passes and failures the randomization test is McNemar's exact test, and is named so.
    pub fn test_name(&self) -> String {
        let tested = self
            .measures
            .iter()
            .filter(|it| it.finding.adjusted_p_value.is_some());
        let methods: Vec<TestMethod> = tested
            .filter_map(|it| Some(it.difference.as_ref()?.method))
            .collect();
        let of_verdicts = methods
            .iter()
            .filter(|method| **method == TestMethod::ExactMcNemar);
        match of_verdicts.count() {
            0 => self.test.method.name().to_owned(),
            all if all == methods.len() => TestMethod::ExactMcNemar.to_string(),
            _ => format!(
                "{}, for values of 0 and 1 the {}",
                self.test.method.name(),
                TestMethod::ExactMcNemar
            ),
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
