//! Builds evaluators from the registry.

use std::sync::{Arc, LazyLock};

use evals::{Evaluator, EvaluatorSpec, SpecArguments};
use evals_evaluators::{Built, Registry, RegistryError, Resources, Untyped};
use serde_json::Value;

/// The built-in evaluator of this name, with arguments by name.
pub(crate) fn built(name: &str, arguments: Value) -> Arc<dyn Evaluator<Untyped>> {
    let Value::Object(arguments) = arguments else {
        panic!("{arguments} are no arguments by name");
    };
    match build(name, SpecArguments::Named(arguments)) {
        Ok(Built::Case(evaluator)) => evaluator,
        other => panic!("{other:?}"),
    }
}

/// Why the built-in evaluator of this name refuses its arguments.
pub(crate) fn refused(name: &str, arguments: SpecArguments) -> String {
    build(name, arguments).unwrap_err().to_string()
}

pub(crate) fn build(name: &str, arguments: SpecArguments) -> Result<Built, RegistryError> {
    static BUILT_IN: LazyLock<Registry> = LazyLock::new(Registry::built_in);
    let name = name.to_owned();
    BUILT_IN.build(&EvaluatorSpec { name, arguments }, &Resources::default())
}
