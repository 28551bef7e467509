//! The lines about how many cases a run has, and the clusters that they come in.

use evals_messages::quantity;
use evals_messages::visible::single_line;

use super::percent;
use crate::{ClusterCounts, Finding};

/// Below this many cases, intervals are too narrow and tests find only large differences.
pub(super) const FEW_CASES: usize = 30;
/// Below this many clusters, tests and intervals by clusters are unreliable.
const FEW_CLUSTERS: usize = 10;

/// What a reader has to know about the clusters of the cases, or about shared documents that nobody declared as clusters.
pub(super) fn lines(counts: Option<&ClusterCounts>) -> Vec<String> {
    let declared = counts.and_then(|counts| Some((counts.key.as_ref()?, counts)));
    let declared = declared.map(|(key, counts)| {
        let effect = counts.design_effect.as_ref().map(|effect| {
            let measure = single_line(&effect.measure);
            format!("; design effect of {measure}: {:.2}", effect.value)
        });
        format!(
            "clusters: {} by {}, the largest of {}; intervals and tests count clusters, not cases{}",
            quantity::of(counts.clusters, "cluster"),
            single_line(&key.in_words()),
            quantity::of(counts.largest, "case"),
            effect.unwrap_or_default(),
        )
    });
    declared.into_iter().chain(warnings(counts)).collect()
}

/// What makes intervals and tests less reliable than they look.
pub(super) fn warnings(counts: Option<&ClusterCounts>) -> Vec<String> {
    let Some(counts) = counts.filter(|counts| counts.key.is_some()) else {
        return undeclared(counts).into_iter().collect();
    };
    let giant = counts.is_one_giant().then(|| {
        format!(
            "one cluster holds {} of the cases, so that they say little about other cases; choose a finer key",
            percent(counts.share_of_largest())
        )
    });
    too_few([counts.clusters])
        .into_iter()
        .chain(giant)
        .collect()
}

/// What a reader has to know about shared documents that nobody declared as clusters.
pub(super) fn undeclared(counts: Option<&ClusterCounts>) -> Option<String> {
    let counts = counts.filter(|counts| counts.key.is_none())?;
    let sharing = format!(
        "{} of {} share a relevant document with another, and intervals and tests treat each as independent",
        counts.sharing,
        quantity::of(counts.cases, "case"),
    );
    Some(if counts.is_one_giant() {
        format!(
            "{sharing}; `document` cannot be their cluster, because shared documents link {} of the cases",
            percent(counts.share_of_largest())
        )
    } else {
        format!(
            "{sharing}; declare `cluster: document` in the dataset, or pass `--cluster document` (`none` if they do not depend on each other)"
        )
    })
}

/// The warning about the least of these numbers of clusters.
pub(super) fn too_few(clusters: impl IntoIterator<Item = usize>) -> Option<String> {
    let least = clusters.into_iter().min().filter(|it| *it < FEW_CLUSTERS)?;
    Some(format!(
        "only {}: below {FEW_CLUSTERS}, intervals and p values by clusters are unreliable",
        quantity::of(least, "cluster")
    ))
}

/// The warning about tests with few clusters.
pub(super) fn too_few_clusters<'f>(findings: impl Iterator<Item = &'f Finding>) -> Option<String> {
    too_few(findings.filter_map(|it| it.clusters))
}

/// Why so few cases say little.
pub(super) fn too_few_cases(n: usize) -> String {
    format!(
        "only {}: below {FEW_CASES}, intervals tend to be too narrow, and a test finds only large differences",
        quantity::of(n, "case")
    )
}
