//! The facts about a target, over the replies to all shards.

use anyhow::{Context as _, Result};
use evals::{Domain, Report};
use evals_rag::targets::matching::IdCheck;
use evals_targets::TargetIdentity;
use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::joining::Joining;
use crate::targets::{self, TargetFacts};

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

/// The target of a run; `None` for our own pipeline.
pub(super) fn target(joining: &Joining<'_>) -> Result<Option<TargetIdentity>> {
    let target = &joining.manifest["target"];
    if target.is_null() {
        return Ok(None);
    }
    let target = TargetIdentity::deserialize(target).with_context(|| joining.damaged())?;
    Ok(Some(target))
}

/// The facts about the target of a joined report. Adds the comparisons of texts, because each shard compares another sample.
pub(super) fn of<D: Domain>(report: &Report<D>, parts: &[Map<String, Value>]) -> TargetFacts {
    let count = |part: &Value, member: &str| {
        let count = part[member].as_u64().unwrap_or_default();
        usize::try_from(count).unwrap_or_default()
    };
    let checks = parts.iter().filter_map(|part| part.get(CHECKED));
    let checked = checks.fold(IdCheck::default(), |sum, part| IdCheck {
        compared: sum.compared.saturating_add(count(part, "compared")),
        differ: sum.differ.saturating_add(count(part, "differ")),
    });
    TargetFacts::of(report, Some(checked))
}
