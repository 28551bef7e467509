//! The cases of a report by their ids, repetitions together, and their order on a page: worst first.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use evals::{CaseId, CaseReport, Direction, Domain, MeasureValues, Report};
use evals_rag::Question;

/// The repetitions of each case.
#[derive(Debug)]
pub(super) struct Cases<'r, D: Domain> {
    repetitions: BTreeMap<&'r CaseId, &'r [CaseReport<D>]>,
    /// The ids in the order of the report.
    ids: Vec<&'r CaseId>,
    /// The turns of each conversation, in their order: numbers and ids.
    conversations: BTreeMap<String, Vec<(u64, String)>>,
}

impl<'r, D: Domain> Cases<'r, D> {
    pub(super) fn of(report: &'r Report<D>) -> Self {
        // Repetitions of a case follow each other.
        let chunks = report.cases.chunk_by(|left, right| left.id == right.id);
        let chunks: Vec<_> = chunks.map(|chunk| (&chunk[0].id, chunk)).collect();
        let mut conversations = BTreeMap::<String, Vec<(u64, String)>>::new();
        for (id, chunk) in &chunks {
            if let Some((conversation, turn)) = place(&chunk[0]) {
                let turns = conversations.entry(conversation).or_default();
                turns.push((turn, id.to_string()));
            }
        }
        for turns in conversations.values_mut() {
            turns.sort();
        }
        Self {
            conversations,
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

    /// The turns of the conversation of a case, if the report has several.
    pub(super) fn turns(&self, id: &CaseId) -> Vec<(u64, String)> {
        let place = self.of_id(id).first().and_then(place);
        let turns = place.and_then(|(conversation, _)| self.conversations.get(&conversation));
        turns.filter(|it| it.len() > 1).cloned().unwrap_or_default()
    }
}

/// The conversation of a case, and the number of its turn.
fn place<D: Domain>(case: &CaseReport<D>) -> Option<(String, u64)> {
    let keys = case.group_keys();
    let (conversation, turn) = Question::place(&keys)?;
    Some((conversation.to_owned(), turn))
}

/// The ids of all cases, worst first: those that failed, then by the measures in their order, each from its worse end. A case without a
/// value comes after those with one. Cases that are equal in all of this keep the order of the report.
pub(super) fn worst_first<'r, D: Domain>(
    cases: &Cases<'r, D>,
    measures: &[MeasureValues<'r>],
) -> Vec<&'r CaseId> {
    let judged: Vec<(f64, &MeasureValues<'r>)> = measures
        .iter()
        .filter_map(|measure| match measure.better {
            Direction::Higher => Some((1.0, measure)),
            Direction::Lower => Some((-1.0, measure)),
            Direction::Unknown => None,
        })
        .collect();
    let mut ids: Vec<_> = cases
        .ids()
        .iter()
        .map(|id| (class(cases, id), values(&judged, id), *id))
        .collect();
    ids.sort_by(|left, right| {
        let by_class = left.0.cmp(&right.0);
        by_class.then_with(|| compared(&left.1, &right.1))
    });
    ids.into_iter().map(|(_, _, id)| id).collect()
}

/// 0 if a task failed, 1 if an evaluator failed, else 2.
fn class<D: Domain>(cases: &Cases<'_, D>, id: &CaseId) -> u8 {
    let repetitions = cases.of_id(id);
    if repetitions.iter().any(|it| it.result.failure().is_some()) {
        0
    } else if repetitions
        .iter()
        .any(|it| !it.evaluator_failures.is_empty())
    {
        1
    } else {
        2
    }
}

/// The values of a case, turned so that higher is better.
fn values(judged: &[(f64, &MeasureValues<'_>)], id: &CaseId) -> Vec<Option<f64>> {
    let value = |(sign, measure): &(f64, &MeasureValues<'_>)| match measure.of_cases.get(id) {
        Some(Ok(value)) => Some(sign * value),
        Some(Err(_)) | None => None,
    };
    judged.iter().map(value).collect()
}

fn compared(left: &[Option<f64>], right: &[Option<f64>]) -> Ordering {
    let pairs = left.iter().zip(right).map(|pair| match pair {
        (Some(left), Some(right)) => left.total_cmp(right),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    });
    pairs
        .into_iter()
        .find(|it| it.is_ne())
        .unwrap_or(Ordering::Equal)
}
