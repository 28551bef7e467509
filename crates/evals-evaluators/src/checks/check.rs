//! A check: an evaluator of one outcome that asks no model.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use evals::{Case, Concern, Context, EvaluatorError, Outcome, ValueKind};
use serde::de::DeserializeOwned;

use super::long;
use crate::evaluation::Evaluation;
use crate::{ArgumentError, Arguments, BuildError, Entry, Finding, Parameter, Resources, Untyped};

/// Judges an output with one outcome, and needs nobody's help for it.
pub(super) trait Check: Debug + Send + Sync + 'static {
    /// Of what kind the outcome is.
    const KIND: ValueKind = ValueKind::Assertion;

    /// The same of a check whose arguments decide; `None` if that is not known before the output is.
    fn kind(&self) -> Option<ValueKind> {
        Some(Self::KIND)
    }

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

/// A check. pydantic-evals reads arguments only when it judges, so wrong ones are a failure of each case.
#[derive(Debug)]
pub(super) struct Checked<C>(Result<Arc<C>, ArgumentError>);

impl<C> Checked<C> {
    pub(super) fn of(check: Arc<C>) -> Self {
        Self(Ok(check))
    }
}

/// The registry's entry of a check of pydantic-evals, which is read from its arguments. Wrong ones make it fail in each case.
pub(super) fn lenient<C: Check + DeserializeOwned>(
    name: &'static str,
    description: &'static str,
    parameters: impl IntoIterator<Item = Parameter>,
) -> Entry {
    Entry::evaluation(name, description, parameters, |arguments, _| {
        Ok(Checked(arguments.read::<C>().map(Arc::new)))
    })
}

/// The registry's entry of a check that refuses wrong arguments when it is built.
pub(super) fn strict<C: Check>(
    name: &'static str,
    description: &'static str,
    parameters: impl IntoIterator<Item = Parameter>,
    read: impl Fn(&Arguments, &Resources) -> Result<C, BuildError> + Send + Sync + 'static,
) -> Entry {
    Entry::evaluation(
        name,
        description,
        parameters,
        move |arguments, resources| Ok(Checked::of(Arc::new(read(arguments, resources)?))),
    )
}

#[async_trait]
impl<C: Check> Evaluation for Checked<C> {
    async fn evaluate(
        &self,
        name: &str,
        context: &Context<'_, Untyped>,
    ) -> Result<Vec<Outcome>, EvaluatorError> {
        let check = self.0.as_ref().map_err(Clone::clone)?;
        if !check.applies(context.case) {
            return Ok(Vec::new());
        }
        let is_long = check.is_long(context);
        let check = Arc::clone(check);
        let found = long::judged(context, is_long, move |context| check.judge(context)).await;
        Ok(vec![found?.named(name)])
    }

    fn concerns(&self, name: &str, case: &Case<Untyped>) -> Option<Vec<Concern>> {
        // Wrong arguments fail in each case, so each case lacks the outcome.
        let (kind, is_concerned) = match &self.0 {
            Ok(check) => (check.kind()?, check.has_value(case)),
            Err(_) => (C::KIND, true),
        };
        let outcome = name.to_owned();
        let concern = is_concerned.then_some(Concern { outcome, kind });
        Some(concern.into_iter().collect())
    }
}
