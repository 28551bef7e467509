//! The change of each measure in each group of cases.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::measure::{Judged, MeasureChange, judge};
use super::measured_pairs::MeasuredPairs;
use super::pairs::Pairs;
use super::{Change, Titled};
use crate::clusters::CaseClusters;
use crate::groups::members;
use crate::{CaseId, Domain, GroupError};

/// The change of each measure in each group of cases.
///
/// The p values of all groups and measures are corrected together: some group among many changes by chance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangedGroups {
    /// The key of the metadata that the groups share a value of.
    pub key: String,
    /// How many p values were corrected together.
    #[serde(default)]
    pub tests: usize,
    /// The groups, the one with the most pairs first; equally large ones by name.
    pub groups: Vec<ChangedGroup>,
}

/// The pairs of cases with one value of the metadata.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangedGroup {
    /// The value as a text; [`NO_GROUP`](crate::NO_GROUP) for cases without one.
    pub name: String,
    /// The number of pairs.
    pub pairs: usize,
    /// The measures, as in [`Change::measures`].
    pub measures: Vec<MeasureChange>,
}

impl Change {
    /// Adds the change of each group of pairs, for each of the `keys` of their metadata, which is the same on both sides of a pair.
    /// `wanted` chooses the measures to show, as in [`Change::between`].
    ///
    /// # Errors
    ///
    /// No case of the second report has metadata with one of the keys.
    pub fn grouped<D: Domain>(
        mut self,
        before: &Titled<'_, D>,
        after: &Titled<'_, D>,
        keys: &[String],
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Self, GroupError> {
        if keys.is_empty() {
            return Ok(self);
        }
        let pairs = Pairs::of(before.report, after.report);
        let measured = MeasuredPairs::new(before, after);
        let (_, clusters) = CaseClusters::of_any([after.report, before.report]);
        for key in keys {
            let members = members(after.report, key)?;
            let mut sizes: Vec<(String, Pairs<'_>)> = members
                .into_iter()
                .map(|(name, ids): (String, BTreeSet<&CaseId>)| (name, pairs.among(&ids)))
                .filter(|(_, pairs)| pairs.count() > 0)
                .collect();
            sizes.sort_by_key(|(_, pairs)| std::cmp::Reverse(pairs.count()));
            let mut all: Vec<Judged> = Vec::new();
            let mut groups: Vec<(String, usize, usize)> = Vec::new();
            for (name, pairs) in sizes {
                let (measures, _) = measured.compare(&pairs, clusters.as_ref(), &self.test);
                groups.push((name, pairs.count(), measures.len()));
                all.extend(measures);
            }
            let (tests, judged) = judge(all, None, &self.test);
            let mut rest = judged.into_iter();
            let groups = groups.into_iter().map(|(name, pairs, count)| ChangedGroup {
                name,
                pairs,
                measures: {
                    let own = rest.by_ref().take(count);
                    own.filter(|it| wanted(&it.measure)).collect()
                },
            });
            self.groups.push(ChangedGroups {
                key: key.clone(),
                tests,
                groups: groups.collect(),
            });
        }
        Ok(self)
    }
}
