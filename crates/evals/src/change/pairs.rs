//! Pairs the cases of two reports.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CaseId, CaseReport, Domain, Report};

/// The cases of two reports: common, removed and added.
#[derive(Debug, Default)]
pub(crate) struct Pairs<'a> {
    /// Cases of both reports, with whether their content is the same.
    common: BTreeMap<&'a CaseId, bool>,
    pub(crate) changed: Vec<ChangedCase>,
    pub(super) removed: Vec<CaseId>,
    pub(super) added: Vec<CaseId>,
}

/// A case whose content differs between the two reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedCase {
    /// The case.
    pub id: CaseId,
    /// The parts that differ.
    pub parts: Vec<CasePart>,
}

/// A part of a case's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CasePart {
    /// The task's input.
    Input,
    /// The reference that an output is compared with.
    Expected,
    /// Further facts about the case.
    Metadata,
}

impl CasePart {
    /// The part's name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Expected => "expected output",
            Self::Metadata => "metadata",
        }
    }
}

impl<'a> Pairs<'a> {
    pub(crate) fn of<D: Domain>(before: &'a Report<D>, after: &'a Report<D>) -> Self {
        let [first, second] = [before, after].map(cases);
        let mut pairs = Self::default();
        for (id, case) in &first {
            let Some(other) = second.get(id) else {
                pairs.removed.push((*id).clone());
                continue;
            };
            let parts = differing(case, other);
            pairs.common.insert(id, parts.is_empty());
            if !parts.is_empty() {
                let id = (*id).clone();
                pairs.changed.push(ChangedCase { id, parts });
            }
        }
        let added = second.keys().filter(|id| !first.contains_key(*id));
        pairs.added = added.map(|id| (*id).clone()).collect();
        pairs
    }

    /// Whether both reports have the case, with the same content.
    pub(crate) fn has(&self, id: &CaseId) -> bool {
        self.common.get(id).copied().unwrap_or_default()
    }

    /// The cases that both reports have with the same content, in their order.
    pub(crate) fn same(&self) -> impl Iterator<Item = &'a CaseId> {
        let same = self.common.iter().filter(|(_, is_same)| **is_same);
        same.map(|(id, _)| *id)
    }
}

/// The cases of a report, without their repetitions.
pub(super) fn cases<D: Domain>(report: &Report<D>) -> BTreeMap<&CaseId, &CaseReport<D>> {
    report.cases.iter().map(|case| (&case.id, case)).collect()
}

/// The parts in which two cases with one id differ.
fn differing<D: Domain>(before: &CaseReport<D>, after: &CaseReport<D>) -> Vec<CasePart> {
    let content = |case: &CaseReport<D>| {
        // A value that JSON cannot hold is never in a stored report.
        [
            (CasePart::Input, serde_json::to_value(&case.input)),
            (CasePart::Expected, serde_json::to_value(&case.expected)),
            (CasePart::Metadata, serde_json::to_value(&case.metadata)),
        ]
        .map(|(part, value)| (part, value.unwrap_or(Value::Null)))
    };
    let pairs = content(before).into_iter().zip(content(after));
    pairs
        .filter(|((_, before), (_, after))| before != after)
        .map(|((part, _), _)| part)
        .collect()
}
