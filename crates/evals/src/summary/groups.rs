//! The measures of a report in each group of its cases.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use evals_metrics::{Bootstrap, Mean};
use serde::{Deserialize, Serialize};

use super::{Averaging, LabelShares, Summary};
use crate::clusters::CaseClusters;
use crate::groups::{GroupError, members};
use crate::{CaseId, Domain, Report, Unit};

/// The measures of a report in each group of its cases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Groups {
    /// The key of the metadata that the groups share a value of.
    pub key: String,
    /// The groups, the one with the most cases first; equally large ones by name.
    pub groups: Vec<Group>,
}

/// The cases with one value of the metadata.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// The value as a text; [`NO_GROUP`](crate::NO_GROUP) for cases without one.
    pub name: String,
    /// The number of cases.
    pub cases: usize,
    /// The means of the scores, the pass rates and the means of the metrics, in the order of the summary.
    pub means: Vec<GroupMean>,
    /// How often each label was given, in the order of the summary.
    #[serde(
        default,
        with = "crate::json::in_order",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub labels: Vec<(String, LabelShares)>,
}

/// A measure's mean in one group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupMean {
    /// Name of the measure.
    pub measure: String,
    /// The name of its mean in tables, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_title: Option<String>,
    /// The unit of its numbers.
    pub unit: Unit,
    /// The mean over the group's cases, with its interval and what it excludes.
    pub mean: Mean,
}

impl Summary {
    /// Adds the measures of each group of cases, for each of the `keys` of their metadata or for a [fact](Domain::group_facts).
    ///
    /// # Errors
    ///
    /// No case has metadata or a fact with one of the keys.
    pub fn grouped<D: Domain>(
        mut self,
        report: &Report<D>,
        keys: &[String],
        bootstrap: &Bootstrap,
    ) -> Result<Self, GroupError> {
        for key in keys {
            let groups = groups(&self, report, key, bootstrap)?;
            self.groups.push(groups);
        }
        Ok(self)
    }
}

fn groups<D: Domain>(
    summary: &Summary,
    report: &Report<D>,
    key: &str,
    bootstrap: &Bootstrap,
) -> Result<Groups, GroupError> {
    let members = members(report, key)?;
    let values = report.case_values();
    let case_labels = report.case_labels();
    let titles = titles(summary);
    let clusters = CaseClusters::of(report);
    let averaging = Averaging {
        bootstrap,
        clusters: clusters.as_ref(),
    };
    let group = |(name, ids): (String, BTreeSet<&CaseId>)| {
        let mean = |(unit, title): &(Unit, &String)| {
            let values = values.of(*unit, title);
            // By the group's cases, of which all groups together have as many as the report.
            let own = ids.iter().filter_map(|id| Some((*id, *values.get(*id)?)));
            let mean = averaging.mean(own, unit.scale());
            let shown = summary.mean_title(title);
            GroupMean {
                measure: (*title).clone(),
                mean_title: (*unit == Unit::Score && shown != title.as_str())
                    .then(|| shown.to_owned()),
                unit: *unit,
                mean,
            }
        };
        let labels = |(title, _): &(String, LabelShares)| {
            let labels = case_labels.get(title);
            let own = ids.iter().filter_map(|id| labels?.get(*id));
            (title.clone(), LabelShares::over(own))
        };
        Group {
            name,
            cases: ids.len(),
            means: titles.iter().map(mean).collect(),
            labels: summary.labels.iter().map(labels).collect(),
        }
    };
    let mut groups: Vec<Group> = members.into_iter().map(group).collect();
    groups.sort_by_key(|group| Reverse(group.cases));
    Ok(Groups {
        key: key.to_owned(),
        groups,
    })
}

/// Scores and pass rates in the order of the run, then metrics.
fn titles(summary: &Summary) -> Vec<(Unit, &String)> {
    fn of(unit: Unit, means: &[(String, Mean)]) -> impl Iterator<Item = (Unit, &String)> {
        means.iter().map(move |(title, _)| (unit, title))
    }
    let scores = of(Unit::Score, &summary.scores);
    let mut titles: Vec<_> = scores
        .chain(of(Unit::PassRate, &summary.assertions))
        .collect();
    titles.sort_by_key(|(_, title)| summary.place(title).unwrap_or(usize::MAX));
    titles.extend(of(Unit::Metric, &summary.metrics));
    titles
}
