//! An evaluator that is a closure.

use std::fmt;
use std::sync::Arc;

use evals::{Context, EvaluatorError, ValueKind};

use super::check::{Check, Checked};
use crate::{Entry, Finding, Untyped};

/// A closure that judges an output.
struct Closure<F>(F);

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
        let check = Arc::new(Closure(check));
        Self::evaluation(name, description, [], move |_, _| {
            Ok(Checked::of(Arc::clone(&check)))
        })
    }
}

impl<F, R> Check for Closure<F>
where
    F: Fn(&Context<'_, Untyped>) -> R + Send + Sync + 'static,
    R: Into<Finding> + 'static,
{
    fn kind(&self) -> Option<ValueKind> {
        None
    }

    fn judge(&self, context: &Context<'_, Untyped>) -> Result<Finding, EvaluatorError> {
        Ok((self.0)(context).into())
    }
}

impl<F> fmt::Debug for Closure<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Closure")
    }
}
