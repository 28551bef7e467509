//! The keys of a case's results, numbered case by case as pydantic-evals numbers them.

use std::collections::BTreeSet;

use evals::{CaseOutcome, CaseReport, Value};

use crate::Untyped;

/// The results of a case with their keys: the name that the evaluator gave or, if an earlier result of the case has it, the first
/// free one of `name_2`, `name_3` and so on. Undefined outcomes and scores that are not finite are no results.
///
/// A name of a [`CaseOutcome`] is one measure in the whole run. A key may belong to different evaluators in different cases.
pub(crate) fn results(case: &CaseReport<Untyped>) -> impl Iterator<Item = (String, &CaseOutcome)> {
    let mut taken = BTreeSet::new();
    let results = case.outcomes.iter().filter(|outcome| is_result(outcome));
    results.map(move |outcome| {
        let name = outcome.given_name.as_ref().unwrap_or(&outcome.name);
        (claim(name, &mut taken), outcome)
    })
}

/// The value of the result with this key, if the case has one.
pub(crate) fn value<'c>(case: &'c CaseReport<Untyped>, key: &str) -> Option<&'c Value> {
    let found = results(case).find(|(candidate, _)| candidate == key);
    found.map(|(_, outcome)| &outcome.value)
}

fn is_result(outcome: &CaseOutcome) -> bool {
    match outcome.value {
        Value::Assertion(_) | Value::Label(_) => true,
        Value::Score(score) => score.is_finite(),
        Value::Undefined => false,
    }
}

fn claim(name: &str, taken: &mut BTreeSet<String>) -> String {
    let numbered = (2_u64..).map(|number| format!("{name}_{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    let free = names.find(|name| !taken.contains(name));
    let free = free.expect("a case has finitely many results");
    taken.insert(free.clone());
    free
}
