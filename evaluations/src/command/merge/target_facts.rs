//! The facts about a target, over the replies to all shards.

use evals::{Domain, Report};
use evals_pipeline::targets::{self, TargetFacts};
use evals_rag::targets::matching::IdCheck;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The entries of a report's metadata about a target.
pub(super) const KEYS: &[&str] = &[
    "target",
    "documents_matched",
    "target_versions",
    targets::DEPTH,
    targets::SCORES,
    CHECKED,
];

/// The entry about documents that were matched by id and compared by text.
const CHECKED: &str = "documents_matched_by_id";

/// That entry.
#[derive(Deserialize)]
struct Checked {
    compared: usize,
    differ: usize,
}

/// The facts about the target of a joined report. Adds the comparisons of texts, because each shard compares another sample.
pub(super) fn of<D: Domain>(report: &Report<D>, parts: &[Map<String, Value>]) -> TargetFacts {
    let checks = parts.iter().filter_map(|part| part.get(CHECKED));
    let checks = checks.filter_map(|part| Checked::deserialize(part).ok());
    let checked = checks.fold(IdCheck::default(), |sum, part| IdCheck {
        compared: sum.compared.saturating_add(part.compared),
        differ: sum.differ.saturating_add(part.differ),
    });
    TargetFacts::of(report, Some(checked))
}
