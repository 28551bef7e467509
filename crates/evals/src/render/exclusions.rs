//! What was left out of the measures, and why.

use std::collections::BTreeMap;

use super::glyphs::Glyphs;
use super::single_line::single_line;
use crate::Summary;

/// The reasons of each measure.
type Excluded<'a> = Vec<(&'a str, &'a BTreeMap<String, usize>)>;

/// One line for each reason: `excluded: 12 × no relevant documents (nDCG@5)`.
///
/// Cases are counted, and repetitions apart from them: those that a label lacks, and those that are missing in cases that
/// have a value all the same.
pub(super) fn lines(summary: &Summary, glyphs: &Glyphs) -> Vec<String> {
    let means = [&summary.scores, &summary.assertions, &summary.metrics];
    let means = means.into_iter().flatten();
    let mut cases: Excluded<'_> = means
        .map(|(name, mean)| (name.as_str(), &mean.excluded))
        .collect();
    let labels = summary.labels.iter();
    let labels: Excluded<'_> = labels
        .map(|(name, shares)| (name.as_str(), &shares.excluded))
        .collect();
    let all = cases.len() + labels.len();
    let mut repetitions = Vec::new();
    // Where each case ran once there is no difference.
    if summary.repeat > 1 {
        repetitions = labels;
    } else {
        cases.extend(labels);
    }
    let missing = &summary.missing_repetitions;
    let missing = [&missing.scores, &missing.assertions, &missing.metrics];
    let missing = missing.into_iter().flatten();
    let missing: Excluded<'_> = missing
        .map(|(name, reasons)| (name.as_str(), reasons))
        .collect();

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

fn group(title: &str, excluded: &Excluded<'_>, all: usize, glyphs: &Glyphs) -> Vec<String> {
    let mut by_reason: BTreeMap<(&str, usize), Vec<&str>> = BTreeMap::new();
    for (measure, reasons) in excluded {
        for (reason, count) in *reasons {
            by_reason.entry((reason, *count)).or_default().push(measure);
        }
    }
    let line = |((reason, count), measures): ((&str, usize), Vec<&str>)| {
        let measures = if measures.len() == all && all > 1 {
            "every measure".to_owned()
        } else {
            let measures: Vec<String> = measures.into_iter().map(single_line).collect();
            measures.join(", ")
        };
        let reason = single_line(reason);
        format!("{title}: {count} {} {reason} ({measures})", glyphs.times)
    };
    by_reason.into_iter().map(line).collect()
}
