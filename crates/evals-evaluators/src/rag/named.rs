//! A measure as the evaluator of a registry's entry.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use evals::{Case, Concern, Context, Evaluator, EvaluatorError, EvaluatorSpec, Outcome};

use crate::judges::spec_without_credentials;
use crate::{Arguments, BuildError, Entry, Parameter, Resources, Signature, Untyped};

/// A measure that a dataset file names.
#[async_trait]
pub(super) trait Measured: Debug + Send + Sync + 'static {
    async fn evaluate(
        &self,
        context: &Context<'_, Untyped>,
    ) -> Result<Vec<Outcome>, EvaluatorError>;

    /// The outcomes that any output of the case has, if nothing fails.
    fn concerns(&self, case: &Case<Untyped>) -> Vec<Concern>;

    /// A version of everything besides the arguments that the verdicts depend on.
    fn version(&self) -> Option<&str> {
        None
    }
}

#[derive(Debug)]
struct Named<M> {
    name: &'static str,
    spec: EvaluatorSpec,
    measured: M,
}

/// The entry of a measure.
pub(super) fn entry<M: Measured>(
    name: &'static str,
    description: &'static str,
    parameters: impl IntoIterator<Item = Parameter>,
    read: impl Fn(&Arguments, &Resources) -> Result<M, BuildError> + Send + Sync + 'static,
) -> Entry {
    let signature = Signature::new(parameters);
    let written = signature.clone();
    Entry::case(name, description, signature, move |arguments, resources| {
        Ok(Arc::new(Named {
            name,
            spec: spec_without_credentials(name, written.write(arguments)),
            measured: read(arguments, resources)?,
        }))
    })
}

#[async_trait]
impl<M: Measured> Evaluator<Untyped> for Named<M> {
    fn name(&self) -> &'static str {
        self.name
    }

    async fn evaluate(
        &self,
        context: &Context<'_, Untyped>,
    ) -> Result<Vec<Outcome>, EvaluatorError> {
        self.measured.evaluate(context).await
    }

    fn spec(&self) -> Option<EvaluatorSpec> {
        Some(self.spec.clone())
    }

    fn version(&self) -> Option<&str> {
        self.measured.version()
    }

    fn concerns(&self, case: &Case<Untyped>) -> Option<Vec<Concern>> {
        Some(self.measured.concerns(case))
    }
}
