//! Pairs the cases of a run with those of its baseline.

use std::cmp::Ordering;

use super::error::GateError;
use super::extremes::Extremes;
use super::subject::Subject;
use crate::snapshot::differing;
use crate::{CaseId, CaseValue, ChangedCase, Direction, Snapshot, SnapshotCase};

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

/// The values of one measure in the pairs.
#[derive(Debug, Default)]
pub(super) struct PairedValues {
    /// The values of cases that have one in both runs.
    pub(super) pairs: Vec<(f64, f64)>,
    pub(super) unpaired: Unpaired,
    /// The same with the unpaired cases, which count against the run: a lost value as the worst one, and a value that the baseline failed to
    /// get as the best one. `None` without such cases.
    pub(super) counted: Option<Vec<(f64, f64)>>,
}

/// How many cases have a value in one run only.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unpaired {
    /// In the baseline only.
    pub(super) only_before: usize,
    /// In the run only, because the case failed in the baseline.
    pub(super) only_after: usize,
}

impl<'s> Pairing<'s> {
    /// Pairs the cases of a run with those of its baseline, if it has one. Fails if there is no pair. `is_allowed` says whether the user allows
    /// another dataset.
    pub(super) fn of_subject(
        subject: &Subject<'s>,
        is_allowed: bool,
    ) -> Result<Option<Self>, GateError> {
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
                is_allowed,
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

    /// The values of one measure in both runs: the baseline's and the run's. The numbers are the measure's positions.
    pub(super) fn values(
        &self,
        [old, new]: [usize; 2],
        extremes: &Extremes,
        better: Direction,
    ) -> PairedValues {
        let mut found = PairedValues::default();
        let mut counted = Vec::new();
        for (one, other) in &self.pairs {
            let [before, after] = [(one, old), (other, new)].map(|(case, place)| {
                let value = case.values.get(place);
                value.copied().unwrap_or(CaseValue::DoesNotApply)
            });
            match (before.number(), after.number()) {
                (Some(before), Some(after)) => {
                    found.pairs.push((before, after));
                    counted.push((before, after));
                }
                (Some(before), None) => {
                    found.unpaired.only_before += 1;
                    counted.push((before, extremes.worst(better)));
                }
                (None, Some(after)) if before.has_failed() => {
                    found.unpaired.only_after += 1;
                    counted.push((extremes.best(better), after));
                }
                (None, _) => {}
            }
        }
        let is_more = counted.len() > found.pairs.len();
        found.counted = is_more.then_some(counted);
        found
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
