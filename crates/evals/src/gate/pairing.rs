//! Pairs the cases of a run with those of its baseline.

use std::cmp::Ordering;

use super::error::GateError;
use super::subject::Subject;
use crate::snapshot::differing;
use crate::{CaseId, ChangedCase, Snapshot, SnapshotCase};

/// The cases of a baseline and a run.
#[derive(Debug, Default)]
pub(super) struct Pairing<'s> {
    /// The cases of both, with the same content: the baseline's and the run's.
    pub(super) pairs: Vec<(&'s SnapshotCase, &'s SnapshotCase)>,
    /// Cases of both whose content differs.
    pub(super) changed: Vec<ChangedCase>,
    /// Cases of the baseline that the run does not have.
    pub(super) removed: Vec<&'s CaseId>,
    /// Cases of the run that the baseline does not have.
    pub(super) added: Vec<&'s CaseId>,
}

impl<'s> Pairing<'s> {
    /// Pairs the cases of a run with those of its baseline, if it has one. Fails if there is no pair.
    pub(super) fn of_subject(subject: &Subject<'s>) -> Result<Option<Self>, GateError> {
        let Some(baseline) = subject.baseline else {
            return Ok(None);
        };
        let pairing = Self::of(baseline, subject.run);
        if pairing.pairs.is_empty() {
            return Err(GateError::NothingInCommon {
                run: subject.run.title.clone(),
                baseline: baseline.title.clone(),
                removed: pairing.removed.len(),
                added: pairing.added.len(),
                changed: pairing.changed.len(),
            });
        }
        Ok(Some(pairing))
    }

    /// Pairs the cases by id. Both lists are in the order of the ids.
    fn of(before: &'s Snapshot, after: &'s Snapshot) -> Self {
        let mut pairing = Self::default();
        let (mut old, mut new) = (
            before.cases.iter().peekable(),
            after.cases.iter().peekable(),
        );
        while let (Some(one), Some(other)) = (old.peek().copied(), new.peek().copied()) {
            match one.id.cmp(&other.id) {
                Ordering::Less => {
                    pairing.removed.push(&one.id);
                    old.next();
                }
                Ordering::Greater => {
                    pairing.added.push(&other.id);
                    new.next();
                }
                Ordering::Equal => {
                    pairing.meet(one, other);
                    old.next();
                    new.next();
                }
            }
        }
        pairing.removed.extend(old.map(|case| &case.id));
        pairing.added.extend(new.map(|case| &case.id));
        pairing
    }

    fn meet(&mut self, one: &'s SnapshotCase, other: &'s SnapshotCase) {
        if one.content == other.content {
            self.pairs.push((one, other));
        } else {
            self.changed.push(ChangedCase {
                id: one.id.clone(),
                parts: differing(&one.content, &other.content),
            });
        }
    }

    /// The values of one measure in both, where both have one: the baseline's and the run's. The numbers are the measure's positions.
    pub(super) fn values(&self, [old, new]: [usize; 2]) -> Vec<(f64, f64)> {
        let value = |case: &SnapshotCase, place: usize| case.values.get(place)?.number();
        let pairs = self.pairs.iter();
        pairs
            .filter_map(|(one, other)| Some((value(one, old)?, value(other, new)?)))
            .collect()
    }

    /// How many pairs have a value in the baseline and none in the run.
    pub(super) fn lost(&self, [old, new]: [usize; 2]) -> usize {
        let number = |case: &SnapshotCase, place: usize| {
            case.values.get(place).and_then(|value| value.number())
        };
        let lost = self
            .pairs
            .iter()
            .filter(|(one, other)| number(one, old).is_some() && number(other, new).is_none());
        lost.count()
    }
}
