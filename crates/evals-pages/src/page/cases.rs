//! The cases of a report by their ids, repetitions together.

use std::collections::BTreeMap;

use evals::{CaseId, CaseReport, Domain, Report};

/// The repetitions of each case.
#[derive(Debug)]
pub(super) struct Cases<'r, D: Domain> {
    repetitions: BTreeMap<&'r CaseId, &'r [CaseReport<D>]>,
    /// The ids in the order of the report.
    ids: Vec<&'r CaseId>,
}

impl<'r, D: Domain> Cases<'r, D> {
    pub(super) fn of(report: &'r Report<D>) -> Self {
        // Repetitions of a case follow each other.
        let chunks = report.cases.chunk_by(|left, right| left.id == right.id);
        let chunks: Vec<_> = chunks.map(|chunk| (&chunk[0].id, chunk)).collect();
        Self {
            ids: chunks.iter().map(|(id, _)| *id).collect(),
            repetitions: chunks.into_iter().collect(),
        }
    }

    /// The ids in the order of the report.
    pub(super) fn ids(&self) -> &[&'r CaseId] {
        &self.ids
    }

    /// The repetitions of a case; none if the report does not have it.
    pub(super) fn of_id(&self, id: &CaseId) -> &'r [CaseReport<D>] {
        self.repetitions.get(id).copied().unwrap_or_default()
    }
}
