//! The means of several reports in each group of cases.

use std::collections::{BTreeMap, BTreeSet};

use evals_metrics::{Bootstrap, Interval, mean_interval};
use serde::{Deserialize, Serialize};

use super::measure::{Measured, mean};
use crate::{CaseId, Unit};

/// The means of several reports in each group of cases. They are not tested: among many groups, some difference is always large.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankedGroups {
    /// The key of the metadata, or the fact, that the groups share a value of.
    pub key: String,
    /// The groups, the one with the most shared cases first; equally large ones by name.
    pub groups: Vec<RankedGroup>,
}

/// The shared cases with one value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankedGroup {
    /// The value as a text; [`NO_GROUP`](crate::NO_GROUP) for cases without one.
    pub name: String,
    /// The number of cases that all reports share.
    pub cases: usize,
    /// The measures, as in [`Standings::measures`](crate::Standings::measures).
    pub measures: Vec<GroupStandings>,
}

/// One measure of several reports in one group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupStandings {
    /// Name of the measure.
    pub measure: String,
    /// The name of its mean in tables, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_title: Option<String>,
    /// The unit of its numbers.
    pub unit: Unit,
    /// The number of cases that have a value in every report that has the measure.
    pub n: usize,
    /// The mean and its interval for each report that has the measure, by the report's position.
    pub means: Vec<GroupValue>,
}

/// The mean of one report in one group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupValue {
    /// The position of the report.
    pub report: usize,
    /// The mean; `None` without cases.
    pub mean: Option<f64>,
    /// Its confidence interval.
    pub interval: Option<Interval>,
}

impl RankedGroups {
    /// The means by the members of each group. Each measure comes with the cases of its values.
    pub(super) fn of(
        key: &str,
        members: BTreeMap<String, BTreeSet<&CaseId>>,
        shared: &BTreeSet<&CaseId>,
        measured: &[(Measured, Vec<&CaseId>)],
        bootstrap: &Bootstrap,
    ) -> Self {
        let mut groups: Vec<RankedGroup> = members
            .into_iter()
            .map(|(name, ids)| RankedGroup {
                name,
                cases: ids.intersection(shared).count(),
                measures: measured
                    .iter()
                    .map(|(measured, cases)| of_group(measured, cases, &ids, bootstrap))
                    .collect(),
            })
            .filter(|group| group.cases > 0)
            .collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.cases));
        Self {
            key: key.to_owned(),
            groups,
        }
    }
}

fn of_group(
    measured: &Measured,
    cases: &[&CaseId],
    ids: &BTreeSet<&CaseId>,
    bootstrap: &Bootstrap,
) -> GroupStandings {
    let all = measured.reports.iter().zip(&measured.values);
    let places: Vec<usize> = (0..cases.len())
        .filter(|place| ids.contains(cases[*place]))
        .collect();
    let clusters = measured.clusters.as_ref();
    let clusters: Option<Vec<usize>> =
        clusters.map(|all| places.iter().map(|place| all[*place]).collect());
    GroupStandings {
        measure: measured.measure.clone(),
        mean_title: measured.mean_title.clone(),
        unit: measured.unit,
        n: places.len(),
        means: all
            .map(|(report, values)| {
                let values: Vec<f64> = places.iter().map(|place| values[*place]).collect();
                GroupValue {
                    report: *report,
                    mean: mean(&values),
                    interval: mean_interval(
                        &values,
                        clusters.as_deref(),
                        measured.scale(),
                        bootstrap,
                    )
                    .ok(),
                }
            })
            .collect(),
    }
}

impl GroupStandings {
    /// The name of the measure's mean in tables.
    pub fn title(&self) -> &str {
        self.mean_title.as_deref().unwrap_or(&self.measure)
    }
}
