//! What differs between two runs beside their results.

use super::run::StoredRun;
use crate::run_record::{RunRecord, Sameness, differences};

/// Most differences in settings that are listed for a pair of runs.
const LISTED: usize = 10;

/// The differences in settings, program version and number of questions.
pub fn made_by(before: &StoredRun, after: &StoredRun) -> Vec<String> {
    let (Some(old), Some(new)) = (before.manifest(), after.manifest()) else {
        let line =
            "settings unknown, because a report does not hold them: name the run's folder instead";
        return vec![line.to_owned()];
    };
    let configurations = [before, after].map(StoredRun::configuration);
    let mut lines = differences(
        configurations[0],
        configurations[1],
        Sameness::Configuration,
    );
    let version = |record: &RunRecord| record.tool.as_ref().map(|tool| tool.version.clone());
    if let (Some(old), Some(new)) = (version(old), version(new))
        && old != new
    {
        lines.push(format!("evaluations: {old} -> {new}"));
    }
    let [asked_before, asked_after] = [old, new].map(|record| record.dataset.questions);
    if asked_before != asked_after {
        lines.push(format!("questions: {asked_before} -> {asked_after}"));
    }
    if lines.is_empty() {
        // What changed inside somebody else's system is known only to its owner.
        let advice = match new.target() {
            Some(target) if target.version.is_none() => {
                "; `--target-version` names what changed in the target"
            }
            Some(_) | None => "",
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
    lines
}
