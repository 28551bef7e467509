//! One test case, the evaluators that judge it, and what they get to see.

mod context;
mod evaluator;

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Domain;
use crate::present::present;

pub use context::Context;
pub use evaluator::{Concern, Evaluator, EvaluatorError};

/// Names one case within its dataset.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CaseId(Arc<str>);

impl CaseId {
    /// Wraps a name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CaseId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `pad` keeps width and alignment working in format strings.
        formatter.pad(&self.0)
    }
}

impl From<&str> for CaseId {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl From<String> for CaseId {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}

impl Borrow<str> for CaseId {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

/// One input, with what is expected of its output.
#[derive(Clone, Debug)]
pub struct Case<D: Domain> {
    /// Unique within the dataset.
    pub id: CaseId,
    /// What the task is given.
    pub input: D::Input,
    /// What a good output is compared with, where it is known. What JSON writes as `null` counts as not known: a dataset
    /// makes it `None`, since a report could not tell the two apart.
    pub expected: Option<D::Expected>,
    /// What else is known about the case.
    pub metadata: D::Metadata,
    /// Evaluators for this case alone; they come before those of the dataset.
    pub evaluators: Vec<Arc<dyn Evaluator<D>>>,
}

impl<D: Domain> Case<D>
where
    D::Metadata: Default,
{
    /// Makes a case with nothing expected, default metadata and no evaluators of its own.
    pub fn new(id: impl Into<CaseId>, input: D::Input) -> Self {
        Self {
            id: id.into(),
            input,
            expected: None,
            metadata: D::Metadata::default(),
            evaluators: Vec::new(),
        }
    }
}

impl<D: Domain> Case<D> {
    /// Sets what a good output is compared with; nothing, where JSON writes it as `null`.
    #[must_use]
    pub fn expecting(mut self, expected: D::Expected) -> Self {
        self.expected = present(Some(expected));
        self
    }

    /// Adds an evaluator for this case alone.
    #[must_use]
    pub fn evaluator(mut self, evaluator: impl Evaluator<D> + 'static) -> Self {
        self.evaluators.push(Arc::new(evaluator));
        self
    }
}
