//! Short names that tell several stored runs apart.

use std::collections::BTreeSet;

use anyhow::Result;

use super::configuration::Configuration;
use super::run::StoredRun;

/// A label for each run: what the user calls it and its profile, as far as the runs differ in them; else its settings that differ; else
/// the name of its folder.
pub(super) fn labels(runs: &[StoredRun]) -> Result<Vec<String>> {
    let parts: [Vec<String>; 2] = [
        runs.iter().map(|run| run.header.name.clone()).collect(),
        runs.iter().map(|run| run.header.profile.clone()).collect(),
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
        return Ok(short);
    }
    let configurations: Vec<Option<Configuration>> = runs
        .iter()
        .map(|run| Ok(run.manifest()?.map(|it| Configuration::of(&it))))
        .collect::<Result<_>>()?;
    let distinct = configurations.iter().map(|own| {
        let own = own.as_ref()?;
        let others = configurations.iter().flatten();
        Some(own.distinction(others, "another time"))
    });
    let distinct: Option<Vec<String>> = distinct.collect();
    let settings = distinct.filter(|labels| are_unique(labels));
    Ok(settings.unwrap_or_else(|| runs.iter().map(StoredRun::name).collect()))
}

fn are_unique(labels: &[String]) -> bool {
    let different: BTreeSet<&String> = labels.iter().collect();
    different.len() == labels.len() && labels.iter().all(|label| !label.is_empty())
}
