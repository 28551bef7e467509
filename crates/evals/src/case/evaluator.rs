//! Evaluators, which judge the output of a case.

use std::error::Error;
use std::fmt::Debug;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{Case, Context};
use crate::{Direction, Domain, FailureClass, Outcome, TaskError, ValueKind};

/// Judges the output of one case.
///
/// An evaluator may return several outcomes, or none when it does not apply to the case. An evaluator that fails or panics
/// becomes an [`EvaluatorFailure`](crate::EvaluatorFailure) in the report; the other evaluators' outcomes are unaffected.
/// The report keeps everything that it recorded in the context's [`scope`](Context::scope) before it failed.
#[async_trait]
pub trait Evaluator<D: Domain>: Debug + Send + Sync {
    /// Names the evaluator in reports; also the usual name of its outcome. The runner reads it once at the start of a run,
    /// and a case's own evaluators at the start of each repetition of the case.
    fn name(&self) -> &str;

    /// Judges one output. The evaluators of a case run concurrently.
    async fn evaluate(&self, context: &Context<'_, D>) -> Result<Vec<Outcome>, EvaluatorError>;

    /// The evaluator as a dataset file would write it: its registered name and its arguments, defaults left out. Reports hold it.
    /// `None`, the default, for an evaluator that no file can name; reports then show its [`name`](Self::name).
    fn spec(&self) -> Option<EvaluatorSpec> {
        None
    }

    /// The version of the evaluator, which a user raises when its verdicts change; `None` by default.
    fn version(&self) -> Option<&str> {
        None
    }

    /// Which direction of an outcome is better, by the name of the outcome. Higher by default, which for an assertion means
    /// that passing is better. The direction should not depend on the case.
    fn better(&self, _outcome: &str) -> Direction {
        Direction::Higher
    }

    /// Lists the defined outcomes that this evaluator returns for a case with any output, unless something fails. `None`,
    /// the default, if they are not known in advance.
    ///
    /// The runner calls this when the task or the evaluator failed. The failure then counts only for the listed outcomes of
    /// this evaluator, and a measure that never had a value still gets a row of its kind. With `None`, a failure counts for
    /// every outcome that the evaluator returned for other cases. A panic here counts as `None`.
    fn concerns(&self, _case: &Case<D>) -> Option<Vec<Concern>> {
        None
    }
}

/// An evaluator as a dataset file writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvaluatorSpec {
    /// The name under which the evaluator is registered.
    pub name: String,
    /// Its arguments.
    pub arguments: SpecArguments,
}

/// The arguments of an evaluator, as a dataset file writes them.
///
/// In JSON: `null`, an array of one value, or an object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SpecArguments {
    /// No arguments.
    #[default]
    None,
    /// The first argument, by position.
    Positional([serde_json::Value; 1]),
    /// Arguments by name.
    Named(serde_json::Map<String, serde_json::Value>),
}

/// The name and kind of an outcome that an evaluator returns for a case with any output.
///
/// See [`Evaluator::concerns`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Concern {
    /// The outcome's name.
    pub outcome: String,
    /// The kind of its value, unless it is undefined.
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
    pub(crate) error: TaskError,
    outcomes: Vec<Outcome>,
}

impl EvaluatorError {
    /// Makes an error from a message or a boxed error.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            error: TaskError::new(error),
            outcomes: Vec::new(),
        }
    }

    /// Sets the consequence of the error for the remaining cases.
    #[must_use]
    pub fn classed(mut self, class: FailureClass) -> Self {
        self.error = self.error.classed(class);
        self
    }

    /// Adds outcomes that the failure does not affect. The report holds them beside the failure, which then counts only for
    /// the evaluator's other outcomes.
    #[must_use]
    pub fn beside(mut self, outcomes: impl IntoIterator<Item = Outcome>) -> Self {
        self.outcomes.extend(outcomes);
        self
    }

    /// The outcomes beside the failure.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// The consequence of the error for the remaining cases, where it is known.
    pub fn class(&self) -> Option<FailureClass> {
        self.error.class()
    }

    /// The wrapped error.
    pub fn get_ref(&self) -> &(dyn Error + Send + Sync + 'static) {
        self.error.get_ref()
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for EvaluatorError {
    fn from(error: E) -> Self {
        Self::new(error)
    }
}
