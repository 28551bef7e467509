//! Pairs the cases of a run with those of its baseline.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::error::GateError;
use super::extremes::Extremes;
use super::rule::Subject;
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
    /// The number of each case's cluster: those of the run, or else of the baseline. `None` if cases do not come in clusters.
    clusters: Option<BTreeMap<&'s CaseId, usize>>,
}

/// The values of pairs of cases.
#[derive(Debug, Default)]
pub(super) struct Values {
    pub(super) pairs: Vec<(f64, f64)>,
    /// The number of each pair's cluster, if cases come in clusters.
    pub(super) clusters: Option<Vec<usize>>,
}

/// The values of one measure in the pairs.
#[derive(Debug, Default)]
pub(super) struct PairedValues {
    /// The values of cases that have one in both runs.
    pub(super) both: Values,
    pub(super) unpaired: Unpaired,
    /// The same with the unpaired cases, which count against the run: a lost value as the worst one, and a value that the baseline failed to
    /// get as the best one. `None` without such cases.
    pub(super) counted: Option<Values>,
}

/// How many cases have a value in one run only.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unpaired {
    /// In the baseline only.
    pub(super) only_before: usize,
    /// In the run only, because the case failed in the baseline.
    pub(super) only_after: usize,
}

impl Values {
    /// No values, of cases that come in clusters or do not.
    pub(super) fn new(in_clusters: bool) -> Self {
        Self {
            pairs: Vec::new(),
            clusters: in_clusters.then(Vec::new),
        }
    }

    /// Adds the values of a case with the number of its cluster.
    pub(super) fn push(&mut self, pair: (f64, f64), cluster: Option<usize>) {
        self.pairs.push(pair);
        if let Some(clusters) = &mut self.clusters {
            clusters.push(cluster.unwrap_or(usize::MAX));
        }
    }
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
        let clusters = after.cluster_numbers();
        let mut pairing = Self {
            clusters: clusters.or_else(|| before.cluster_numbers()),
            ..Self::default()
        };
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
        let mut found = PairedValues {
            both: Values::new(self.clusters.is_some()),
            ..PairedValues::default()
        };
        let mut counted = Values::new(self.clusters.is_some());
        for (one, other) in &self.pairs {
            let [before, after] = [(one, old), (other, new)].map(|(case, place)| {
                let value = case.values.get(place);
                value.copied().unwrap_or(CaseValue::DoesNotApply)
            });
            let clusters = self.clusters.as_ref();
            let cluster = clusters.and_then(|numbers| numbers.get(&one.id).copied());
            match (before.number(), after.number()) {
                (Some(before), Some(after)) => {
                    found.both.push((before, after), cluster);
                    counted.push((before, after), cluster);
                }
                (Some(before), None) => {
                    found.unpaired.only_before += 1;
                    counted.push((before, extremes.worst(better)), cluster);
                }
                (None, Some(after)) if before.has_failed() => {
                    found.unpaired.only_after += 1;
                    counted.push((extremes.best(better), after), cluster);
                }
                (None, _) => {}
            }
        }
        let is_more = counted.pairs.len() > found.both.pairs.len();
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
