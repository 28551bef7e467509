//! Short names that tell several stored runs apart.

use std::collections::BTreeSet;

use super::run::StoredRun;

/// A label for each run: what the user calls it and its profile, as far as the runs differ in them; else its settings that differ; else
/// the name of its folder.
pub fn labels(runs: &[StoredRun]) -> Vec<String> {
    let parts: [Vec<String>; 2] = [
        runs.iter().map(|run| run.record.name.clone()).collect(),
        runs.iter().map(|run| run.record.profile.clone()).collect(),
    ];
    let differing: Vec<&Vec<String>> = parts
        .iter()
        .filter(|part| part.iter().any(|it| *it != part[0]))
        .collect();
    let joined = |run: usize| {
        let own: Vec<&str> = differing.iter().map(|part| part[run].as_str()).collect();
        own.join(", ")
    };
    let short: Vec<String> = (0..runs.len()).map(joined).collect();
    if are_unique(&short) {
        return short;
    }
    let distinct = runs.iter().map(|run| {
        run.manifest()?;
        let others = runs.iter().map(StoredRun::configuration);
        Some(run.configuration().distinction(others, "another time"))
    });
    let distinct: Option<Vec<String>> = distinct.collect();
    let settings = distinct.filter(|labels| are_unique(labels));
    settings.unwrap_or_else(|| runs.iter().map(StoredRun::name).collect())
}

fn are_unique(labels: &[String]) -> bool {
    let different: BTreeSet<&String> = labels.iter().collect();
    different.len() == labels.len() && labels.iter().all(|label| !label.is_empty())
}
