//! The dataset, benchmark and profile that the address of a page names.

use evals_html::view::Link;
use evals_runs::stored_runs::StoredRun;
use serde::Deserialize;

/// A dataset, a benchmark and a profile, without the version of a target. What an address does not name is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct RunKind {
    pub(super) dataset: String,
    pub(super) benchmark: String,
    pub(super) profile: String,
}

impl RunKind {
    /// The names of the parameters of an address, in the order of [`values`](Self::values).
    pub(super) const NAMES: [&str; 3] = ["dataset", "benchmark", "profile"];

    pub(super) fn of(run: &StoredRun) -> Self {
        let record = &run.record;
        Self {
            dataset: record.dataset.name.clone(),
            benchmark: record.benchmark.to_string(),
            profile: record.system_name().to_owned(),
        }
    }

    pub(super) fn values(&self) -> [&str; 3] {
        [&self.dataset, &self.benchmark, &self.profile]
    }

    /// Whether a run has every value that is not empty.
    pub(super) fn fits(&self, run: &StoredRun) -> bool {
        let of_run = Self::of(run);
        let mut pairs = self.values().into_iter().zip(of_run.values());
        pairs.all(|(wanted, found)| wanted.is_empty() || wanted == found)
    }

    /// An address that names these values too.
    pub(super) fn added_to(&self, link: Link) -> Link {
        let named = Self::NAMES.into_iter().zip(self.values());
        let named = named.filter(|(_, value)| !value.is_empty());
        named.fold(link, |link, (name, value)| link.with(name, value))
    }
}
