//! Several reports of the same cases: every pair compared, and the reports in groups that cannot be told apart.

mod disagreement;
mod groups;
mod lead;
mod letters;
mod measure;
mod shared;
mod times;

use serde::{Deserialize, Serialize};

pub use disagreement::{Disagreement, Disagreements};
pub use groups::{GroupStandings, GroupValue, RankedGroup, RankedGroups};
pub use lead::Lead;
pub use measure::{RankedMeasure, Standing};
pub use shared::Unshared;
pub use times::{RankedTime, TimePair, TimeStanding};

use crate::clusters::CaseClusters;
use crate::groups::members;
use crate::measured::{COST, Compared, UntestedMeasure, costs, measured, tested};
use crate::{
    CaseId, CaseReport, ComparedReport, Direction, Domain, GroupError, PairTesting, Report,
    SchemaVersion, Titled,
};

/// Several reports of the same cases, each compared with each.
///
/// Only cases count that every report has with the same content, and a measure only counts those that have a value in each report with
/// that measure. All means of a measure are therefore over the same cases. The p values of all pairs of the headline measure are corrected
/// together, and those of all other measures with a known better direction, whether they are shown or not.
///
/// Letters show which reports a test tells apart: two share a letter exactly if the corrected p value of their pair is above the level
/// of significance. This is no proof that they are equal, and it is not transitive: of three reports, the middle one may share a
/// letter with both others, which share none with each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standings {
    /// Version of this document's JSON schema, shared with [`Report`].
    pub schema_version: SchemaVersion,
    /// The reports; other fields name them by their position from 0.
    pub reports: Vec<ComparedReport>,
    /// What differs between the runs apart from their results, as far as the caller knows it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made_by: Vec<String>,
    /// The number of cases that every report has with the same content.
    pub shared: usize,
    /// For each report, the cases that are not compared.
    pub unshared: Vec<Unshared>,
    /// How differences were tested.
    pub test: PairTesting,
    /// The measure that is tested first: the first one with a known better direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headline: Option<String>,
    /// How many p values of this measure were corrected together.
    #[serde(default)]
    pub headline_tests: usize,
    /// How many p values of other measures were corrected together, also of measures that are not shown.
    pub tests: usize,
    /// The measures that at least two reports have, in the order of the first report.
    pub measures: Vec<RankedMeasure>,
    /// Measures that only one report has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measures_of_one: Vec<String>,
    /// The service times of a case; empty unless two reports timed enough cases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<RankedTime>,
    /// The positions of the reports that timed fewer than 20 shared cases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untimed: Vec<usize>,
    /// Where the reports disagree in the first measure with a better direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disagreements: Option<Disagreements>,
    /// The means in each group of cases, if asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<RankedGroups>,
}

/// What a case took and cost, which only its domain knows. Each function gets the position of the report and a case.
#[derive(Clone, Copy)]
pub struct Expenses<'f, D: Domain> {
    /// The service time in seconds; `None` if it was not timed.
    pub seconds: &'f dyn Fn(usize, &CaseReport<D>) -> Option<f64>,
    /// The cost in dollars; `None` if it is unknown.
    pub dollars: &'f dyn Fn(usize, &CaseReport<D>) -> Option<f64>,
}

impl<D: Domain> std::fmt::Debug for Expenses<'_, D> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Expenses")
    }
}

impl Standings {
    /// Compares reports of one kind, and shows the measures whose titles are `wanted`, in groups by the `keys` of the cases' metadata.
    ///
    /// # Errors
    ///
    /// No case has metadata or a fact with one of the keys.
    ///
    /// # Panics
    ///
    /// There is no report.
    pub fn of<D: Domain>(
        reports: &[Titled<'_, D>],
        mut testing: PairTesting,
        wanted: impl Fn(&str) -> bool,
        keys: &[String],
        expenses: &Expenses<'_, D>,
    ) -> Result<Self, GroupError> {
        let (cases, unshared) = Unshared::beside_shared(reports);
        let (key, clusters) = CaseClusters::of_any(reports.iter().map(|it| it.report));
        testing.cluster = key;
        let (mut measured, alone) = measured(reports, &cases, clusters.as_ref(), Compared::Several);
        if !measured.iter().any(|it| it.measure == COST) {
            measured.extend(costs(reports, &cases, clusters.as_ref(), expenses.dollars));
        }
        let headline = UntestedMeasure::headline(&measured);
        let headline = headline.map(|place| measured[place].measure.clone());
        // The measures that are not shown come last.
        measured.sort_by_key(|it| !wanted(&it.measure));
        let shown = measured.iter().filter(|it| wanted(&it.measure)).count();
        let source = reports[0].report;
        let groups = keys.iter().map(|key| {
            let members = members(source, key)?;
            let measured = &measured[..shown];
            Ok(RankedGroups::of(key, members, &cases, measured, &testing))
        });
        let groups = groups.collect::<Result<_, _>>()?;
        let disagreements = disagreements(&measured[..shown], source);
        let sources: Vec<&Report<D>> = reports.iter().map(|it| it.report).collect();
        let (times, untimed) = times::ranked_times(&sources, &cases, &testing, expenses.seconds);
        let is_headline = |place: usize| headline.as_ref() == Some(&measured[place].measure);
        let ([headline_tests, tests], pairs) = tested(&measured, is_headline, &testing);
        let shown = measured.into_iter().zip(pairs).take(shown);
        let measures = shown.map(|(measured, pairs)| measured.ranked(pairs, &testing));
        let measures = measures.collect();
        Ok(Self {
            schema_version: SchemaVersion,
            reports: reports
                .iter()
                .map(|titled| ComparedReport::new(titled.title, titled.summary))
                .collect(),
            made_by: Vec::new(),
            shared: cases.len(),
            unshared,
            test: testing,
            headline,
            headline_tests,
            tests,
            measures,
            measures_of_one: {
                let names = alone.into_iter().map(|(_, name)| name);
                names.filter(|name| wanted(name)).collect()
            },
            times,
            untimed,
            disagreements,
            groups,
        })
    }

    /// The lead of the best report by the main measure, without the pairs of the others. If several reports have the same values in it, a
    /// second lead is that of one of them over the others in the first measure that tells them apart. Empty if no measure has a better
    /// direction and cases. `wanted` chooses measures by their titles.
    ///
    /// # Panics
    ///
    /// There is no report.
    pub fn leads<D: Domain>(
        reports: &[Titled<'_, D>],
        testing: &PairTesting,
        wanted: impl Fn(&str) -> bool,
    ) -> Vec<Lead> {
        let (cases, _) = Unshared::beside_shared(reports);
        let (_, clusters) = CaseClusters::of_any(reports.iter().map(|it| it.report));
        let (measured, _) = measured(reports, &cases, clusters.as_ref(), Compared::Several);
        let measured = measured.iter().filter(|it| wanted(&it.measure));
        let measured: Vec<&UntestedMeasure<'_>> = measured.collect();
        Lead::first(&measured, testing)
    }

    /// Sets what differs between the runs.
    #[must_use]
    pub fn made_by(self, differences: Vec<String>) -> Self {
        Self {
            made_by: differences,
            ..self
        }
    }

    /// The title of the report at a position.
    pub fn title(&self, report: usize) -> &str {
        &self.reports[report].title
    }
}

/// Where the reports disagree in the first measure with a better direction.
fn disagreements<D: Domain>(
    measured: &[UntestedMeasure<'_>],
    source: &Report<D>,
) -> Option<Disagreements> {
    let mut measured = measured.iter();
    let main = measured.find(|it| it.better != Direction::Unknown && !it.cases.is_empty())?;
    let case = |id: &CaseId| source.cases.iter().find(|case| case.id == *id);
    Some(Disagreements::of(main, case))
}
