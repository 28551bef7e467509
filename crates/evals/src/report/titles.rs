//! One name for each measure of a run, the same in every case.
//!
//! Two evaluators may give their outcomes the same name. Numbering the second one case by case would give it the first one's
//! name wherever the first failed or returned nothing. So names are assigned once, when all cases are known.

use std::collections::BTreeMap;
use std::mem;

use crate::naming::Names;
use crate::{CaseReport, Domain, EvaluatorIdentity, EvaluatorOrigin};

/// New names: by evaluator and the name that it gave.
type Renamed = BTreeMap<(EvaluatorOrigin, String, String), String>;

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
    for (_, name, given) in names(cases) {
        // In cases that come from an earlier report.
        if let Some(given) = given.take() {
            *name = given;
        }
    }
    let renamed = renamed(evaluators(cases));
    if renamed.is_empty() {
        return;
    }
    for ((origin, evaluator), name, given) in names(cases) {
        if let Some(new) = renamed.get(&(origin, evaluator.to_owned(), name.clone())) {
            *given = Some(mem::replace(name, new.clone()));
        }
    }
}

/// The name of each outcome, those lost to failures included, with its evaluator and the name that this gave it.
fn names<D: Domain>(
    cases: &mut [CaseReport<D>],
) -> impl Iterator<Item = ((EvaluatorOrigin, &str), &mut String, &mut Option<String>)> {
    cases.iter_mut().flat_map(|case| {
        let returned = case.outcomes.iter_mut().map(|it| {
            let evaluator = (it.origin, it.evaluator.as_str());
            (evaluator, &mut it.name, &mut it.given_name)
        });
        let missed = case.missed.iter_mut().flat_map(|missed| {
            let evaluator = (missed.origin, missed.evaluator.as_str());
            let outcomes = missed.outcomes.iter_mut();
            outcomes.map(move |it| (evaluator, &mut it.name, &mut it.given_name))
        });
        returned.chain(missed)
    })
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
                renamed.insert((origin, evaluator.to_owned(), given.to_owned()), name);
            }
        }
    }
    renamed
}
