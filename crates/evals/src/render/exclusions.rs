//! Lines for the cases that measures exclude, by reason.

use std::collections::BTreeMap;

use evals_messages::visible::single_line;

use super::glyphs::Glyphs;
use crate::Summary;

/// The reasons of each measure.
pub(super) type Excluded<'a> = Vec<(&'a str, &'a BTreeMap<String, usize>)>;

/// One line for each reason: `excluded: 12 × no relevant documents (nDCG@5)`.
///
/// Cases and repetitions are counted separately. Repetitions are those without a label, and those without a value in cases
/// that have one from other repetitions.
pub(super) fn lines(summary: &Summary, glyphs: &Glyphs) -> Vec<String> {
    let scores = summary.scores.iter();
    let scores = scores.map(|(name, mean)| (summary.mean_title(name), &mean.excluded));
    let others = summary.assertions.iter().chain(&summary.metrics);
    let others = others.map(|(name, mean)| (name.as_str(), &mean.excluded));
    let mut cases: Excluded<'_> = scores.chain(others).collect();
    let labels = summary.labels.iter();
    let labels: Excluded<'_> = labels
        .map(|(name, shares)| (name.as_str(), &shares.excluded))
        .collect();
    let all = cases.len() + labels.len();
    let mut repetitions = Vec::new();
    // If each case ran once, cases and repetitions are the same.
    if summary.repeat > 1 {
        repetitions = labels;
    } else {
        cases.extend(labels);
    }
    let missing = &summary.missing_repetitions;
    let scores = missing.scores.iter();
    let scores = scores.map(|(name, reasons)| (summary.mean_title(name), reasons));
    let others = missing.assertions.iter().chain(&missing.metrics);
    let others = others.map(|(name, reasons)| (name.as_str(), reasons));
    let missing: Excluded<'_> = scores.chain(others).collect();

    let groups = [
        ("excluded", cases),
        ("excluded repetitions", repetitions),
        ("missing repetitions", missing),
    ];
    let lines = groups
        .into_iter()
        .flat_map(|(title, excluded)| group(title, &excluded, all, glyphs));
    lines.collect()
}

/// The lines for the reasons of these measures, of which there are `all`.
pub(super) fn group(
    title: &str,
    excluded: &Excluded<'_>,
    all: usize,
    glyphs: &Glyphs,
) -> Vec<String> {
    let mut by_reason: BTreeMap<(&str, usize), Vec<&str>> = BTreeMap::new();
    for (measure, reasons) in excluded {
        for (reason, count) in *reasons {
            by_reason.entry((reason, *count)).or_default().push(measure);
        }
    }
    let line = |((reason, count), measures): ((&str, usize), Vec<&str>)| {
        let measures: Vec<String> = measures.into_iter().map(single_line).collect();
        let what = format!("{count} {} {}", glyphs.times, single_line(reason));
        format!("{title}: {what} ({})", named(&measures, all))
    };
    by_reason.into_iter().map(line).collect()
}

/// Names measures, of which there are `all`.
pub(super) fn named(measures: &[String], all: usize) -> String {
    if measures.len() == all && all > 1 {
        "every measure".to_owned()
    } else {
        measures.join(", ")
    }
}
