//! Labels: how often each was given, over all cases and in each.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ratio;
use crate::CaseId;

/// A measure's labels for each case that it applies to.
pub(crate) type Labels<'a> = BTreeMap<&'a CaseId, CaseLabels<'a>>;

/// How often each label was given. Repetitions count one by one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LabelShares {
    /// Each label with its count, in the order of the labels.
    pub counts: BTreeMap<String, usize>,
    /// The sum of the counts.
    pub n: usize,
    /// How many runs of cases have no label, by reason.
    pub excluded: BTreeMap<String, usize>,
}

/// The labels of one case: how often each was given, and why repetitions have none.
#[derive(Clone, Debug, Default)]
pub(crate) struct CaseLabels<'a> {
    pub(super) counts: BTreeMap<&'a str, usize>,
    pub(super) reasons: Vec<&'a str>,
}

impl LabelShares {
    /// The share of a label from 0 to 1, or `None` if no case has a label.
    pub fn share(&self, label: &str) -> Option<f64> {
        ratio(self.counts.get(label).copied().unwrap_or(0), self.n)
    }

    /// Adds up the labels of cases.
    pub(crate) fn over<'c, 'a: 'c>(cases: impl IntoIterator<Item = &'c CaseLabels<'a>>) -> Self {
        let mut shares = Self::default();
        for case in cases {
            for (label, count) in &case.counts {
                *shares.counts.entry((*label).to_owned()).or_default() += count;
                shares.n += count;
            }
            for reason in &case.reasons {
                *shares.excluded.entry((*reason).to_owned()).or_default() += 1;
            }
        }
        shares
    }
}
