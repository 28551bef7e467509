//! An evaluator that is a closure.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use evals::{Context, Evaluator, EvaluatorError, EvaluatorSpec, Outcome, SpecArguments};

use super::long;
use crate::{Entry, Finding, Signature, Untyped};

/// A closure with the name under which it is registered.
struct Closure<F> {
    name: &'static str,
    check: Arc<F>,
}

impl Entry {
    /// An evaluator that is a closure and takes no arguments. Its outcome has its name.
    ///
    /// ```
    /// use evals_evaluators::{Entry, Registry};
    ///
    /// let registry = Registry::built_in().with(Entry::check(
    ///     "IsShort",
    ///     "Passes if the answer has at most twenty words.",
    ///     |context| {
    ///         let answer = context.output.as_str().unwrap_or_default();
    ///         answer.split_whitespace().count() <= 20
    ///     },
    /// ));
    /// assert!(registry.entry("IsShort").is_some());
    /// ```
    ///
    /// [`Entry::case`] registers evaluators that take arguments, wait for something, can fail, or have several outcomes.
    pub fn check<F, R>(name: &'static str, description: &'static str, check: F) -> Self
    where
        F: Fn(&Context<'_, Untyped>) -> R + Send + Sync + 'static,
        R: Into<Finding> + 'static,
    {
        let check = Arc::new(check);
        Self::case(name, description, Signature::new([]), move |_, _| {
            Ok(Arc::new(Closure {
                name,
                check: check.clone(),
            }))
        })
    }
}

#[async_trait]
impl<F, R> Evaluator<Untyped> for Closure<F>
where
    F: Fn(&Context<'_, Untyped>) -> R + Send + Sync + 'static,
    R: Into<Finding> + 'static,
{
    fn name(&self) -> &str {
        self.name
    }

    async fn evaluate(
        &self,
        context: &Context<'_, Untyped>,
    ) -> Result<Vec<Outcome>, EvaluatorError> {
        let check = Arc::clone(&self.check);
        let judge = move |context: &Context<'_, Untyped>| check(context).into();
        let finding: Finding = long::judged(context, long::is_long(context), judge).await;
        Ok(vec![finding.named(self.name)])
    }

    fn spec(&self) -> Option<EvaluatorSpec> {
        Some(EvaluatorSpec {
            name: self.name.to_owned(),
            arguments: SpecArguments::None,
        })
    }
}

impl<F> fmt::Debug for Closure<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Closure").field(&self.name).finish()
    }
}
