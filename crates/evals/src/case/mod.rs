//! A case, its evaluators, and the context that they judge it in.

mod context;
mod evaluator;

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Domain;
use crate::json::{digest, present};

pub use context::Context;
pub use evaluator::{Concern, Evaluator, EvaluatorError, EvaluatorSpec, SpecArguments};

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

/// One input, with the expected output.
#[derive(Clone, Debug)]
pub struct Case<D: Domain> {
    /// Unique within the dataset.
    pub id: CaseId,
    /// The task's input.
    pub input: D::Input,
    /// The reference that an output is compared with, where it is known. A dataset turns a value that JSON writes as `null`
    /// into `None`, because a report could not tell the two apart.
    pub expected: Option<D::Expected>,
    /// Further facts about the case.
    pub metadata: D::Metadata,
    /// The cluster of the case: cases of one cluster may depend on each other. `None` if the case is alone.
    pub cluster: Option<String>,
    /// The sequence of the case: those of a sequence run one after the other, in the order of the dataset. `None` if the case may run at any
    /// time.
    pub sequence: Option<String>,
    /// Evaluators for this case only; they come before those of the dataset.
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
            cluster: None,
            sequence: None,
            evaluators: Vec::new(),
        }
    }
}

impl<D: Domain> Case<D> {
    /// Sets the reference that an output is compared with. A value that JSON writes as `null` counts as none.
    #[must_use]
    pub fn expecting(mut self, expected: D::Expected) -> Self {
        self.expected = present(Some(expected));
        self
    }

    /// Adds an evaluator for this case only.
    #[must_use]
    pub fn evaluator(mut self, evaluator: impl Evaluator<D> + 'static) -> Self {
        self.evaluators.push(Arc::new(evaluator));
        self
    }
}

/// Ids for the unnamed cases of one source, made from their inputs: two versions of the source then give the same case the same id,
/// wherever it stands.
///
/// ```
/// let mut ids = evals::DerivedIds::default();
/// assert_eq!(ids.next("Why?"), "q-499f097cf704");
/// assert_eq!(ids.next("Why?"), "q-499f097cf704-2");
/// ```
#[derive(Debug, Default)]
pub struct DerivedIds {
    /// How often each id was given.
    given: BTreeMap<String, usize>,
}

impl DerivedIds {
    /// The id of the next case. A repeated input gets a number, counted in the order of the source.
    pub fn next(&mut self, input: &(impl Serialize + ?Sized)) -> String {
        let id = format!("q-{}", digest(input));
        let given = self.given.entry(id.clone()).or_default();
        *given += 1;
        match *given {
            1 => id,
            number => format!("{id}-{number}"),
        }
    }
}
