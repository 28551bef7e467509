//! Drops whose verdicts wait for the correction of all p values.

use evals_metrics::{Bootstrap, PairedTest, holm};

use super::drop::{self, DropNumbers, DropTest};
use super::limit::{self, Quantity};
use super::pairing::Pairing;
use super::power::PowerPlan;
use super::resolve::Resolved;
use super::rule::Rule;
use super::subject::Subject;
use super::verdict::{CheckNumbers, DropCheck, GateCheck};
use super::{Gate, reasons};
use crate::SnapshotMeasure;
use crate::summary::count;

/// A check whose verdict may wait for the correction of all p values.
pub(super) enum Pending {
    Settled(Box<GateCheck>),
    Drop(Box<PendingDrop>),
}

/// A tested drop.
pub(super) struct PendingDrop {
    name: String,
    evidence: DropCheck,
    differences: Vec<f64>,
    numbers: DropNumbers,
}

impl Pending {
    fn settled(check: GateCheck) -> Self {
        Self::Settled(Box::new(check))
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
            let bootstrap = Bootstrap {
                level: self.level,
                seed: self.seed,
                ..Bootstrap::default()
            };
            let quantity = resolved.quantity;
            let check = limit::check(rule, subject.run, quantity, self.bound, &bootstrap);
            return Pending::settled(check);
        };
        let (Quantity::Measure(place), Some(pairing), Some(baseline)) =
            (resolved.quantity, pairing, subject.baseline)
        else {
            return Pending::settled(reasons::gone(rule));
        };
        let measure = &subject.run.measures[place];
        let old = baseline.measures.iter().position(|old| old.is(measure));
        let Some(old) = old else {
            return Pending::settled(reasons::only_now(rule));
        };
        let values = pairing.values([old, place]);
        let test = DropTest {
            test: self.test(),
            resamples: Bootstrap::default().resamples,
        };
        Self::drop(measure, *tolerance, &values, test)
    }

    fn test(&self) -> PairedTest {
        PairedTest {
            level: self.level,
            seed: self.seed,
            ..PairedTest::default()
        }
    }

    fn drop(
        measure: &SnapshotMeasure,
        tolerance: f64,
        values: &[(f64, f64)],
        test: DropTest,
    ) -> Pending {
        let name = format!("{} drop <= {tolerance}", measure.name());
        let differences: Vec<f64> = values
            .iter()
            .map(|(before, after)| evals_metrics::difference(*before, *after))
            .collect();
        let mean = |side: fn(&(f64, f64)) -> f64| {
            let sum: f64 = values.iter().map(side).sum();
            (!values.is_empty()).then(|| sum / count(values.len()))
        };
        let evidence = DropCheck {
            measure: measure.name().to_owned(),
            unit: measure.unit,
            better: measure.better,
            tolerance,
            n: values.len(),
            before: mean(|pair| pair.0),
            after: mean(|pair| pair.1),
            difference: None,
            interval: None,
            p_value: None,
            adjusted_p_value: None,
            detectable: None,
            cases_needed: None,
        };
        if differences.is_empty() {
            return Pending::settled(reasons::no_values(name, evidence));
        }
        let numbers = test.numbers(&differences, measure.better);
        let p_value = test.test.p_value(&differences);
        Pending::Drop(Box::new(PendingDrop {
            name,
            evidence: DropCheck {
                difference: Some(-drop::sign(measure.better) * numbers.loss),
                interval: numbers.interval,
                p_value: p_value.filter(|_| !numbers.is_unchanged),
                ..evidence
            },
            differences,
            numbers,
        }))
    }

    /// Corrects all p values together and sets the verdicts. Returns the number of tests: a measure of which no case changed is not one,
    /// because no swap of sides can change its difference.
    pub(super) fn settle(&self, pending: Vec<Vec<Pending>>) -> (usize, Vec<Vec<GateCheck>>) {
        let p_values: Vec<f64> = pending
            .iter()
            .flatten()
            .filter_map(|check| match check {
                Pending::Drop(drop) => drop.evidence.p_value,
                Pending::Settled(_) => None,
            })
            .collect();
        let mut adjusted = holm(&p_values).into_iter();
        let alpha = 1.0 - self.level;
        // The first step of Holm's method is its strictest. Its power is the least that a drop can count on.
        let strictest = alpha / count(p_values.len().max(1));
        let mut finish = |check: Pending| match check {
            Pending::Settled(check) => *check,
            Pending::Drop(drop) => {
                let adjusted = drop.evidence.p_value.and_then(|_| adjusted.next());
                self.finish(*drop, adjusted, strictest)
            }
        };
        let settled = pending
            .into_iter()
            .map(|checks| checks.into_iter().map(&mut finish).collect());
        (p_values.len(), settled.collect())
    }

    fn finish(&self, drop: PendingDrop, adjusted: Option<f64>, strictest: f64) -> GateCheck {
        let plan = PowerPlan::new(strictest, drop.differences.len());
        let power = plan.and_then(|plan| plan.of(&drop.differences));
        let tolerance = drop.evidence.tolerance;
        let is_significant = adjusted.is_some_and(|p_value| p_value <= 1.0 - self.level);
        let (verdict, reason) =
            drop.numbers
                .verdict(self.strictness, tolerance, is_significant, power);
        let evidence = DropCheck {
            adjusted_p_value: adjusted,
            detectable: power.and_then(|power| power.detectable()),
            cases_needed: power.and_then(|power| power.cases_for(tolerance)),
            ..drop.evidence
        };
        GateCheck {
            name: drop.name,
            verdict,
            reason: reasons::drop(reason, &drop.numbers, &evidence),
            numbers: CheckNumbers::Drop(evidence),
        }
    }
}
