//! Takes texts out of summaries, comparisons and changes, for a page that is shared.
//!
//! `evals_html` takes them out of the cases. What tables, figures and notices say comes from these values, so that none of them has to
//! know about omission.

use std::borrow::Cow;
use std::collections::BTreeMap;

use evals::{Cell, Change, Comparison, MissingRepetitions, PassRate, Summary};
use evals_html::page::Texts;
use evals_metrics::{Mean, Undefined};
use evals_rag::retrieval::SpanMeasures;
use evals_rag::{Missing, Question};

/// Stands in the place of a reason.
const OMITTED: &str = "reason left out";

/// A reason that a page may show: one of this program's own, word for word, or the remark that there was another one.
fn reason(reason: &str) -> String {
    let own = ["task failed", "evaluator failed", Question::UNANSWERABLE];
    let is_own = own.contains(&reason)
        || SpanMeasures::REASONS.contains(&reason)
        || [
            Missing::Documents,
            Missing::Matches,
            Missing::Answer,
            Missing::Citations,
        ]
        .iter()
        .any(|it| it.reason() == reason)
        || [
            Undefined::NoRelevantDocuments,
            Undefined::EmptyRanking,
            Undefined::GradeAboveMaximum,
            Undefined::NoEvidence,
        ]
        .iter()
        .any(|it| it.to_string() == reason);
    if is_own { reason } else { OMITTED }.to_owned()
}

fn reasons(counts: &mut BTreeMap<String, usize>) {
    let mut shown = BTreeMap::new();
    for (why, count) in std::mem::take(counts) {
        *shown.entry(reason(&why)).or_default() += count;
    }
    *counts = shown;
}

fn mean(mean: &mut Mean) {
    reasons(&mut mean.excluded);
}

fn stopped(reason: &mut Option<String>) {
    if let Some(reason) = reason {
        OMITTED.clone_into(reason);
    }
}

/// The summary without reasons, labels and groups.
pub(super) fn summary(summary: &Summary, texts: Texts) -> Cow<'_, Summary> {
    if texts == Texts::Kept {
        return Cow::Borrowed(summary);
    }
    let mut summary = summary.clone();
    stopped(&mut summary.stopped);
    // Judges may write labels freely, and groups are named after metadata.
    summary.labels.clear();
    summary.groups.clear();
    let Summary {
        scores,
        assertions,
        metrics,
        accuracy,
        pass_rate,
        missing_repetitions,
        ..
    } = &mut summary;
    let lists = [scores, assertions, metrics];
    lists.into_iter().flatten().for_each(|(_, it)| mean(it));
    for (_, accuracy) in accuracy {
        mean(&mut accuracy.scored);
    }
    if let Some(PassRate { excluded, .. }) = pass_rate {
        reasons(excluded);
    }
    let MissingRepetitions {
        scores,
        assertions,
        metrics,
    } = missing_repetitions;
    let lists = [scores, assertions, metrics];
    lists.into_iter().flatten().for_each(|(_, it)| reasons(it));
    Cow::Owned(summary)
}

/// The comparison without reasons.
pub(super) fn comparison(comparison: &Comparison, texts: Texts) -> Cow<'_, Comparison> {
    if texts == Texts::Kept {
        return Cow::Borrowed(comparison);
    }
    let mut comparison = comparison.clone();
    for report in &mut comparison.reports {
        stopped(&mut report.stopped);
    }
    for cell in comparison.rows.iter_mut().flat_map(|row| &mut row.cells) {
        match cell {
            Cell::Value { excluded, .. } => reasons(excluded),
            Cell::Undefined { reasons } => {
                let mut shown: Vec<String> = reasons.iter().map(|it| reason(it)).collect();
                shown.sort();
                shown.dedup();
                *reasons = shown;
            }
            Cell::Missing => {}
        }
    }
    Cow::Owned(comparison)
}

/// The change without reasons and groups.
pub(super) fn change(change: &Change, texts: Texts) -> Cow<'_, Change> {
    if texts == Texts::Kept {
        return Cow::Borrowed(change);
    }
    let mut change = change.clone();
    stopped(&mut change.before.stopped);
    stopped(&mut change.after.stopped);
    change.groups.clear();
    // Filters select by metadata.
    change.made_by.retain(|line| !line.starts_with("filter: "));
    for measure in &mut change.measures {
        reasons(&mut measure.excluded);
    }
    Cow::Owned(change)
}
