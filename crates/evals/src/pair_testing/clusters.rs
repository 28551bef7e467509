//! The clusters that cases come in.

use std::collections::BTreeMap;

use crate::groups::members;
use crate::{CaseId, Domain, GroupError, Report};

/// The number of each case's cluster.
#[derive(Debug)]
pub(crate) struct CaseClusters<'r>(BTreeMap<&'r CaseId, usize>);

impl<'r> CaseClusters<'r> {
    /// The clusters by a key of the cases' metadata, or by a fact; `None` without a key. A case without a value forms a cluster alone.
    pub(crate) fn of<D: Domain>(
        report: &'r Report<D>,
        key: Option<&str>,
    ) -> Result<Option<Self>, GroupError> {
        let Some(key) = key else { return Ok(None) };
        let mut clusters = BTreeMap::new();
        let mut next = 0;
        for (name, ids) in members(report, key)? {
            for id in ids {
                clusters.insert(id, next);
                if name == crate::NO_GROUP {
                    next += 1;
                }
            }
            next += 1;
        }
        Ok(Some(Self(clusters)))
    }

    /// The clusters of these cases, which the report has.
    pub(crate) fn among<'i>(&self, ids: impl IntoIterator<Item = &'i CaseId>) -> Vec<usize> {
        let ids = ids.into_iter();
        ids.map(|id| self.0.get(id).copied().unwrap_or(usize::MAX))
            .collect()
    }
}
