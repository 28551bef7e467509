//! The change of each measure in each group of cases.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::measure::MeasureChange;
use super::pairs::Pairs;
use super::{Change, tested_measures};
use crate::Titled;
use crate::clusters::CaseClusters;
use crate::groups::members;
use crate::measured::{Compared, UntestedMeasure, measured};
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
        sides: &[Titled<'_, D>; 2],
        keys: &[String],
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Self, GroupError> {
        let [before, after] = sides.each_ref().map(|side| side.report);
        let pairs: BTreeSet<&CaseId> = Pairs::of(before, after).same().collect();
        let (_, clusters) = CaseClusters::of_any([after, before]);
        for key in keys {
            let members = members(after, key)?.into_iter();
            let mut groups: Vec<(String, BTreeSet<&CaseId>)> = members
                .map(|(name, ids)| (name, pairs.intersection(&ids).copied().collect()))
                .filter(|(_, pairs): &(String, BTreeSet<&CaseId>)| !pairs.is_empty())
                .collect();
            groups.sort_by_key(|(_, pairs)| std::cmp::Reverse(pairs.len()));
            let measures = groups
                .iter()
                .map(|(_, pairs)| measured(sides, pairs, clusters.as_ref(), Compared::Change).0);
            let measures: Vec<Vec<UntestedMeasure<'_>>> = measures.collect();
            let counts: Vec<usize> = measures.iter().map(Vec::len).collect();
            // A group has no headline.
            let (tests, all) = tested_measures(measures.into_iter().flatten(), None, &self.test);
            let mut all = all.into_iter();
            let groups = groups.into_iter().zip(counts);
            let groups = groups.map(|((name, pairs), count)| ChangedGroup {
                name,
                pairs: pairs.len(),
                measures: {
                    let own = all.by_ref().take(count);
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
