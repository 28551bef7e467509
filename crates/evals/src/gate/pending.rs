//! Drops whose verdicts wait for the correction of all p values.

use evals_metrics::PairedTest;

use super::drop::Drop;
use super::extremes::Extremes;
use super::limit;
use super::measured::Quantity;
use super::pairing::{Pairing, Unpaired, Values};
use super::power::Sights;
use super::resolve::Resolved;
use super::rule::{Rule, Subject};
use super::verdict::{CheckNumbers, DropCheck, GateCheck, GateVerdict};
use super::{Gate, reasons};
use crate::{Adjustment, Family, SnapshotMeasure};

/// A check whose verdict may wait for the correction of all p values.
pub(super) enum Pending {
    Settled(Box<GateCheck>),
    Drop(Box<PendingDrop>),
}

/// A tested drop.
pub(super) struct PendingDrop {
    measure: SnapshotMeasure,
    tolerance: f64,
    tested: Drop,
    unpaired: Unpaired,
    /// The same where cases with a value in one run only count against the run; `None` without such cases.
    counted: Option<Drop>,
}

/// The drops of a gate as a family of tests, and what its strictest test can see: the least that a drop can count on.
struct Tests {
    family: Family,
    sights: Sights,
}

impl Pending {
    fn settled(check: GateCheck) -> Self {
        Self::Settled(Box::new(check))
    }

    fn drop(&self) -> Option<&PendingDrop> {
        match self {
            Self::Settled(_) => None,
            Self::Drop(drop) => Some(drop),
        }
    }
}

impl Tests {
    fn of<'t>(drops: impl Iterator<Item = &'t Drop>, significance: f64) -> Self {
        let p_values = drops.map(|drop| drop.change.p_value);
        let family = Family::of(p_values, Adjustment::Holm, significance);
        Self {
            sights: Sights::at(family.strictest()),
            family,
        }
    }
}

impl Gate {
    /// The statistics of a rule for one run.
    pub(super) fn begin(
        &self,
        rule: &Rule,
        subject: &Subject<'_>,
        pairing: Option<&Pairing<'_>>,
        resolved: &Resolved<'_>,
    ) -> Pending {
        let Rule::MaxDrop { tolerance, .. } = rule else {
            let quantity = resolved.quantity;
            let check = limit::check(rule, subject, quantity, self.bound, self.level);
            return Pending::settled(check);
        };
        let (Quantity::Measure(place), Some(pairing), Some(baseline)) =
            (resolved.quantity, pairing, subject.baseline)
        else {
            return Pending::settled(reasons::without_value(rule, reasons::GONE));
        };
        let measure = &subject.run.measures[place];
        let old = baseline.measures.iter().position(|old| old.is(measure));
        let Some(old) = old else {
            return Pending::settled(reasons::without_value(rule, reasons::ONLY_NOW));
        };
        let test = self.test();
        let extremes = Extremes::of(measure, subject);
        let tested = |values: &Values| {
            let clusters = values.clusters.as_deref();
            Drop::of(
                &values.pairs,
                clusters,
                measure.better,
                extremes.scale,
                &test,
            )
        };
        let values = pairing.values([old, place], &extremes, measure.better);
        if values.both.pairs.is_empty() {
            return Pending::settled(reasons::without_value(rule, reasons::NO_VALUES));
        }
        let counted = values.counted.as_ref().map(tested);
        let (Some(drop), None | Some(Some(_))) = (tested(&values.both), &counted) else {
            return Pending::settled(reasons::without_value(rule, reasons::OVERFLOW));
        };
        Pending::Drop(Box::new(PendingDrop {
            measure: measure.clone(),
            tolerance: *tolerance,
            tested: drop,
            unpaired: values.unpaired,
            counted: counted.flatten(),
        }))
    }

    /// The test of a drop.
    pub(super) fn test(&self) -> PairedTest {
        PairedTest {
            level: self.level,
            seed: self.seed,
            ..PairedTest::default()
        }
    }

    /// The level of significance of all drops together.
    pub(super) fn significance(&self) -> f64 {
        1.0 - self.level
    }

    /// Corrects all p values together and sets the verdicts. Returns the number of tests too.
    pub(super) fn settle(&self, pending: Vec<Vec<Pending>>) -> (usize, Vec<Vec<GateCheck>>) {
        let drops: Vec<&PendingDrop> = pending.iter().flatten().filter_map(Pending::drop).collect();
        let found = Tests::of(drops.iter().map(|it| &it.tested), self.significance());
        let counted = drops
            .iter()
            .map(|it| it.counted.as_ref().unwrap_or(&it.tested));
        let counted = Tests::of(counted, self.significance());
        let tests = found.family.tests();
        let mut place = 0;
        let mut finish = |check: Pending| match check {
            Pending::Settled(check) => *check,
            Pending::Drop(drop) => {
                place += 1;
                self.finish(&drop, [&found, &counted], place - 1)
            }
        };
        let settled = pending
            .into_iter()
            .map(|checks| checks.into_iter().map(&mut finish).collect());
        (tests, settled.collect())
    }

    fn finish(&self, drop: &PendingDrop, [found, counted]: [&Tests; 2], at: usize) -> GateCheck {
        let (mut verdict, mut reason, evidence) = self.verdict(drop, &drop.tested, found, at);
        if let Some(tested) = &drop.counted {
            let (then, why, _) = self.verdict(drop, tested, counted, at);
            // What failed may have been good as well as bad: it takes a pass away, and does not fail a rule.
            let holds = then <= verdict;
            verdict = verdict.max(then.min(GateVerdict::CannotTell));
            reason = reasons::with_unpaired(&reason, &drop.unpaired, (!holds).then_some(&*why));
        }
        GateCheck {
            name: format!("{} drop <= {}", drop.measure.name(), drop.tolerance),
            verdict,
            reason,
            numbers: CheckNumbers::Drop(evidence),
        }
    }

    /// The verdict on the values of a drop, with the reason and the numbers.
    fn verdict(
        &self,
        pending: &PendingDrop,
        drop: &Drop,
        tests: &Tests,
        at: usize,
    ) -> (GateVerdict, String, DropCheck) {
        let PendingDrop {
            measure, tolerance, ..
        } = pending;
        let adjusted = tests.family.adjusted()[at];
        let is_significant = adjusted.is_some_and(|p_value| p_value <= self.significance());
        let sight = tests.sights.of(&drop.sensitivity);
        let (verdict, reason) = drop.verdict(self.strictness, *tolerance, is_significant, || sight);
        let change = &drop.change;
        let evidence = DropCheck {
            measure: measure.name().to_owned(),
            unit: measure.unit,
            better: measure.better,
            tolerance: *tolerance,
            n: change.n,
            only_before: pending.unpaired.only_before,
            only_after: pending.unpaired.only_after,
            before: Some(change.before),
            after: Some(change.after),
            difference: Some(change.difference),
            interval: change.interval,
            p_value: change.p_value,
            adjusted_p_value: adjusted,
            detectable: sight.detectable(),
            cases_needed: tests.sights.cases_for(&drop.sensitivity, *tolerance),
        };
        let sentence = reasons::drop(reason, drop, &evidence);
        (verdict, sentence, evidence)
    }
}
