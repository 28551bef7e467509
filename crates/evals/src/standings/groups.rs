//! The means of several reports in each group of cases.

use std::collections::{BTreeMap, BTreeSet};

use evals_metrics::Interval;
use serde::{Deserialize, Serialize};

use super::lead::{Lead, TestedLead};
use crate::measured::UntestedMeasure;
use crate::{CaseId, PairTesting, Unit};

/// The means of several reports in each group of cases, and the lead of the best. The p values of a measure's leads are corrected together for all
/// groups: among many groups, some difference is always large.
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
    /// The best of these reports against the others. `None` if neither direction is better, or without cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead: Option<Lead>,
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
    /// The means by the members of each group.
    pub(super) fn of(
        key: &str,
        members: BTreeMap<String, BTreeSet<&CaseId>>,
        shared: &BTreeSet<&CaseId>,
        measured: &[UntestedMeasure<'_>],
        testing: &PairTesting,
    ) -> Self {
        let mut members: Vec<(RankedGroup, BTreeSet<&CaseId>)> = members
            .into_iter()
            .map(|(name, ids)| {
                let cases = ids.intersection(shared).count();
                let measures = Vec::new();
                let group = RankedGroup {
                    name,
                    cases,
                    measures,
                };
                (group, ids)
            })
            .filter(|(group, _)| group.cases > 0)
            .collect();
        members.sort_by_key(|(group, _)| std::cmp::Reverse(group.cases));
        for measured in measured {
            let of_groups = members.iter().map(|(_, ids)| {
                let places = (0..measured.n()).filter(|place| ids.contains(measured.cases[*place]));
                measured.among(&places.collect::<Vec<_>>())
            });
            let of_groups: Vec<UntestedMeasure<'_>> = of_groups.collect();
            let leads = of_groups.iter().map(|it| TestedLead::of(it, testing));
            let leads = TestedLead::judged(leads.collect(), testing);
            for (((group, _), measured), lead) in members.iter_mut().zip(&of_groups).zip(leads) {
                group.measures.push(of_group(measured, lead, testing));
            }
        }
        Self {
            key: key.to_owned(),
            groups: members.into_iter().map(|(group, _)| group).collect(),
        }
    }
}

fn of_group(
    measured: &UntestedMeasure<'_>,
    lead: Option<Lead>,
    testing: &PairTesting,
) -> GroupStandings {
    let means = measured.standings(testing).into_iter();
    GroupStandings {
        measure: measured.measure.clone(),
        mean_title: measured.mean_title.clone(),
        unit: measured.unit,
        n: measured.n(),
        means: means
            .map(|standing| GroupValue {
                report: standing.report,
                mean: standing.mean,
                interval: standing.interval,
            })
            .collect(),
        lead,
    }
}

impl GroupStandings {
    /// The name of the measure's mean in tables.
    pub fn title(&self) -> &str {
        self.mean_title.as_deref().unwrap_or(&self.measure)
    }
}
