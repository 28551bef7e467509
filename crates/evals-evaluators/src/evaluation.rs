//! What the evaluators of the registry's entries have in common: a name, a specification, and how they are built.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use evals::{Case, Concern, Context, Evaluator, EvaluatorError, EvaluatorSpec, Outcome};
use serde_json::Value;

use crate::{Arguments, BuildError, Entry, Parameter, Resources, Signature, Untyped};

/// The work of an evaluator, without its name and its specification.
#[async_trait]
pub(crate) trait Evaluation: Debug + Send + Sync + 'static {
    /// Judges an output. `name` is the name of a single outcome.
    async fn evaluate(
        &self,
        name: &str,
        context: &Context<'_, Untyped>,
    ) -> Result<Vec<Outcome>, EvaluatorError>;

    /// The outcomes that any output of the case has, if nothing fails; `None` if that is not known beforehand.
    fn concerns(&self, name: &str, case: &Case<Untyped>) -> Option<Vec<Concern>>;

    /// A version of everything besides the arguments that the verdicts depend on.
    fn version(&self) -> Option<&str> {
        None
    }
}

#[derive(Debug)]
struct Named<E> {
    name: String,
    spec: EvaluatorSpec,
    evaluation: E,
}

impl Entry {
    /// An evaluator of cases that reads its arguments. A parameter that [names](Parameter::evaluation_name) the outcome names the
    /// evaluator, too.
    pub(crate) fn evaluation<E: Evaluation>(
        name: &'static str,
        description: &'static str,
        parameters: impl IntoIterator<Item = Parameter>,
        read: impl Fn(&Arguments, &Resources) -> Result<E, BuildError> + Send + Sync + 'static,
    ) -> Self {
        let signature = Signature::new(parameters);
        let renames = signature.parameters().iter().any(|parameter| {
            parameter.name == Parameter::EVALUATION_NAME && parameter.default == Some(Value::Null)
        });
        Self::case(name, description, signature, move |arguments, resources| {
            let given = arguments.value(Parameter::EVALUATION_NAME).as_str();
            Ok(Arc::new(Named {
                name: given.filter(|_| renames).unwrap_or(name).to_owned(),
                spec: arguments.spec(),
                evaluation: read(arguments, resources)?,
            }))
        })
    }
}

#[async_trait]
impl<E: Evaluation> Evaluator<Untyped> for Named<E> {
    fn name(&self) -> &str {
        &self.name
    }

    async fn evaluate(
        &self,
        context: &Context<'_, Untyped>,
    ) -> Result<Vec<Outcome>, EvaluatorError> {
        self.evaluation.evaluate(&self.name, context).await
    }

    fn spec(&self) -> Option<EvaluatorSpec> {
        Some(self.spec.clone())
    }

    fn version(&self) -> Option<&str> {
        self.evaluation.version()
    }

    fn concerns(&self, case: &Case<Untyped>) -> Option<Vec<Concern>> {
        self.evaluation.concerns(&self.name, case)
    }
}
