//! The evaluators of a run, with their names and origins.

use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use evals_guard::panics;

use crate::{Case, Domain, Evaluator, EvaluatorOrigin};

/// Replaces the name of an evaluator that panics when it is asked for its name.
const NAMELESS: &str = "evaluator without a name";

/// One evaluator, with its name and origin.
pub(super) struct Enrolled<D: Domain> {
    pub(super) evaluator: Arc<dyn Evaluator<D>>,
    pub(super) name: String,
    pub(super) origin: EvaluatorOrigin,
    /// The message of a panic in `name`; the runner calls such an evaluator no further.
    pub(super) name_panic: Option<String>,
}

/// Enrols the evaluators of the dataset, which are the same in every case.
pub(super) fn shared<D: Domain>(evaluators: &[Arc<dyn Evaluator<D>>]) -> Vec<Enrolled<D>> {
    let enrol = |(number, evaluator)| {
        let (name, name_panic) = name_of(evaluator);
        Enrolled {
            evaluator: Arc::clone(evaluator),
            name,
            origin: EvaluatorOrigin::Dataset(number),
            name_panic,
        }
    };
    (1..).zip(evaluators).map(enrol).collect()
}

/// Enrols a case's own evaluators; those with equal names are numbered.
pub(super) fn own<D: Domain>(case: &Case<D>) -> Vec<Enrolled<D>> {
    let mut of_name: BTreeMap<String, u32> = BTreeMap::new();
    let enrol = |evaluator| {
        let (name, name_panic) = name_of(evaluator);
        let number = of_name.entry(name.clone()).or_default();
        *number += 1;
        Enrolled {
            evaluator: Arc::clone(evaluator),
            name,
            origin: EvaluatorOrigin::Case(*number),
            name_panic,
        }
    };
    case.evaluators.iter().map(enrol).collect()
}

fn name_of<D: Domain>(evaluator: &Arc<dyn Evaluator<D>>) -> (String, Option<String>) {
    match panic::catch_unwind(AssertUnwindSafe(|| evaluator.name().to_owned())) {
        Ok(name) => (name, None),
        Err(payload) => {
            let message = format!("asked for its name: {}", panics::message(&*payload));
            (NAMELESS.to_owned(), Some(message))
        }
    }
}
