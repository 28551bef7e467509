//! A check: an evaluator of one outcome that asks no model.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use evals::{Case, Concern, Context, Evaluator, EvaluatorError, EvaluatorSpec, Outcome, ValueKind};
use serde_json::{Value, json};

use super::long;
use crate::argument::ArgumentError;
use crate::{Arguments, BuildError, Entry, Finding, Parameter, Resources, Signature, Untyped};

/// Judges an output with one outcome, and needs nobody's help for it.
pub(super) trait Check: Debug + Send + Sync + 'static {
    /// Of what kind the outcome is.
    const KIND: ValueKind;

    /// Whether there is an outcome for the case, whatever its output.
    fn applies(&self, _case: &Case<Untyped>) -> bool {
        true
    }

    /// Whether the outcome for the case has a value, whatever its output.
    fn has_value(&self, case: &Case<Untyped>) -> bool {
        self.applies(case)
    }

    /// Whether judging may take longer than others should wait.
    fn is_long(&self, context: &Context<'_, Untyped>) -> bool {
        long::is_long(context)
    }

    /// Judges the output of a case that it applies to. Takes at most some seconds for an output of any length.
    fn judge(&self, context: &Context<'_, Untyped>) -> Result<Finding, EvaluatorError>;
}

/// A check with the name and the arguments that a dataset file gives it.
#[derive(Debug)]
struct Named<C> {
    name: String,
    spec: EvaluatorSpec,
    /// pydantic-evals reads arguments only when it judges, so wrong ones are a failure of each case.
    check: Result<Arc<C>, ArgumentError>,
}

/// The registry's entry of a check of pydantic-evals. Wrong arguments make it fail in each case.
pub(super) fn lenient<C: Check>(
    name: &'static str,
    description: &'static str,
    parameters: impl IntoIterator<Item = Parameter>,
    read: impl Fn(&Arguments) -> Result<C, ArgumentError> + Send + Sync + 'static,
) -> Entry {
    build(name, description, parameters, move |arguments, _| {
        Ok(read(arguments))
    })
}

/// The registry's entry of a check that refuses wrong arguments when it is built.
pub(super) fn strict<C: Check>(
    name: &'static str,
    description: &'static str,
    parameters: impl IntoIterator<Item = Parameter>,
    read: impl Fn(&Arguments, &Resources) -> Result<C, BuildError> + Send + Sync + 'static,
) -> Entry {
    build(
        name,
        description,
        parameters,
        move |arguments, resources| read(arguments, resources).map(Ok),
    )
}

/// A parameter `evaluation_name` renames the outcome.
fn build<C: Check>(
    name: &'static str,
    description: &'static str,
    parameters: impl IntoIterator<Item = Parameter>,
    read: impl Fn(&Arguments, &Resources) -> Result<Result<C, ArgumentError>, BuildError>
    + Send
    + Sync
    + 'static,
) -> Entry {
    let signature = Signature::new(parameters);
    let written = signature.clone();
    let build = move |arguments: &Arguments, resources: &Resources| {
        let given_name = arguments.value("evaluation_name").as_str();
        let evaluator: Arc<dyn Evaluator<Untyped>> = Arc::new(Named {
            name: given_name.unwrap_or(name).to_owned(),
            spec: EvaluatorSpec {
                name: name.to_owned(),
                arguments: written.write(arguments),
            },
            check: read(arguments, resources)?.map(Arc::new),
        });
        Ok(evaluator)
    };
    Entry::case(name, description, signature, build)
}

/// The parameter that renames an outcome.
pub(super) fn evaluation_name() -> Parameter {
    Parameter::optional(
        "evaluation_name",
        Value::Null,
        json!({"type": ["string", "null"]}),
        "Names the outcome in reports, in place of the evaluator's own name.",
    )
}

#[async_trait]
impl<C: Check> Evaluator<Untyped> for Named<C> {
    fn name(&self) -> &str {
        &self.name
    }

    async fn evaluate(
        &self,
        context: &Context<'_, Untyped>,
    ) -> Result<Vec<Outcome>, EvaluatorError> {
        let check = self.check.as_ref().map_err(Clone::clone)?;
        if !check.applies(context.case) {
            return Ok(Vec::new());
        }
        let is_long = check.is_long(context);
        let check = Arc::clone(check);
        let found = long::judged(context, is_long, move |context| check.judge(context)).await;
        Ok(vec![found?.named(&self.name)])
    }

    fn spec(&self) -> Option<EvaluatorSpec> {
        Some(self.spec.clone())
    }

    fn concerns(&self, case: &Case<Untyped>) -> Option<Vec<Concern>> {
        // Wrong arguments fail in each case, so each case lacks the outcome.
        let has_value = self
            .check
            .as_ref()
            .map_or(true, |check| check.has_value(case));
        let concern = Concern {
            outcome: self.name.clone(),
            kind: C::KIND,
        };
        Some(has_value.then_some(concern).into_iter().collect())
    }
}
