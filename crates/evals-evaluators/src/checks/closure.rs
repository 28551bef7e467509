//! An evaluator that is a closure.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use evals::{Case, Concern, Context, EvaluatorError, Outcome};

use super::long;
use crate::evaluation::Evaluation;
use crate::{Entry, Finding, Untyped};

/// A closure that judges an output.
struct Closure<F>(Arc<F>);

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
        Self::evaluation(name, description, [], move |_, _| {
            Ok(Closure(Arc::clone(&check)))
        })
    }
}

#[async_trait]
impl<F, R> Evaluation for Closure<F>
where
    F: Fn(&Context<'_, Untyped>) -> R + Send + Sync + 'static,
    R: Into<Finding> + 'static,
{
    async fn evaluate(
        &self,
        name: &str,
        context: &Context<'_, Untyped>,
    ) -> Result<Vec<Outcome>, EvaluatorError> {
        let check = Arc::clone(&self.0);
        let judge = move |context: &Context<'_, Untyped>| check(context).into();
        let finding: Finding = long::judged(context, long::is_long(context), judge).await;
        Ok(vec![finding.named(name)])
    }

    fn concerns(&self, _name: &str, _case: &Case<Untyped>) -> Option<Vec<Concern>> {
        None
    }
}

impl<F> fmt::Debug for Closure<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Closure")
    }
}
