//! One name for each measure of a run, the same in every case.
//!
//! Two evaluators may give their outcomes the same name. Numbering the second one case by case would give it the first one's
//! name wherever the first failed or returned nothing. So names are assigned once, when all cases are known.

use std::collections::BTreeMap;
use std::mem;

use crate::naming::Names;
use crate::{CaseReport, Domain, EvaluatorIdentity, EvaluatorOrigin};

/// New names: by evaluator, then by the name that the evaluator gave.
type Renamed = BTreeMap<EvaluatorOrigin, BTreeMap<String, BTreeMap<String, String>>>;

/// The outcome names of one evaluator over all cases, those lost to failures included.
#[derive(Debug, Default)]
struct Returned<'a> {
    /// When the run first saw the evaluator.
    first_seen: usize,
    /// The names of its outcomes, in first-seen order.
    names: Vec<&'a str>,
    failed: bool,
}

impl<'a> Returned<'a> {
    fn name(&mut self, name: &'a str) {
        if !self.names.contains(&name) {
            self.names.push(name);
        }
    }
}

type Evaluators<'a> = BTreeMap<(EvaluatorOrigin, &'a str), Returned<'a>>;

/// Tells equal names of different evaluators apart. The evaluators of the dataset come first, then those of cases, in dataset
/// order; the first holder of a name keeps it as it is.
pub(crate) fn settle<D: Domain>(cases: &mut [CaseReport<D>]) {
    restore(cases);
    let renamed = renamed(evaluators(cases));
    if renamed.is_empty() {
        return;
    }
    for outcome in cases.iter_mut().flat_map(|case| &mut case.outcomes) {
        let names = renamed
            .get(&outcome.origin)
            .and_then(|evaluators| evaluators.get(&outcome.evaluator));
        if let Some(name) = names.and_then(|names| names.get(&outcome.name)) {
            outcome.given_name = Some(mem::replace(&mut outcome.name, name.clone()));
        }
    }
    for missed in cases.iter_mut().flat_map(|case| &mut case.missed) {
        let evaluators = renamed.get(&missed.origin);
        let Some(names) = evaluators.and_then(|evaluators| evaluators.get(&missed.evaluator))
        else {
            continue;
        };
        for outcome in &mut missed.outcomes {
            if let Some(name) = names.get(&outcome.name) {
                outcome.given_name = Some(mem::replace(&mut outcome.name, name.clone()));
            }
        }
    }
}

/// Restores the names that evaluators gave, in cases that come from an earlier report.
fn restore<D: Domain>(cases: &mut [CaseReport<D>]) {
    for outcome in cases.iter_mut().flat_map(|case| &mut case.outcomes) {
        if let Some(name) = outcome.given_name.take() {
            outcome.name = name;
        }
    }
    let missed = cases.iter_mut().flat_map(|case| &mut case.missed);
    for outcome in missed.flat_map(|missed| &mut missed.outcomes) {
        if let Some(name) = outcome.given_name.take() {
            outcome.name = name;
        }
    }
}

fn evaluators<D: Domain>(cases: &[CaseReport<D>]) -> Evaluators<'_> {
    let mut evaluators = Evaluators::new();
    for case in cases {
        enter_own(&mut evaluators, &case.own_evaluators);
        for outcome in &case.outcomes {
            entry(&mut evaluators, outcome.origin, &outcome.evaluator).name(&outcome.name);
        }
        for failure in &case.evaluator_failures {
            entry(&mut evaluators, failure.origin, &failure.evaluator).failed = true;
        }
        for missed in &case.missed {
            let returned = entry(&mut evaluators, missed.origin, &missed.evaluator);
            for outcome in &missed.outcomes {
                returned.name(&outcome.name);
            }
        }
    }
    evaluators
}

/// Enters a case's own evaluators in the order of the case, even those that returned nothing.
fn enter_own<'a>(evaluators: &mut Evaluators<'a>, own: &'a [EvaluatorIdentity]) {
    let mut of_name: BTreeMap<&str, u32> = BTreeMap::new();
    for EvaluatorIdentity { name, .. } in own {
        let number = of_name.entry(name).or_default();
        *number += 1;
        entry(evaluators, EvaluatorOrigin::Case(*number), name);
    }
}

fn entry<'e, 'a>(
    evaluators: &'e mut Evaluators<'a>,
    origin: EvaluatorOrigin,
    name: &'a str,
) -> &'e mut Returned<'a> {
    let first_seen = evaluators.len();
    evaluators
        .entry((origin, name))
        .or_insert_with(|| Returned {
            first_seen,
            ..Returned::default()
        })
}

fn renamed(evaluators: Evaluators<'_>) -> Renamed {
    let mut in_order: Vec<_> = evaluators.into_iter().collect();
    in_order.sort_by_key(|((origin, _), returned)| match origin {
        EvaluatorOrigin::Dataset(number) => (false, *number as usize),
        EvaluatorOrigin::Case(_) => (true, returned.first_seen),
    });
    let mut taken = Names::default();
    let mut renamed = Renamed::new();
    for ((origin, evaluator), returned) in in_order {
        if returned.names.is_empty() && returned.failed {
            // The summary lists it under its own name.
            taken.claim(evaluator);
        }
        for given in returned.names {
            let name = taken.claim(given);
            if name != given {
                let evaluators = renamed.entry(origin).or_default();
                let names = evaluators.entry(evaluator.to_owned()).or_default();
                names.insert(given.to_owned(), name);
            }
        }
    }
    renamed
}
