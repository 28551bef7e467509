//! A named list of cases, with the evaluators that they share.

use std::collections::BTreeSet;
use std::sync::Arc;

use thiserror::Error;

use crate::json::present;
use crate::{Case, CaseId, ClusterKey, Domain, Evaluator, ReportEvaluator};

/// Cases in a fixed order, with unique ids.
#[derive(Clone, Debug)]
pub struct Dataset<D: Domain> {
    name: String,
    cases: Vec<Arc<Case<D>>>,
    evaluators: Vec<Arc<dyn Evaluator<D>>>,
    report_evaluators: Vec<Arc<dyn ReportEvaluator<D>>>,
    pools_assertions: bool,
    cluster: Option<ClusterKey>,
}

/// Why a list of cases is not a dataset.
#[derive(Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum DatasetError {
    /// Several cases share an id.
    #[error("dataset `{dataset}` has more than one case with id {}", quoted(ids))]
    DuplicateIds {
        /// Name of the dataset.
        dataset: String,
        /// Every id that occurs more than once, in order of the ids.
        ids: Vec<CaseId>,
    },
}

fn quoted(ids: &[CaseId]) -> String {
    let quoted: Vec<String> = ids.iter().map(|id| format!("`{id}`")).collect();
    quoted.join(", ")
}

impl<D: Domain> Dataset<D> {
    /// Makes a dataset without evaluators; an empty one is allowed.
    pub fn new(
        name: impl Into<String>,
        cases: impl IntoIterator<Item = Case<D>>,
    ) -> Result<Self, DatasetError> {
        let name = name.into();
        let cases = cases.into_iter().map(|case| Case {
            expected: present(case.expected),
            ..case
        });
        let cases: Vec<_> = cases.map(Arc::new).collect();
        let ids = repeated_ids(&cases);
        if !ids.is_empty() {
            return Err(DatasetError::DuplicateIds { dataset: name, ids });
        }
        Ok(Self {
            name,
            cases,
            evaluators: Vec::new(),
            report_evaluators: Vec::new(),
            pools_assertions: true,
            cluster: None,
        })
    }

    /// Declares that the assertions measure different things. Summaries then have no pass rate over all of them together,
    /// which would mean nothing. By default, assertions count as checks that all have to pass, and are pooled.
    #[must_use]
    pub fn assertions_apart(mut self) -> Self {
        self.pools_assertions = false;
        self
    }

    /// Declares what makes cases a cluster. The cases hold their [cluster](Case::cluster).
    #[must_use]
    pub fn clustered(mut self, key: Option<ClusterKey>) -> Self {
        self.cluster = key;
        self
    }

    /// The same, with the cluster of each case in their order.
    pub(crate) fn in_clusters(mut self, key: ClusterKey, names: Vec<Option<String>>) -> Self {
        for (case, name) in self.cases.iter_mut().zip(names) {
            Arc::make_mut(case).cluster = name;
        }
        self.clustered(Some(key))
    }

    /// Puts cases in [sequences](Case::sequence), by their ids.
    #[must_use]
    pub fn in_sequences(mut self, of: impl Fn(&CaseId) -> Option<String>) -> Self {
        for case in &mut self.cases {
            let sequence = of(&case.id);
            Arc::make_mut(case).sequence = sequence;
        }
        self
    }

    /// What makes cases a cluster; `None` if every case is alone.
    pub fn cluster(&self) -> Option<&ClusterKey> {
        self.cluster.as_ref()
    }

    /// Whether summaries pool all assertions into one pass rate.
    pub fn pools_assertions(&self) -> bool {
        self.pools_assertions
    }

    /// Adds an evaluator for every case.
    #[must_use]
    pub fn evaluator(mut self, evaluator: impl Evaluator<D> + 'static) -> Self {
        self.evaluators.push(Arc::new(evaluator));
        self
    }

    /// Adds evaluators for every case.
    #[must_use]
    pub fn with_evaluators(
        mut self,
        evaluators: impl IntoIterator<Item = Arc<dyn Evaluator<D>>>,
    ) -> Self {
        self.evaluators.extend(evaluators);
        self
    }

    /// Adds an evaluator of the whole report. They run after the cases, one after the other.
    #[must_use]
    pub fn report_evaluator(mut self, evaluator: impl ReportEvaluator<D> + 'static) -> Self {
        self.report_evaluators.push(Arc::new(evaluator));
        self
    }

    /// Adds evaluators of the whole report.
    #[must_use]
    pub fn with_report_evaluators(
        mut self,
        evaluators: impl IntoIterator<Item = Arc<dyn ReportEvaluator<D>>>,
    ) -> Self {
        self.report_evaluators.extend(evaluators);
        self
    }

    /// Keeps only the cases that `is_wanted` accepts.
    #[must_use]
    pub fn retain(mut self, is_wanted: impl FnMut(&Arc<Case<D>>) -> bool) -> Self {
        self.cases.retain(is_wanted);
        self
    }

    /// The dataset's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The cases, in the order they were given.
    pub fn cases(&self) -> &[Arc<Case<D>>] {
        &self.cases
    }

    /// The evaluators that every case shares, in the order they were added.
    pub fn evaluators(&self) -> &[Arc<dyn Evaluator<D>>] {
        &self.evaluators
    }

    /// The evaluators of the whole report, in the order they were added.
    pub fn report_evaluators(&self) -> &[Arc<dyn ReportEvaluator<D>>] {
        &self.report_evaluators
    }

    /// How many cases there are.
    pub fn len(&self) -> usize {
        self.cases.len()
    }

    /// Whether there are no cases.
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }
}

fn repeated_ids<D: Domain>(cases: &[Arc<Case<D>>]) -> Vec<CaseId> {
    let mut seen = BTreeSet::new();
    let repeated: BTreeSet<&CaseId> = cases
        .iter()
        .map(|case| &case.id)
        .filter(|id| !seen.insert(*id))
        .collect();
    repeated.into_iter().cloned().collect()
}
