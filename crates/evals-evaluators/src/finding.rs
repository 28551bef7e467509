//! The result of a check: an outcome without its name.

use evals::{Outcome, Value};

/// The result of a check: an [`Outcome`] without its name, which the dataset file gives it.
///
/// `bool` is an assertion, `f64` a score, a text a label.
///
/// ```
/// use evals_evaluators::Finding;
///
/// let finding = Finding::failed("31 words are too many");
/// assert_eq!(finding, Finding::from(false).because("31 words are too many"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    value: Value,
    reason: Option<String>,
}

impl Finding {
    /// An assertion that passed, or failed.
    pub fn passed(passed: bool) -> Self {
        Self::of(Value::Assertion(passed))
    }

    /// An assertion that failed.
    pub fn failed(reason: impl Into<String>) -> Self {
        Self::passed(false).because(reason)
    }

    /// A number. One that is not finite makes the evaluator fail.
    pub fn score(score: f64) -> Self {
        Self::of(Value::Score(score))
    }

    /// A class.
    pub fn label(label: impl Into<String>) -> Self {
        Self::of(Value::Label(label.into()))
    }

    /// Creates an undefined outcome.
    pub fn undefined(reason: impl Into<String>) -> Self {
        Self::of(Value::Undefined).because(reason)
    }

    /// Adds the reason.
    #[must_use]
    pub fn because(self, reason: impl Into<String>) -> Self {
        Self {
            reason: Some(reason.into()),
            ..self
        }
    }

    /// The better of two findings of one kind. A defined one is better than an undefined one.
    pub(crate) fn or_better(self, other: Self) -> Self {
        let is_better = match (&self.value, &other.value) {
            (Value::Assertion(one), Value::Assertion(other)) => other > one,
            (Value::Score(one), Value::Score(other)) => other > one,
            (own, _) => *own == Value::Undefined,
        };
        if is_better { other } else { self }
    }

    pub(crate) fn named(self, name: &str) -> Outcome {
        Outcome {
            name: name.to_owned(),
            value: self.value,
            reason: self.reason,
            evidence: Vec::new(),
        }
    }

    fn of(value: Value) -> Self {
        Self {
            value,
            reason: None,
        }
    }
}

impl From<bool> for Finding {
    fn from(passed: bool) -> Self {
        Self::passed(passed)
    }
}

impl From<f64> for Finding {
    fn from(score: f64) -> Self {
        Self::score(score)
    }
}

impl From<&str> for Finding {
    fn from(label: &str) -> Self {
        Self::label(label)
    }
}

impl From<String> for Finding {
    fn from(label: String) -> Self {
        Self::label(label)
    }
}
