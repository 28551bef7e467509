//! A gate: rules that a run has to keep, alone or against a baseline.

mod drop;
mod error;
mod extremes;
mod fit;
mod limit;
mod measured;
mod pairing;
mod pending;
mod power;
mod reasons;
mod resolve;
mod rule;
mod sameness;
mod trial;
mod verdict;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub use error::GateError;
pub use power::POWER;
pub use rule::{MeasureNames, Rule, RuleError, Subject};
pub use trial::{GateTrial, Noise, Share, TrialError, TrialReport, TrialRow, TrialShares};
pub use verdict::{
    AgreementCheck, Allowance, CheckNumbers, DropCheck, GateBound, GateCheck, GateReport,
    GateVerdict, GatedRun, LimitCheck, Strictness,
};

use crate::SchemaVersion;
use measured::Quantity;
use pairing::Pairing;
use pending::Pending;
use resolve::Resolver;

/// Rules that a run has to keep.
///
/// A **drop** of a measure against the baseline is tested as [`Change`](crate::Change) tests differences: cases are paired, the value of a
/// case is the mean over its repetitions, and [`PairTest::Auto`](crate::PairTest) gives the interval and a two-sided p value. Holm's method
/// corrects the p values of all drops of the gate together, over all of its runs. By default a drop fails if it is significant *and* larger
/// than the tolerance; see [`Strictness`] for the other way. [`GateVerdict::CannotTell`] is the verdict where the test would miss a drop of the
/// size of the tolerance more often than one time in five, and the interval does not exclude it either.
///
/// A **floor** or a **ceiling** limits a quantity of the run alone. A quantity without a value fails.
///
/// Against a baseline, the gate also checks that both runs measured the same thing: the same cases and judge, no case that lost its value,
/// and no measure that is gone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// The rules.
    pub rules: Vec<Rule>,
    /// When a drop fails.
    pub strictness: Strictness,
    /// The end of intervals that floors and ceilings are compared with.
    pub bound: GateBound,
    /// The confidence level of intervals, and 1 minus the level of the tests. Default: 0.95.
    pub level: f64,
    /// What may differ between run and baseline. Default: nothing.
    pub allowed: BTreeSet<Allowance>,
    /// Seeds the random numbers of tests and intervals. Default: 0.
    pub seed: u64,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            rules: Vec::new(),
            strictness: Strictness::default(),
            bound: GateBound::default(),
            level: 0.95,
            allowed: BTreeSet::new(),
            seed: 0,
        }
    }
}

impl Gate {
    /// Checks the rules by themselves: at least one, finite limits, tolerances of at least 0, no rule twice. A level below 0.5 is most likely a
    /// level of significance, and one above 0.9999 takes more cases than a benchmark has.
    pub fn validate(&self) -> Result<(), GateError> {
        if !(0.5..=0.9999).contains(&self.level) {
            return Err(GateError::Level(self.level));
        }
        Ok(rule::check(&self.rules)?)
    }

    /// The verdicts on runs that one command made, each with its baseline. A rule applies to the runs that know its measure; a rule that no
    /// run knows is an error. A gate without rules judges subjects that bring [checks](Subject::checks). `names` says which measures the names in
    /// the rules mean.
    ///
    /// # Errors
    ///
    /// The rules are [not valid](Self::validate), do not fit the runs, can never hold or never fail, or a run has no case in common with its
    /// baseline.
    pub fn judge(
        &self,
        subjects: &[Subject<'_>],
        names: &dyn MeasureNames,
    ) -> Result<GateReport, GateError> {
        let brings_checks = subjects.iter().any(|subject| !subject.checks.is_empty());
        match self.validate() {
            Err(GateError::Rule(RuleError::None)) if brings_checks => {}
            validated => validated?,
        }
        let is_allowed = self.allowed.contains(&Allowance::ChangedDataset);
        let pairings = subjects
            .iter()
            .map(|subject| Pairing::of_subject(subject, is_allowed));
        let pairings: Vec<Option<Pairing<'_>>> = pairings.collect::<Result<_, _>>()?;
        let resolved = Resolver { subjects, names }.all(&self.rules)?;
        let rules = || self.rules.iter().zip(&resolved);
        let mut pending: Vec<Vec<Pending>> = subjects.iter().map(|_| Vec::new()).collect();
        for (rule, resolved) in rules() {
            for one in resolved {
                let place = one.subject;
                let (subject, pairing) = (&subjects[place], pairings[place].as_ref());
                pending[place].push(self.begin(rule, subject, pairing, one));
            }
        }
        let limits_failures = rules().any(|(_, resolved)| {
            let mut resolved = resolved.iter();
            resolved.any(|it| it.quantity == Quantity::Failed)
        });
        let (tests, settled) = self.settle(pending);
        let runs = subjects.iter().zip(&pairings).zip(settled);
        let runs = runs.map(|((subject, pairing), checks)| {
            self.gated(subject, pairing.as_ref(), checks, limits_failures)
        });
        Ok(self.report(tests, runs.collect()))
    }

    /// The verdicts on one run: those of the rules, those that it brings, and what has to be the same in its baseline.
    fn gated(
        &self,
        subject: &Subject<'_>,
        pairing: Option<&Pairing<'_>>,
        mut checks: Vec<GateCheck>,
        limits_failures: bool,
    ) -> GatedRun {
        let run = subject.run;
        checks.extend_from_slice(subject.checks);
        if let (Some(baseline), Some(pairing)) = (subject.baseline, pairing) {
            let is_allowed = |what: Allowance| self.allowed.contains(&what);
            let same = sameness::checks(baseline, run, pairing, &is_allowed, limits_failures);
            checks.extend(same);
        }
        GatedRun {
            run: run.title.clone(),
            baseline: subject.baseline.map(|baseline| baseline.title.clone()),
            made_by: Vec::new(),
            cases: run.cases.len(),
            clusters: run.clusters.clone(),
            pairs: pairing.map(|pairing| pairing.pairs.len()),
            checks,
            by_people: Vec::new(),
        }
    }

    fn report(&self, tests: usize, runs: Vec<GatedRun>) -> GateReport {
        let checks = runs.iter().flat_map(|run| &run.checks);
        let worst = checks.map(|check| check.verdict).max();
        GateReport {
            schema_version: SchemaVersion,
            verdict: worst.unwrap_or(GateVerdict::Passed),
            strictness: self.strictness,
            bound: self.bound,
            level: self.level,
            tests,
            seed: self.seed,
            allowed: self.allowed.clone(),
            runs,
        }
    }
}
