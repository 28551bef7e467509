//! The evaluators that failed in all of their cases.

use std::collections::BTreeSet;

use super::shown::{Evaluator, evaluator};
use crate::{CaseReport, Domain};

/// The names of evaluators that failed and never returned an outcome, in the order in which the cases show them.
pub(super) fn failed_evaluators<D: Domain>(cases: &[CaseReport<D>]) -> Vec<String> {
    let outcomes = cases.iter().flat_map(|case| &case.outcomes);
    let returned: BTreeSet<Evaluator<'_>> = outcomes
        .map(|outcome| (outcome.origin, outcome.evaluator.as_str()))
        .collect();
    let failures = cases.iter().flat_map(|case| &case.evaluator_failures);
    let mut seen = BTreeSet::new();
    let failed = failures
        .map(evaluator)
        .filter(|failed| !returned.contains(failed) && seen.insert(*failed));
    failed.map(|(_, name)| name.to_owned()).collect()
}
