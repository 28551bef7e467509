//! The evaluators of a run, with their identities and origins.

use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use evals_guard::panics;

use crate::{Case, Domain, Evaluator, EvaluatorIdentity, EvaluatorOrigin};

/// Replaces the name of an evaluator that panics when it is asked for its name.
const NAMELESS: &str = "evaluator without a name";

/// One evaluator, with its identity and origin.
pub(super) struct Enrolled<D: Domain> {
    pub(super) evaluator: Arc<dyn Evaluator<D>>,
    pub(super) identity: EvaluatorIdentity,
    pub(super) origin: EvaluatorOrigin,
    /// The message of a panic in `name`; the runner calls such an evaluator no further.
    pub(super) name_panic: Option<String>,
}

/// Enrols the evaluators of the dataset, which are the same in every case.
pub(super) fn shared<D: Domain>(evaluators: &[Arc<dyn Evaluator<D>>]) -> Vec<Enrolled<D>> {
    let enrol = |(number, evaluator)| enrol(evaluator, |_| EvaluatorOrigin::Dataset(number));
    (1..).zip(evaluators).map(enrol).collect()
}

/// Enrols a case's own evaluators; those with equal names are numbered.
pub(super) fn own<D: Domain>(case: &Case<D>) -> Vec<Enrolled<D>> {
    let mut of_name: BTreeMap<String, u32> = BTreeMap::new();
    let enrol = |evaluator| {
        enrol(evaluator, |name| {
            let number = of_name.entry(name.to_owned()).or_default();
            *number += 1;
            EvaluatorOrigin::Case(*number)
        })
    };
    case.evaluators.iter().map(enrol).collect()
}

fn enrol<D: Domain>(
    evaluator: &Arc<dyn Evaluator<D>>,
    origin: impl FnOnce(&str) -> EvaluatorOrigin,
) -> Enrolled<D> {
    let (identity, name_panic) = identify(evaluator);
    Enrolled {
        evaluator: Arc::clone(evaluator),
        origin: origin(&identity.name),
        identity,
        name_panic,
    }
}

impl<D: Domain> Enrolled<D> {
    pub(super) fn name(&self) -> &str {
        &self.identity.name
    }
}

/// The evaluator's identity, and the message of a panic in its `name`. A specification or a version that panics counts as none.
fn identify<D: Domain>(evaluator: &Arc<dyn Evaluator<D>>) -> (EvaluatorIdentity, Option<String>) {
    match panic::catch_unwind(AssertUnwindSafe(|| evaluator.name().to_owned())) {
        Ok(name) => {
            let spec = panic::catch_unwind(AssertUnwindSafe(|| evaluator.spec()));
            let version = || evaluator.version().map(str::to_owned);
            let version = panic::catch_unwind(AssertUnwindSafe(version));
            let identity = EvaluatorIdentity {
                name,
                spec: spec.unwrap_or_default(),
                version: version.unwrap_or_default(),
            };
            (identity, None)
        }
        Err(payload) => {
            let message = format!("asked for its name: {}", panics::message(&*payload));
            (EvaluatorIdentity::named(NAMELESS), Some(message))
        }
    }
}
