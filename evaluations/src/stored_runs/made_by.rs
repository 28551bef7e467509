//! What differs between two runs beside their results.

use anyhow::Result;
use serde_json::Value;

use super::configuration::{Configuration, differences};
use super::run::StoredRun;

/// Most differences in settings that are listed for a pair of runs.
const LISTED: usize = 10;

/// The differences in settings, program version and number of questions.
pub(super) fn made_by(before: &StoredRun, after: &StoredRun) -> Result<Vec<String>> {
    let (Some(before), Some(after)) = (before.manifest()?, after.manifest()?) else {
        let line =
            "settings unknown, because a report does not hold them: name the run's folder instead";
        return Ok(vec![line.to_owned()]);
    };
    let version = |manifest: &Value| manifest["tool"]["version"].as_str().map(str::to_owned);
    let mut lines = differences(&Configuration::of(&before), &Configuration::of(&after));
    if let (Some(old), Some(new)) = (version(&before), version(&after))
        && old != new
    {
        lines.push(format!("evaluations: {old} -> {new}"));
    }
    let questions = |manifest: &Value| manifest["dataset"]["questions"].to_string();
    let [asked_before, asked_after] = [&before, &after].map(questions);
    if asked_before != asked_after {
        lines.push(format!("questions: {asked_before} -> {asked_after}"));
    }
    if lines.is_empty() {
        // What changed inside somebody else's system is known only to its owner.
        let has_target = !after["target"].is_null();
        let advice = if has_target && after["target"]["version"].is_null() {
            "; `--target-version` names what changed in the target"
        } else {
            ""
        };
        lines.push(format!(
            "no differences in settings, models or data{advice}"
        ));
    }
    if lines.len() > LISTED {
        let more = lines.len() - LISTED;
        lines.truncate(LISTED);
        lines.push(format!("and {more} more"));
    }
    Ok(lines)
}
