//! The cases that all of several reports have.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::change::Pairs;
use crate::{CaseId, ChangedCase, Domain, Titled};

/// The cases of one report that are not compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Unshared {
    /// Cases that another report has and this one does not, by id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<CaseId>,
    /// Cases whose content differs from that in the first report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<ChangedCase>,
}

impl Unshared {
    /// The cases that every report has with the same content, and for each report the others. There has to be a report.
    pub(super) fn beside_shared<'r, D: Domain>(
        reports: &[Titled<'r, D>],
    ) -> (BTreeSet<&'r CaseId>, Vec<Self>) {
        let ids = |titled: &Titled<'r, D>| -> BTreeSet<&'r CaseId> {
            titled.report.cases.iter().map(|case| &case.id).collect()
        };
        let of_each: Vec<BTreeSet<&CaseId>> = reports.iter().map(ids).collect();
        let all: BTreeSet<&CaseId> = of_each.iter().flatten().copied().collect();
        let mut cases = of_each[0].clone();
        let mut unshared = Vec::new();
        for (titled, own) in reports.iter().zip(&of_each) {
            let pairs = Pairs::of(reports[0].report, titled.report);
            cases.retain(|id| pairs.has(id));
            let missing = all.difference(own);
            unshared.push(Self {
                missing: missing.map(|id| (*id).clone()).collect(),
                changed: pairs.changed,
            });
        }
        (cases, unshared)
    }
}
