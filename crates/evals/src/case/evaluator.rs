//! Evaluators, which judge the output of a case.

use std::error::Error;
use std::fmt::Debug;

use async_trait::async_trait;

use super::{Case, Context};
use crate::{Direction, Domain, FailureClass, Outcome, ValueKind};

/// Judges the output of one case.
///
/// An evaluator may return several outcomes, or none when it does not apply to the case. One that fails or panics becomes an
/// [`EvaluatorFailure`](crate::EvaluatorFailure) in the report and leaves the other evaluators' outcomes alone. What it
/// recorded in the context's [`scope`](Context::scope) until then is kept.
#[async_trait]
pub trait Evaluator<D: Domain>: Debug + Send + Sync {
    /// Names the evaluator in reports; also the usual name of its outcome. Read once at the
    /// start of a run, and for a case's own evaluators at the start of each repetition of the case.
    fn name(&self) -> &str;

    /// Judges one output. The evaluators of a case run concurrently.
    async fn evaluate(&self, context: &Context<'_, D>) -> Result<Vec<Outcome>, EvaluatorError>;

    /// Which direction of an outcome is better, by the name of the outcome. Higher by default, which for an assertion means
    /// that it passes. Should not depend on the case.
    fn better(&self, _outcome: &str) -> Direction {
        Direction::Higher
    }

    /// The outcomes, without undefined ones, that this evaluator has for a case if nothing fails, whatever the output is.
    /// `None`, the default, if that is not known beforehand.
    ///
    /// Called when the task or the evaluator failed. The failure then counts for the listed outcomes and for no other of this
    /// evaluator, and a measure that never had a value still has a row of its kind. With `None`, a failure counts for
    /// every outcome that the evaluator has for other cases. A panic here counts as `None`.
    fn concerns(&self, _case: &Case<D>) -> Option<Vec<Concern>> {
        None
    }
}

/// An outcome that an evaluator has for a case whatever the output is: its name and its kind.
///
/// See [`Evaluator::concerns`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Concern {
    /// The outcome's name.
    pub outcome: String,
    /// What its value is where it is not undefined.
    pub kind: ValueKind,
}

impl Concern {
    /// Announces a check.
    pub fn assertion(outcome: impl Into<String>) -> Self {
        Self::of(outcome, ValueKind::Assertion)
    }

    /// Announces a number.
    pub fn score(outcome: impl Into<String>) -> Self {
        Self::of(outcome, ValueKind::Score)
    }

    /// Announces a class.
    pub fn label(outcome: impl Into<String>) -> Self {
        Self::of(outcome, ValueKind::Label)
    }

    fn of(outcome: impl Into<String>, kind: ValueKind) -> Self {
        Self {
            outcome: outcome.into(),
            kind,
        }
    }
}

/// Why an evaluator could not judge.
///
/// Wraps any error, so that `?` works on all of them; for the same reason it is not itself a [`std::error::Error`].
#[derive(Debug)]
pub struct EvaluatorError {
    error: Box<dyn Error + Send + Sync>,
    class: Option<FailureClass>,
    outcomes: Vec<Outcome>,
}

impl EvaluatorError {
    /// Makes an error from a message or a boxed error.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            error: error.into(),
            class: None,
            outcomes: Vec::new(),
        }
    }

    /// Says what the error means for the cases that are still to come.
    #[must_use]
    pub fn classed(mut self, class: FailureClass) -> Self {
        self.class = Some(class);
        self
    }

    /// Adds outcomes that do not depend on what failed. They are reported beside the failure, which then counts for the
    /// evaluator's other outcomes alone.
    #[must_use]
    pub fn beside(mut self, outcomes: impl IntoIterator<Item = Outcome>) -> Self {
        self.outcomes.extend(outcomes);
        self
    }

    /// The outcomes that are reported beside the failure.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// What the error means for the cases that are still to come, where that is known.
    pub fn class(&self) -> Option<FailureClass> {
        self.class
    }

    /// The wrapped error.
    pub fn get_ref(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.error
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for EvaluatorError {
    fn from(error: E) -> Self {
        Self::new(error)
    }
}
